// SPDX-License-Identifier: GPL-2.0
#include "order/player.hpp"

namespace order {

Player::Player(const Program &program, int side, Library &library, std::span<std::byte> arena)
    : program_(program), side_(side), library_(library), arena_(program, side, arena),
      over_(program.posts.size()), ended_(static_cast<std::size_t>(program.endpoints)) {
    arena_.fill();
}

const Streams &Player::streams(int endpoint) const {
    return program_.streams[side_][static_cast<std::size_t>(endpoint)];
}

void Player::play() {
    for (const Step &step : program_.steps)
        if (step.side == side_)
            act(step);
}

// Calls that end something are noted first: what they cause may happen before they return.
void Player::act(const Step &step) {
    switch (step.act) {
    case Act::POST:
        return post(step.index);
    case Act::AWAIT:
        return await(step.index);
    case Act::DISCONNECT:
        note(What::ENDS, step.index);
        return library_.disconnect(step.index, false);
    case Act::GRACEFUL:
        note(What::ENDS_GRACEFULLY, step.index);
        return library_.disconnect(step.index, true);
    case Act::FREE:
        note(What::FREES, step.index);
        return library_.free(step.index);
    case Act::FREE_LMR:
        library_.free_region();
        return note(What::FREES_LMR);
    case Act::NOTIFY:
        note(What::NOTIFIES);
        return library_.notify();
    case Act::AWAIT_NOTICE:
        library_.await_notice();
        return note(What::AWAITS_NOTICE);
    case Act::AWAIT_END:
        return await_end(step.index);
    }
}

void Player::post(int index) {
    const bool accepted = library_.post(index);
    if (!accepted)
        over_[static_cast<std::size_t>(index)] = true;
    note(accepted ? What::POSTED : What::REJECTED, index);
}

void Player::await(int index) {
    const Post &own = post_of(index);
    const int evd =
        is_request(own.work) ? streams(own.endpoint).requests : streams(own.endpoint).receives;
    while (!over_[static_cast<std::size_t>(index)])
        note(library_.wait(evd), evd);
}

void Player::await_end(int endpoint) {
    const int evd = streams(endpoint).connections;
    while (!ended_[static_cast<std::size_t>(endpoint)])
        note(library_.wait(evd), evd);
}

void Player::note(What what, int index) {
    Entry entry;
    entry.what = what;
    entry.index = index;
    record_.log.push_back(std::move(entry));
}

void Player::note(const Event &event, int evd) {
    Entry entry{event.what, event.index, event.status, event.length, evd, {}};
    if (event.what == What::COMPLETED) {
        over_[static_cast<std::size_t>(event.index)] = true;
        if (event.status == Status::SUCCESS)
            entry.snapshots = look(event.index);
    } else if (event.what != What::STRANGE) {
        ended_[static_cast<std::size_t>(event.index)] = true;
    }
    record_.log.push_back(std::move(entry));
}

// Effects that are in place by a completion.
std::vector<Snapshot> Player::look(int index) const {
    const Post &own = post_of(index);
    std::vector<Snapshot> result;
    if (own.work == Work::SEND || own.work == Work::WRITE)
        return result;
    if (own.buffer >= 0)
        result.push_back(arena_.snapshot(own.buffer));
    for (const Post &other : program_.posts)
        if (own.work == Work::RECEIVE && other.work == Work::WRITE && other.side != side_ &&
            other.endpoint == own.endpoint)
            result.push_back(arena_.snapshot(other.target));
    return result;
}

Record Player::finish() {
    for (int evd = 0; evd < program_.evds[side_]; evd++)
        while (const auto event = library_.take(evd))
            note(*event, evd);
    record_.end = arena_.all();
    record_.damage = arena_.damage();
    return std::move(record_);
}

} // namespace order
