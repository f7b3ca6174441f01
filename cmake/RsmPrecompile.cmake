# SPDX-License-Identifier: MIT
# Precompiled headers of libraries and tools. Half of the time of a compilation is the standard library's headers,
# and a run of all tests on a new machine mostly compiles. Packages are built without: each source still includes
# what it uses, which tests/static/includes looks at.

set(RSM_COMMON_HEADERS <algorithm> <array> <atomic> <cerrno> <chrono> <condition_variable> <cstddef> <cstdint>
    <cstdio> <cstdlib> <cstring> <functional> <iterator> <limits> <map> <memory> <mutex> <new> <optional> <set> <span>
    <sstream> <string> <string_view> <system_error> <thread> <tuple> <type_traits> <utility> <vector>)

# rsm_precompile(TARGET header...): the common headers and these, for sources in C++.
function(rsm_precompile target)
    if(NOT BUILD_TESTING)
        return()
    endif()
    foreach(header IN LISTS RSM_COMMON_HEADERS ARGN)
        string(REPLACE ">" "$<ANGLE-R>" header ${header})
        target_precompile_headers(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${header}>")
    endforeach()
    rsm_pch_for_ccache(${target})
endfunction()

# rsm_precompiled_as(TARGET OTHER): those of a target that is compiled with the same options.
function(rsm_precompiled_as target other)
    if(BUILD_TESTING)
        target_precompile_headers(${target} REUSE_FROM ${other})
        rsm_pch_for_ccache(${target})
    endif()
endfunction()

# ccache, which preprocesses first, can then remember what includes a precompiled header.
function(rsm_pch_for_ccache target)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
    elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
    endif()
endfunction()
