// SPDX-License-Identifier: MIT
// The wire and the kernel as transfers see them, within one process: channels are pieces of heap,
// and tickets are good as long as their region is there.
#include "engine/connect/ep.h"
#include "memory/copy.h"
#include "wire/channel.h"
#include "wire/ring.h"

#include "transfer_fake.h"

#include <map>
#include <mutex>

namespace fake {

int bells = 0;
bool grants = true;
bool maps = false;
int writes = 0;
std::atomic<std::thread::id> region_closed_by;

namespace {

struct alignas(64) Shared {
    rsmengine::Front front{};
    alignas(64) std::array<std::byte, RING> request{};
    alignas(64) std::array<std::byte, rsmengine::MIN_RING> response{};
};

std::mutex segments_mutex;                                  // channels end on threads of their own
std::map<std::uint64_t, std::shared_ptr<Shared>> segments; // by ticket
std::uint64_t last_ticket = 0;

// A permission: which endpoint may reach which memory.
struct Held {
    const rsmengine::Ep *ep;
    rsmengine::RsmContexts *contexts;
    rsmengine::Grant grant;
    std::uint32_t context;
};
std::map<std::uint64_t, Held> tickets;

} // namespace

} // namespace fake

namespace rsmengine {

Device::Device() : Table(rsmdev::no_policy) {}
Device::~Device() = default;
bool Device::has_controller(std::string_view /*name*/) const noexcept {
    return false;
}

struct Channel::Inside {
    SegmentAddress address{};
    bool local = true;
    bool armed = true;
    std::shared_ptr<fake::Shared> own = std::make_shared<fake::Shared>();
    std::shared_ptr<fake::Shared> peer;
    std::array<RingReader, 2> readers;
    std::array<RingWriter, 2> writers;
    std::uint64_t executed = 0;
};

Channel::Channel(std::unique_ptr<Inside> inside) noexcept : inside_(std::move(inside)) {}
Channel::~Channel() {
    const std::scoped_lock guard(fake::segments_mutex);
    fake::segments.erase(inside_->address.ticket[0]);
}

int Channel::create(const Device & /*device*/, std::string_view /*controller*/, std::uint32_t node,
                    std::size_t /*ring*/, std::unique_ptr<Channel> &result) {
    auto inside = std::make_unique<Inside>();
    fake::Shared &own = *inside->own;
    inside->local = node == 0;
    inside->address.ticket = {++fake::last_ticket, 0};
    inside->readers = {RingReader(own.request, own.front.words.consumed[0]),
                       RingReader(own.response, own.front.words.consumed[1])};
    {
        const std::scoped_lock guard(fake::segments_mutex);
        fake::segments[fake::last_ticket] = inside->own;
    }
    result.reset(new Channel(std::move(inside)));
    return RSM_SUCCESS;
}

int Channel::attach(const SegmentAddress &peer) noexcept {
    {
        const std::scoped_lock guard(fake::segments_mutex);
        inside_->peer = fake::segments.at(peer.ticket[0]);
    }
    fake::Shared &segment = *inside_->peer;
    inside_->writers = {RingWriter(segment.request, segment.front.words.consumed[0]),
                        RingWriter(segment.response, segment.front.words.consumed[1])};
    return RSM_SUCCESS;
}

int Channel::attach(const SegmentAddress &peer, Import & /*import*/) noexcept {
    return attach(peer);
}

int Channel::reach(const Device & /*device*/, std::string_view /*controller*/,
                   const SegmentAddress & /*peer*/, Import & /*import*/) noexcept {
    return RSM_SUCCESS;
}

const SegmentAddress &Channel::address() const noexcept {
    return inside_->address;
}
bool Channel::attached() const noexcept {
    return inside_->peer != nullptr;
}
void Channel::close_door() noexcept {}
bool Channel::local() const noexcept {
    return inside_->local;
}
Handshake &Channel::ours() noexcept {
    return inside_->own->front.handshake;
}
Handshake &Channel::peers() noexcept {
    return inside_->peer->front.handshake;
}
std::size_t Channel::limit(Ring ring) const noexcept {
    return inside_->writers[static_cast<std::size_t>(ring)].limit();
}
bool Channel::send(Ring ring, const MessageHeader &header,
                   std::span<const std::span<const std::byte>> pieces, Check check) noexcept {
    return inside_->writers[static_cast<std::size_t>(ring)].put(header, pieces, check);
}
Arrived Channel::receive(Ring ring, Message &message) noexcept {
    return inside_->readers[static_cast<std::size_t>(ring)].get(message);
}
bool Channel::has_message(Ring ring) const noexcept {
    return inside_->readers[static_cast<std::size_t>(ring)].has_message();
}
bool Channel::has_unread() const noexcept {
    return has_message(Ring::REQUEST) || has_message(Ring::RESPONSE) ||
           inside_->peer->front.words.executed != inside_->executed;
}
void Channel::consume(Ring ring) noexcept {
    inside_->readers[static_cast<std::size_t>(ring)].consume();
}
void Channel::set_executed(std::uint64_t count) noexcept {
    inside_->own->front.words.executed = count;
}
std::optional<std::uint64_t> Channel::executed(std::uint64_t sent) noexcept {
    const std::uint64_t said = inside_->peer->front.words.executed;
    if (said > sent)
        return std::nullopt;
    return inside_->executed = std::max(inside_->executed, said);
}
void Channel::ring_bell() noexcept {
    ++fake::bells;
}
void Channel::ring_bell_always() noexcept {
    ++fake::bells;
}
void Channel::arm() noexcept {
    inside_->armed = true;
}
void Channel::disarm() noexcept {
    inside_->armed = false;
}
bool Channel::armed() const noexcept {
    return inside_->armed;
}
bool Channel::alive() const noexcept {
    return true;
}
int Channel::bell_fd() const noexcept {
    return -1;
}
void Channel::take_bells() noexcept {}
int Channel::peer_fd() const noexcept {
    return -1;
}

std::optional<Grant> Tickets::grant(RsmContexts &contexts, const Ep &ep, const Pz *pz,
                                    std::uint32_t context) noexcept {
    const RsmRegion *region = contexts.find(context);
    if (!fake::grants || !region || region->pz != pz || !region->open)
        return {};
    Grant grant{};
    grant.ticket[0] = ++fake::last_ticket;
    grant.address = region->address;
    grant.length = region->length;
    grant.permission = region->privileges;
    fake::tickets[fake::last_ticket] = {&ep, &contexts, grant, context};
    return grant;
}

void Tickets::revoke(const Ep & /*ep*/, RsmRegion & /*region*/) noexcept {}

void Tickets::revoke(const Ep &ep) noexcept {
    std::erase_if(fake::tickets, [&](const auto &held) { return held.second.ep == &ep; });
}

namespace {

// An import whose connection never ends.
Import make_import() {
    static std::array<std::byte, std::size_t{2} * RSM_SLOT_SIZE> words{};
    static rsmdev::Table table(rsmdev::no_policy);
    table.adopt(words.data(), words.data() + RSM_SLOT_SIZE);
    return Import::adopt(table, {}, rsm_connect{});
}

} // namespace

struct RemoteRegion::Inside {
    explicit Inside(std::uint64_t number) : ticket(number) {}

