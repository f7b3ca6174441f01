# SPDX-License-Identifier: GPL-2.0
# Tests of libdat's provider `verbs`, as far as they need no device.
if(NOT TARGET daplverbs-objects)
    return()
endif()
file(GLOB daplverbs_unit_tests CONFIGURE_DEPENDS daplverbs_*_test.cpp)
add_executable(daplverbs-unit-tests ${daplverbs_unit_tests})
target_precompile_headers(daplverbs-unit-tests REUSE_FROM unit-tests)
target_link_libraries(daplverbs-unit-tests PRIVATE
    daplverbs-archive dat GTest::gtest_main Threads::Threads)
gtest_discover_tests(daplverbs-unit-tests TEST_PREFIX unit. DISCOVERY_TIMEOUT 60)
