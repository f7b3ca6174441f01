# SPDX-License-Identifier: GPL-2.0
# rsmperf, as far as it measures nothing: what it reads and what it reports.
if(NOT TARGET rsmperf-reports)
    return()
endif()
add_executable(rsmperf-unit-tests rsmperf_units_test.cpp rsmperf_statistics_test.cpp
    rsmperf_report_test.cpp)
target_precompile_headers(rsmperf-unit-tests REUSE_FROM unit-tests)
target_link_libraries(rsmperf-unit-tests PRIVATE
    rsmperf-reports GTest::gmock GTest::gtest_main Threads::Threads)
gtest_discover_tests(rsmperf-unit-tests TEST_PREFIX unit. DISCOVERY_TIMEOUT 60)
