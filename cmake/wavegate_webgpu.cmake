# The device "webgpu" of a machine: webgpu.h to build it with, and the library that it loads when it runs.
# tools/install_webgpu.sh gets both. Without the header the device is left out, and says so.
set(WAVEGATE_WEBGPU_HEADER "" CACHE PATH "The folder that holds webgpu/webgpu.h; default: what tools/install_webgpu.sh got")
set(wavegate_npm "${PROJECT_SOURCE_DIR}/build/npm/node_modules")
find_path(wavegate_webgpu_folder webgpu/webgpu.h NO_DEFAULT_PATH NO_CACHE
  PATHS "${WAVEGATE_WEBGPU_HEADER}" "${wavegate_npm}/react-native-wgpu/cpp")
set(wavegate_webgpu_library "${wavegate_npm}/bun-webgpu-linux-x64/libwebgpu_wrapper.so")
# For the tests, which are an application beside it.
set(wavegate_webgpu_folder "${wavegate_webgpu_folder}" PARENT_SCOPE)
set(wavegate_webgpu_library "${wavegate_webgpu_library}" PARENT_SCOPE)
if(wavegate_webgpu_folder)
  wavegate_library(device/webgpu DEPENDS device emit/wgsl LINK ${CMAKE_DL_LIBS})
  target_include_directories(wavegate_device_webgpu SYSTEM PRIVATE $<BUILD_INTERFACE:${wavegate_webgpu_folder}>)
  target_compile_definitions(wavegate_device_webgpu
    PRIVATE WAVEGATE_WEBGPU_INSTALLED="${wavegate_webgpu_library}"
    PUBLIC WAVEGATE_WEBGPU)
else()
  message(STATUS "webgpu.h is not there, so that the device \"webgpu\" is left out; tools/install_webgpu.sh gets it")
endif()
