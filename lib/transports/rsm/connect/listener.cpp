// SPDX-License-Identifier: MIT
#include "connect/listener.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace rsmengine {
namespace {

constexpr std::uint32_t LABEL_MAGIC = 0x724c626c; // "rLbl"
constexpr std::uint32_t LABEL_IDS = 0x20000000;   // and 28 bits made of the qualifier
constexpr SegmentIds SLOTS_IDS{0x30000000, 1U << 28};
constexpr std::uint32_t READ_BY_ALL = 0444;
constexpr std::uint32_t WRITTEN_BY_ALL = 0222;

constexpr std::size_t SLOTS_SIZE = LISTENER_SLOTS * sizeof(ListenerSlot);
static_assert(SLOTS_SIZE <= 4096, "one page");

static_assert(sizeof(ListenerSlot) <= sizeof(Letter));

// Mixes all bits of a word into all others.
constexpr std::uint64_t mix(std::uint64_t word) noexcept {
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
    return word ^ (word >> 31);
}

template <class T>
std::span<const std::byte> bytes_of(const T &object) noexcept {
    return std::as_bytes(std::span(&object, 1));
}

template <class T>
std::span<std::byte> room_of(T &object) noexcept {
    return std::as_writable_bytes(std::span(&object, 1));
}

// The controller through which a segment on `node` is connected to.
std::string_view way_to(const Device &device, std::string_view controller,
                        std::uint32_t node) noexcept {
    return node == device.node() ? NO_INTERCONNECT : controller;
}

// Publishes to all nodes that `controller` reaches; nodes that join later may import it, too.
int publish_label(const Device &device, std::string_view controller, const OwnSegment &label,
                  std::uint32_t id) noexcept {
    std::array<rsm_acl_entry, RSM_ACL_MAX> nodes{};
    nodes[0] = {device.node(), READ_BY_ALL};
    if (controller == NO_INTERCONNECT)
        return label.handle().publish(id, std::span(nodes).first(1));
    for (std::uint32_t i = 0; i < nodes.size(); ++i)
        nodes.at(i) = {i + 1, READ_BY_ALL};
    return label.handle().publish(id, nodes);
}

// RSM_SUCCESS, or RSMERR_SEG_NOT_PUBLISHED if there is no label of that qualifier to be read.
int read_label(const Device &device, std::string_view controller, std::uint32_t node,
               std::uint64_t qualifier, Label &label) noexcept {
    Import import;
    int status = Import::connect(device, way_to(device, controller, node), node,
                                 label_id(qualifier), RSM_PERM_READ, import);
    if (status == RSMERR_SEG_NOT_PUBLISHED_TO_NODE || status == RSMERR_PERM_DENIED ||
        status == RSMERR_CONN_ABORTED)
        return RSMERR_SEG_NOT_PUBLISHED;
    if (status != RSM_SUCCESS)
        return status;
    status = import.get(0, room_of(label));
    const bool it_is = status == RSM_SUCCESS && label.magic == LABEL_MAGIC &&
                       label.version == LAYOUT_VERSION && label.qualifier == qualifier;
    return it_is ? RSM_SUCCESS : RSMERR_SEG_NOT_PUBLISHED;
}

} // namespace

std::uint32_t label_id(std::uint64_t qualifier) noexcept {
    constexpr std::uint64_t SMALL = std::uint64_t{1} << 27;
    if (qualifier < SMALL)
        return LABEL_IDS | static_cast<std::uint32_t>(qualifier);
    return LABEL_IDS | static_cast<std::uint32_t>(SMALL | mix(qualifier) % SMALL);
}

std::uint64_t check_of(const ListenerSlot &slot) noexcept {
    const Credentials &from = slot.from;
    std::uint64_t sum = mix(slot.qualifier + 1);
    sum = mix(sum ^ (std::uint64_t{from.node} << 32 | from.id));
    for (const auto word : {from.ticket[0], from.ticket[1], from.nonce[0], from.nonce[1]})
        sum = mix(sum + word);
    return sum | 1;
}

Credentials credentials_of(const SegmentAddress &address) noexcept {
    return {address.node,
            address.id,
            {address.ticket[0], address.ticket[1]},
            {address.nonce[0], address.nonce[1]}};
}

SegmentAddress address_of(const Credentials &credentials) noexcept {
    return {credentials.node,
            credentials.id,
            {credentials.ticket[0], credentials.ticket[1]},
            {credentials.nonce[0], credentials.nonce[1]}};
}

