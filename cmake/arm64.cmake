# SPDX-License-Identifier: MIT
# User space for arm64, built on another machine: cmake --toolchain cmake/arm64.cmake. "make arm64" does so.
# Libraries and headers besides those of the compiler come from tools/cross-root, which unpacks Debian's packages.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

# CMake reads this file once more for each of its trial programs.
if(NOT DEFINED ENV{RSM_CROSS_ROOT})
    execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../tools/cross-root arm64
        OUTPUT_VARIABLE root OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    set(ENV{RSM_CROSS_ROOT} ${root})
endif()
set(root $ENV{RSM_CROSS_ROOT})
set(libraries ${root}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
set(CMAKE_FIND_ROOT_PATH ${root})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${libraries}/pkgconfig:${root}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${root})
foreach(language C CXX)
    set(CMAKE_${language}_FLAGS_INIT "-isystem ${root}/usr/include -isystem ${root}/usr/include/${CMAKE_LIBRARY_ARCHITECTURE}")
endforeach()
foreach(kind EXE SHARED MODULE)
    set(CMAKE_${kind}_LINKER_FLAGS_INIT "-L${libraries} -Wl,-rpath-link,${libraries}")
endforeach()
# Tests can't be asked for their names here.
set(CMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE PRE_TEST)
