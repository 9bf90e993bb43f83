# Sets up, builds, tests and runs the project. CMake does the building (CMakePresets.json); this file says in which
# order. The packages that a target needs are installed first, if they are missing (packages.txt).

.DEFAULT_GOAL := help
.PHONY: help run test test-dev test-asan fuzz bench web test-web format lint install clean

PREFIX ?= /usr/local
SECONDS ?= 60
PORT ?= 8080
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# What `make lint` takes as changed: the commits since this one.
SINCE ?=

ifneq ($(shell command -v ccache),)
  export CMAKE_CXX_COMPILER_LAUNCHER ?= ccache
  # Without these ccache does not cache what is compiled with a precompiled header.
  export CCACHE_SLOPPINESS ?= pch_defines,time_macros
endif

help: ## this list
	@echo "make run                  build the command and solve a system on the best device"
	@echo "make test                 build and run all tests, then those without a GPU under ASan and UBSan"
	@echo "make fuzz SECONDS=60      run each fuzzer for so long"
	@echo "make bench                build and run the benchmarks"
	@echo "make web PORT=8080        build the npm package in web/, and serve its page to a browser of this machine"
	@echo "make test-web             build and test the npm package in Node and in Chromium"
	@echo "make format               format the sources"
	@echo "make lint SINCE=REVISION  formatting of all sources; clang-tidy on what changed since (default: the last"
	@echo "                          commit, or what is not yet in origin/main)"
	@echo "make install PREFIX=DIR   install the command and the library (default: /usr/local)"
	@echo "make clean                delete build/"

run:
	tools/install_packages.sh run
	cmake --preset release
	cmake --build --preset release
	tools/fetch_meshes.sh
	build/release/src/cli/wavegate solve build/data/metis/4elt.graph --max-iterations 100 --compare-host-loop

# The sanitizers run even if a test fails, so that one run shows all failures. The judges of WGSL would say the same
# again.
test:
	tools/install_packages.sh test
	-tools/install_webgpu.sh
	-tools/install_judges.sh
	tools/fetch_meshes.sh
	-tools/fetch_corpora.sh --package librocrand1
	@rm -f build/dev/tests.xml build/asan/tests.xml
	+@dev=0; asan=0; $(MAKE) --no-print-directory test-dev || dev=1; $(MAKE) --no-print-directory test-asan || asan=1; \
	  tools/test_summary.py dev=build/dev/tests.xml asan=build/asan/tests.xml && test $$dev$$asan = 00

test-dev:
	cmake --preset dev
	cmake --build --preset dev
	ctest --test-dir build/dev --parallel $(JOBS) --output-on-failure --no-tests=error --output-junit tests.xml

test-asan:
	cmake --preset asan
	cmake --build --preset asan --target host_tests
	ctest --test-dir build/asan --parallel $(JOBS) --label-regex '^host$$' --exclude-regex Judges \
	  --output-on-failure --no-tests=error --output-junit tests.xml

fuzz:
	tools/install_packages.sh dev
	cmake --preset fuzz
	cmake --build --preset fuzz --target fuzzers
	tests/run_fuzzers.sh $(SECONDS)

bench:
	tools/install_packages.sh test
	tools/fetch_meshes.sh
	cmake --preset release -DWAVEGATE_BENCH=ON
	cmake --build --preset release
	build/release/bench/wavegate-bench-compile
	build/release/bench/wavegate-bench-control

web:
	tools/install_web.sh
	cmake --preset web
	cmake --build --preset web
	node web/serve.js $(PORT)

# The native command is what its bytes are compared with.
test-web:
	tools/install_web.sh
	cmake --preset release
	cmake --build --preset release --target wavegate_command
	cmake --preset web
	cmake --build --preset web
	@test=0; tools/test_web.sh || test=1; tools/test_summary.py web=build/web/tests.xml && test $$test = 0

format:
	tools/install_packages.sh dev
	tools/sources.sh | xargs clang-format -i

lint:
	tools/install_packages.sh dev
	tools/lint.sh $(SINCE)

install:
	tools/install_packages.sh run
	cmake --preset release
	cmake --build --preset release
	cmake --install build/release --prefix $(PREFIX)

clean:
	rm -rf build web/lib/wavegate.wasm
