# wavegate_amd_kernels(target FILES a.cl b.cl TARGETS gfx1030:32 gfx1030:64 gfx900 [OPTIONS -g] [SUFFIX _debug])
#
# Compiles OpenCL C to AMD code objects for a test, one for each file and target, which finds them as
# WAVEGATE_AMD_KERNELS_DIR "/<name>.<target>.w<wave><suffix>.hsaco". A target's wave width may be left out where it has
# one alone. Needs no AMD software: kernels take work-item ids from clang's builtins, and there is no device library.
# What is here is code that clang-19 makes; its default is code object version 5.
function(wavegate_amd_kernels target)
  cmake_parse_arguments(arg "" "SUFFIX" "FILES;TARGETS;OPTIONS" ${ARGN})
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}_amd")
  file(MAKE_DIRECTORY "${folder}")
  foreach(pair IN LISTS arg_TARGETS)
    string(REGEX MATCH "^(gfx[0-9a-f]+)(:(32|64))?$" matched "${pair}")
    set(device "${CMAKE_MATCH_1}")
    set(wave "${CMAKE_MATCH_3}")
    # gfx10 and later have both widths, those before 64 alone.
    if(device MATCHES "^gfx1[0-9][0-9][0-9]$" AND wave STREQUAL "32")
      set(width -mno-wavefrontsize64)
    elseif(device MATCHES "^gfx1[0-9][0-9][0-9]$" AND wave STREQUAL "64")
      set(width -mwavefrontsize64)
    elseif(device MATCHES "^gfx[6-9][0-9a-f][0-9a-f]$" AND NOT wave STREQUAL "32")
      set(wave 64)
      set(width "")
    else()
      message(FATAL_ERROR "wavegate_amd_kernels: \"${pair}\" is no target with a wave width, such as gfx1030:32")
    endif()
    foreach(file IN LISTS arg_FILES)
      cmake_path(ABSOLUTE_PATH file)
      cmake_path(GET file STEM name)
      set(output "${folder}/${name}.${device}.w${wave}${arg_SUFFIX}.hsaco")
      add_custom_command(OUTPUT "${output}"
        COMMAND "${WAVEGATE_CLANG_19}" -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=${device} ${width} -O2 -nogpulib
          -Werror ${arg_OPTIONS} -MD -MF "${output}.d" "${file}" -o "${output}"
        DEPENDS "${file}" DEPFILE "${output}.d" VERBATIM COMMENT "clang-19 ${name} for ${device}, wave${wave}")
      target_sources(${target} PRIVATE "${output}")
    endforeach()
  endforeach()
  get_target_property(definitions ${target} COMPILE_DEFINITIONS)
  if(NOT "${definitions}" MATCHES "WAVEGATE_AMD_KERNELS_DIR")
    target_compile_definitions(${target} PRIVATE WAVEGATE_AMD_KERNELS_DIR="${folder}")
  endif()
endfunction()
