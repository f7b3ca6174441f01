// SPDX-License-Identifier: GPL-2.0
// <rsm/rsm.hpp>: events, by waiting and by poll().
#include "cpp/cpp.hpp"

#include <array>
#include <chrono>
#include <future>
#include <poll.h>
#include <pthread.h>
#include <thread>

using namespace rsmtest;
using namespace std::chrono_literals;

namespace {

using CppEvents = CppTest;

} // namespace

TEST_F(CppEvents, to_the_exporter_and_to_importers)
{
    EXPECT_FALSE(segment.wait_for(0ms));
    connection.post();
    segment.wait();
    EXPECT_FALSE(segment.wait_for(-1ms)) << "consumed; a negative limit is none at all";

    segment.post();
    EXPECT_TRUE(connection.wait_for(1h));
    EXPECT_EQ(connection.try_wait_for(1us), rsm::Errc::timeout);
    EXPECT_EQ(connection.try_wait_for(0s), std::errc::timed_out);
}

TEST_F(CppEvents, events_that_do_not_accumulate)
{
    connection.post();
    connection.post(rsm::Post::unless_pending);
    EXPECT_TRUE(segment.wait_for(1h));
    EXPECT_FALSE(segment.wait_for(0s));
}

TEST_F(CppEvents, a_waiter_is_woken_by_another_thread)
{
    std::jthread poster([this] { connection.post(); });
    EXPECT_TRUE(segment.wait_for(1h));
}

TEST_F(CppEvents, a_limit_is_no_shorter_than_asked_for)
{
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(segment.wait_for(20'500us));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 20'500us);
}

TEST_F(CppEvents, a_transfer_that_ends_with_an_event)
{
    const std::array pieces{rsm::piece(memory.bytes().first(8), 64)};
    connection.putv(pieces, rsm::Signal::post);
    EXPECT_TRUE(segment.wait_for(1h));
}

TEST_F(CppEvents, poll_finds_what_wait_consumes)
{
    const auto descriptor = segment.event_descriptor();
    pollfd entry = descriptor.entry();
    EXPECT_EQ(::poll(&entry, 1, 0), 0);
    connection.post();
    EXPECT_EQ(::poll(&entry, 1, -1), 1);
    EXPECT_EQ(entry.fd, descriptor.fd());
    EXPECT_TRUE(segment.wait_for(0s));
    EXPECT_EQ(::poll(&entry, 1, 0), 0);
}

TEST_F(CppEvents, waiting_for_any_of_several)
{
    const auto exporter = segment.event_descriptor();
    auto importer = connection.event_descriptor();
    const auto moved = std::move(importer);
    std::array entries{exporter.entry(), moved.entry()};
    EXPECT_EQ(rsm::wait_any(entries, 1ms), 0U);
    segment.post();
    EXPECT_EQ(rsm::wait_any(entries, 10s), 1U);
    EXPECT_EQ(entries[0].revents, 0);
    EXPECT_NE(entries[1].revents & POLLRDNORM, 0);
    EXPECT_FALSE(connection.wait_for(0s)) << "consumed";
    connection.post();
    EXPECT_EQ(rsm::wait_any(entries), 1U);
    EXPECT_NE(entries[0].revents & POLLRDNORM, 0);
}

// An event that has come is not lost with the connection; then there is nothing to wait for.
TEST_F(CppEvents, the_end_of_a_connection_ends_a_wait)
{
    segment.post();
    std::jthread waiter([this] {
        connection.wait();
        EXPECT_EQ(thrown_by([this] { connection.wait(); }), RSMERR_CONN_ABORTED);
        EXPECT_EQ(connection.try_wait_for(1h), rsm::Errc::conn_aborted);
    });
    segment.unpublish();
}

TEST_F(CppEvents, a_thread_that_waits_can_be_cancelled)
{
    for (const bool any : {false, true}) {
        std::promise<pthread_t> waits;
        std::jthread waiter([&] {
            waits.set_value(pthread_self());
            auto descriptor = segment.event_descriptor();
            std::array entries{descriptor.entry()};
            if (any)
                (void)rsm::wait_any(entries, 1h);
            else
                segment.wait();
            ADD_FAILURE() << "went on";
        });
        ASSERT_EQ(pthread_cancel(waits.get_future().get()), 0);
    }
    connection.post();
    EXPECT_TRUE(segment.wait_for(1h)) << "a lock stayed behind";
}

TEST_F(CppEvents, the_end_of_a_connection)
{
    EXPECT_FALSE(connection.aborted());
    segment.unpublish();
    EXPECT_TRUE(connection.aborted());
    EXPECT_EQ(connection.try_post(), rsm::Errc::conn_aborted);
    EXPECT_EQ(connection.try_put(0, std::array{1}), std::errc::connection_aborted);
}