    std::uint64_t ticket;
    Import import = make_import();

    [[nodiscard]] Outcome reach(std::uint64_t address, std::uint64_t length,
                                unsigned privilege) const {
        const auto held = fake::tickets.find(ticket);
        if (held == fake::tickets.end() || !held->second.contexts->find(held->second.context))
            return Outcome::GONE;
        const Grant &grant = held->second.grant;
        const bool inside = address >= grant.address && length <= grant.length &&
                            address - grant.address <= grant.length - length;
        return inside && (grant.permission & privilege) != 0 ? Outcome::DONE : Outcome::DENIED;
    }
};

RemoteRegion::RemoteRegion(std::unique_ptr<Inside> inside) noexcept : inside_(std::move(inside)) {}
RemoteRegion::~RemoteRegion() {
    fake::region_closed_by = std::this_thread::get_id();
}

RemoteRegion::Window RemoteRegion::window() const noexcept {
    const Grant &grant = fake::tickets.at(inside_->ticket).grant;
    if (!fake::maps || (grant.permission & rights::REMOTE_WRITE) == 0)
        return {};
    return {reinterpret_cast<std::byte *>(grant.address), grant.address, grant.length,
            &inside_->import};
}

std::unique_ptr<RemoteRegion> RemoteRegion::open(const Device & /*device*/, const Grant &grant) {
    if (!fake::tickets.contains(grant.ticket[0]))
        return nullptr;
    auto inside = std::make_unique<Inside>(grant.ticket[0]);
    return std::unique_ptr<RemoteRegion>(new RemoteRegion(std::move(inside)));
}

RemoteRegion::Outcome RemoteRegion::write(std::uint64_t address,
                                          std::span<const Segment> pieces,
                                          std::uint64_t length) const noexcept {
    ++fake::writes;
    const Outcome outcome = inside_->reach(address, length, rights::REMOTE_WRITE);
    if (outcome == Outcome::DONE)
        copy_from_pieces(pieces, 0, {reinterpret_cast<std::byte *>(address), length});
    return outcome;
}

RemoteRegion::Outcome RemoteRegion::read(std::uint64_t address,
                                         std::span<const Segment> pieces,
                                         std::uint64_t length) const noexcept {
    const Outcome outcome = inside_->reach(address, length, rights::REMOTE_READ);
    if (outcome == Outcome::DONE)
        copy_to_pieces(pieces, 0, {reinterpret_cast<const std::byte *>(address), length});
    return outcome;
}

} // namespace rsmengine
