#!/bin/sh
# Checks the formatting of all C++ files, and runs clang-tidy on the .cpp files that changed since a commit: by default
# where this branch left origin/main, or the last commit if it has not left it.
#   tools/lint.sh [COMMIT]
set -eu
cd "$(dirname "$0")/.."
status=0

echo "clang-format"
tools/sources.sh | xargs clang-format --dry-run -Werror || status=1

since=${1:-}
if [ -z "$since" ]; then
  head=$(git rev-parse HEAD)
  since=$(git merge-base HEAD origin/main 2> /dev/null || echo "$head")
  if [ "$since" = "$head" ]; then since=$(git rev-parse --quiet --verify HEAD~1 || echo "$head"); fi
fi
# What is for browsers is checked by their compiler, whose warnings are errors: clang-tidy has no headers of wasm.
changed=$(tools/sources.sh "$since" | grep '\.cpp$' | grep -v '[/_]browser\.cpp$' || true)
if [ -z "$changed" ]; then
  echo "clang-tidy: no .cpp file changed since $since"
  exit $status
fi

echo "clang-tidy: $(echo "$changed" | wc -l) files changed since $since"
cmake --preset lint > /dev/null
echo "$changed" | xargs -n 1 -P "$(nproc)" clang-tidy -p build/lint --quiet || status=1
exit $status
