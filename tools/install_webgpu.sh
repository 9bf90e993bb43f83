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
if ! command -v npm > /dev/null; then
  echo "npm is missing; install the Debian package npm" >&2
  exit 1
fi
mkdir -p "$folder"
cd "$folder"
[ -f package.json ] || printf '{ "private": true }\n' > package.json
# The header's package is for an application framework that is not wanted here, nor anything that it would run.
exec npm install --no-audit --no-fund --no-progress --ignore-scripts --legacy-peer-deps --save-exact \
  react-native-wgpu@0.3.2 bun-webgpu-linux-x64@0.1.7
