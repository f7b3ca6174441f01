# SPDX-License-Identifier: GPL-2.0
# Tests of libdat's interface: headers, layouts, dispatch, dat_strerror, exports.
add_executable(dat-interface-tests
    dispatch_test.cpp
    layout_test.cpp
    prototypes_test.cpp
    strerror_test.cpp
    values_test.cpp
)
target_precompile_headers(dat-interface-tests REUSE_FROM unit-tests)
target_link_libraries(dat-interface-tests PRIVATE
    dat-objects GTest::gtest_main Threads::Threads ${CMAKE_DL_LIBS})
gtest_discover_tests(dat-interface-tests TEST_PREFIX unit. DISCOVERY_TIMEOUT 60)

set(dat_include ${PROJECT_SOURCE_DIR}/lib/libdat/include)
add_compile_test(unit.dat-headers
    ${CMAKE_CURRENT_SOURCE_DIR}/compile-headers
    ${CMAKE_CURRENT_SOURCE_DIR}/every_name.c ${dat_include})
add_test(NAME unit.dat-symbols COMMAND
    ${CMAKE_CURRENT_SOURCE_DIR}/../compare-symbols
    $<TARGET_FILE:dat> libdat.so.1 DAT_1.2:72
    ${dat_include}/dat/udat.h ${dat_include}/dat/dat_functions.h ${dat_include}/dat/dat_registry.h)
