// SPDX-License-Identifier: GPL-2.0
// Channels of libdat's provider rsm, below uDAPL: what the two sides see of each other, when one
// wakes the other, and what a peer that breaks the rules achieves.
#include "support/child.hpp"
#include "support/raw.hpp"
#include "support/system.hpp"

#include "engine/event/evd.h"
#include "engine/loop/engine.h"
#include "wire/channel.h"

#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>

using namespace rsmtest;
using rsmengine::Arrived;
using rsmengine::Channel;
using rsmengine::Device;
using rsmengine::Front;
using rsmengine::Message;
using rsmengine::MessageHeader;
using rsmengine::MessageKind;
using rsmengine::SegmentAddress;
using Ring = Channel::Ring;

namespace {

constexpr std::size_t ring_size = 16384;

std::unique_ptr<Channel> half(const Device &device) {
    std::unique_ptr<Channel> result;
    EXPECT_EQ(Channel::create(device, "loopback", device.node(), ring_size, result), RSM_SUCCESS);
    return result;
}

bool send(Channel &channel, Ring ring, std::string_view text) {
    const std::array pieces{std::as_bytes(std::span(text))};
    MessageHeader header{};
    header.kind = MessageKind::SEND;
    return channel.send(ring, header, pieces);
}

std::string receive(Channel &channel, Ring ring) {
    Message message{};
    if (channel.receive(ring, message) != Arrived::MESSAGE)
        return "nothing";
    std::string text(message.payload.size(), '\0');
    std::memcpy(text.data(), message.payload.data(), text.size());
    channel.consume(ring);
    return text;
}

bool ready(int fd, short events) {
    pollfd entry{fd, events, 0};
    return poll(&entry, 1, 0) == 1 && (entry.revents & events) != 0;
}

class ChannelTest : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(left && right);
        ASSERT_EQ(left->attach(right->address()), RSM_SUCCESS);
        ASSERT_EQ(right->attach(left->address()), RSM_SUCCESS);
    }
    bool right_was_rung() {
        const bool rung = ready(right->bell_fd(), POLLIN);
        right->take_bells();
        return rung;
    }

    const Device device;
    const Device other;
    std::unique_ptr<Channel> left = half(device);
    std::unique_ptr<Channel> right = half(other);
};

// The left side as a program that leaves the library out has it.
class HostileChannel : public ChannelTest {
  protected:
    Front &front_of_right() const { return *reinterpret_cast<Front *>(&left->peers()); }
    std::byte *start_of_right() const { return reinterpret_cast<std::byte *>(&left->peers()); }
    // The answer to a segment that says this of itself.
    int attach_to(const std::function<void(rsmengine::Handshake &)> &change) const {
        const auto channel = half(other);
        change(channel->ours());
        return half(device)->attach(channel->address());
    }
};

} // namespace

TEST_F(ChannelTest, messages_both_ways) {
    ASSERT_TRUE(left->local());
    for (const Ring ring : {Ring::REQUEST, Ring::RESPONSE}) {
        EXPECT_EQ(receive(*right, ring), "nothing");
        ASSERT_TRUE(send(*left, ring, "to the right"));
        ASSERT_TRUE(send(*right, ring, "to the left"));
        ASSERT_TRUE(send(*left, ring, "again"));
        EXPECT_EQ(receive(*right, ring), "to the right");
        EXPECT_EQ(receive(*left, ring), "to the left");
        EXPECT_EQ(receive(*right, ring), "again");
        EXPECT_EQ(receive(*right, ring), "nothing");
    }
}

TEST_F(ChannelTest, rings_do_not_hold_each_other_up) {
    const std::string large(left->limit(Ring::REQUEST), 'x');
    int sent = 0;
    while (send(*left, Ring::REQUEST, large))
        ++sent;
    EXPECT_EQ(sent, 3);
    EXPECT_TRUE(send(*left, Ring::RESPONSE, "answer"));
    EXPECT_EQ(receive(*right, Ring::RESPONSE), "answer");
    EXPECT_EQ(receive(*right, Ring::REQUEST), large);
    EXPECT_TRUE(send(*left, Ring::REQUEST, large));
}

