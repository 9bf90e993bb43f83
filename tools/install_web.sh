#!/bin/sh
# Installs what building and testing the npm package needs: Debian packages, and those of npm into web/node_modules, in the
# versions of web/package-lock.json. Node.js comes from wherever you have it, since Debian 12's is too old.
set -eu
cd "$(dirname "$0")/.."
tools/install_packages.sh web

major=$(node --version 2> /dev/null | sed -n 's/^v\([0-9]*\).*/\1/p')
if [ "${major:-0}" -lt 20 ] || ! command -v npm > /dev/null; then
  echo "The npm package needs Node.js 20 or later, with npm; here is ${major:+version }${major:-none}. Install it, and try again." >&2
  exit 1
fi
installed=web/node_modules/.package-lock.json
if [ ! -e "$installed" ] || [ web/package-lock.json -nt "$installed" ]; then
  # Nothing of theirs is run while they are installed.
  npm ci --prefix web --ignore-scripts --no-audit --no-fund --no-progress
  touch "$installed"
fi
