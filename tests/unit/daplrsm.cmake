# SPDX-License-Identifier: GPL-2.0
# Tests of libdat's provider `rsm`, as far as they need no kernel.
set(daplrsm ${PROJECT_SOURCE_DIR}/lib/libdat/providers/rsm)

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
    ${daplrsm}/api/event_cno.cpp
    ${daplrsm}/api/event_evd.cpp
    ${daplrsm}/api/event_use.cpp
    ${daplrsm}/api/ia.cpp
    ${daplrsm}/api/ia_pz.cpp
    ${daplrsm}/api/ia_query.cpp
    ${daplrsm}/connect/nodes.cpp
    ${daplrsm}/core/ia.cpp
    ${daplrsm}/core/ia_close.cpp
    ${daplrsm}/core/lock.cpp
    ${daplrsm}/core/lock_pool.cpp
    ${daplrsm}/core/object.cpp
    ${daplrsm}/core/options.cpp
    ${daplrsm}/event/cno.cpp
    ${daplrsm}/event/cno_agent.cpp
    ${daplrsm}/event/evd.cpp
    ${daplrsm}/event/evd_wait.cpp
    ${daplrsm}/event/event_queue.cpp
    ${daplrsm}/event/feeders.cpp
    ${daplrsm}/event/futex.cpp
    ${daplrsm}/event/spin.cpp
    ${daplrsm}/memory/pz.cpp
    ${daplrsm}/wire/alarms.cpp
    ${daplrsm}/wire/engine.cpp
    ${daplrsm}/wire/handle_fd.cpp
    ${daplrsm}/wire/watches.cpp
)
target_include_directories(daplrsm-event-tests PRIVATE
    ${daplrsm} ${PROJECT_SOURCE_DIR}/lib/libdat/include ${PROJECT_SOURCE_DIR}/include/uapi)
target_link_libraries(daplrsm-event-tests PRIVATE GTest::gtest_main Threads::Threads)
gtest_discover_tests(daplrsm-event-tests TEST_PREFIX unit. DISCOVERY_TIMEOUT 60)

# All else.
file(GLOB daplrsm_unit_tests CONFIGURE_DEPENDS daplrsm_*_test.cpp)
list(FILTER daplrsm_unit_tests EXCLUDE REGEX /daplrsm_event_)
add_executable(daplrsm-unit-tests ${daplrsm_unit_tests})
target_link_libraries(daplrsm-unit-tests PRIVATE
    daplrsm-objects dat GTest::gtest_main Threads::Threads)
gtest_discover_tests(daplrsm-unit-tests TEST_PREFIX unit. DISCOVERY_TIMEOUT 60)
