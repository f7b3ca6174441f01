// SPDX-License-Identifier: GPL-2.0
// The handshake of provider rsm: a peer's segment, which may hold anything and change at any time, and
// the words of both sides once it is attached to. An input is a program of the peer.
#include "fake_kernel.hpp"
#include "require.hpp"
#include "source.hpp"

#include "connect/link.h"

#include <bit>
#include <cstring>
#include <memory>
#include <optional>
#include <sys/mman.h>
#include <unistd.h>

namespace {

using rsmengine::Arrived;
using rsmengine::Channel;
using rsmengine::Handshake;
using rsmengine::MAX_RING;
using rsmengine::Message;
using rsmengine::MessageHeader;
using rsmengine::MIN_RING;
using rsmengine::RINGS;
using rsmtest::fuzz::Input;
using rsmtest::fuzz::kernel;
using rsmtest::fuzz::OWN_NODE;
using rsmtest::fuzz::require;

constexpr std::uint32_t OTHER_NODE = 2;
constexpr std::size_t PAGE = 4096;

const rsmengine::Device &device()
{
    static const rsmengine::Device instance;
    return instance;
}

bool is_ring(std::uint32_t size)
{
    return size >= MIN_RING && size <= MAX_RING && std::has_single_bit(size);
}

class Peer {
public:
    explicit Peer(Input &input) : input_(input)
    {
        node_ = input_.below(2) != 0 ? OTHER_NODE : OWN_NODE;
        require(Channel::create(device(), "fake", node_, MIN_RING, channel_) == RSM_SUCCESS,
                "there is a channel");
    }

    // Nothing but a sound segment is attached to, and a refusal leaves the channel as it was.
    bool attach()
    {
        Handshake claims{};
        segment(claims);
        const rsmengine::SegmentAddress address{node_, node_ == OWN_NODE ? 0U : 7U, {1, 2}, {3, 4}};
        const int status = channel_->attach(address);
        const std::uint64_t rings = std::uint64_t{claims.request_ring} + claims.response_ring;
        const bool sound = claims.magic == rsmengine::LAYOUT_MAGIC && claims.nonce[0] == 3 &&
                           claims.nonce[1] == 4 && claims.version == rsmengine::LAYOUT_VERSION &&
                           is_ring(claims.request_ring) && is_ring(claims.response_ring) &&
                           kernel.foreign.length >= RINGS + rings;
        require((status == RSM_SUCCESS) == sound, "a sound segment is attached to, another is not");
        require(channel_->attached() == sound, "a refusal changes nothing");
        if (sound)
            limits_ = {rsmengine::ring_limit(claims.request_ring),
                       rsmengine::ring_limit(claims.response_ring)};
        return sound;
    }

    void step()
    {
        switch (input_.below(7)) {
        case 0:
            return send();
        case 1:
            return forge();
        case 2:
            return receive();
        case 3:
            return read_executed();
        case 4:
            return offer();
        case 5:
            channel_->ring_bell();
            return;
        default:
            return speak();
        }
    }

private:
    // The peer's segment's words about itself; each part may be forged.
    void segment(Handshake &claims)
    {
        claims.magic = rsmengine::LAYOUT_MAGIC;
        claims.version = rsmengine::LAYOUT_VERSION;
        claims.nonce[0] = 3;
        claims.nonce[1] = 4;
        claims.request_ring = ring_size();
        claims.response_ring = ring_size();
        const auto bytes = std::as_writable_bytes(std::span(&claims, 1));
        if (input_.below(2) != 0)
            bytes[input_.below(bytes.size())] ^= static_cast<std::byte>(input_.below(256));
        kernel.foreign = {};
        kernel.foreign.bytes.assign(bytes.begin(), bytes.end());
        // The kernel's word: whole pages, from none to more than is ever used.
        kernel.foreign.length = input_.below(2) != 0 ? RINGS + 4 * MIN_RING
                                                     : PAGE * input_.below(2 * MAX_RING / PAGE + 3);
    }

