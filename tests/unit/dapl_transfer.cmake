# SPDX-License-Identifier: GPL-2.0
# Tests of transfers: the provider `rsm` with a wire and a kernel that are not there.
# From the archive the linker takes what the fakes do not define.
add_library(daplrsm-archive STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:daplrsm-objects>)
add_executable(dapl-transfer-tests
    dapl_transfer_bind_test.cpp
    dapl_transfer_completion_test.cpp
    dapl_transfer_fake.cpp
    dapl_transfer_hostile_test.cpp
    dapl_transfer_rdma_test.cpp
    dapl_transfer_send_test.cpp
    dapl_transfer_side.cpp
    dapl_transfer_srq_test.cpp
)
target_include_directories(dapl-transfer-tests PRIVATE
    $<TARGET_PROPERTY:daplrsm-objects,INTERFACE_INCLUDE_DIRECTORIES>)
target_link_libraries(dapl-transfer-tests PRIVATE
    daplrsm-archive dat GTest::gtest_main Threads::Threads)
gtest_discover_tests(dapl-transfer-tests TEST_PREFIX unit. DISCOVERY_TIMEOUT 60)
