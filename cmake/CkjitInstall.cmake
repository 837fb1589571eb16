# cmake --install: the library with its public headers, the tool, what find_package and pkg-config read, the examples.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(CKJIT_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/ckjit)
install(TARGETS ckjit EXPORT ckjit-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS ck-jit RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${CKJIT_PUBLIC_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ckjit)
install(EXPORT ckjit-targets NAMESPACE ckjit:: DESTINATION ${CKJIT_PACKAGE_DIR})
install(DIRECTORY docs/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_package_config_file(cmake/ckjit-config.cmake.in ${CMAKE_BINARY_DIR}/ckjit-config.cmake
  INSTALL_DESTINATION ${CKJIT_PACKAGE_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/ckjit-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/ckjit-config.cmake ${CMAKE_BINARY_DIR}/ckjit-config-version.cmake
  DESTINATION ${CKJIT_PACKAGE_DIR})

# Relative, so that an installed tree may be moved.
file(RELATIVE_PATH CKJIT_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/ckjit.pc.in ${CMAKE_BINARY_DIR}/ckjit.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/ckjit.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
