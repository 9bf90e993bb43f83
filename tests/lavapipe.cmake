# WebGPU on Mesa's software driver, lavapipe, besides SwiftShader: another compiler of shaders, with wider subgroups and
# larger workgroups. A layer of ours makes it acceptable to Dawn: device/webgpu/claim_features_layer.cpp.
find_file(wavegate_lavapipe NAMES lvp_icd.${CMAKE_SYSTEM_PROCESSOR}.json lvp_icd.json NO_CACHE NO_DEFAULT_PATH
  PATHS /usr/local/share/vulkan/icd.d /usr/share/vulkan/icd.d /etc/vulkan/icd.d)
set(wavegate_no_lavapipe "")
if(NOT TARGET wavegate_device_webgpu OR NOT EXISTS "${wavegate_webgpu_library}")
  set(wavegate_no_lavapipe "there is no Dawn; run tools/install_webgpu.sh, and configure again")
elseif(NOT wavegate_lavapipe)
  set(wavegate_no_lavapipe "there is no lavapipe; install mesa-vulkan-drivers, and configure again")
elseif(Vulkan_VERSION VERSION_LESS 1.3.207)
  set(wavegate_no_lavapipe "the Vulkan loader is older than 1.3.207, and has no VK_DRIVER_FILES")
else()
  add_library(claim_features_layer MODULE device/webgpu/claim_features_layer.cpp)
  target_link_libraries(claim_features_layer PRIVATE wavegate_options Vulkan::Headers)
  set(wavegate_layers "${CMAKE_CURRENT_BINARY_DIR}/layers")
  file(GENERATE OUTPUT "${wavegate_layers}/claim_features.json" CONTENT [[{
  "file_format_version": "1.1.2",
  "layer": {
    "name": "VK_LAYER_WAVEGATE_claim_features",
    "type": "GLOBAL",
    "library_path": "$<TARGET_FILE:claim_features_layer>",
    "api_version": "1.3.0",
    "implementation_version": "1",
    "description": "claims features that lavapipe lacks and that compute does not need"
  }
}
]])
endif()

# wavegate_lavapipe_test(name target filter): the tests of a program that fit the filter, with lavapipe as the only driver.
# They fail if the adapter is not lavapipe's. Where something is missing the entry says what, and ctest that it was skipped.
# The driver neither optimises kernels that run once nor wakes threads for dispatches that are small.
function(wavegate_lavapipe_test name target filter)
  if(wavegate_no_lavapipe)
    add_test(NAME ${name} COMMAND "${CMAKE_COMMAND}" -E echo "skipped: ${wavegate_no_lavapipe}")
    set_tests_properties(${name} PROPERTIES LABELS lavapipe SKIP_REGULAR_EXPRESSION "^skipped: ")
    return()
  endif()
  add_dependencies(${target} claim_features_layer)
  add_test(NAME ${name} COMMAND ${target} "--gtest_filter=${filter}")
  set_tests_properties(${name} PROPERTIES LABELS lavapipe TIMEOUT 900 FAIL_REGULAR_EXPRESSION "Running 0 tests"
    ENVIRONMENT "WAVEGATE_TEST_ADAPTER=llvmpipe;VK_DRIVER_FILES=${wavegate_lavapipe};VK_LAYER_PATH=${wavegate_layers}")
  set_property(TEST ${name} APPEND PROPERTY
    ENVIRONMENT VK_INSTANCE_LAYERS=VK_LAYER_WAVEGATE_claim_features GALLIVM_PERF=nopt LP_NUM_THREADS=0)
endfunction()
