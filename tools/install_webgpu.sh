#!/bin/sh
# Installs into build/npm what the device "webgpu" needs on a machine: webgpu.h, and Dawn as a library. The versions fit
# each other; src/device/webgpu/native.cpp says where they do not.
set -eu
folder="$(cd "$(dirname "$0")/.." && pwd)/build/npm"
case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) ;;
  *)
    echo "there is no such library for $(uname -s) on $(uname -m) here; build Dawn, and name webgpu.h's folder to CMake as" >&2
    echo "WAVEGATE_WEBGPU_HEADER and the library to Wavegate as WAVEGATE_WEBGPU_LIBRARY" >&2
    exit 1
    ;;
esac
header=react-native-wgpu@0.3.2
library=bun-webgpu-linux-x64@0.1.7

is_there() {
  grep -qs "\"version\": \"${1#*@}\"" "$folder/node_modules/${1%@*}/package.json"
}
if is_there "$header" && is_there "$library"; then exit 0; fi
if ! command -v npm > /dev/null; then
  echo "npm is missing, without which there is no WebGPU here; install Node.js with npm" >&2
  exit 1
fi
mkdir -p "$folder"
cd "$folder"
[ -f package.json ] || printf '{ "private": true }\n' > package.json
# The header's package is for an application framework that is not wanted here, nor anything that it would run.
printf 'legacy-peer-deps=true\n' > .npmrc
exec npm install --no-audit --no-fund --no-progress --ignore-scripts --save-exact "$header" "$library"
