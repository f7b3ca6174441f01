// SPDX-License-Identifier: MIT
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <optional>

#include "fake_segment.h"

namespace {

using rsm::test::FakeSegment;

class Barrier : public testing::Test {
  protected:
    void SetUp() override {
        // Earlier contents of the object do not matter.
        std::memset(&barrier, 0xa5, sizeof(barrier));
        ASSERT_EQ(rsm_memseg_import_init_barrier(segment.handle(), RSM_BAR_DEFAULT, &barrier),
                  RSM_SUCCESS);
    }
    int put() {
        uint64_t value = 1;
        return rsm_memseg_import_put64(segment.handle(), 0, &value, 1);
    }

    FakeSegment segment;
    rsmapi_barrier_t barrier;
};

TEST_F(Barrier, OpensOrdersAndCloses) {
    EXPECT_EQ(rsm_memseg_import_close_barrier(&barrier), RSMERR_BARRIER_NOT_OPENED);
    EXPECT_EQ(rsm_memseg_import_order_barrier(&barrier), RSMERR_BARRIER_NOT_OPENED);
    EXPECT_EQ(rsm_memseg_import_open_barrier(&barrier), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_open_barrier(&barrier), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_order_barrier(&barrier), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_order_barrier(&barrier), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_close_barrier(&barrier), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_close_barrier(&barrier), RSMERR_BARRIER_NOT_OPENED);
}

TEST_F(Barrier, NeedsAnObject) {
    EXPECT_EQ(rsm_memseg_import_init_barrier(segment.handle(), RSM_BAR_DEFAULT, nullptr),
              RSMERR_BAD_BARRIER_PTR);
    EXPECT_EQ(rsm_memseg_import_init_barrier(segment.handle(), static_cast<rsm_barrier_type_t>(9),
                                             &barrier),
              RSM_SUCCESS);
}

TEST_F(Barrier, IsUninitialisedOnceDestroyed) {
    EXPECT_EQ(rsm_memseg_import_open_barrier(&barrier), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_destroy_barrier(&barrier), RSM_SUCCESS);
    for (auto *function : {rsm_memseg_import_open_barrier, rsm_memseg_import_order_barrier,
                           rsm_memseg_import_close_barrier, rsm_memseg_import_destroy_barrier})
        EXPECT_EQ(function(&barrier), RSMERR_BARRIER_UNINITIALIZED);
}

TEST_F(Barrier, TellsOfABrokenConnection) {
    EXPECT_EQ(rsm_memseg_import_open_barrier(&barrier), RSM_SUCCESS);
    segment.abort();
    EXPECT_EQ(rsm_memseg_import_order_barrier(&barrier), RSMERR_CONN_ABORTED);
    EXPECT_EQ(rsm_memseg_import_close_barrier(&barrier), RSMERR_CONN_ABORTED);
    EXPECT_EQ(rsm_memseg_import_close_barrier(&barrier), RSMERR_BARRIER_NOT_OPENED);
    EXPECT_EQ(rsm_memseg_import_open_barrier(&barrier), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_close_barrier(&barrier), RSMERR_CONN_ABORTED);
}

TEST_F(Barrier, LatestIsTheCurrentOne) {
    rsmapi_barrier_t other;
    ASSERT_EQ(rsm_memseg_import_init_barrier(segment.handle(), RSM_BAR_DEFAULT, &other),
              RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_destroy_barrier(&barrier), RSM_SUCCESS);
    EXPECT_EQ(put(), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_destroy_barrier(&other), RSM_SUCCESS);
    EXPECT_EQ(put(), RSMERR_BARRIER_UNINITIALIZED);
}

TEST_F(Barrier, IsNotDisturbedByImplicitMode) {
    EXPECT_EQ(rsm_memseg_import_open_barrier(&barrier), RSM_SUCCESS);
    EXPECT_EQ(put(), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_close_barrier(&barrier), RSM_SUCCESS);
    EXPECT_EQ(put(), RSM_SUCCESS);
}

TEST_F(Barrier, OutlivesItsSegmentHarmlessly) {
    EXPECT_EQ(rsm_memseg_import_open_barrier(&barrier), RSM_SUCCESS);
    ASSERT_EQ(rsm_memseg_import_disconnect(segment.handle()), RSM_SUCCESS);
    for (auto *function : {rsm_memseg_import_open_barrier, rsm_memseg_import_order_barrier,
                           rsm_memseg_import_close_barrier, rsm_memseg_import_destroy_barrier})
        EXPECT_EQ(function(&barrier), RSMERR_BAD_SEG_HNDL);
    // Nor is it taken for a barrier of the segments that come after.
    for (int next = 0; next < 600; ++next) {
        const FakeSegment another;
        ASSERT_EQ(rsm_memseg_import_close_barrier(&barrier), RSMERR_BAD_SEG_HNDL);
    }
}

} // namespace