    std::uint32_t ring_size()
    {
        return input_.below(8) != 0 ? 1U << (10 + input_.below(12))
                                    : static_cast<std::uint32_t>(input_.number());
    }

    // Our side writes into the peer's rings; what the peer says it has taken does not matter.
    void send()
    {
        const auto ring = input_.below(2) != 0 ? Channel::Ring::REQUEST : Channel::Ring::RESPONSE;
        const std::size_t limit = channel_->limit(ring);
        require(limit == limits_[static_cast<std::size_t>(ring)], "a ring's limit stays");
        const std::vector<std::byte> payload(input_.below(limit + 2));
        const std::array pieces{std::span<const std::byte>(payload)};
        MessageHeader header{};
        header.kind = rsmengine::MessageKind::SEND;
        const bool sent = channel_->send(ring, header, pieces);
        require(!sent || payload.size() <= limit, "a payload beyond the limit is refused");
    }

    // The peer writes anywhere into its segment, or into ours.
    void forge()
    {
        Handshake &where = input_.below(2) != 0 ? channel_->peers() : channel_->ours();
        auto *bytes = reinterpret_cast<std::byte *>(&where);
        const std::size_t at = input_.below(2) != 0 ? input_.below(RINGS)
                                                    : RINGS + input_.below(2) * 64 + input_.below(64);
        for (std::size_t count = input_.below(16); count > 0; --count)
            bytes[at + count] = static_cast<std::byte>(input_.below(256));
    }

    void receive()
    {
        const auto ring = input_.below(2) != 0 ? Channel::Ring::REQUEST : Channel::Ring::RESPONSE;
        Message message{};
        if (channel_->receive(ring, message) != Arrived::MESSAGE)
            return;
        require(message.payload.size() <= rsmengine::ring_limit(MIN_RING), "a payload has a limit");
        const auto *start = reinterpret_cast<const std::byte *>(&channel_->ours()) + RINGS;
        require(message.payload.data() >= start &&
                    message.payload.data() + message.payload.size() <= start + 2 * MIN_RING,
                "a payload is inside our rings");
        channel_->consume(ring);
    }

    void read_executed()
    {
        const std::uint64_t sent = executed_ + input_.below(256);
        const auto executed = channel_->executed(sent);
        require(!executed || (*executed <= sent && *executed >= executed_),
                "requests carried out never go back, nor beyond those sent");
        executed_ = executed.value_or(executed_);
    }

    // Terms are copied once, and the copy is within limits.
    void offer()
    {
        rsmengine::Terms &from = channel_->peers().offer;
        from.private_data_size = static_cast<std::uint32_t>(
            input_.below(2) != 0 ? input_.below(rsmengine::limits::PRIVATE_DATA + 2) : input_.number());
        from.max_rdma_read_in = static_cast<std::uint32_t>(input_.number());
        rsmengine::Terms terms{};
        const bool sound = rsmengine::read_terms(from, terms);
        require(sound == (from.private_data_size <= rsmengine::limits::PRIVATE_DATA),
                "terms are sound if their private data fits");
        constexpr std::uint32_t MOST = rsmengine::limits::RDMA_READS_PER_EP;
        require(terms.max_rdma_read_in <= MOST && terms.max_rdma_read_out <= MOST,
                "reads at a time have a limit");
        if (sound)
            require(rsmengine::private_data_of(terms).size() == terms.private_data_size,
                    "private data has its size");
    }

    void speak()
    {
        rsmengine::say_to_peer(*channel_, rsmengine::LinkState::ACCEPTED);
        (void)rsmengine::said_by_peer(*channel_);
        (void)channel_->has_unread();
        channel_->take_bells();
    }

    Input &input_;
    std::uint32_t node_ = OWN_NODE;
    std::unique_ptr<Channel> channel_;
    std::array<std::size_t, 2> limits_{};
    std::uint64_t executed_ = 0;
};

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    Input input({data, size});
    Peer peer(input);
    if (!peer.attach())
        return 0;
    while (!input.exhausted())
        peer.step();
    return 0;
}
