// SPDX-License-Identifier: MIT
#include "wire/channel.h"

#include "engine/loop/random.h"
#include "wire/own_segment.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

namespace rsmengine {

struct Channel::Inside {
    Inside(const Device &its_device, std::string_view its_controller, std::uint32_t node)
        : device(its_device), controller(its_controller), peer_node(node),
          local(node == its_device.node()) {}

    const Device &device;
    const std::string controller;
    const std::uint32_t peer_node;
    const bool local;
    SegmentAddress address{};
    OwnSegment own;
    Import peer;
    std::array<RingReader, 2> readers;
    std::array<RingWriter, 2> writers;
    std::uint64_t executed = 0; // requests of this side that the peer has executed, validated
    bool armed = true;
};

namespace {

// The range of random ids, which excludes those of service points and of the system.
constexpr SegmentIds CHANNEL_IDS{0x40000000, 1U << 30};

constexpr std::uint32_t EVERYBODY = 0666;
constexpr std::uint32_t NOBODY = 0;

std::size_t index_of(Channel::Ring ring) noexcept {
    return static_cast<std::size_t>(ring);
}

Front &front_of(std::span<std::byte> segment) noexcept {
    return *reinterpret_cast<Front *>(segment.data());
}

bool is_ring_size(std::size_t size) noexcept {
    return size >= MIN_RING && size <= MAX_RING && std::has_single_bit(size);
}

// Both rings of a segment, once their sizes are known to be good.
std::array<std::span<std::byte>, 2> rings_of(std::span<std::byte> segment, std::size_t request,
                                             std::size_t response) noexcept {
    return {segment.subspan(RINGS, request), segment.subspan(RINGS + request, response)};
}

int publish(const Export &segment, std::uint32_t node, std::uint32_t &id) noexcept {
    const rsm_acl_entry peer{node, EVERYBODY};
    return publish_somewhere(segment, CHANNEL_IDS, {&peer, 1}, id);
}

// The words of the peer's segment that describe it, read once.
struct Claims {
    explicit Claims(const Handshake &handshake) noexcept {
        const auto *from = const_cast<const volatile Handshake *>(&handshake);
        magic = from->magic;
        version = from->version;
        nonce = {from->nonce[0], from->nonce[1]};
        request_ring = from->request_ring;
        response_ring = from->response_ring;
    }
    [[nodiscard]] int check(const Ticket &expected, std::size_t mapped) const noexcept {
        if (magic != LAYOUT_MAGIC || nonce != expected)
            return RSMERR_CONN_ABORTED;
        if (version != LAYOUT_VERSION)
            return RSMERR_BAD_DRIVER_VERSION;
        const bool good = is_ring_size(request_ring) && is_ring_size(response_ring) &&
                          std::size_t{request_ring} + response_ring <= mapped - RINGS;
        return good ? RSM_SUCCESS : RSMERR_CONN_ABORTED;
    }

