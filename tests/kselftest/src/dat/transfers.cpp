// SPDX-License-Identifier: GPL-2.0
// Sends, receives, RDMA: data, order, flags, completions (udapl-functions.md section 7).
#include "dat/support/side.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>
#include <vector>

using namespace rsmtest;
using namespace rsmtest::dat;
using namespace std::chrono_literals;

namespace {

class Transfers : public testing::Test {
protected:
    void SetUp() override { b.accept_from(a); }

    static void fill(const Side &side, std::size_t offset, std::size_t size, unsigned seed)
    {
        for (std::size_t i = 0; i < size; i++)
            side.memory.start[offset + i] = static_cast<std::byte>(seed * 31 + i * 7);
    }
    static bool holds(const Side &side, std::size_t offset, std::size_t size, unsigned seed)
    {
        for (std::size_t i = 0; i < size; i++)
            if (side.memory.start[offset + i] != static_cast<std::byte>(seed * 31 + i * 7))
                return false;
        return true;
    }

    Side a;
    Side b;
};

// One EVD shows the order of all events of `a`.
class TransfersInOrder : public Transfers {
protected:
    void SetUp() override
    {
        a.use_one_evd();
        Transfers::SetUp();
    }
};

// Posts until there is a place in the queue: a device needs time for what it was given.
template <class Post>
bool when_there_is_room(Post post)
{
    const Waiting waiting("a place in a queue");
    DAT_RETURN result = post();
    while (DAT_GET_TYPE(result) == DAT_INSUFFICIENT_RESOURCES)
        result = post();
    return result == DAT_SUCCESS;
}

} // namespace

TEST_F(Transfers, send_arrives_whole)
{
    for (const std::size_t size : {0UL, 1UL, 7UL, 8UL, 64UL, 1000UL, 4096UL, 20000UL}) {
        fill(a, 0, size, 3);
        EXPECT_OK(b.receive(100, 30000, size));
        EXPECT_OK(a.send(0, size, size + 1));
        EXPECT_EQ(expect_completion(b.receives, size), size);
        EXPECT_EQ(expect_completion(a.requests, size + 1), size);
        EXPECT_TRUE(holds(b, 100, size, 3)) << size;
    }
}

