# SPDX-License-Identifier: MIT
# What `cmake --install` puts where: library, headers, pkg-config file and
# CMake package.
include(CMakePackageConfigHelpers)

install(TARGETS rsm EXPORT rsm-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/include/
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES
    ${PROJECT_SOURCE_DIR}/include/uapi/linux/rsm.h
    ${PROJECT_SOURCE_DIR}/include/uapi/linux/rsm_common.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/linux)

configure_file(${PROJECT_SOURCE_DIR}/cmake/librsm.pc.in librsm.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/librsm.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/rsm)
configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/rsm-config.cmake.in rsm-config.cmake
    INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(rsm-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES
    ${CMAKE_CURRENT_BINARY_DIR}/rsm-config.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/rsm-config-version.cmake
    DESTINATION ${package_directory})
install(EXPORT rsm-targets NAMESPACE rsm:: DESTINATION ${package_directory})
