# The package, installed and in the build tree: find_package(Teeny) works with both.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Teeny)
install(TARGETS teeny-kernel teeny_runtime EXPORT TeenyTargets
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY src/include/teeny DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY modules/ DESTINATION ${package_dir})
install(EXPORT TeenyTargets NAMESPACE Teeny:: DESTINATION ${package_dir})

set(TEENY_MODULE_DIR ${package_dir})
configure_package_config_file(cmake/TeenyConfig.cmake.in ${PROJECT_BINARY_DIR}/installed/TeenyConfig.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS TEENY_MODULE_DIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/TeenyConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/installed/TeenyConfig.cmake
  ${PROJECT_BINARY_DIR}/cmake/TeenyConfigVersion.cmake DESTINATION ${package_dir})

set(TEENY_MODULE_DIR ${PROJECT_SOURCE_DIR}/modules)
configure_package_config_file(cmake/TeenyConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/TeenyConfig.cmake
  INSTALL_PREFIX ${PROJECT_BINARY_DIR} INSTALL_DESTINATION cmake PATH_VARS TEENY_MODULE_DIR)
export(EXPORT TeenyTargets NAMESPACE Teeny:: FILE ${PROJECT_BINARY_DIR}/cmake/TeenyTargets.cmake)
