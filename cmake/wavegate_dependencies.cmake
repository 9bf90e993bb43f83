# What the build needs, by Debian package name (packages.txt says why). All that is missing is named at once,
# so that nobody has to configure five times to learn five names.

set(wavegate_missing "")

macro(wavegate_find package debian)
  find_package(${package} QUIET ${ARGN})
  if(NOT ${package}_FOUND)
    list(APPEND wavegate_missing ${debian})
  endif()
endmacro()

wavegate_find(Threads libc6-dev)
wavegate_find(fmt libfmt-dev)
wavegate_find(CLI11 libcli11-dev)
wavegate_find(nlohmann_json nlohmann-json3-dev)
wavegate_find(ZLIB zlib1g-dev)
wavegate_find(Vulkan libvulkan-dev)
if(NOT EXISTS "/usr/include/spirv/unified1/spirv.hpp11")
  find_file(wavegate_spirv_header spirv/unified1/spirv.hpp11)
  if(NOT wavegate_spirv_header)
    list(APPEND wavegate_missing spirv-headers)
  endif()
endif()
if(WAVEGATE_TESTS)
  wavegate_find(GTest libgtest-dev)
  wavegate_find(SPIRV-Tools spirv-tools)
  find_program(WAVEGATE_CLANG_19 clang-19)
  if(NOT WAVEGATE_CLANG_19)
    list(APPEND wavegate_missing clang-19)
  endif()
  find_program(WAVEGATE_LLD_19 ld.lld-19)  # which clang-19 calls
  if(NOT WAVEGATE_LLD_19)
    list(APPEND wavegate_missing lld-19)
  endif()
endif()
if(WAVEGATE_TESTS OR WAVEGATE_BENCH)
  wavegate_find(Eigen3 libeigen3-dev)
  find_program(WAVEGATE_GLSLC glslc)
  if(NOT WAVEGATE_GLSLC)
    list(APPEND wavegate_missing glslc)
  endif()
endif()
if(WAVEGATE_BENCH)
  wavegate_find(benchmark libbenchmark-dev)
endif()

if(wavegate_missing)
  list(JOIN wavegate_missing " " names)
  message(FATAL_ERROR
    "Debian packages are missing: ${names}\n"
    "Install them with:  apt-get install -y --no-install-recommends ${names}\n"
    "or let `make run` (what running needs) or `make test` (all) do it.")
endif()
