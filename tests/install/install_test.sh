#!/bin/sh
# Installs a build tree into a scratch folder, and builds and runs an application against it.
#   install_test.sh CMAKE BUILD_FOLDER
set -eu
cmake=$1 build=$2
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$cmake" --install "$build" --prefix "$scratch/prefix" > "$scratch/install.log"
# A moved installation must still work: no file may hold the place that it was first put in.
mv "$scratch/prefix" "$scratch/moved"
"$scratch/moved/bin/wavegate" --version

"$cmake" -S "$here" -B "$scratch/client" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/moved" -DCMAKE_BUILD_TYPE=Release \
  --no-warn-unused-cli -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON
"$cmake" --build "$scratch/client"
printf '1.41421\n3\n1000\n' > "$scratch/expected"
WAVEGATE_DEVICE=reference "$scratch/client/client" > "$scratch/roots"
diff "$scratch/expected" "$scratch/roots"
