#!/bin/sh
# Runs every fuzzer for a while, from its seeds in tests/<folder>/corpus/<name>.
#   tests/run_fuzzers.sh SECONDS [BUILD_FOLDER]
# First: cmake --preset fuzz && cmake --build build/fuzz --target fuzzers
# What a fuzzer finds beyond the seeds is kept in BUILD_FOLDER/fuzz/<folder>/<name>_corpus; an input that it fails on
# lies beside, as <name>_failure_*. Goes on after a failure and exits with 1 at the end.
set -eu
if [ $# -lt 1 ]; then
  echo "usage: $0 SECONDS [BUILD_FOLDER]" >&2
  exit 2
fi
seconds=$1
tests=$(cd "$(dirname "$0")" && pwd)
programs=${2:-$tests/../build/fuzz}/fuzz

failed=
for source in $(cd "$tests" && find . -name '*_fuzz.cpp' | sort); do
  folder=$(dirname "${source#./}")
  program=$(basename "$source" .cpp)
  name=${program%_fuzz}
  seeds=$tests/$folder/corpus/$name
  found=$programs/$folder/${name}_corpus
  if [ ! -x "$programs/$folder/$program" ]; then
    echo "$programs/$folder/$program is missing; build the target fuzzers" >&2
    exit 2
  fi
  mkdir -p "$found"
  echo "== $folder/$name"
  # libFuzzer writes to the first corpus folder alone, so the seeds stay as they are.
  set -- "$found"
  if [ -d "$seeds" ]; then set -- "$@" "$seeds"; fi
  "$programs/$folder/$program" "$@" -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=2048 -timeout=10 \
    -artifact_prefix="$programs/$folder/${name}_failure_" -print_final_stats=1 -verbosity=0 || failed="$failed $folder/$name"
done
if [ -n "$failed" ]; then
  echo "failed:$failed" >&2
  exit 1
fi
