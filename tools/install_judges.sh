#!/bin/sh
# Installs into build/npm what judges WGSL in tests: Dawn for Node, whose validator needs no driver, and naga.
set -eu
folder="$(cd "$(dirname "$0")/.." && pwd)/build/npm"
mkdir -p "$folder"
cd "$folder"
[ -f package.json ] || printf '{ "private": true }\n' > package.json
exec npm install --no-audit --no-fund --no-progress --save-exact webgpu@0.6.2 naga-wasm@30.1.0
