#!/bin/sh
# Puts Debian's builds of rocSPARSE and rocRAND, 12,671 kernels for gfx1030 and as many for other AMD targets, into a
# folder (build/data/corpora by default): real programs to list, disassemble and emulate.
#   tools/fetch_corpora.sh [--package librocrand1] [FOLDER]
# Of rocRAND alone 8 MB are downloaded and 25 MB kept, of both 100 MB and 1.3 GB. Nothing of the system changes. With the
# libraries there, does nothing.
set -eu
packages="librocsparse0 librocrand1"
if [ "${1:-}" = --package ]; then
  packages=${2:?"--package takes librocsparse0 or librocrand1"}
  shift 2
fi
library_of() {
  case "$1" in
    librocsparse0) echo librocsparse.so.0.1 ;;
    librocrand1) echo librocrand.so.1.1 ;;
    *) echo "--package takes librocsparse0 or librocrand1, but got \"$1\"" >&2; return 2 ;;
  esac
}
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "${1:-$root/build/data/corpora}"
folder=$(cd "${1:-$root/build/data/corpora}" && pwd)

missing=""
for package in $packages; do
  name=$(library_of "$package")
  [ -s "$folder/$name" ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get > /dev/null; then
  echo "The libraries come from Debian's packages$missing, and there is no apt-get here. Put them into $folder" >&2
  exit 1
fi
scratch=$(mktemp -d "$folder/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
# The words are ours, and meant to be split.
# shellcheck disable=SC2086
"$root/tools/unpack_packages.sh" "$scratch" $missing
for package in $missing; do
  name=$(library_of "$package")
  found=$(find "$scratch" -name "$name" -type f | head -n 1)
  [ -n "$found" ] || { echo "$package has no $name" >&2; exit 1; }
  mv "$found" "$folder/$name"
  echo "$name is in $folder"
done