TEST_F(ChannelTest, nobody_rings_for_those_who_poll) {
    right->disarm();
    EXPECT_FALSE(right->armed());
    left->ring_bell();
    EXPECT_FALSE(right_was_rung());
    right->arm();
    EXPECT_TRUE(right->armed());
    left->ring_bell();
    EXPECT_TRUE(right_was_rung());
}

TEST_F(ChannelTest, a_sleeper_is_rung_once) {
    left->ring_bell();
    EXPECT_TRUE(ready(right->bell_fd(), POLLIN));
    right->disarm();
    EXPECT_TRUE(right_was_rung()); // the first one
    left->ring_bell();
    EXPECT_FALSE(right_was_rung());
    left->ring_bell_always();
    EXPECT_TRUE(right_was_rung());
}

TEST_F(ChannelTest, rung_again_after_taking_the_bells) {
    for (int i = 0; i < 3; i++) {
        left->ring_bell();
        ASSERT_TRUE(right_was_rung()) << i;
    }
    // Between two rings nobody has looked: the first still stands.
    left->ring_bell();
    left->ring_bell();
    EXPECT_TRUE(right_was_rung());
    EXPECT_FALSE(right_was_rung());
}

TEST_F(ChannelTest, counts_what_was_executed) {
    EXPECT_EQ(left->executed(0), 0u);
    right->set_executed(3);
    EXPECT_EQ(left->executed(5), 3u);
    right->set_executed(5);
    EXPECT_EQ(left->executed(5), 5u);
}

TEST_F(ChannelTest, the_end_of_the_peer) {
    ASSERT_TRUE(send(*left, Ring::REQUEST, "last words"));
    right->set_executed(1);
    EXPECT_EQ(left->executed(1), 1u);
    EXPECT_TRUE(right->alive());
    left.reset();
    EXPECT_FALSE(right->alive());
    EXPECT_TRUE(ready(right->peer_fd(), POLLRDHUP));
    // Messages that arrived stay; what is written goes nowhere; nothing is made up.
    EXPECT_EQ(receive(*right, Ring::REQUEST), "last words");
    const std::string noise(right->limit(Ring::REQUEST), '\1');
    while (send(*right, Ring::REQUEST, noise))
        ;
    right->ring_bell();
    EXPECT_EQ(right->executed(UINT64_MAX), 0u);
}

TEST_F(ChannelTest, peer_killed) {
    Child child([](Link &link) {
        const Device its_device;
        const auto channel = half(its_device);
        const SegmentAddress address = channel->address();
        for (const auto word :
             {address.ticket[0], address.ticket[1], address.nonce[0], address.nonce[1]})
            link.send(word);
        link.receive();
    });
    SegmentAddress address{device.node(), 0, {}, {}};
    for (auto *word :
         {&address.ticket[0], &address.ticket[1], &address.nonce[0], &address.nonce[1]})
        *word = child.receive();
    const auto channel = half(device);
    ASSERT_EQ(channel->attach(address), RSM_SUCCESS);
    EXPECT_TRUE(channel->alive());
    child.kill();
    EXPECT_TRUE(eventually([&] { return !channel->alive(); }));
    EXPECT_TRUE(eventually([&] { return ready(channel->peer_fd(), POLLRDHUP); }));
}

TEST_F(ChannelTest, only_the_right_segment_is_attached_to) {
    const auto channel = half(device);
    const auto wrong = half(other);
    const auto good = half(other);
    SegmentAddress address = wrong->address();
    address.nonce[1] ^= 1;
    EXPECT_EQ(channel->attach(address), RSMERR_CONN_ABORTED);
    EXPECT_FALSE(channel->attached());
    EXPECT_EQ(channel->attach(wrong->address()), RSMERR_SEG_NOT_PUBLISHED) << "it had its turn";
    address = good->address();
    address.ticket[0] ^= 1;
    EXPECT_EQ(channel->attach(address), RSMERR_SEG_NOT_PUBLISHED);
    address = good->address();
    address.node++;
    EXPECT_EQ(channel->attach(address), RSMERR_REMOTE_NODE_UNREACHABLE);
    address = good->address();
    address.id = 0x40000000;
    EXPECT_EQ(channel->attach(address), RSMERR_REMOTE_NODE_UNREACHABLE);
    EXPECT_EQ(channel->attach(good->address()), RSM_SUCCESS);
    EXPECT_TRUE(channel->attached());
}

