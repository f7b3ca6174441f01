// SPDX-License-Identifier: MIT
#include "connect/listener.h"

#include <array>
#include <cstring>

namespace rsmdat {
namespace {

constexpr std::uint32_t LABEL_MAGIC = 0x724c626c; // "rLbl"
constexpr std::uint32_t LABEL_IDS = 0x24000000;   // and the 24 bits of a place
constexpr std::uint32_t SLOTS_IDS = 0x25000000;
constexpr std::uint32_t READ_BY_ALL = 0444;
constexpr std::uint32_t WRITTEN_BY_ALL = 0222;

constexpr std::size_t SLOTS_SIZE = LISTENER_SLOTS * sizeof(ListenerSlot);
static_assert(SLOTS_SIZE <= 4096, "one page");

// Mixes all bits of a word into all others.
constexpr std::uint64_t mix(std::uint64_t word) noexcept {
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
    return word ^ (word >> 31);
}

std::uint32_t place_of(std::uint64_t qualifier, std::uint32_t place) noexcept {
    constexpr std::uint64_t STEP = 0x9e3779b97f4a7c15ULL;
    return static_cast<std::uint32_t>(mix(qualifier + STEP * (place + 1)) >> 40);
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
    return node == device.node() ? "loopback" : controller;
}

// To all nodes that `controller` reaches; those that are not there yet may join.
int publish(const Device &device, std::string_view controller, const OwnSegment &segment,
            std::uint32_t id, std::uint32_t mode) noexcept {
    std::array<rsm_acl_entry, RSM_ACL_MAX> nodes{};
    nodes[0] = {device.node(), mode};
    if (controller == "loopback")
        return segment.handle().publish(id, std::span(nodes).first(1));
    for (std::uint32_t i = 0; i < nodes.size(); ++i)
        nodes.at(i) = {i + 1, mode};
    return segment.handle().publish(id, nodes);
}

// RSM_SUCCESS and the label at a place, or RSMERR_SEG_NOT_PUBLISHED if there is none to be read.
int read_label(const Device &device, std::string_view controller, std::uint32_t node,
               std::uint32_t id, Label &label) noexcept {
    Import import;
    const int status =
        Import::connect(device, way_to(device, controller, node), node, id, RSM_PERM_READ, import);
    if (status == RSM_SUCCESS)
        return import.get(0, room_of(label)) == RSM_SUCCESS ? RSM_SUCCESS
                                                            : RSMERR_SEG_NOT_PUBLISHED;
    const bool stranger = status == RSMERR_SEG_NOT_PUBLISHED_TO_NODE ||
                          status == RSMERR_PERM_DENIED || status == RSMERR_CONN_ABORTED;
    return stranger ? RSMERR_SEG_NOT_PUBLISHED : status;
}

// RSM_SUCCESS if a listener on the qualifier is at that place.
int look_for(const Device &device, std::string_view controller, std::uint32_t node,
             std::uint64_t qualifier, std::uint32_t place) noexcept {
    Label label{};
    const int status = read_label(device, controller, node, label_id(qualifier, place), label);
    if (status != RSM_SUCCESS)
        return status;
    const bool it_is = label.magic == LABEL_MAGIC && label.version == LAYOUT_VERSION &&
                       label.qualifier == qualifier;
    return it_is ? RSM_SUCCESS : RSMERR_SEG_NOT_PUBLISHED;
}

// Does somebody at a place other than `mine` listen on the qualifier?
bool held_elsewhere(const Device &device, std::string_view controller, std::uint64_t qualifier,
                    std::uint32_t mine) noexcept {
    for (std::uint32_t place = 0; place < LISTENER_PLACES; ++place)
        if (place != mine &&
            look_for(device, controller, device.node(), qualifier, place) == RSM_SUCCESS)
            return true;
    return false;
}

} // namespace

std::uint32_t label_id(std::uint64_t qualifier, std::uint32_t place) noexcept {
    return LABEL_IDS | place_of(qualifier, place);
}

std::uint32_t slots_id(std::uint64_t qualifier, std::uint32_t place) noexcept {
    return SLOTS_IDS | place_of(qualifier, place);
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

int Listener::open(const Device &device, std::string_view controller, std::uint64_t qualifier,
                   Listener &result) noexcept {
    for (std::uint32_t place = 0; place < LISTENER_PLACES; ++place) {
        const int status = try_place(device, controller, qualifier, place, result);
        if (status != RSMERR_SEGID_IN_USE)
            return status;
        if (look_for(device, controller, device.node(), qualifier, place) == RSM_SUCCESS)
            return status;
    }
    return RSMERR_SEGID_IN_USE;
}

int Listener::make(const Device &device, std::string_view controller, std::uint64_t qualifier,
                   Listener &result) noexcept {
    const Label label{LABEL_MAGIC, LAYOUT_VERSION, qualifier};
    int status = OwnSegment::create(device, controller, sizeof label, result.label_);
    if (status == RSM_SUCCESS)
        status = OwnSegment::create(device, controller, SLOTS_SIZE, result.slots_);
    if (status == RSM_SUCCESS)
        std::memcpy(result.label_.bytes().data(), &label, sizeof label);
    return status;
}

int Listener::try_place(const Device &device, std::string_view controller, std::uint64_t qualifier,
                        std::uint32_t place, Listener &result) noexcept {
    Listener fresh;
    int status = make(device, controller, qualifier, fresh);
    if (status == RSM_SUCCESS)
        status = publish(device, controller, fresh.label_, label_id(qualifier, place), READ_BY_ALL);
    if (status == RSM_SUCCESS && held_elsewhere(device, controller, qualifier, place))
        status = RSMERR_SEGID_IN_USE;
    if (status == RSM_SUCCESS)
        status =
            publish(device, controller, fresh.slots_, slots_id(qualifier, place), WRITTEN_BY_ALL);
    if (status == RSM_SUCCESS)
        result = std::move(fresh);
    return status;
}

// The slot may be written to meanwhile: what was copied counts, if it is whole.
std::optional<ListenerSlot> Listener::take(std::size_t index) const noexcept {
    std::byte *where = slots_.bytes().data() + index * sizeof(ListenerSlot);
    ListenerSlot slot{};
    std::memcpy(&slot, where, sizeof slot);
    if (slot.check == 0 || slot.check != check_of(slot))
        return std::nullopt;
    auto &check = *reinterpret_cast<std::uint64_t *>(where + offsetof(ListenerSlot, check));
    std::atomic_ref(check).store(0, std::memory_order_release);
    return slot;
}

Call::Call(const SegmentAddress &from, std::uint64_t qualifier) noexcept {
    slot_.qualifier = qualifier;
    slot_.from = credentials_of(from);
    slot_.check = check_of(slot_);
}

int Call::place(const Device &device, std::string_view controller, std::uint32_t node) noexcept {
    for (std::uint32_t place = 0; place < LISTENER_PLACES; ++place) {
        int status = look_for(device, controller, node, slot_.qualifier, place);
        if (status == RSM_SUCCESS)
            status = Import::connect(device, way_to(device, controller, node), node,
                                     slots_id(slot_.qualifier, place), RSM_PERM_WRITE, listener_);
        if (status == RSM_SUCCESS)
            return repeat();
        if (status != RSMERR_SEG_NOT_PUBLISHED)
            return status;
    }
    return RSMERR_SEG_NOT_PUBLISHED;
}

// Nonces are random, so slots are.
int Call::repeat() noexcept {
    const std::uint64_t index = mix(slot_.from.nonce[0] + ++tries_) % LISTENER_SLOTS;
    return listener_.put_and_post(index * sizeof(ListenerSlot), bytes_of(slot_));
}

void refuse(const Device &device, std::string_view controller,
            const SegmentAddress &from) noexcept {
    Import import;
    const int status = from.id == 0 ? Import::redeem(device, from.ticket, import)
                                    : Import::connect(device, controller, from.node, from.id,
                                                      RSM_PERM_RDWR, import);
    std::uint64_t nonce[2] = {0, 0};
    if (status != RSM_SUCCESS ||
        import.get(offsetof(Handshake, nonce), room_of(nonce)) != RSM_SUCCESS)
        return;
    std::uint32_t state = 0;
    if (nonce[0] != from.nonce[0] || nonce[1] != from.nonce[1] ||
        import.get(offsetof(Handshake, state), room_of(state)) != RSM_SUCCESS ||
        state != static_cast<std::uint32_t>(LinkState::OFFERED))
        return;
    state = static_cast<std::uint32_t>(LinkState::REFUSED);
    (void)import.put_and_post(offsetof(Handshake, state), bytes_of(state));
}

} // namespace rsmdat
