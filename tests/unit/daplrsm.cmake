# SPDX-License-Identifier: GPL-2.0
# Tests of parts of libdat's provider `rsm`.
file(GLOB daplrsm_unit_tests CONFIGURE_DEPENDS daplrsm_*_test.cpp)
add_executable(daplrsm-unit-tests ${daplrsm_unit_tests})
target_link_libraries(daplrsm-unit-tests PRIVATE
    daplrsm-objects dat GTest::gtest_main Threads::Threads)
gtest_discover_tests(daplrsm-unit-tests TEST_PREFIX unit. DISCOVERY_TIMEOUT 60)