TEST_F(ChannelTest, unusual_sizes_are_refused) {
    std::unique_ptr<Channel> result;
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{2048}, ring_size + 4096, std::size_t{1} << 21, SIZE_MAX})
        EXPECT_EQ(Channel::create(device, "loopback", device.node(), size, result),
                  RSMERR_BAD_LENGTH);
    EXPECT_EQ(result, nullptr);
    EXPECT_EQ(Channel::create(device, "nowhere", device.node() + 1, ring_size, result),
              RSMERR_CTLR_NOT_PRESENT);
}

TEST_F(ChannelTest, a_child_inherits_no_mapping) {
    std::byte *ours = reinterpret_cast<std::byte *>(&right->ours());
    std::byte *peers = reinterpret_cast<std::byte *>(&right->peers());
    unsigned char resident = 0;
    ASSERT_EQ(mincore(ours, page_size(), &resident), 0);
    ASSERT_EQ(mincore(peers, page_size(), &resident), 0);
    in_child([&] {
        unsigned char nothing = 0;
        EXPECT_EQ(mincore(ours, page_size(), &nothing), -1);
        EXPECT_EQ(mincore(peers, page_size(), &nothing), -1);
    });
    EXPECT_TRUE(send(*left, Ring::REQUEST, "still here"));
    EXPECT_EQ(receive(*right, Ring::REQUEST), "still here");
}

TEST_F(ChannelTest, descriptors_leave_room_for_select) {
    for (const int fd : {left->bell_fd(), left->peer_fd(), device.control_fd()})
        EXPECT_GE(fd, FD_SETSIZE);
    in_child([] {
        rlimit limit{};
        ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
        limit.rlim_max = 2048;
        limit.rlim_cur = FD_SETSIZE;
        ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
        {
            const Device raised;
            EXPECT_GE(raised.control_fd(), FD_SETSIZE);
        }
        limit.rlim_max = 512;
        limit.rlim_cur = 512;
        ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
        const Device low;
        EXPECT_LT(low.control_fd(), 512);
        EXPECT_NE(half(low), nullptr);
    });
}

TEST_F(HostileChannel, can_not_make_up_progress) {
    front_of_right().words.executed = 6;
    EXPECT_EQ(left->executed(5), std::nullopt);
    front_of_right().words.executed = 4;
    EXPECT_EQ(left->executed(5), 4u);
    front_of_right().words.executed = 2;
    EXPECT_EQ(left->executed(5), 4u);
}

TEST_F(HostileChannel, nonsense_in_the_rings_is_found) {
    std::memset(start_of_right() + rsmengine::RINGS, 0xFF, 64);
    Message message{};
    EXPECT_EQ(right->receive(Ring::REQUEST, message), Arrived::NONSENSE);
    EXPECT_EQ(right->receive(Ring::RESPONSE, message), Arrived::NOTHING);
}

TEST_F(HostileChannel, sizes_are_not_believed) {
    using rsmengine::Handshake;
    EXPECT_EQ(attach_to([](Handshake &) {}), RSM_SUCCESS);
    for (const std::uint32_t size :
         {0u, 1u, 2048u, 12288u, 32768u, 1u << 20, 1u << 21, 1u << 31, UINT32_MAX})
        EXPECT_EQ(attach_to([=](Handshake &own) { own.request_ring = size; }), RSMERR_CONN_ABORTED)
            << size;
    EXPECT_EQ(attach_to([](Handshake &own) { own.response_ring = ring_size; }),
              RSMERR_CONN_ABORTED);
    EXPECT_EQ(attach_to([](Handshake &own) { own.version++; }), RSMERR_BAD_DRIVER_VERSION);
    EXPECT_EQ(attach_to([](Handshake &own) { own.magic++; }), RSMERR_CONN_ABORTED);
}

