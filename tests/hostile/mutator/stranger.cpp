// SPDX-License-Identifier: GPL-2.0
#include "mutator/stranger.hpp"

#include "segments.hpp"

#include <algorithm>
#include <cstring>
#include <linux/rsm_common.h>

using std::chrono::milliseconds;

namespace hostile {
namespace {

constexpr const char *names[] = {"liar", "mute", "slow", "flood", "deaf"};
constexpr Manner manners[] = {Manner::liar, Manner::mute, Manner::slow, Manner::flood,
                              Manner::deaf};

constexpr auto beat_every = milliseconds(200);
} // namespace

const Manner *find_manner(const std::string &name) {
    for (std::size_t i = 0; i < std::size(names); i++)
        if (name == names[i])
            return &manners[i];
    return nullptr;
}

std::span<const char *const> manner_names() {
    return names;
}

Stranger::Stranger(Window &window, Chance &chance, Manner manner)
    : window_(window), chance_(chance), forger_(window, chance), manner_(manner) {
    join();
}

// As a guest that leaves, so that the others know at once.
Stranger::~Stranger() {
    poke(window_.node(window_.own_slot()).incarnation, 0);
    window_.ring_all();
}

void Stranger::join() {
    rsm_window_node &node = window_.node(window_.own_slot());
    guests_.clear();
    for (u32 slot = 0; slot < window_.layout().slots; slot++) {
        Guest &guest = guests_[slot];
        guest.tail = peek(window_.queue(window_.own_slot(), slot).tail);
        guest.head = peek(window_.queue(slot, window_.own_slot()).tail);
        poke(window_.queue(slot, window_.own_slot()).head, guest.head);
    }
    incarnation_ = (chance_.bits() & ~RSM_INCARNATION_SLOT) | window_.own_slot();
    poke(node.node_id, stranger_node);
    poke(node.incarnation, incarnation_);
    lives_++;
    window_.ring_all();
}

void Stranger::step() {
    if (peek(window_.node(window_.own_slot()).incarnation) != incarnation_)
        join();
    for (const u32 slot : window_.guests())
        look_after(slot);
}

void Stranger::look_after(u32 slot) {
    Guest &guest = guests_[slot];
    if (guest.incarnation != peek(window_.node(slot).incarnation)) {
        guest.incarnation = 0;
        guest.handles.clear();
        guest.late.clear();
    }
    greet(slot, guest);
    if (manner_ != Manner::deaf || guest.incarnation == 0)
        read(slot, guest);
    if (guest.incarnation == 0)
        return;
    answer_late(slot, guest);
    misbehave(slot, guest);
}

// HELLO until it is answered, then heartbeats.
void Stranger::greet(u32 slot, Guest &guest) {
    if (Clock::now() < guest.beat || peek(window_.node(slot).incarnation) == 0)
        return;
    guest.beat = Clock::now() + beat_every;
    send(slot,
         forger_.greeting(to(slot), guest.incarnation != 0 ? RSM_MSG_HEARTBEAT : RSM_MSG_HELLO,
                          stranger_node, interval_for(slot)));
}

// One that the guest accepts, or at times one that is beyond reason.
u32 Stranger::interval_for(u32 slot) {
    const u32 theirs = peek(window_.node(slot).interval_ms);
    if (chance_.one_in(16))
        return chance_.one_in(2) ? ~0U : 0;
    return chance_.one_in(4) ? 4 * theirs : theirs;
}

bool Stranger::send(u32 slot, const Message &message) {
    rsm_window_queue &queue = window_.queue(window_.own_slot(), slot);
    Guest &guest = guests_[slot];
    if (guest.tail - peek(queue.head) >= RSM_WINDOW_QUEUE_SLOTS)
        return false;
    rsm_window_message &entry = queue.message[guest.tail % RSM_WINDOW_QUEUE_SLOTS];
    std::memcpy(entry.data, message.data.data(), message.data.size());
    poke(entry.len, message.length);
    poke(queue.tail, ++guest.tail);
    const __le64 bit = u64{1} << window_.own_slot();
    if ((__atomic_fetch_or(&window_.node(slot).bell, bit, __ATOMIC_ACQ_REL) & bit) == 0)
        window_.ring(slot);
    sent_++;
    return true;
}

void Stranger::read(u32 slot, Guest &guest) {
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

void Stranger::handle(u32 slot, Guest &guest, Message &message) {
    const rsm_msg_header &header = message.header();
    if (header.from != peek(window_.node(slot).incarnation))
        return;
    switch (header.type) {
    case RSM_MSG_HELLO:
        send(slot, forger_.greeting(to(slot), RSM_MSG_WELCOME, stranger_node, interval_for(slot)));
        [[fallthrough]];
    case RSM_MSG_WELCOME:
        links_ += guest.incarnation != header.from;
        guest.incarnation = header.from;
        guest.interval = message.as<rsm_msg_hello>().interval_ms;
        break;
    case RSM_MSG_CONNECT:
        be_asked(slot, guest, message.as<rsm_msg_connect>());
        break;
    case RSM_MSG_CONNECTED:
        if (message.as<rsm_msg_connected>().status == RSM_SUCCESS)
            guest.handles[message.as<rsm_msg_connected>().cookie] =
                message.as<rsm_msg_connected>().handle;
        break;
    case RSM_MSG_UNPUBLISH:
        be_told(slot, guest, message.as<rsm_msg_connection>());
        break;
    default:
        break;
    }
}

u64 Stranger::own_chunk() {
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

// One that is good now and then, so that there is something to break.
void Stranger::be_asked(u32 slot, Guest &guest, const rsm_msg_connect &message) {
    if (manner_ == Manner::mute && chance_.one_in(2))
        return;
    const bool lies = manner_ == Manner::liar && chance_.one_in(2);
    Message answer = forger_.connected(to(slot), message.cookie,
                                       lies ? chance_.instead_of<u32>(RSMERR_TIMEOUT) : 0);
    auto &body = answer.as<rsm_msg_connected>();
    if (!lies && chance_.one_in(2)) {
        body.mode = 0666;
        body.length = segment_size;
        body.place[0] = own_chunk();
        body.place[1] = 0;
        guest.handles[message.cookie] = body.handle;
    }
    send(slot, answer);
}

void Stranger::be_told(u32 slot, Guest &guest, const rsm_msg_connection &message) {
    Message answer =
        forger_.connection(to(slot), RSM_MSG_DISCONNECT, message.cookie, message.handle);
    guest.handles.erase(message.cookie);
    if (manner_ == Manner::slow)
        guest.late.push_back({Clock::now() + milliseconds(guest.interval * 3 / 2), answer});
    else if (manner_ != Manner::mute)
        send(slot, answer);
}

// One after the other: the next one is late from when the last one was answered.
void Stranger::answer_late(u32 slot, Guest &guest) {
    if (guest.late.empty() || Clock::now() < guest.late.front().when)
        return;
    if (!send(slot, guest.late.front().answer))
        return;
    guest.late.pop_front();
}

void Stranger::import_all(u32 slot, Guest &guest, u32 times) {
    for (u32 index = 0; index < ids_per_node; index++)
        for (u32 i = 0; i < times; i++)
            for (u32 node = 1; node <= 2; node++)
                send(slot, forger_.connect(to(slot), segment_id(node, index), ++guest.last_cookie));
}

// About connections that there are, most of the time.
void Stranger::pester(u32 slot, Guest &guest) {
    static constexpr unsigned types[] = {RSM_MSG_UNPUBLISH, RSM_MSG_REPUBLISH, RSM_MSG_BELL,
                                         RSM_MSG_BELL, RSM_MSG_DISCONNECT};
    u32 cookie = forger_.name();
    u32 handle = forger_.name();
    if (!guest.handles.empty() && !chance_.one_in(4)) {
        const auto known =
            std::next(guest.handles.begin(),
                      static_cast<std::ptrdiff_t>(chance_.below(guest.handles.size())));
        std::tie(cookie, handle) = *known;
    }
    send(slot, forger_.connection(to(slot), chance_.pick(types), cookie, handle));
}

void Stranger::misbehave(u32 slot, Guest &guest) {
    switch (manner_) {
    case Manner::liar:
        if (chance_.one_in(20))
            pester(slot, guest);
        break;
    case Manner::mute:
        if (chance_.one_in(50))
            import_all(slot, guest, 1);
        break;
    case Manner::slow:
        if (guest.handles.size() < 200)
            import_all(slot, guest, 4);
        break;
    case Manner::flood:
        import_all(slot, guest, 2);
        for (int i = 0; i < 16; i++)
            pester(slot, guest);
        break;
    case Manner::deaf:
        import_all(slot, guest, 8);
        break;
    }
}

std::string Stranger::summary() const {
    return std::to_string(lives_) + " lives, " + std::to_string(links_) + " links, " +
           std::to_string(sent_) + " messages sent, " + std::to_string(received_) + " received";
}

} // namespace hostile
