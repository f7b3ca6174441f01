// SPDX-License-Identifier: GPL-2.0
#include "order/contents.hpp"

#include <algorithm>

namespace order {
namespace {

Contents filled(const Buffer &buffer) {
    Tokens own;
    own.set(buffer.token);
    return Contents(buffer.length(), own);
}

void unite(Contents &all, const Contents &more) {
    for (std::size_t i = 0; i < std::min(all.size(), more.size()); i++)
        all[i] |= more[i];
}

} // namespace

Memory::Memory(const Facts &facts, const std::function<bool(int)> &must_be_refused)
    : facts_(facts), carried_(facts.program.posts.size()), writes_(facts.program.buffers.size()),
      filled_by_(facts.program.buffers.size(), -1), must_be_refused_(facts.program.posts.size()) {
    for (int index = 0; index < facts.count(); index++) {
        const Post &post = facts.post(index);
        if (post.work == Work::READ)
            filled_by_[static_cast<std::size_t>(post.buffer)] = index;
        if (post.work != Work::WRITE || facts.fact(index).posted < 0)
            continue;
        writes_[static_cast<std::size_t>(post.target)].push_back(index);
        must_be_refused_[static_cast<std::size_t>(index)] = must_be_refused(index);
    }
    run();
}

// Writes may take along what reads brought, and reads may bring what writes left: from nothing up
// to the least solution.
void Memory::run() {
    for (bool changed = true; changed;) {
        changed = false;
        for (int index = 0; index < facts_.count(); index++) {
            const Post &post = facts_.post(index);
            if (post.work == Work::RECEIVE || post.buffer < 0)
                continue;
            Contents next = post.work == Work::READ ? bring(index) : take(index);
            changed = changed || next != carried(index);
            carried_[static_cast<std::size_t>(index)] = std::move(next);
        }
    }
}

bool Memory::refused(int write) const {
    return must_be_refused_[static_cast<std::size_t>(write)] ||
           facts_.fact(write).place > facts_.refusal(Facts::stream_of(facts_.post(write)));
}

bool Memory::ordered(int read, int later) const {
    const auto fenced = [&](int each) {
        return facts_.post(each).fenced && facts_.fact(each).place > facts_.fact(read).place &&
               facts_.fact(each).place <= facts_.fact(later).place;
    };
    return std::ranges::any_of(facts_.requests_beside(facts_.post(read)), fenced) ||
           facts_.seen_before(read, later);
}

Contents Memory::take(int index) const {
    const int buffer = facts_.post(index).buffer;
    const int read = read_into(buffer);
    if (read < 0)
        return filled(facts_.buffer(buffer));
    Contents result = carried(read);
    if (result.empty())
        result.resize(facts_.buffer(buffer).length());
    if (!ordered(read, index))
        unite(result, filled(facts_.buffer(buffer)));
    return result;
}

Contents Memory::bring(int read) const {
    const auto effect = [&](int write) {
        if (facts_.fact(write).place < facts_.fact(read).place)
            return Effect::YES;
        return ordered(read, write) ? Effect::NO : Effect::MAYBE;
    };
    return state(facts_.post(read).target, effect);
}

Contents Memory::state(int buffer, const std::function<Effect(int)> &effect) const {
    Contents result = filled(facts_.buffer(buffer));
    for (const int write : writes_to(buffer)) {
        const Effect happened = refused(write) ? Effect::NO : effect(write);
        const Contents &bytes = carried(write);
        if (happened == Effect::YES)
            std::ranges::copy(bytes, result.begin());
        else if (happened == Effect::MAYBE)
            unite(result, bytes);
    }
    return result;
}

Contents Memory::at_end(int buffer) const {
    return state(buffer, [&](int write) {
        return facts_.outcome(write) == Outcome::SUCCEEDED ? Effect::YES : Effect::MAYBE;
    });
}

Contents Memory::when_received(int buffer, int send) const {
    return state(buffer, [&](int write) {
        return facts_.fact(write).place < facts_.fact(send).place ? Effect::YES : Effect::MAYBE;
    });
}

} // namespace order