namespace {

// Takes messages, as an endpoint does.
class Taker : public rsmengine::Feeder, public rsmengine::Source {
  public:
    explicit Taker(Channel &its_channel) : channel(its_channel) {}
    void ready(std::uint32_t) noexcept override {
        channel.take_bells();
        poll(false);
    }
    void poll(bool again) noexcept override {
        if (again)
            channel.disarm();
        while (receive(channel, Ring::REQUEST) == "work")
            ++taken;
    }
    bool has_listeners() const noexcept override { return listeners; }

    Channel &channel;
    int taken = 0;
    bool listeners = true;
};

class EngineWithChannel : public ChannelTest {
  protected:
    void SetUp() override {
        ChannelTest::SetUp();
        const rsmengine::Guard guard(lock);
        engine.watch(right->bell_fd(), EPOLLIN, taker);
    }
    void TearDown() override {
        const rsmengine::Guard guard(lock);
        engine.forget(right->bell_fd());
        engine.gone(*right);
    }
    bool taken(int count) {
        return eventually([&] {
            const rsmengine::Guard guard(lock);
            return taker.taken == count;
        });
    }
    bool armed() {
        const rsmengine::Guard guard(lock);
        return right->armed();
    }

    rsmengine::Lock lock;
    rsmengine::Engine engine{lock};
    Taker taker{*right};
};

} // namespace

TEST_F(EngineWithChannel, works_when_rung) {
    for (int i = 1; i <= 5; i++) {
        ASSERT_TRUE(send(*left, Ring::REQUEST, "work"));
        left->ring_bell();
        ASSERT_TRUE(taken(i));
    }
}

TEST_F(EngineWithChannel, arms_what_nobody_polls) {
    {
        const rsmengine::Guard guard(lock);
        right->disarm();
        engine.disarmed(*right, taker);
        engine.disarmed(*right, taker);
    }
    ASSERT_TRUE(send(*left, Ring::REQUEST, "work"));
    left->ring_bell(); // in vain
    EXPECT_TRUE(taken(1));
    EXPECT_TRUE(eventually([&] { return armed(); }));
    ASSERT_TRUE(send(*left, Ring::REQUEST, "work"));
    left->ring_bell();
    EXPECT_TRUE(taken(2));
}

TEST_F(EngineWithChannel, leaves_alone_what_was_polled) {
    const auto start = std::chrono::steady_clock::now();
    {
        const rsmengine::Guard guard(lock);
        right->disarm();
        right->recently_polled = true;
        engine.disarmed(*right, taker);
    }
    EXPECT_TRUE(eventually([&] { return armed(); }));
    // At the second look.
    EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(8));
}

TEST_F(EngineWithChannel, leaves_alone_what_nobody_listens_to) {
    Taker listener{*left};
    {
        const rsmengine::Guard guard(lock);
        taker.listeners = false;
        right->disarm();
        engine.disarmed(*right, taker);
        left->disarm();
        engine.disarmed(*left, listener);
    }
    // The engine looks at both at once.
    EXPECT_TRUE(eventually([&] {
        const rsmengine::Guard guard(lock);
        return left->armed();
    }));
    EXPECT_FALSE(armed());
    const rsmengine::Guard guard(lock);
    engine.arm_all();
    EXPECT_TRUE(right->armed());
}

TEST_F(EngineWithChannel, arm_all_finds_what_came_before) {
    const rsmengine::Guard guard(lock);
    right->disarm();
    engine.disarmed(*right, taker);
    ASSERT_TRUE(send(*left, Ring::REQUEST, "work"));
    left->ring_bell();
    EXPECT_EQ(taker.taken, 0);
    engine.arm_all();
    EXPECT_EQ(taker.taken, 1);
    EXPECT_TRUE(right->armed());
}

TEST_F(EngineWithChannel, forgets_a_channel_that_has_gone) {
    const rsmengine::Guard guard(lock);
    right->disarm();
    engine.disarmed(*right, taker);
    engine.gone(*right);
    engine.gone(*right);
    ASSERT_TRUE(send(*left, Ring::REQUEST, "work"));
    engine.arm_all();
    EXPECT_EQ(taker.taken, 0);
    EXPECT_FALSE(right->armed());
}