    std::uint32_t magic;
    std::uint32_t version;
    Ticket nonce{};
    std::uint32_t request_ring;
    std::uint32_t response_ring;
};

} // namespace

Channel::Channel(std::unique_ptr<Inside> inside) noexcept : inside_(std::move(inside)) {}
Channel::~Channel() = default;

// No peer has the address yet.
int Channel::furnish(std::size_t request, std::size_t response) noexcept {
    Ticket &nonce = inside_->address.nonce;
    if (!fill_random(std::as_writable_bytes(std::span(nonce))))
        return RSMERR_INSUFFICIENT_RESOURCES;
    const auto segment = inside_->own.bytes();
    Front &front = front_of(segment);
    front.handshake.magic = LAYOUT_MAGIC;
    front.handshake.version = LAYOUT_VERSION;
    std::ranges::copy(nonce, front.handshake.nonce);
    front.handshake.request_ring = static_cast<std::uint32_t>(request);
    front.handshake.response_ring = static_cast<std::uint32_t>(response);
    front.words.sleeps.store(1, std::memory_order_relaxed);
    const auto rings = rings_of(segment, request, response);
    for (std::size_t i = 0; i < rings.size(); ++i)
        inside_->readers[i] = RingReader(rings[i], front.words.consumed[i]);
    return RSM_SUCCESS;
}

int Channel::open_door() noexcept {
    SegmentAddress &address = inside_->address;
    const OwnSegment &own = inside_->own;
    address.node = inside_->device.node();
    if (inside_->local)
        return own.handle().grant(0, own.bytes().size(), RSM_PERM_RDWR, TicketUse::ONCE,
                                  address.ticket);
    return publish(own.handle(), inside_->peer_node, address.id);
}

int Channel::create(const Device &device, std::string_view controller, std::uint32_t node,
                    std::size_t ring, std::unique_ptr<Channel> &result) {
    if (!is_ring_size(ring))
        return RSMERR_BAD_LENGTH;
    auto inside = std::make_unique<Inside>(device, controller, node);
    // Between nodes responses carry what RDMA reads ask for.
    const std::size_t response = inside->local ? MIN_RING : ring;
    const auto interconnect = inside->local ? std::string_view() : controller;
    result.reset(new Channel(std::move(inside)));
    int status =
        OwnSegment::create(device, interconnect, RINGS + ring + response, result->inside_->own);
    if (status == RSM_SUCCESS)
        status = result->furnish(ring, response);
    return status == RSM_SUCCESS ? result->open_door() : status;
}

const SegmentAddress &Channel::address() const noexcept {
    return inside_->address;
}

int Channel::reach(const Device &device, std::string_view controller, const SegmentAddress &peer,
                   Import &import) noexcept {
    return peer.id == 0
               ? Import::redeem(device, peer.ticket, import)
               : Import::connect(device, controller, peer.node, peer.id, RSM_PERM_RDWR, import);
}

int Channel::attach(const SegmentAddress &peer) noexcept {
    if (peer.node != inside_->peer_node || (peer.id == 0) != inside_->local)
        return RSMERR_REMOTE_NODE_UNREACHABLE;
    Import import;
    const int status = reach(inside_->device, inside_->controller, peer, import);
    return status == RSM_SUCCESS ? attach(peer, import) : status;
}

int Channel::attach(const SegmentAddress &peer, Import &import) noexcept {
    if (import.length() < RINGS)
        return RSMERR_CONN_ABORTED;
    const auto length = std::min<std::uint64_t>(import.length(), RINGS + 2 * MAX_RING);
    int status = import.map(0, length, PROT_READ | PROT_WRITE);
    if (status != RSM_SUCCESS)
        return status;
    Front &front = front_of(import.mapping());
    const Claims claims(front.handshake);
    status = claims.check(peer.nonce, import.mapping().size());
    if (status != RSM_SUCCESS)
        return status;
    const auto rings = rings_of(import.mapping(), claims.request_ring, claims.response_ring);
    for (std::size_t i = 0; i < rings.size(); ++i)
        inside_->writers[i] = RingWriter(rings[i], front.words.consumed[i]);
    inside_->peer = std::move(import);
    return RSM_SUCCESS;
}

bool Channel::attached() const noexcept {
    return static_cast<bool>(inside_->peer);
}

// A ticket was good for the peer's redeem only.
void Channel::close_door() noexcept {
    const rsm_acl_entry peer{inside_->peer_node, NOBODY};
    if (!inside_->local)
        (void)inside_->own.handle().republish({&peer, 1});
}

bool Channel::local() const noexcept {
    return inside_->local;
}

Handshake &Channel::ours() noexcept {
    return front_of(inside_->own.bytes()).handshake;
}

Handshake &Channel::peers() noexcept {
    return front_of(inside_->peer.mapping()).handshake;
}

std::size_t Channel::limit(Ring ring) const noexcept {
    return inside_->writers[index_of(ring)].limit();
}

bool Channel::send(Ring ring, const MessageHeader &header,
                   std::span<const std::span<const std::byte>> pieces, Check check) noexcept {
    return inside_->writers[index_of(ring)].put(header, pieces, check);
}

Arrived Channel::receive(Ring ring, Message &message) noexcept {
    return inside_->readers[index_of(ring)].get(message);
}

void Channel::consume(Ring ring) noexcept {
    inside_->readers[index_of(ring)].consume();
}

bool Channel::has_message(Ring ring) const noexcept {
    return inside_->readers[index_of(ring)].has_message();
}

bool Channel::has_unread() const noexcept {
    const Words &words = front_of(inside_->peer.mapping()).words;
    return has_message(Ring::REQUEST) || has_message(Ring::RESPONSE) ||
           words.executed.load(std::memory_order_relaxed) != inside_->executed;
}

void Channel::set_executed(std::uint64_t count) noexcept {
    front_of(inside_->own.bytes()).words.executed.store(count, std::memory_order_release);
}

std::optional<std::uint64_t> Channel::executed(std::uint64_t sent) noexcept {
    const Words &words = front_of(inside_->peer.mapping()).words;
    const std::uint64_t said = words.executed.load(std::memory_order_acquire);
    // After the end of the connection the mapping shows arbitrary data, such as what this side
    // wrote.
    if (said == inside_->executed || !inside_->peer.connected())
        return inside_->executed;
    if (said > sent)
        return std::nullopt;
    inside_->executed = std::max(inside_->executed, said);
    return inside_->executed;
}

// A side that goes to sleep sets `sleeps`, then polls its rings; this side writes, then reads
// `sleeps`: one of the two sees the other's store.
void Channel::ring_bell() noexcept {
    std::atomic<std::uint32_t> &sleeps = front_of(inside_->peer.mapping()).words.sleeps;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (sleeps.load(std::memory_order_relaxed) != 0 &&
        sleeps.exchange(0, std::memory_order_seq_cst) != 0)
        (void)inside_->peer.post();
}

void Channel::ring_bell_always() noexcept {
    (void)inside_->peer.post();
}

void Channel::say_sleeps(std::uint32_t value) noexcept {
    front_of(inside_->own.bytes()).words.sleeps.store(value, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

void Channel::arm() noexcept {
    inside_->armed = true;
    say_sleeps(1);
}

void Channel::disarm() noexcept {
    inside_->armed = false;
    say_sleeps(0);
}

bool Channel::armed() const noexcept {
    return inside_->armed;
}

bool Channel::alive() const noexcept {
    return inside_->peer.alive();
}

int Channel::bell_fd() const noexcept {
    return inside_->own.handle().fd();
}

void Channel::take_bells() noexcept {
    (void)inside_->own.handle().take_events();
    if (inside_->armed)
        say_sleeps(1);
}

int Channel::peer_fd() const noexcept {
    return inside_->peer.fd();
}

} // namespace rsmengine
