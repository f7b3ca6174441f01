# SPDX-License-Identifier: GPL-2.0
# The checker of what uDAPL promises about order, and programs that are executed without any library.
add_executable(order-tests order_check_test.cpp order_simulator.cpp)
target_precompile_headers(order-tests REUSE_FROM unit-tests)
target_link_libraries(order-tests PRIVATE order-model GTest::gtest_main Threads::Threads)
gtest_discover_tests(order-tests TEST_PREFIX unit. DISCOVERY_TIMEOUT 60)
