# The interpreter of AMD waves is loops over lanes, which are worth vector code in every build. Sanitizers want them as they are.
file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/amdgpu/wave/*_operations.cpp" "${PROJECT_SOURCE_DIR}/src/amdgpu/wave/lanes.cpp")
if(NOT CMAKE_CXX_FLAGS MATCHES "sanitize")
  target_compile_options(wavegate_amdgpu_wave PRIVATE -O2)
  set(options -O3 -fno-math-errno -fno-trapping-math)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND options -mavx2 -mfma -mbmi2 -mpopcnt -mlzcnt)
    target_compile_options(wavegate_amdgpu_wave PRIVATE -mpopcnt)
    target_compile_definitions(wavegate_amdgpu_wave PRIVATE WAVEGATE_WAVE_AVX2)
  endif()
  set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "${options}")
endif()
# Clang says where it makes none, as with sanitizers.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(wavegate_amdgpu_wave PRIVATE -Wno-pass-failed)
endif()
# What was precompiled for other options is of no use to these.
set_target_properties(wavegate_amdgpu_wave PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
