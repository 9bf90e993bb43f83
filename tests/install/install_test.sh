#!/bin/sh
# Installs a build tree into a scratch folder, and builds and runs an application against it.
#   install_test.sh CMAKE BUILD_FOLDER [PYTHON]
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

# What needs AMD's programs alone needs no Vulkan, not even to link.
kernels=$build/tests/amdgpu_object_test_amd
"$cmake" -S "$here/amd" -B "$scratch/amd" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/moved" -DCMAKE_BUILD_TYPE=Release \
  --no-warn-unused-cli -DCMAKE_DISABLE_FIND_PACKAGE_Vulkan=ON -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON
"$cmake" --build "$scratch/amd"
"$scratch/amd/client" "$kernels/arguments.gfx1030.w32.hsaco" > "$scratch/shown"
printf '11\n22\n33\n' > "$scratch/expected"
tail -n 3 "$scratch/shown" | diff "$scratch/expected" -
if ldd "$scratch/amd/client" | grep -i vulkan; then exit 1; fi

# And so it is built: configuring finds all that it asks for.
"$cmake" -S "$here/../.." -B "$scratch/only" -G Ninja -DWAVEGATE_AMD_ONLY=ON -DWAVEGATE_TESTS=OFF -DWAVEGATE_BENCH=OFF \
  -DCMAKE_DISABLE_FIND_PACKAGE_Vulkan=ON -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON > "$scratch/only.log"

# The Python module, if there is one, is where Python looks below the prefix.
python=${3:-}
if [ -n "$python" ]; then
  module=$(dirname "$(dirname "$(find "$scratch/moved" -path '*-packages/wavegate/__init__.py')")")
  PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$module" "$python" - "$kernels/arguments.gfx1030.w32.hsaco" <<'END'
import sys

import numpy
import wavegate

y = numpy.ones(3, numpy.float32)
wavegate.load(sys.argv[1])["add"](3, 64, numpy.arange(3, dtype=numpy.float32), y, 3)
assert list(y) == [1, 2, 3], y
END
fi
