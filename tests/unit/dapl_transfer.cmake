# SPDX-License-Identifier: GPL-2.0
# Tests of transfers: the provider `rsm` with a wire and a kernel that are not there.
add_executable(dapl-transfer-tests
    dapl_transfer_bind_test.cpp
    dapl_transfer_completion_test.cpp
    dapl_transfer_fake.cpp
    dapl_transfer_gone_test.cpp
    dapl_transfer_hostile_test.cpp
    dapl_transfer_limits_test.cpp
    dapl_transfer_opens_test.cpp
    dapl_transfer_order_test.cpp
    dapl_transfer_rdma_test.cpp
    dapl_transfer_send_test.cpp
    dapl_transfer_side.cpp
    dapl_transfer_srq_test.cpp
)
target_precompile_headers(dapl-transfer-tests REUSE_FROM unit-tests)
target_link_libraries(dapl-transfer-tests PRIVATE
    daplrsm-archive dat order-model GTest::gtest_main Threads::Threads)
gtest_discover_tests(dapl-transfer-tests TEST_PREFIX unit. DISCOVERY_TIMEOUT 60)
