# SPDX-License-Identifier: MIT
# The places of the files that `cmake --install` installs: library, headers, pkg-config file and
# CMake package.
include(CMakePackageConfigHelpers)

# rsm_install_library(LIBRARY PACKAGE name VERSION version DESCRIPTION text [PRIVATE_LIBRARIES options])
# The headers are those in include/ beside the caller. A program finds the library
# by find_package(name), as rsm::LIBRARY, or by pkg-config, as libLIBRARY. The options are what
# "pkg-config --static" adds for a program that is linked with a static library.
function(rsm_install_library library)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "PACKAGE;VERSION;DESCRIPTION;PRIVATE_LIBRARIES" "")
    install(TARGETS ${library} EXPORT ${arg_PACKAGE}-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
    install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/include/
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

    configure_file(${PROJECT_SOURCE_DIR}/cmake/library.pc.in lib${library}.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lib${library}.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

    set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/${arg_PACKAGE})
    configure_package_config_file(
        ${PROJECT_SOURCE_DIR}/cmake/package-config.cmake.in ${arg_PACKAGE}-config.cmake
        INSTALL_DESTINATION ${package_directory})
    write_basic_package_version_file(${arg_PACKAGE}-config-version.cmake
        VERSION ${arg_VERSION} COMPATIBILITY SameMajorVersion)
    install(FILES
        ${CMAKE_CURRENT_BINARY_DIR}/${arg_PACKAGE}-config.cmake
        ${CMAKE_CURRENT_BINARY_DIR}/${arg_PACKAGE}-config-version.cmake
        DESTINATION ${package_directory})
    install(EXPORT ${arg_PACKAGE}-targets NAMESPACE rsm:: DESTINATION ${package_directory})
endfunction()
