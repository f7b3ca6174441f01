# SPDX-License-Identifier: GPL-2.0
# Tests of libdat's provider `rsm`, as far as they need no kernel.

# Handles, events and IAs, with a device that is not there.
add_executable(daplrsm-event-tests
    daplrsm_event_close_test.cpp
    daplrsm_event_cno_test.cpp
    daplrsm_event_evd_test.cpp
    daplrsm_event_fake.cpp
    daplrsm_event_feeder_test.cpp
    daplrsm_event_handle_test.cpp
    daplrsm_event_queue_test.cpp
    daplrsm_event_wait_test.cpp
)
target_precompile_headers(daplrsm-event-tests REUSE_FROM unit-tests)
target_link_libraries(daplrsm-event-tests PRIVATE daplrsm-archive GTest::gtest_main Threads::Threads)
gtest_discover_tests(daplrsm-event-tests TEST_PREFIX unit. DISCOVERY_TIMEOUT 60)

# All else.
file(GLOB daplrsm_unit_tests CONFIGURE_DEPENDS daplrsm_*_test.cpp)
list(FILTER daplrsm_unit_tests EXCLUDE REGEX /daplrsm_event_)
add_executable(daplrsm-unit-tests ${daplrsm_unit_tests})
target_precompile_headers(daplrsm-unit-tests REUSE_FROM unit-tests)
target_link_libraries(daplrsm-unit-tests PRIVATE
    daplrsm-archive dat GTest::gtest_main Threads::Threads)
gtest_discover_tests(daplrsm-unit-tests TEST_PREFIX unit. DISCOVERY_TIMEOUT 60)
