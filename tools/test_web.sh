#!/bin/sh
# Tests the npm package and its page, built already: types, contents of the package, and what it does in Node and in
# Chromium. Results are in build/web/tests.xml, pictures of the page beside it.
set -eu
cd "$(dirname "$0")/../web"
results=../build/web
mkdir -p "$results"
rm -f "$results/tests.xml"
exec node --test --test-concurrency=1 --test-reporter=spec --test-reporter-destination=stdout \
  --test-reporter=junit --test-reporter-destination="$results/tests.xml" test/*.test.js
