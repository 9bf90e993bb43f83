#!/bin/sh
# Installs into build/npm what judges WGSL in tests: Dawn for Node, whose validator needs no driver, and naga.
set -eu
folder="$(cd "$(dirname "$0")/.." && pwd)/build/npm"
if ! command -v npm > /dev/null; then
  echo "npm is missing; without it no other compiler looks at the WGSL that tests emit. Install Node.js 20 with npm" >&2
  exit 1
fi
mkdir -p "$folder"
cd "$folder"
[ -f package.json ] || printf '{ "private": true }\n' > package.json
# Like tools/install_webgpu.sh, whose packages lie in the same folder.
exec npm install --no-audit --no-fund --no-progress --ignore-scripts --legacy-peer-deps --save-exact \
  webgpu@0.6.2 naga-wasm@30.1.0
