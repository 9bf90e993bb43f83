add_library(wavegate_options INTERFACE)
target_compile_options(wavegate_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
  # The promise "identical bytes" includes our own host code: no contraction behind our back.
  -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False positives of g++ 12 in std::variant, std::vector and std::deque.
  target_compile_options(wavegate_options INTERFACE
    -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds -Wno-dangling-pointer
    -Wno-alloc-size-larger-than)
endif()

# wavegate_library(folder/name DEPENDS a b LINK x y): a static library of all sources of src/folder/name, named
# wavegate_folder_name and wavegate::folder_name (of amdgpu/wave, wavegate::wave). DEPENDS are our own folders, LINK other people's libraries.
# What is done one way by a machine and another by a browser stands in native.cpp or *_native.cpp and in browser.cpp or
# *_browser.cpp; one of the two is built.
function(wavegate_library folder)
  cmake_parse_arguments(arg "" "" "DEPENDS;LINK;PRIVATE_LINK" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${folder}/*.cpp"
    "${PROJECT_SOURCE_DIR}/src/${folder}/passes/*.cpp")
  if(WAVEGATE_BROWSER)
    list(FILTER sources EXCLUDE REGEX "[/_]native\\.cpp$")
  else()
    list(FILTER sources EXCLUDE REGEX "[/_]browser\\.cpp$")
  endif()
  set(target wavegate_${name})
  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:wavegate_options> ${arg_PRIVATE_LINK})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  if(sources)
    wavegate_header()
    target_precompile_headers(${target} REUSE_FROM wavegate_header)
  endif()
  # AMD's pieces are known by their own names: wavegate::isa, wavegate::object, wavegate::wave.
  string(REGEX REPLACE "^amdgpu_" "" public ${name})
  add_library(wavegate::${public} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${public})
  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  foreach(dependency IN LISTS arg_DEPENDS)
    string(REPLACE "/" "_" dependency ${dependency})
    target_link_libraries(${target} ${scope} wavegate_${dependency})
  endforeach()
  target_link_libraries(${target} ${scope} ${arg_LINK})
  install(TARGETS ${target} EXPORT wavegate_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# wavegate_test(folder DEPENDS a b LINK x [DEVICE]): one test program of all *_test.cpp of tests/folder. Without
# DEVICE each test is its own CTest entry with the label `host`, and the program belongs to the target host_tests, which
# is what runs under sanitizers; with it the program is one entry, since starting a driver costs more than most tests.
function(wavegate_test folder)
  cmake_parse_arguments(arg "DEVICE" "" "DEPENDS;LINK" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${folder}/*_test.cpp")
  if(NOT sources)
    return()
  endif()
  set(target ${name}_test)
  add_executable(${target} ${sources})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_compile_definitions(${target} PRIVATE WAVEGATE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  foreach(dependency IN LISTS arg_DEPENDS)
    string(REPLACE "/" "_" dependency ${dependency})
    target_link_libraries(${target} PRIVATE wavegate_${dependency})
  endforeach()
  target_link_libraries(${target} PRIVATE wavegate_options GTest::gmock GTest::gtest_main ${arg_LINK})
  wavegate_test_header()
  target_precompile_headers(${target} REUSE_FROM wavegate_test_header)
  if(arg_DEVICE)
    add_test(NAME ${name} COMMAND ${target})
    set_tests_properties(${name} PROPERTIES TIMEOUT 900)
  else()
    include(GoogleTest)
    gtest_discover_tests(${target} TEST_PREFIX "${name}/" DISCOVERY_MODE PRE_TEST
      PROPERTIES TIMEOUT 300 LABELS host)
    if(NOT TARGET host_tests)
      add_custom_target(host_tests)
    endif()
    add_dependencies(host_tests ${target})
  endif()
endfunction()

# Reading gmock takes longer than compiling most tests, so all of them share it precompiled. It belongs to a program that
# is compiled as they are, and that nobody runs.
function(wavegate_test_header)
  if(NOT TARGET wavegate_test_header)
    set(source "${PROJECT_BINARY_DIR}/wavegate_test_header.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "int main() {}\n")
    add_executable(wavegate_test_header EXCLUDE_FROM_ALL "${source}")
    target_link_libraries(wavegate_test_header PRIVATE wavegate_options GTest::gmock)
    target_precompile_headers(wavegate_test_header PRIVATE <gmock/gmock.h>)
  endif()
endfunction()

# Reading the standard library would be a third of a build's time: all of ours share it precompiled. `make lint` compiles
# without, and so knows of an include that is missing.
function(wavegate_header)
  if(NOT TARGET wavegate_header)
    set(source "${PROJECT_BINARY_DIR}/wavegate_header.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "\n")
    add_library(wavegate_header STATIC "${source}")
    target_link_libraries(wavegate_header PRIVATE wavegate_options fmt::fmt)
    target_precompile_headers(wavegate_header PRIVATE <algorithm> <array> <functional> <map> <memory> <optional> <set>
      <span> <string> <utility> <variant> <vector> <fmt/format.h>)
  endif()
endfunction()

# wavegate_glsl(target FILES a.comp b.comp [ENVIRONMENT vulkan1.1]): compiles compute shaders to SPIR-V for a test, which
# finds them as WAVEGATE_SPIRV_DIR "/<environment>/<name>.spv". The environment decides the SPIR-V version.
function(wavegate_glsl target)
  cmake_parse_arguments(arg "" "ENVIRONMENT" "FILES" ${ARGN})
  if(NOT arg_ENVIRONMENT)
    set(arg_ENVIRONMENT vulkan1.1)
  endif()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}_spirv")
  file(MAKE_DIRECTORY "${folder}/${arg_ENVIRONMENT}")
  foreach(file IN LISTS arg_FILES)
    cmake_path(ABSOLUTE_PATH file)
    cmake_path(GET file STEM name)
    set(output "${folder}/${arg_ENVIRONMENT}/${name}.spv")
    add_custom_command(OUTPUT "${output}"
      COMMAND "${WAVEGATE_GLSLC}" -fshader-stage=compute --target-env=${arg_ENVIRONMENT} "${file}" -o "${output}"
      DEPENDS "${file}" VERBATIM COMMENT "glslc ${name} for ${arg_ENVIRONMENT}")
    target_sources(${target} PRIVATE "${output}")
  endforeach()
  target_compile_definitions(${target} PRIVATE WAVEGATE_SPIRV_DIR="${folder}")
endfunction()
