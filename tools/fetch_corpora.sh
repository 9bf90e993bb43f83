#!/bin/sh
# Puts Debian's builds of rocSPARSE and rocRAND, 12,671 kernels for gfx1030 and as many for other AMD targets, into a
# folder (build/data/corpora by default): real programs to list, disassemble and emulate.
#   tools/fetch_corpora.sh [FOLDER]
# The packages are only downloaded and unpacked (100 MB, 1.3 GB on the disk): nothing of the system changes. With the
# libraries there, does nothing.
set -eu
libraries="librocsparse.so.0.1 librocrand.so.1.1"
default=$(cd "$(dirname "$0")/.." && pwd)/build/data/corpora
mkdir -p "${1:-$default}"
folder=$(cd "${1:-$default}" && pwd)

complete() { for name in $libraries; do [ -s "$folder/$name" ] || return 1; done; }
if complete; then exit 0; fi

if ! command -v apt-get > /dev/null; then
  echo "The libraries come from Debian's packages librocsparse0 and librocrand1, and there is no apt-get here. Put" \
    "librocsparse.so.0.1 and librocrand.so.1.1 into $folder" >&2
  exit 1
fi
scratch=$(mktemp -d "$folder/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

if ! apt-cache show librocsparse0 > /dev/null 2>&1; then
  if [ "$(id -u)" -eq 0 ]; then
    apt-get -q update
  elif command -v sudo > /dev/null; then
    echo "apt has no package lists: + sudo apt-get update"
    sudo apt-get -q update
  else
    echo "apt has no package lists; as root, run: apt-get update" >&2
    exit 1
  fi
fi
# As root apt would download as another user, who may not write here.
apt-get -q -o APT::Sandbox::User=root download librocsparse0 librocrand1
for package in librocsparse0_*.deb librocrand1_*.deb; do dpkg-deb -x "$package" unpacked; done
for name in $libraries; do
  found=$(find unpacked -name "$name" -type f | head -n 1)
  [ -n "$found" ] || { echo "the packages have no $name" >&2; exit 1; }
  mv "$found" "$folder/$name"
done
echo "$libraries are in $folder"
