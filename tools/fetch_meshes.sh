#!/bin/sh
# Puts the example graphs of METIS, 4elt, copter2 and mdual, into a folder (build/data/metis by default).
#   tools/fetch_meshes.sh [FOLDER]
# They are documentation files of Debian's libmetis-doc, which slim containers leave out when the package is installed:
# so it is only downloaded and unpacked, and nothing of the system changes. With the graphs there, does nothing.
set -eu
graphs="4elt copter2 mdual"
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "${1:-$root/build/data/metis}"
folder=$(cd "${1:-$root/build/data/metis}" && pwd)

complete() { for name in $graphs; do [ -s "$folder/$name.graph" ] || return 1; done; }
if complete; then exit 0; fi

if ! command -v apt-get > /dev/null; then
  echo "The graphs come from Debian's package libmetis-doc, and there is no apt-get here. Put 4elt.graph," \
    "copter2.graph and mdual.graph into $folder" >&2
  exit 1
fi
scratch=$(mktemp -d "$folder/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

"$root/tools/unpack_packages.sh" "$scratch" libmetis-doc
for name in $graphs; do
  found=$(find usr -name "$name.graph" -o -name "$name.graph.gz" | head -n 1)
  case "$found" in
    *.gz) gzip -dc "$found" > "$name.graph" ;;
    ?*) cp "$found" "$name.graph" ;;
    *) echo "libmetis-doc has no $name.graph" >&2; exit 1 ;;
  esac
  mv "$name.graph" "$folder/$name.graph"
done
echo "The graphs $graphs are in $folder"
