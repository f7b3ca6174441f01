// SPDX-License-Identifier: GPL-2.0
// pthread_cancel(): librsm's functions are no cancellation points, but for those that wait.
#include "support/loopback.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <thread>

using namespace rsmtest;

namespace {

// A thread that has been cancelled already goes on to its next cancellation point. Returns whether
// that was behind `body`.
template <class Body>
bool survives_cancelled(const Body &body)
{
    bool finished = false;
    std::thread thread([&] {
        pthread_cancel(pthread_self());
        body();
        finished = true;
        pthread_testcancel();
        ADD_FAILURE() << "not cancelled at all";
    });
    thread.join();
    return finished;
}

} // namespace

TEST(Cancel, calls_that_make_and_end_handles_are_no_cancellation_points)
{
    EXPECT_TRUE(survives_cancelled([] {
        Controller loopback;
        Pages memory(1);
        ExportSegment segment(loopback, memory.data(), memory.size());
        ASSERT_EQ(segment.publish(), RSM_SUCCESS);
        ImportSegment connection(loopback, segment.id());
        ASSERT_EQ(connection.status(), RSM_SUCCESS);
        ASSERT_EQ(connection.init_barrier(), RSM_SUCCESS);
        EXPECT_EQ(connection.put64(0, 7), RSM_SUCCESS);
        EXPECT_EQ(memory.at(0), 7u);
        rsm_topology_t *topology = nullptr;
        EXPECT_EQ(rsm_get_interconnect_topology(&topology), RSM_SUCCESS);
        rsm_free_interconnect_topology(topology);
        EXPECT_EQ(rsm_intr_signal_wait(connection, 0), RSMERR_TIMEOUT);
    }));
}

// No lock of the library and nothing of the kernel's stays with a thread that ends in a wait.
TEST(Cancel, waits_are_cancellation_points)
{
    Controller loopback;
    Pages memory(1);
    ExportSegment segment(loopback, memory.data(), memory.size());
    ASSERT_EQ(segment.publish(), RSM_SUCCESS);
    EXPECT_FALSE(survives_cancelled([&] { rsm_intr_signal_wait(segment, -1); }));
    pollfd entry{};
    ASSERT_EQ(rsm_memseg_get_pollfd(segment, &entry), RSM_SUCCESS);
    EXPECT_FALSE(survives_cancelled([&] { rsm_intr_signal_wait_pollfd(&entry, 1, -1, nullptr); }));
    EXPECT_EQ(rsm_memseg_release_pollfd(segment), RSM_SUCCESS);
    ImportSegment connection(loopback, segment.id());
    ASSERT_EQ(connection.status(), RSM_SUCCESS);
    EXPECT_EQ(rsm_intr_signal_post(connection, 0), RSM_SUCCESS);
    EXPECT_EQ(rsm_intr_signal_wait(segment, 0), RSM_SUCCESS);
}
