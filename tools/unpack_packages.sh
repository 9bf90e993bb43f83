#!/bin/sh
# Downloads Debian packages and unpacks them into a folder: nothing of the system changes.
#   tools/unpack_packages.sh FOLDER PACKAGE...
set -eu
[ $# -ge 2 ] || { echo "usage: $0 FOLDER PACKAGE..." >&2; exit 2; }
folder=$1
shift
cd "$folder"

if ! apt-cache show "$@" > /dev/null 2>&1; then
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
apt-get -q -o APT::Sandbox::User=root download "$@"
for package in "$@"; do dpkg-deb -x "$package"_*.deb .; done