// Publish the label last: what it names exists by then.
int Listener::open(const Device &device, std::string_view controller, std::uint64_t qualifier,
                   Listener &result) noexcept {
    result.node_ = device.node();
    result.qualifier_ = qualifier;
    Label label{LABEL_MAGIC, LAYOUT_VERSION, qualifier, {0, 0}, 0, 0};
    Ticket ticket{};
    int status = result.make(device, controller);
    if (status == RSM_SUCCESS)
        status = result.letters_.handle().grant_letters(ticket);
    if (status == RSM_SUCCESS && result.slots_.handle())
        status = result.publish_slots(device, label.slots);
    if (status != RSM_SUCCESS)
        return status;
    std::ranges::copy(ticket, label.ticket);
    std::memcpy(result.label_.bytes().data(), &label, sizeof label);
    return publish_label(device, controller, result.label_, label_id(qualifier));
}

int Listener::make(const Device &device, std::string_view controller) noexcept {
    int status = OwnSegment::create(device, controller, sizeof(Label), label_);
    if (status == RSM_SUCCESS)
        status = OwnSegment::create(device, {}, sizeof(Letter), letters_);
    if (status == RSM_SUCCESS && controller != NO_INTERCONNECT)
        status = OwnSegment::create(device, controller, SLOTS_SIZE, slots_);
    return status;
}

// Publishes to all other nodes; users of this node send letters.
int Listener::publish_slots(const Device &device, std::uint32_t &id) const noexcept {
    std::array<rsm_acl_entry, RSM_ACL_MAX> nodes{};
    std::size_t count = 0;
    for (std::uint32_t node = 1; node <= RSM_NODE_MAX; ++node)
        if (node != device.node())
            nodes.at(count++) = {node, WRITTEN_BY_ALL};
    return publish_somewhere(slots_.handle(), SLOTS_IDS, std::span(nodes).first(count), id);
}

void Listener::take_bells() const noexcept {
    letters_.handle().take_events();
    if (slots_.handle())
        slots_.handle().take_events();
}

std::optional<SegmentAddress> Listener::next_letter() const noexcept {
    Letter letter{};
    while (letters_.handle().receive(letter) == RSM_SUCCESS) {
        ListenerSlot request{};
        std::memcpy(&request, letter.data(), sizeof request);
        if (request.qualifier == qualifier_ && request.from.node == node_ && request.from.id == 0)
            return address_of(request.from);
    }
    return std::nullopt;
}

// A peer may write to the slot meanwhile: use only the copy, if its checksum is right.
std::optional<SegmentAddress> Listener::take(std::size_t index) noexcept {
    std::byte *where = slots_.bytes().data() + index * sizeof(ListenerSlot);
    ListenerSlot slot{};
    std::memcpy(&slot, where, sizeof slot);
    if (slot.check == 0 || slot.check != check_of(slot))
        return std::nullopt;
    std::memset(where, 0, sizeof slot);
    const Credentials &from = slot.from;
    if (slot.qualifier != qualifier_ || from.node == node_ || from.id == 0 ||
        !is_new(from.nonce[0]))
        return std::nullopt;
    return address_of(from);
}

// A requester repeats a request until it is answered: skip the repetitions.
bool Listener::is_new(std::uint64_t nonce) noexcept {
    if (std::ranges::find(seen_, nonce) != seen_.end())
        return false;
    seen_.at(last_seen_++ % seen_.size()) = nonce;
    return true;
}

void Listener::forget(const SegmentAddress &request) noexcept {
    std::ranges::replace(seen_, request.nonce[0], std::uint64_t{0});
}

Call::Call(const SegmentAddress &from, std::uint64_t qualifier) noexcept {
    slot_.qualifier = qualifier;
    slot_.from = credentials_of(from);
    slot_.check = check_of(slot_);
}

int Call::place(const Device &device, std::string_view controller, std::uint32_t node) noexcept {
    Label label{};
    int status = read_label(device, controller, node, slot_.qualifier, label);
    if (status != RSM_SUCCESS)
        return status;
    local_ = node == device.node();
    if (local_)
        return send(device, label);
    status = Import::connect(device, controller, node, label.slots, RSM_PERM_WRITE, listener_);
    return status == RSM_SUCCESS ? repeat() : status;
}

int Call::send(const Device &device, const Label &label) noexcept {
    Letter letter{};
    std::memcpy(letter.data(), &slot_, sizeof slot_);
    const int status = Import::redeem(device, {label.ticket[0], label.ticket[1]}, listener_);
    return status == RSM_SUCCESS ? listener_.send(letter) : status;
}

// The slot is random because nonces are.
int Call::repeat() noexcept {
    const std::uint64_t index = mix(slot_.from.nonce[0] + ++tries_) % LISTENER_SLOTS;
    return listener_.put_and_post(index * sizeof(ListenerSlot), bytes_of(slot_));
}

} // namespace rsmengine
