#!/bin/sh
# Prints the C++ files of the project, one a line, as paths from its root: all of them, or with a commit as argument
# those that differ from it.
#   tools/sources.sh [COMMIT]
set -eu
cd "$(dirname "$0")/.."
if [ $# -gt 0 ]; then
  git diff --name-only --diff-filter=d "$1" -- src include tests bench examples
else
  find src include tests bench examples -type f
fi | grep -E '\.(h|cpp)$' | sort
