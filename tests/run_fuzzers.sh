#!/bin/sh
# Runs every fuzzer for a while, as many at once as there are cores, from its seeds in tests/<folder>/corpus/<name>.
#   tests/run_fuzzers.sh SECONDS [BUILD_FOLDER]
# First: cmake --preset fuzz && cmake --build build/fuzz --target fuzzers
# What a fuzzer finds beyond the seeds is kept in BUILD_FOLDER/fuzz/<folder>/<name>_corpus, what it printed in
# <name>.log beside it; an input that it fails on lies there as <name>_failure_*. Goes on after a failure and exits
# with 1 at the end.
set -eu
tests=$(cd "$(dirname "$0")" && pwd)

# Runs one fuzzer: SECONDS, the folder of the programs, <folder>/<program>.
run_one() {
  seconds=$1 programs=$2 path=$3
  folder=$programs/$(dirname "$path")
  name=$(basename "${path%_fuzz}")
  seeds=$tests/$(dirname "$path")/corpus/$name
  found=$folder/${name}_corpus
  mkdir -p "$found"
  # libFuzzer writes to the first corpus folder alone, so the seeds stay as they are.
  set -- "$found"
  if [ -d "$seeds" ]; then set -- "$@" "$seeds"; fi
  if "$programs/$path" "$@" -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=2048 -timeout=10 \
    -artifact_prefix="$folder/${name}_failure_" -print_final_stats=1 -verbosity=0 > "$folder/$name.log" 2>&1; then
    echo "passed: $path, $(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/$name.log") runs"
  else
    echo "failed: $path"
    tail -n 60 "$folder/$name.log"
    return 1
  fi
}

if [ "${1:-}" = --one ]; then
  shift
  run_one "$@"
  exit
fi
if [ $# -lt 1 ]; then
  echo "usage: $0 SECONDS [BUILD_FOLDER]" >&2
  exit 2
fi
programs=${2:-$tests/../build/fuzz}
programs=$(cd "$programs" && pwd)/fuzz
fuzzers=$(cd "$tests" && find . -name '*_fuzz.cpp' | sed 's|^\./||; s|\.cpp$||' | sort)
for fuzzer in $fuzzers; do
  if [ ! -x "$programs/$fuzzer" ]; then
    echo "$programs/$fuzzer is missing; build the target fuzzers" >&2
    exit 2
  fi
done
echo "$fuzzers" | xargs -n 1 -P "$(nproc)" "$0" --one "$1" "$programs" || { echo "a fuzzer failed" >&2; exit 1; }
