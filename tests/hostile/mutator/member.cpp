// SPDX-License-Identifier: GPL-2.0
#include "mutator/member.hpp"

#include "segments.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace hostile {
namespace {

constexpr auto beat_every = std::chrono::milliseconds(200);

} // namespace

Member::Member(Window &window, Chance &chance, u32 node)
    : window_(window), chance_(chance), forger_(window, chance), node_(node) {
    join();
}

Member::~Member() {
    poke(window_.node(window_.own_slot()).incarnation, 0);
    window_.ring_all();
}

void Member::join() {
    rsm_window_node &node = window_.node(window_.own_slot());
    guests_.clear();
    for (u32 slot = 0; slot < window_.layout().slots; slot++) {
        Guest &guest = guests_[slot];
        guest.tail = peek(window_.queue(window_.own_slot(), slot).tail);
        guest.head = peek(window_.queue(slot, window_.own_slot()).tail);
        poke(window_.queue(slot, window_.own_slot()).head, guest.head);
    }
    incarnation_ = (chance_.bits() & ~RSM_INCARNATION_SLOT) | window_.own_slot();
    poke(node.node_id, node_);
    poke(node.incarnation, incarnation_);
    lives_++;
    window_.ring_all();
}

void Member::step() {
    if (peek(window_.node(window_.own_slot()).incarnation) != incarnation_) {
        for (u32 slot = 0; slot < window_.layout().slots; slot++)
            forget(slot);
        join();
    }
    for (const u32 slot : window_.guests())
        look_after(slot);
}

void Member::forget(u32 slot) {
    if (std::exchange(guests_[slot].incarnation, 0) != 0)
        link_ended(slot);
}

void Member::look_after(u32 slot) {
    Guest &guest = guests_[slot];
    if (guest.incarnation != peek(window_.node(slot).incarnation))
        forget(slot);
    greet(slot, guest);
    if (reads(slot))
        read(slot, guest);
    if (guest.incarnation != 0)
        act(slot);
}

// HELLO until it is answered, then heartbeats.
void Member::greet(u32 slot, Guest &guest) {
    if (Clock::now() < guest.beat || peek(window_.node(slot).incarnation) == 0)
        return;
    guest.beat = Clock::now() + beat_every;
    send(slot, forger_.greeting(to(slot), guest.incarnation != 0 ? RSM_MSG_HEARTBEAT : RSM_MSG_HELLO,
                                node_, interval_for(slot)));
}

rsm_window_message *Member::write(u32 slot, const Message &message) {
    rsm_window_queue &queue = window_.queue(window_.own_slot(), slot);
    const Guest &guest = guests_[slot];
    if (guest.tail - peek(queue.head) >= RSM_WINDOW_QUEUE_SLOTS)
        return nullptr;
    rsm_window_message &entry = queue.message[guest.tail % RSM_WINDOW_QUEUE_SLOTS];
    std::memcpy(entry.data, message.data.data(), message.data.size());
    poke(entry.len, message.length);
    return &entry;
}

void Member::announce(u32 slot) {
    poke(window_.queue(window_.own_slot(), slot).tail, ++guests_[slot].tail);
    const __le64 bit = u64{1} << window_.own_slot();
    if ((__atomic_fetch_or(&window_.node(slot).bell, bit, __ATOMIC_ACQ_REL) & bit) == 0)
        window_.ring(slot);
    sent_++;
}

bool Member::send(u32 slot, const Message &message) {
    if (write(slot, message) == nullptr)
        return false;
    announce(slot);
    return true;
}

void Member::read(u32 slot, Guest &guest) {
    rsm_window_queue &queue = window_.queue(slot, window_.own_slot());
    __atomic_store_n(&window_.node(window_.own_slot()).bell, 0, __ATOMIC_RELEASE);
    while (peek(queue.tail) - guest.head - 1 < RSM_WINDOW_QUEUE_SLOTS) {
        Message message;
        const auto &entry = queue.message[guest.head % RSM_WINDOW_QUEUE_SLOTS];
        message.length = std::min<u32>(peek(entry.len), message_max);
        std::memcpy(message.data.data(), entry.data, message.length);
        poke(queue.head, ++guest.head);
        received_++;
        handle(slot, guest, message);
    }
}

void Member::handle(u32 slot, Guest &guest, Message &message) {
    const rsm_msg_header &header = message.header();
    if (header.from != peek(window_.node(slot).incarnation))
        return;
    switch (header.type) {
    case RSM_MSG_HELLO:
        // A guest that greets again has lost its link.
        forget(slot);
        send(slot, forger_.greeting(to(slot), RSM_MSG_WELCOME, node_, interval_for(slot)));
        [[fallthrough]];
    case RSM_MSG_WELCOME:
        links_ += guest.incarnation != header.from;
        guest.incarnation = header.from;
        break;
    default:
        received(slot, message);
    }
}

// Chunks that nobody has, where there are such.
u64 Member::own_memory() {
    const auto chunks = window_.chunks();
    const u64 count = segment_size >> window_.layout().chunk_shift;
    const u64 first = chance_.below(chunks.size() - count);
    for (u64 i = first; i < first + count; i++) {
        __le64 nobody = 0;
        __atomic_compare_exchange_n(&chunks[i], &nobody, incarnation_, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED);
    }
    return window_.layout().data + (first << window_.layout().chunk_shift);
}

} // namespace hostile
