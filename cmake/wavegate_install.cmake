# What an application links: wavegate::wavegate, here and after find_package(wavegate); or, of AMD's programs alone,
# wavegate::isa, wavegate::object and wavegate::wave.
include(CMakePackageConfigHelpers)

if(NOT WAVEGATE_AMD_ONLY)
  add_library(wavegate INTERFACE)
  target_link_libraries(wavegate INTERFACE wavegate_api)
  add_library(wavegate::wavegate ALIAS wavegate)
  install(TARGETS wavegate EXPORT wavegate_targets)
endif()

# The public headers include those of src/, spelled "wavegate/<folder>/<file>.h"; the command has none for others.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/wavegate" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.h")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/src/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/wavegate"
  FILES_MATCHING PATTERN "*.h" PATTERN opcodes.inc PATTERN cli EXCLUDE)

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/wavegate")
install(EXPORT wavegate_targets NAMESPACE wavegate:: DESTINATION "${package_folder}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/wavegate-config.cmake.in"
  "${PROJECT_BINARY_DIR}/wavegate-config.cmake" INSTALL_DESTINATION "${package_folder}")
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/wavegate-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/wavegate-config.cmake" "${PROJECT_BINARY_DIR}/wavegate-config-version.cmake"
  DESTINATION "${package_folder}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/wavegate")
