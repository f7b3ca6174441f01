// SPDX-License-Identifier: GPL-2.0
#include "mutator/stranger.hpp"

#include "segments.hpp"

#include <iterator>
#include <linux/rsm_common.h>

using std::chrono::milliseconds;

namespace hostile {
namespace {

constexpr const char *names[] = {"liar", "mute", "slow", "flood", "deaf"};
constexpr Manner manners[] = {Manner::liar, Manner::mute, Manner::slow, Manner::flood,
                              Manner::deaf};

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
    : Member(window, chance, stranger_node), manner_(manner) {}

void Stranger::link_ended(u32 slot) {
    guests_[slot].handles.clear();
    guests_[slot].late.clear();
}

bool Stranger::reads(u32 slot) {
    return manner_ != Manner::deaf || !is_linked(slot);
}

// One that the guest accepts, or at times one that is beyond reason.
u32 Stranger::interval_for(u32 slot) {
    const u32 theirs = Member::interval_for(slot);
    if (chance().one_in(16))
        return chance().one_in(2) ? ~0U : 0;
    return chance().one_in(4) ? 4 * theirs : theirs;
}

void Stranger::received(u32 slot, Message &message) {
    switch (message.header().type) {
    case RSM_MSG_CONNECT:
        be_asked(slot, message.as<rsm_msg_connect>());
        break;
    case RSM_MSG_CONNECTED:
        if (message.as<rsm_msg_connected>().status == RSM_SUCCESS)
            guests_[slot].handles[message.as<rsm_msg_connected>().cookie] =
                message.as<rsm_msg_connected>().handle;
        break;
    case RSM_MSG_UNPUBLISH:
        be_told(slot, message.as<rsm_msg_connection>());
        break;
    default:
        break;
    }
}

// One that is good now and then, so that there is something to break.
void Stranger::be_asked(u32 slot, const rsm_msg_connect &message) {
    if (manner_ == Manner::mute && chance().one_in(2))
        return;
    const bool lies = manner_ == Manner::liar && chance().one_in(2);
    Message answer = forger().connected(to(slot), message.cookie,
                                       lies ? chance().instead_of<u32>(RSMERR_TIMEOUT) : 0);
    auto &body = answer.as<rsm_msg_connected>();
    if (!lies && chance().one_in(2)) {
        body.mode = 0666;
        body.length = segment_size;
        body.place[0] = own_memory();
        body.place[1] = 0;
        guests_[slot].handles[message.cookie] = body.handle;
    }
    send(slot, answer);
}

void Stranger::be_told(u32 slot, const rsm_msg_connection &message) {
    Guest &guest = guests_[slot];
    Message answer = forger().connection(to(slot), RSM_MSG_DISCONNECT, message.cookie, message.handle);
    guest.handles.erase(message.cookie);
    if (manner_ == Manner::slow)
        guest.late.push_back({Clock::now() + milliseconds(Member::interval_for(slot) * 3 / 2), answer});
    else if (manner_ != Manner::mute)
        send(slot, answer);
}

// One after the other: the next one is late from when the last one was answered.
void Stranger::answer_late(u32 slot) {
    Guest &guest = guests_[slot];
    if (guest.late.empty() || Clock::now() < guest.late.front().when)
        return;
    if (!send(slot, guest.late.front().answer))
        return;
    guest.late.pop_front();
}

void Stranger::import_all(u32 slot, u32 times) {
    Guest &guest = guests_[slot];
    for (u32 index = 0; index < ids_per_node; index++)
        for (u32 i = 0; i < times; i++)
            for (u32 node = 1; node <= 2; node++)
                send(slot, forger().connect(to(slot), segment_id(node, index), ++guest.last_cookie));
}

// About connections that there are, most of the time.
void Stranger::pester(u32 slot) {
    static constexpr unsigned types[] = {RSM_MSG_UNPUBLISH, RSM_MSG_REPUBLISH, RSM_MSG_BELL, RSM_MSG_BELL,
                                         RSM_MSG_DISCONNECT, RSM_MSG_MOVED, RSM_MSG_PLACE};
    const Guest &guest = guests_[slot];
    u32 cookie = forger().name();
    u32 handle = forger().name();
    if (!guest.handles.empty() && !chance().one_in(4)) {
        const auto known =
            std::next(guest.handles.begin(),
                      static_cast<std::ptrdiff_t>(chance().below(guest.handles.size())));
        std::tie(cookie, handle) = *known;
    }
    send(slot, forger().connection(to(slot), chance().pick(types), cookie, handle));
}

void Stranger::act(u32 slot) {
    answer_late(slot);
    switch (manner_) {
    case Manner::liar:
        if (chance().one_in(20))
            pester(slot);
        break;
    case Manner::mute:
        if (chance().one_in(50))
            import_all(slot, 1);
        break;
    case Manner::slow:
        if (guests_[slot].handles.size() < 200)
            import_all(slot, 4);
        break;
    case Manner::flood:
        import_all(slot, 2);
        for (int i = 0; i < 16; i++)
            pester(slot);
        break;
    case Manner::deaf:
        import_all(slot, 8);
        break;
    }
}

std::string Stranger::summary() const {
    return std::to_string(lives()) + " lives, " + std::to_string(links()) + " links, " +
           std::to_string(sent()) + " messages sent, " + std::to_string(messages_received()) + " received";
}

} // namespace hostile
