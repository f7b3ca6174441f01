// SPDX-License-Identifier: GPL-2.0
// Barriers: B1 to B6.
#include "support/loopback.hpp"

#include <cstring>
#include <thread>

using namespace rsmtest;

namespace {

using Barrier = PublishedTest;
using Function = int (*)(rsmapi_barrier_t *);

constexpr Function all[] = {rsm_memseg_import_open_barrier, rsm_memseg_import_order_barrier,
                            rsm_memseg_import_close_barrier, rsm_memseg_import_destroy_barrier};

int open_it(rsmapi_barrier_t *barrier)
{
    return rsm_memseg_import_open_barrier(barrier);
}
int order(rsmapi_barrier_t *barrier)
{
    return rsm_memseg_import_order_barrier(barrier);
}
int close_it(rsmapi_barrier_t *barrier)
{
    return rsm_memseg_import_close_barrier(barrier);
}
int destroy(rsmapi_barrier_t *barrier)
{
    return rsm_memseg_import_destroy_barrier(barrier);
}

} // namespace

TEST_F(Barrier, B1_null_and_uninitialised)
{
    rsmapi_barrier_t zeroed{};
    for (const Function function : all) {
        EXPECT_EQ(function(nullptr), RSMERR_BAD_BARRIER_PTR);
        EXPECT_EQ(function(&zeroed), RSMERR_BARRIER_UNINITIALIZED);
    }
    ImportSegment h(ctl, seg.id());
    rsmapi_barrier_t barrier{};
    EXPECT_EQ(rsm_memseg_import_init_barrier(nullptr, RSM_BAR_DEFAULT, nullptr),
              RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(rsm_memseg_import_init_barrier(nullptr, RSM_BAR_DEFAULT, &barrier),
              RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(rsm_memseg_import_init_barrier(h, RSM_BAR_DEFAULT, nullptr), RSMERR_BAD_BARRIER_PTR);
    EXPECT_EQ(open_it(&barrier), RSMERR_BARRIER_UNINITIALIZED);
}

TEST_F(Barrier, B1_any_type_and_old_contents)
{
    ImportSegment h(ctl, seg.id());
    for (const rsm_barrier_type_t type : {RSM_BARRIER_SEGMENT, RSM_BARRIER_NODE,
                                          RSM_BARRIER_SEGMENT_THREAD, RSM_BARRIER_NODE_THREAD}) {
        rsmapi_barrier_t barrier;
        std::memset(&barrier, 0xa5, sizeof(barrier));
        EXPECT_EQ(rsm_memseg_import_init_barrier(h, type, &barrier), RSM_SUCCESS);
        EXPECT_EQ(open_it(&barrier), RSM_SUCCESS);
        EXPECT_EQ(close_it(&barrier), RSM_SUCCESS);
        EXPECT_EQ(destroy(&barrier), RSM_SUCCESS);
    }
}

TEST_F(Barrier, B2_close_and_order_without_open)
{
    ImportSegment h(ctl, seg.id());
    ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
    for (int round = 0; round < 2; round++) {
        EXPECT_EQ(close_it(h.barrier()), RSMERR_BARRIER_NOT_OPENED);
        EXPECT_EQ(order(h.barrier()), RSMERR_BARRIER_NOT_OPENED);
        EXPECT_EQ(open_it(h.barrier()), RSM_SUCCESS);
        EXPECT_EQ(order(h.barrier()), RSM_SUCCESS);
        EXPECT_EQ(order(h.barrier()), RSM_SUCCESS) << "order keeps it open";
        EXPECT_EQ(open_it(h.barrier()), RSM_SUCCESS) << "open restarts the interval";
        EXPECT_EQ(close_it(h.barrier()), RSM_SUCCESS);
    }
}

TEST_F(Barrier, B3_scope)
{
    ImportSegment h(ctl, seg.id());
    ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
    ASSERT_EQ(h.explicit_mode(), RSM_SUCCESS);
    EXPECT_EQ(open_it(h.barrier()), RSM_SUCCESS);
    EXPECT_EQ(h.put64(0, 1), RSM_SUCCESS);
    EXPECT_EQ(order(h.barrier()), RSM_SUCCESS);
    EXPECT_EQ(h.put64(8, 2), RSM_SUCCESS);
    EXPECT_EQ(close_it(h.barrier()), RSM_SUCCESS);
    EXPECT_EQ(memory.at(0), 1u);
    EXPECT_EQ(memory.at(8), 2u);
}

TEST_F(Barrier, B3_order_of_visibility)
{
    // The flag may never be seen before the data it announces.
    constexpr std::uint64_t rounds = 20000;
    std::thread importer([&] {
        ImportSegment h(ctl, seg.id());
        ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
        ASSERT_EQ(h.explicit_mode(), RSM_SUCCESS);
        for (std::uint64_t i = 1; i <= rounds; i++) {
            ASSERT_EQ(open_it(h.barrier()), RSM_SUCCESS);
            ASSERT_EQ(h.put64(0, i), RSM_SUCCESS);
            ASSERT_EQ(order(h.barrier()), RSM_SUCCESS);
            ASSERT_EQ(h.put64(static_cast<off_t>(page_size()), i), RSM_SUCCESS);
            ASSERT_EQ(close_it(h.barrier()), RSM_SUCCESS);
        }
    });
    std::uint64_t flag = 0;
    const bool finished = eventually([&] {
        for (int i = 0; i < 1000 && flag < rounds; i++) {
            flag = __atomic_load_n(memory.pointer(page_size()), __ATOMIC_ACQUIRE);
            const std::uint64_t data = __atomic_load_n(memory.pointer(), __ATOMIC_ACQUIRE);
            if (data < flag)
                ADD_FAILURE() << "flag " << flag << " before data " << data;
        }
        return flag == rounds || HasFailure();
    });
    importer.join();
    EXPECT_TRUE(finished);
}

TEST_F(Barrier, B3_implicit_put_leaves_the_programs_barrier_alone)
{
    ImportSegment h(ctl, seg.id());
    ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
    EXPECT_EQ(h.put64(0, 1), RSM_SUCCESS);
    EXPECT_EQ(close_it(h.barrier()), RSMERR_BARRIER_NOT_OPENED) << "a put opened it";
    ASSERT_EQ(open_it(h.barrier()), RSM_SUCCESS);
    EXPECT_EQ(h.put64(0, 2), RSM_SUCCESS);
    EXPECT_EQ(close_it(h.barrier()), RSM_SUCCESS) << "a put closed it";
}

TEST_F(Barrier, B4_destroy_then_use)
{
    ImportSegment h(ctl, seg.id());
    ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
    ASSERT_EQ(open_it(h.barrier()), RSM_SUCCESS);
    EXPECT_EQ(destroy(h.barrier()), RSM_SUCCESS) << "an open one can be destroyed";
    for (const Function function : all)
        EXPECT_EQ(function(h.barrier()), RSMERR_BARRIER_UNINITIALIZED);
    EXPECT_EQ(h.put64(0, 1), RSMERR_BARRIER_UNINITIALIZED);
    ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
    EXPECT_EQ(h.put64(0, 1), RSM_SUCCESS);
    EXPECT_EQ(close_it(h.barrier()), RSMERR_BARRIER_NOT_OPENED);
}

TEST_F(Barrier, B4_initialised_twice)
{
    ImportSegment h(ctl, seg.id());
    for (int i = 0; i < 1000; i++)
        ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
    EXPECT_EQ(h.put64(0, 1), RSM_SUCCESS);
    EXPECT_EQ(destroy(h.barrier()), RSM_SUCCESS);
}

TEST_F(Barrier, B5_mode)
{
    ImportSegment h(ctl, seg.id());
    rsm_barrier_mode_t mode = RSM_BARRIER_MODE_EXPLICIT;
    EXPECT_EQ(rsm_memseg_import_get_mode(h, &mode), RSM_SUCCESS);
    EXPECT_EQ(mode, RSM_BARRIER_MODE_IMPLICIT);
    for (const rsm_barrier_mode_t wanted : {RSM_BARRIER_MODE_EXPLICIT, RSM_BARRIER_MODE_IMPLICIT}) {
        EXPECT_EQ(rsm_memseg_import_set_mode(h, wanted), RSM_SUCCESS);
        EXPECT_EQ(rsm_memseg_import_get_mode(h, &mode), RSM_SUCCESS);
        EXPECT_EQ(mode, wanted);
        for (const int bad : {2, -1, 0x7fffffff}) {
            EXPECT_EQ(rsm_memseg_import_set_mode(h, static_cast<rsm_barrier_mode_t>(bad)),
                      RSMERR_BAD_MODE);
            EXPECT_EQ(rsm_memseg_import_get_mode(h, &mode), RSM_SUCCESS);
            EXPECT_EQ(mode, wanted) << "the failed call changed the mode";
        }
    }
    EXPECT_EQ(rsm_memseg_import_set_mode(nullptr, static_cast<rsm_barrier_mode_t>(9)),
              RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(rsm_memseg_import_get_mode(nullptr, nullptr), RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(rsm_memseg_import_get_mode(h, nullptr), RSMERR_BAD_ADDR);
}

TEST_F(Barrier, B5_mode_belongs_to_the_handle)
{
    ImportSegment first(ctl, seg.id());
    ImportSegment second(ctl, seg.id());
    ASSERT_EQ(first.explicit_mode(), RSM_SUCCESS);
    EXPECT_EQ(first.put64(0, 1), RSM_SUCCESS);
    EXPECT_EQ(second.put64(0, 1), RSMERR_BARRIER_UNINITIALIZED);
}

TEST_F(Barrier, B6_two_barriers_on_one_segment)
{
    ImportSegment h(ctl, seg.id());
    rsmapi_barrier_t other{};
    ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
    ASSERT_EQ(rsm_memseg_import_init_barrier(h, RSM_BAR_DEFAULT, &other), RSM_SUCCESS);
    EXPECT_EQ(open_it(h.barrier()), RSM_SUCCESS);
    EXPECT_EQ(close_it(&other), RSMERR_BARRIER_NOT_OPENED) << "each has its own state";
    EXPECT_EQ(open_it(&other), RSM_SUCCESS);
    EXPECT_EQ(close_it(h.barrier()), RSM_SUCCESS);
    EXPECT_EQ(close_it(&other), RSM_SUCCESS);
    // The first one is not current: destroying it leaves put and get working.
    EXPECT_EQ(destroy(h.barrier()), RSM_SUCCESS);
    EXPECT_EQ(h.put64(0, 1), RSM_SUCCESS);
    EXPECT_EQ(destroy(&other), RSM_SUCCESS);
    EXPECT_EQ(h.put64(0, 1), RSMERR_BARRIER_UNINITIALIZED);
}

TEST_F(Barrier, B6_destroying_the_current_one)
{
    ImportSegment h(ctl, seg.id());
    rsmapi_barrier_t other{};
    ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
    ASSERT_EQ(rsm_memseg_import_init_barrier(h, RSM_BAR_DEFAULT, &other), RSM_SUCCESS);
    EXPECT_EQ(destroy(&other), RSM_SUCCESS);
    EXPECT_EQ(h.put64(0, 1), RSMERR_BARRIER_UNINITIALIZED);
    EXPECT_EQ(open_it(h.barrier()), RSM_SUCCESS) << "the other barrier lives on";
    EXPECT_EQ(close_it(h.barrier()), RSM_SUCCESS);
}
