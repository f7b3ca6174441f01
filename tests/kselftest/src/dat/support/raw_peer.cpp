// SPDX-License-Identifier: GPL-2.0
#include "dat/support/raw_peer.hpp"

#include "connect/listener.h"

#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>

namespace rsmtest::dat {

using rsmengine::Arrived;
using rsmengine::Channel;
using rsmengine::LinkState;
using rsmengine::Message;
using rsmengine::MessageHeader;
using rsmengine::MessageKind;

namespace {

constexpr std::size_t ring_size = 65536;

void pause()
{
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

} // namespace

RawPeer::RawPeer(std::uint64_t qualifier)
{
    if (Channel::create(device, "loopback", device.node(), ring_size, channel_) != RSM_SUCCESS)
        return;
    offer(qualifier);
    if (!call(qualifier) || !attach() || !is_told(LinkState::ACCEPTED))
        return;
    channel_->peers().state.store(static_cast<std::uint32_t>(LinkState::ESTABLISHED),
                                  std::memory_order_release);
    ring_bell();
    connected_ = true;
}

void RawPeer::offer(std::uint64_t qualifier)
{
    rsmengine::Terms &terms = channel_->ours().offer;
    terms.qualifier = qualifier;
    terms.port = 1;
    terms.max_rdma_read_in = terms.max_rdma_read_out = 4;
}

bool RawPeer::call(std::uint64_t qualifier)
{
    rsmengine::Call call(channel_->address(), qualifier);
    const int status = call.place(device, "loopback", device.node());
    if (status == RSM_SUCCESS && is_told(LinkState::ARRIVED))
        return true;
    ADD_FAILURE() << "not received: " << status;
    return false;
}

bool RawPeer::attach()
{
    rsmengine::Credentials from{};
    std::memcpy(&from, &channel_->ours().answer_from, sizeof(from));
    const int status = channel_->attach(rsmengine::address_of(from));
    EXPECT_EQ(status, RSM_SUCCESS);
    return status == RSM_SUCCESS;
}

bool RawPeer::has_told(LinkState state) const
{
    return channel_->ours().state.load(std::memory_order_acquire) >=
           static_cast<std::uint32_t>(state);
}

bool RawPeer::is_told(LinkState state)
{
    return eventually([&] { return has_told(state); });
}

void RawPeer::send(Ring ring, MessageHeader header, std::span<const std::byte> payload)
{
    const std::array pieces{payload};
    EXPECT_TRUE(channel_->send(ring, header, pieces));
    ring_bell();
}

std::optional<RawPeer::Received> RawPeer::receive(Ring ring, const Place &place)
{
    const Waiting waiting("a message of the attacked", place);
    Message message{};
    // Messages that were sent before the end are there once the end is seen.
    for (bool over = is_over(); channel_->receive(ring, message) != Arrived::MESSAGE;
         over = is_over()) {
        if (over)
            return {};
        pause();
    }
    Received received{message.header, {message.payload.begin(), message.payload.end()}};
    channel_->consume(ring);
    return received;
}

std::optional<rsmengine::Grant> RawPeer::ask(std::uint32_t context)
{
    MessageHeader question{};
    question.kind = MessageKind::ASK;
    question.context = context;
    send(Ring::RESPONSE, question);
    const auto answer = receive(Ring::RESPONSE);
    if (!answer || answer->header.kind != MessageKind::GRANT) {
        ADD_FAILURE() << "no answer for context " << context;
        return {};
    }
    rsmengine::Grant grant{};
    if (answer->header.status != 0 || answer->payload.size() != sizeof(grant))
        return {};
    std::memcpy(&grant, answer->payload.data(), sizeof(grant));
    return grant;
}

void RawPeer::linger()
{
    for (int look = 0; look < 200 && !is_over(); look++)
        pause();
}

bool RawPeer::is_over() const
{
    return has_told(LinkState::CLOSED) || !channel_->alive();
}

bool RawPeer::ended(const Place &place)
{
    return eventually([&] { return is_over(); }, place);
}

std::span<std::byte> RawPeer::segment()
{
    rsmengine::Handshake &start = channel_->peers();
    return {reinterpret_cast<std::byte *>(&start),
            rsmengine::RINGS + start.request_ring + start.response_ring};
}

rsmengine::Words &RawPeer::own_words()
{
    return reinterpret_cast<rsmengine::Front *>(&channel_->ours())->words;
}

raw::Ticket ticket_of(const rsmengine::Grant &grant)
{
    return {{grant.ticket[0], grant.ticket[1]}};
}

} // namespace rsmtest::dat
