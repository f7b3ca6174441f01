// SPDX-License-Identifier: MIT
// Events that are consumed without the kernel's help, and waiting for several.
#include <array>
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

#include "fake_segment.h"

namespace {

using rsm::test::FakeSegment;

TEST(Event, EachIsConsumedOnce) {
    FakeSegment segment;
    EXPECT_EQ(rsm_intr_signal_wait(segment.handle(), 0), RSMERR_TIMEOUT);
    segment.post();
    segment.post();
    EXPECT_EQ(rsm_intr_signal_wait(segment.handle(), 0), RSM_SUCCESS);
    EXPECT_EQ(rsm_intr_signal_wait(segment.handle(), -1), RSM_SUCCESS);
    EXPECT_EQ(rsm_intr_signal_wait(segment.handle(), 0), RSMERR_TIMEOUT);
}

TEST(Event, EachGoesToOneOfManyWaiters) {
    constexpr int posts = 5000;
    FakeSegment segment;
    for (int i = 0; i < posts; ++i)
        segment.post();
    std::atomic<int> consumed = 0;
    std::array<std::thread, 4> threads;
    for (auto &thread : threads)
        thread = std::thread([&] {
            while (rsm_intr_signal_wait(segment.handle(), 0) == RSM_SUCCESS)
                ++consumed;
        });
    for (auto &thread : threads)
        thread.join();
    EXPECT_EQ(consumed, posts);
}

TEST(Event, PollfdReferences) {
    FakeSegment segment;
    pollfd first{-1, 0, 77};
    pollfd second{};
    EXPECT_EQ(rsm_memseg_get_pollfd(segment.handle(), nullptr), RSMERR_BAD_ADDR);
    EXPECT_EQ(rsm_memseg_get_pollfd(segment.handle(), &first), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_get_pollfd(segment.handle(), &second), RSM_SUCCESS);
    EXPECT_EQ(first.fd, second.fd);
    EXPECT_EQ(first.events, POLLRDNORM);
    EXPECT_EQ(first.revents, 77);
    EXPECT_EQ(rsm_memseg_import_disconnect(segment.handle()), RSMERR_POLLFD_IN_USE);
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(rsm_memseg_release_pollfd(segment.handle()), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_disconnect(segment.handle()), RSM_SUCCESS);
}

TEST(Event, WaitPollfdRefusesMoreEntriesThanPollTakes) {
    if constexpr (sizeof(nfds_t) == sizeof(unsigned))
        GTEST_SKIP() << "poll() takes all that there can be";
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    ASSERT_EQ(::write(pipe[1], "x", 1), 1);
    pollfd entry{pipe[0], POLLIN, 0};
    constexpr auto beyond = static_cast<nfds_t>(std::uint64_t{1} << 32);
    for (const nfds_t count : {beyond, beyond | 1, ~nfds_t{0}}) {
        int ready = -1;
        EXPECT_EQ(rsm_intr_signal_wait_pollfd(&entry, count, 0, &ready), RSMERR_BAD_ARGS_ERRORS);
        EXPECT_EQ(ready, 0);
    }
    for (const int end : pipe)
        ::close(end);
}

// The memory file behind a fake segment is always ready.
TEST(Event, WaitPollfdConsumesAndCounts) {
    FakeSegment segment;
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    ASSERT_EQ(::write(pipe[1], "x", 1), 1);
    std::array<pollfd, 3> fds{{{}, {pipe[0], POLLIN, 0}, {-1, POLLIN, 0}}};
    ASSERT_EQ(rsm_memseg_get_pollfd(segment.handle(), fds.data()), RSM_SUCCESS);
    segment.post();

    int ready = -1;
    EXPECT_EQ(rsm_intr_signal_wait_pollfd(fds.data(), fds.size(), 0, &ready), RSM_SUCCESS);
    EXPECT_EQ(ready, 2);
    EXPECT_EQ(fds[0].revents, POLLRDNORM);
    EXPECT_EQ(fds[1].revents, POLLIN);

    // The event is gone, the pipe still readable.
    EXPECT_EQ(rsm_intr_signal_wait_pollfd(fds.data(), fds.size(), 0, &ready), RSM_SUCCESS);
    EXPECT_EQ(ready, 1);
    EXPECT_EQ(fds[0].revents, 0);

    // A descriptor without a reference is like any other.
    rsm_memseg_release_pollfd(segment.handle());
    segment.post();
    EXPECT_EQ(rsm_intr_signal_wait_pollfd(fds.data(), 1, 0, nullptr), RSM_SUCCESS);
    EXPECT_EQ(rsm_intr_signal_wait(segment.handle(), 0), RSM_SUCCESS);
    ::close(pipe[0]);
    ::close(pipe[1]);
}

TEST(Event, WaitPollfdGoesOnWaitingAfterALostRace) {
    FakeSegment segment;
    pollfd entry{};
    ASSERT_EQ(rsm_memseg_get_pollfd(segment.handle(), &entry), RSM_SUCCESS);
    std::thread poster([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        segment.post();
    });
    EXPECT_EQ(rsm_intr_signal_wait_pollfd(&entry, 1, -1, nullptr), RSM_SUCCESS);
    poster.join();
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(rsm_intr_signal_wait_pollfd(&entry, 1, 30, nullptr), RSMERR_TIMEOUT);
    EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(30));
    rsm_memseg_release_pollfd(segment.handle());
}

TEST(Event, WaitPollfdErrors) {
    int ready = 9;
    EXPECT_EQ(rsm_intr_signal_wait_pollfd(nullptr, 0, 10, &ready), RSMERR_TIMEOUT);
    EXPECT_EQ(ready, 0);
    ready = 9;
    EXPECT_EQ(rsm_intr_signal_wait_pollfd(nullptr, 1, 0, &ready), RSMERR_BAD_ADDR);
    EXPECT_EQ(ready, 0);
    // More entries than the process may have descriptors.
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit small{64, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &small), 0);
    std::array<pollfd, 65> many{};
    many.fill({-1, POLLIN, 0});
    EXPECT_EQ(rsm_intr_signal_wait_pollfd(many.data(), many.size(), 0, nullptr),
              RSMERR_BAD_ARGS_ERRORS);
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

} // namespace
