#!/bin/sh
# Installs the Debian packages of packages.txt that are missing, after it has said which. Does nothing, and needs no
# root, where none is missing.
#   tools/install_packages.sh run|test|dev|web     each of the first three includes those before it, web includes run
set -eu
case "${1:-}" in
  run) kinds="run" ;;
  test) kinds="run test" ;;
  dev) kinds="run test dev" ;;
  web) kinds="run web" ;;
  *) echo "usage: $0 run|test|dev|web" >&2; exit 2 ;;
esac
list=$(dirname "$0")/../packages.txt

# Prints "package  # reason" of all packages of the kinds.
wanted() {
  while read -r kind package reason; do
    case " $kinds " in *" $kind "*) printf '%s %s\n' "$package" "$reason" ;; esac
  done < "$list"
}

if ! command -v dpkg-query > /dev/null; then
  echo "This is not Debian, so nothing is installed. Configuring will name what is missing of:" >&2
  wanted | sed 's/^/  /' >&2
  exit 0
fi

is_installed() { dpkg-query -W -f='${db:Status-Status}\n' "$1" 2> /dev/null | grep -q '^installed'; }

missing=$(wanted | while read -r package reason; do
  is_installed "$package" || printf '%s ' "$package"
done)
if [ -z "$missing" ]; then exit 0; fi

echo "Missing Debian packages:"
wanted | while read -r package reason; do
  case " $missing" in *" $package "*) printf '  %-24s %s\n' "$package" "$reason" ;; esac
done

update="apt-get update -q"
install="apt-get install -y -q --no-install-recommends $missing"
if [ "$(id -u)" -eq 0 ]; then
  as_root="env"
elif command -v sudo > /dev/null; then
  as_root="sudo env"
else
  printf 'Installing them needs root, and there is no sudo. As root, run:\n  %s && %s\n' "$update" "$install" >&2
  exit 1
fi
echo "They and what they need are installed now:"
for command in "$update" "$install"; do
  echo "+ $as_root DEBIAN_FRONTEND=noninteractive $command"
  # The words are ours, and meant to be split.
  # shellcheck disable=SC2086
  $as_root DEBIAN_FRONTEND=noninteractive $command
done
