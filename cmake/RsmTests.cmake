# SPDX-License-Identifier: MIT
# Tests take most of the time of a build. The settings below make them quick to compile.

# Headers that most tests include: precompiled.
set(RSM_TEST_HEADERS <gtest/gtest.h> <algorithm> <array> <atomic> <chrono> <cstring> <filesystem>
    <fstream> <functional> <map> <memory> <optional> <random> <set> <span> <sstream> <string> <thread>
    <vector>)

# How tests are compiled that are in a directory of their own. With fewer passes gcc 12 sees
# overflows in the standard library's strings where there are none.
macro(rsm_compile_as_tests)
    set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O1 -DNDEBUG")
    set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -DNDEBUG")
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        add_compile_options(-Wno-array-bounds -Wno-restrict -Wno-stringop-overflow)
        # ccache, which preprocesses first, can then remember what includes a precompiled header.
        add_compile_options(-fpch-preprocess)
    endif()
endmacro()
