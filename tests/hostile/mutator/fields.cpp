// SPDX-License-Identifier: GPL-2.0
#include "mutator/fields.hpp"

#include "mutator/forge.hpp"

#include <chrono>
#include <thread>

namespace hostile {
namespace {

template <class T>
void spoil(Chance &chance, T &field) {
    poke(field, chance.instead_of(peek(field)));
}

// Mostly one that somebody uses.
u32 slot(Window &window, Chance &chance) {
    const auto guests = window.guests();
    if (guests.empty() || chance.one_in(8))
        return static_cast<u32>(chance.below(window.layout().slots));
    return chance.pick(guests);
}

// Mostly between two that talk to each other.
Route route(Window &window, Chance &chance) {
    Route way{slot(window, chance), slot(window, chance)};
    while (way.from == way.to && !chance.one_in(16))
        way.to = slot(window, chance);
    return way;
}

rsm_window_queue &queue(Window &window, Chance &chance) {
    const Route way = route(window, chance);
    return window.queue(way.from, way.to);
}

rsm_window_message &entry(Window &window, Chance &chance) {
    return chance.pick(queue(window, chance).message);
}

void superblock(Window &window, Chance &chance) {
    rsm_window_super &super = window.super();
    spoil(chance, super.magic);
    spoil(chance, super.version);
    spoil(chance, super.reserved);
    spoil(chance, super.size);
}

void incarnation(Window &window, Chance &chance) {
    rsm_window_node &node = window.node(slot(window, chance));
    // That of somebody else passes for one.
    if (chance.one_in(4))
        poke(node.incarnation, peek(window.node(slot(window, chance)).incarnation));
    else
        spoil(chance, node.incarnation);
    window.ring_all();
}

void node_id(Window &window, Chance &chance) {
    rsm_window_node &node = window.node(slot(window, chance));
    poke(node.node_id, chance.one_in(2) ? static_cast<u32>(chance.below(5))
                                        : chance.instead_of(peek(node.node_id)));
    spoil(chance, node.interval_ms);
    window.ring_all();
}

// Life where there is none, and none where there is.
void beat(Window &window, Chance &chance) {
    spoil(chance, window.node(slot(window, chance)).beat);
}

// A guest that has appeared from nowhere, with an id that may be somebody's.
void ghost(Window &window, Chance &chance) {
    const u32 where = slot(window, chance);
    rsm_window_node &node = window.node(where);
    poke(node.node_id, static_cast<u32>(1 + chance.below(6)));
    poke(node.incarnation, (chance.bits() & ~RSM_INCARNATION_SLOT) | where);
    window.ring_all();
}

void bell(Window &window, Chance &chance) {
    spoil(chance, window.node(slot(window, chance)).bell);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    // As if all were announced already.
    for (const u32 guest : window.guests())
        poke(window.node(guest).bell, ~__le64{0});
}

void tail(Window &window, Chance &chance) {
    spoil(chance, queue(window, chance).tail);
    window.ring_all();
}

void head(Window &window, Chance &chance) {
    spoil(chance, queue(window, chance).head);
}

// A field of a message that is to be looked at now.
void length(Window &window, Chance &chance) {
    Forger forger(window, chance);
    const Route way = route(window, chance);
    Message message = forger.any(way);
    message.length = chance.instead_of(message.length);
    forger.inject(way, message);
}

void content(Window &window, Chance &chance) {
    auto &message = entry(window, chance);
    auto &words = reinterpret_cast<__le32(&)[sizeof(message.data) / 4]>(message.data);
    spoil(chance, chance.pick(words));
}

void forged(Window &window, Chance &chance) {
    Forger forger(window, chance);
    const Route way = route(window, chance);
    Message message = forger.any(way);
    if (chance.one_in(3))
        forger.spoil(message);
    if (chance.one_in(2))
        forger.inject(way, message);
    else
        forger.overwrite(way, message);
}

void chunk(Window &window, Chance &chance) {
    const auto chunks = window.chunks();
    __le64 &owner = chance.pick(chunks);
    if (chance.one_in(2))
        poke(owner, peek(window.node(slot(window, chance)).incarnation));
    else
        spoil(chance, owner);
}

// From one value to the other and back, as fast as it goes.
template <class T>
void flip(T &field, std::type_identity_t<T> other) {
    using namespace std::chrono;
    const T value = peek(field);
    const auto end = steady_clock::now() + milliseconds(20);
    while (steady_clock::now() < end) {
        for (int i = 0; i < 1000; i++)
            poke(field, i % 2 == 0 ? other : value);
    }
}

void flip_one(Window &window, Chance chance, Route way) {
    rsm_window_queue &queue = window.queue(way.from, way.to);
    auto &message = queue.message[peek(queue.tail) % RSM_WINDOW_QUEUE_SLOTS];
    auto &words = reinterpret_cast<__le32(&)[sizeof(message.data) / 4]>(message.data);
    const std::size_t word = chance.below(sizeof(rsm_msg_connected) / 4);
    switch (chance.below(6)) {
    case 0:
        return flip(queue.tail, chance.instead_of(queue.tail));
    case 1:
        return flip(message.len, chance.instead_of(message.len));
    case 2:
        return flip(words[1], chance.instead_of(words[1]));
    case 3:
        return flip(words[word], chance.instead_of(words[word]));
    case 4:
        return flip(window.queue(way.to, way.from).head, static_cast<u32>(chance.bits()));
    default:
        return flip(chance.pick(window.chunks()), chance.bits());
    }
}

// A field that says one thing when it is checked and another when it is used.
void twice(Window &window, Chance &chance) {
    Forger forger(window, chance);
    const Route way = route(window, chance);
    forger.overwrite(way, forger.any(way));
    const std::jthread other(flip_one, std::ref(window), Chance(chance.bits()), way);
    for (int i = 0; i < 20; i++) {
        forger.inject(way, forger.any(way));
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

void interrupt(Window &window, Chance &) {
    window.ring_all();
}

constexpr FieldMode modes[] = {
    {"super", superblock, 300},
    {"incarnation", incarnation, 3},
    {"node-id", node_id, 3},
    {"beat", beat, 3000},
    {"ghost", ghost, 10},
    {"bell", bell, 300},
    {"tail", tail, 3},
    {"head", head, 3},
    {"length", length, 3},
    {"content", content, 3000},
    {"forged", forged, 30},
    {"chunk", chunk, 3000},
    {"twice", twice, 3},
    {"interrupt", interrupt, 100000},
};

} // namespace

std::span<const FieldMode> field_modes() {
    return modes;
}

} // namespace hostile