TEST_F(Transfers, zero_segments_with_null_vector)
{
    EXPECT_OK(dat_ep_post_recv(b.ep, 0, nullptr, cookie(1), DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_OK(dat_ep_post_send(a.ep, 0, nullptr, cookie(2), DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_EQ(expect_completion(b.receives, 1), 0U);
    EXPECT_EQ(expect_completion(a.requests, 2), 0U);
}

TEST_F(Transfers, vectors_are_filled_in_order)
{
    DAT_LMR_TRIPLET from[] = {a.memory.piece(0, 10), {99, 0, 77, 0}, a.memory.piece(50, 30)};
    DAT_LMR_TRIPLET to[] = {b.memory.piece(1000, 25), b.memory.piece(2000, 25),
                            b.memory.piece(3000, 25)};
    fill(a, 0, 10, 1);
    fill(a, 50, 30, 2);
    std::memset(b.memory.start, 0xee, 4096);
    EXPECT_OK(dat_ep_post_recv(b.ep, 3, to, cookie(1), DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_OK(dat_ep_post_send(a.ep, 3, from, cookie(2), DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_EQ(expect_completion(b.receives, 1), 40U);
    EXPECT_TRUE(holds(b, 1000, 10, 1));
    EXPECT_EQ(0, std::memcmp(b.memory.start + 1010, a.memory.start + 50, 15));
    EXPECT_EQ(0, std::memcmp(b.memory.start + 2000, a.memory.start + 65, 15));
    EXPECT_EQ(b.memory.start[2015], std::byte{0xee});
    EXPECT_EQ(b.memory.start[3000], std::byte{0xee});
    expect_completion(a.requests, 2);
}

TEST_F(Transfers, write_and_read_any_part)
{
    const std::size_t page = page_size();
    for (const std::size_t offset : {0UL, 1UL, page - 1, page, page + 3, 3 * page - 5})
        for (const std::size_t size : {1UL, 8UL, 100UL, page, 2 * page + 1}) {
            fill(a, 17, size, static_cast<unsigned>(offset + size));
            std::memset(b.memory.start, 0, b.memory.length);
            EXPECT_OK(a.write(17, b.memory.remote(offset, size), 1));
            EXPECT_EQ(expect_completion(a.requests, 1), size);
            EXPECT_TRUE(holds(b, offset, size, static_cast<unsigned>(offset + size)));
            EXPECT_EQ(std::count(b.memory.start, b.memory.start + offset, std::byte{0}),
                      static_cast<std::ptrdiff_t>(offset));
            EXPECT_EQ(b.memory.start[offset + size], std::byte{0});

            EXPECT_OK(a.read(40000, b.memory.remote(offset, size), 2));
            EXPECT_EQ(expect_completion(a.requests, 2), size);
            EXPECT_TRUE(holds(a, 40000, size, static_cast<unsigned>(offset + size)));
        }
}

// The remote triplet says how much; the local ones only where.
TEST_F(Transfers, a_read_moves_what_the_remote_side_names_and_no_more)
{
    fill(b, 0, 4096, 5);
    for (const std::size_t size : {0UL, 1UL, 16UL, 100UL, 4095UL}) {
        DAT_LMR_TRIPLET to[] = {a.memory.piece(1000, 10), a.memory.piece(2000, 4096),
                                a.memory.piece(8000, 4096)};
        DAT_RMR_TRIPLET from = b.memory.remote(0, size);
        std::memset(a.memory.start, 0xee, 16384);
        EXPECT_OK(dat_ep_post_rdma_read(a.ep, 3, to, cookie(size), &from,
                                        DAT_COMPLETION_DEFAULT_FLAG));
        EXPECT_EQ(expect_completion(a.requests, size), size);
        const std::size_t first = std::min(size, 10UL);
        EXPECT_EQ(0, std::memcmp(a.memory.start + 1000, b.memory.start, first));
        EXPECT_EQ(0, std::memcmp(a.memory.start + 2000, b.memory.start + first, size - first));
        EXPECT_EQ(std::count(a.memory.start, a.memory.start + 16384, std::byte{0xee}),
                  static_cast<std::ptrdiff_t>(16384 - size) +
                      std::count(b.memory.start, b.memory.start + size, std::byte{0xee}))
            << size;
    }
}

TEST_F(Transfers, both_directions_at_once)
{
    for (unsigned i = 0; i < 8; i++) {
        EXPECT_OK(a.receive(i * 100, 100, i));
        EXPECT_OK(b.receive(i * 100, 100, i));
    }
    for (unsigned i = 0; i < 8; i++) {
        fill(a, 10000, 100, i);
        fill(b, 10000, 100, i + 50);
        EXPECT_OK(a.send(10000, 100, i));
        EXPECT_OK(b.send(10000, 100, i));
        EXPECT_EQ(expect_completion(b.receives, i), 100U);
        EXPECT_EQ(expect_completion(a.receives, i), 100U);
        EXPECT_TRUE(holds(b, i * 100, 100, i));
        EXPECT_TRUE(holds(a, i * 100, 100, i + 50));
        expect_completion(a.requests, i);
        expect_completion(b.requests, i);
    }
}

TEST_F(Transfers, requests_complete_in_posting_order)
{
    for (unsigned i = 0; i < 4; i++)
        EXPECT_OK(b.receive(i * 64, 64, i));
    for (unsigned i = 0; i < 12; i++) {
        if (i % 3 == 0)
            EXPECT_OK(a.send(0, 64, i));
        else if (i % 3 == 1)
            EXPECT_OK(a.write(0, b.memory.remote(4096, 64), i));
        else
            EXPECT_OK(a.read(8192, b.memory.remote(4096, 64), i));
    }
    for (unsigned i = 0; i < 12; i++)
        expect_completion(a.requests, i);
    for (unsigned i = 0; i < 4; i++)
        expect_completion(b.receives, i);
}

TEST_F(Transfers, write_is_visible_before_a_later_send_arrives)
{
    for (unsigned round = 0; round < 200; round++) {
        EXPECT_OK(b.receive(0, 8, round));
        fill(a, 0, 3000, round);
        EXPECT_TRUE(when_there_is_room([&] {
            return a.write(0, b.memory.remote(4001, 3000), 1, DAT_COMPLETION_SUPPRESS_FLAG);
        }));
        EXPECT_TRUE(when_there_is_room(
            [&] { return a.send(0, 8, 2, DAT_COMPLETION_SUPPRESS_FLAG); }));
        expect_completion(b.receives, round);
        ASSERT_TRUE(holds(b, 4001, 3000, round));
    }
}

TEST_F(Transfers, last_bytes_of_a_write_come_last)
{
    const std::size_t size = 16384;
    std::atomic<bool> stop = false;
    std::atomic<int> early = 0;
    std::thread poller([&] {
        const auto *last =
            reinterpret_cast<const volatile std::uint64_t *>(b.memory.start + size) - 1;
        std::uint64_t seen = 0;
        while (!stop) {
            const std::uint64_t now = *last;
            if (now == seen)
                continue;
            seen = now;
            std::atomic_thread_fence(std::memory_order_acquire);
            const auto *words = reinterpret_cast<const volatile std::uint64_t *>(b.memory.start);
            for (std::size_t i = 0; i + 1 < size / 8; i += 61)
                early += words[i] < seen;
        }
    });
    for (std::uint64_t round = 1; round <= 300; round++) {
        auto *words = reinterpret_cast<std::uint64_t *>(a.memory.start);
        std::fill_n(words, size / 8, round);
        EXPECT_OK(a.write(0, b.memory.remote(0, size), round));
        expect_completion(a.requests, round);
    }
    stop = true;
    poller.join();
    EXPECT_EQ(early, 0);
}

TEST_F(Transfers, suppressed_requests_make_no_event)
{
    EXPECT_OK(b.receive(0, 64, 1));
    EXPECT_OK(a.write(0, b.memory.remote(0, 64), 1, DAT_COMPLETION_SUPPRESS_FLAG));
    EXPECT_OK(a.send(0, 64, 2, DAT_COMPLETION_SUPPRESS_FLAG));
    EXPECT_OK(a.write(0, b.memory.remote(0, 64), 3));
    expect_completion(b.receives, 1);
    expect_completion(a.requests, 3); // behind those that the others would have had
}

TEST_F(Transfers, suppressed_requests_do_not_use_up_the_queue)
{
    EXPECT_OK(a.write(0, b.memory.remote(0, 64), 1)); // the first one opens the way
    expect_completion(a.requests, 1);
    for (unsigned i = 0; i < 1000; i++)
        ASSERT_TRUE(when_there_is_room([&] {
            return a.write(0, b.memory.remote(0, 64), 1, DAT_COMPLETION_SUPPRESS_FLAG);
        }));
}

TEST_F(Transfers, queues_hold_what_the_attributes_say)
{
    DAT_EP_PARAM param{};
    EXPECT_OK(dat_ep_query(a.ep, DAT_EP_FIELD_ALL, &param));
    for (int i = 0; i < param.ep_attr.max_request_dtos; i++)
        ASSERT_OK(a.send(0, 8, static_cast<unsigned>(i))); // nobody receives
    EXPECT_DAT(error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY), a.send(0, 8, 99));
    for (int i = 0; i < param.ep_attr.max_recv_dtos; i++)
        ASSERT_OK(b.receive(0, 8, static_cast<unsigned>(i)));
    EXPECT_DAT(error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY), b.receive(0, 8, 99));
    for (int i = 0; i < param.ep_attr.max_request_dtos; i++)
        expect_completion(a.requests, static_cast<unsigned>(i));
    EXPECT_OK(a.send(0, 8, 100));
}

TEST_F(Transfers, a_send_waits_for_its_receive)
{
    fill(a, 0, 64, 9);
    EXPECT_OK(a.send(0, 64, 1));
    // Messages the other way, and RDMA, are not held up.
    EXPECT_OK(a.receive(1000, 64, 2));
    EXPECT_OK(b.send(0, 64, 3));
    EXPECT_OK(b.write(0, a.memory.remote(2000, 64), 4));
    expect_completion(a.receives, 2);
    expect_completion(b.requests, 3);
    expect_completion(b.requests, 4);
    // The provider looks for messages to b before it completes requests of b.
    expect_no_event(a.requests);
    EXPECT_OK(b.receive(5000, 64, 5));
    expect_completion(b.receives, 5);
    expect_completion(a.requests, 1);
    EXPECT_TRUE(holds(b, 5000, 64, 9));
}

TEST_F(Transfers, message_longer_than_the_receive_breaks_the_connection)
{
    EXPECT_OK(b.receive(0, 10, 1));
    EXPECT_OK(b.receive(100, 10, 2));
    EXPECT_OK(a.send(0, 11, 3));
    expect_completion(b.receives, 1, DAT_DTO_ERR_LOCAL_LENGTH);
    expect_completion(b.receives, 2, DAT_DTO_ERR_FLUSHED);
    const DAT_EVENT failed = expect_event(a.requests, DAT_DTO_COMPLETION_EVENT);
    EXPECT_TRUE(is_peers_error(failed.event_data.dto_completion_event_data.status))
        << failed.event_data.dto_completion_event_data.status;
    expect_disorderly_end(a.connections);
    expect_disorderly_end(b.connections);
    EXPECT_EQ(state_of(a.ep), DAT_EP_STATE_DISCONNECTED);
    EXPECT_EQ(state_of(b.ep), DAT_EP_STATE_DISCONNECTED);
}

TEST_F(Transfers, length_errors_at_post)
{
    DAT_LMR_TRIPLET piece = a.memory.piece(0, 100);
    const DAT_RMR_TRIPLET small = b.memory.remote(0, 99);
    const DAT_RMR_TRIPLET large = b.memory.remote(0, 101);
    EXPECT_DAT(error(DAT_LENGTH_ERROR), dat_ep_post_rdma_write(a.ep, 1, &piece, cookie(1), &small,
                                                               DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_DAT(error(DAT_LENGTH_ERROR), dat_ep_post_rdma_read(a.ep, 1, &piece, cookie(1), &large,
                                                              DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_OK(
        dat_ep_post_rdma_read(a.ep, 1, &piece, cookie(2), &small, DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_EQ(expect_completion(a.requests, 2), 99U);
}

TEST_F(Transfers, flags_that_a_post_does_not_take)
{
    EXPECT_DAT(bad_argument(5), a.send(0, 8, 1, DAT_COMPLETION_UNSIGNALLED_FLAG));
    EXPECT_DAT(bad_argument(5), a.send(0, 8, 1, DAT_COMPLETION_EVD_THRESHOLD_FLAG));
    EXPECT_DAT(bad_argument(5), a.send(0, 8, 1, 0x20));
    EXPECT_DAT(bad_argument(6),
               a.write(0, b.memory.remote(0, 8), 1, DAT_COMPLETION_SOLICITED_WAIT_FLAG));
    EXPECT_DAT(bad_argument(6),
               a.read(0, b.memory.remote(0, 8), 1, DAT_COMPLETION_UNSIGNALLED_FLAG));
    EXPECT_DAT(bad_argument(5), b.receive(0, 8, 1, DAT_COMPLETION_SUPPRESS_FLAG));
    EXPECT_DAT(bad_argument(5), b.receive(0, 8, 1, DAT_COMPLETION_BARRIER_FENCE_FLAG));
    EXPECT_OK(a.write(0, b.memory.remote(0, 8), 1, DAT_COMPLETION_BARRIER_FENCE_FLAG));
    expect_completion(a.requests, 1);
}

TEST_F(Transfers, disconnect_flushes_in_order_and_posts_flush_afterwards)
{
    for (unsigned i = 0; i < 3; i++) {
        EXPECT_OK(b.receive(0, 8, i));
        EXPECT_OK(a.receive(0, 8, i));
    }
    EXPECT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_ABRUPT_FLAG));
    for (unsigned i = 0; i < 3; i++) {
        expect_completion(a.receives, i, DAT_DTO_ERR_FLUSHED);
        expect_completion(b.receives, i, DAT_DTO_ERR_FLUSHED);
    }
    expect_event(a.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
    expect_event(b.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_OK(a.send(0, 8, 7, DAT_COMPLETION_SUPPRESS_FLAG));
    expect_completion(a.requests, 7, DAT_DTO_ERR_FLUSHED);
    EXPECT_OK(a.read(0, b.memory.remote(0, 8), 8));
    expect_completion(a.requests, 8, DAT_DTO_ERR_FLUSHED);
    EXPECT_OK(a.receive(0, 8, 9));
    expect_completion(a.receives, 9, DAT_DTO_ERR_FLUSHED);
    // The next events of the connection are those of the next one.
    EXPECT_OK(dat_ep_reset(a.ep));
    EXPECT_OK(dat_ep_reset(b.ep));
    b.accept_from(a);
}

TEST_F(TransfersInOrder, graceful_disconnect_carries_requests_through)
{
    fill(a, 0, 20000, 4);
    EXPECT_OK(a.send(0, 20000, 1)); // no receive yet
    EXPECT_OK(a.write(0, b.memory.remote(30000, 100), 2));
    EXPECT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_GRACEFUL_FLAG));
    EXPECT_EQ(state_of(a.ep), DAT_EP_STATE_DISCONNECT_PENDING);
    EXPECT_DAT(bad_state(DAT_INVALID_STATE_EP_DISCPENDING), a.send(0, 8, 3));
    EXPECT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_GRACEFUL_FLAG));
    EXPECT_OK(b.receive(0, 30000, 4));
    EXPECT_EQ(expect_completion(b.receives, 4), 20000U);
    EXPECT_TRUE(holds(b, 0, 20000, 4));
    expect_completion(a.requests, 1);
    expect_completion(a.requests, 2);
    expect_event(a.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
    expect_event(b.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
}

// uDAPL consumers use endpoints again.
TEST_F(Transfers, reset_and_connect_again)
{
    for (unsigned round = 0; round < 5; round++) {
        EXPECT_OK(dat_ep_disconnect(round % 2 ? a.ep : b.ep, DAT_CLOSE_ABRUPT_FLAG));
        expect_event(a.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
        expect_event(b.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
        EXPECT_OK(dat_ep_reset(a.ep));
        EXPECT_OK(dat_ep_reset(b.ep));
        if (round % 2)
            a.accept_from(b);
        else
            b.accept_from(a);
        fill(a, 0, 100, round);
        EXPECT_OK(a.write(0, b.memory.remote(500, 100), round));
        expect_completion(a.requests, round);
        EXPECT_TRUE(holds(b, 500, 100, round));
    }
}

TEST(TransfersLarge, message_of_8_mebibytes)
{
    const std::size_t size = 8U << 20;
    Side a(nullptr, size);
    Side b(nullptr, size);
    b.accept_from(a);
    auto *words = reinterpret_cast<std::uint32_t *>(a.memory.start);
    std::iota(words, words + size / 4, 12345U);
    EXPECT_OK(b.receive(0, size, 1));
    EXPECT_OK(a.send(0, size, 2));
    EXPECT_EQ(expect_completion(b.receives, 1, DAT_DTO_SUCCESS), size);
    EXPECT_EQ(expect_completion(a.requests, 2), size);
    EXPECT_EQ(0, std::memcmp(a.memory.start, b.memory.start, size));
}

TEST(TransfersLarge, queues_50000_deep)
{
    Adapter probe;
    DAT_IA_ATTR limits{};
    EXPECT_OK(dat_ia_query(probe, nullptr, DAT_IA_FIELD_IA_MAX_DTO_PER_EP, &limits, 0, nullptr));
    const DAT_COUNT depth = std::min(50000, limits.max_dto_per_ep);
    DAT_EP_ATTR attributes = default_attributes(probe);
    attributes.max_recv_dtos = attributes.max_request_dtos = depth;
    Side a(&attributes);
    Side b(&attributes);
    EXPECT_OK(dat_evd_resize(b.receives, depth));
    EXPECT_OK(dat_evd_resize(a.requests, depth));
    b.accept_from(a);
    for (DAT_COUNT i = 0; i < depth; i++)
        ASSERT_OK(b.receive(0, 8, static_cast<unsigned>(i)));
    for (DAT_COUNT i = 0; i < depth; i++)
        ASSERT_OK(a.send(0, 8, static_cast<unsigned>(i)));
    for (DAT_COUNT i = 0; i < depth; i++) {
        expect_completion(b.receives, static_cast<unsigned>(i));
        expect_completion(a.requests, static_cast<unsigned>(i));
        ASSERT_FALSE(HasFailure());
    }
}
