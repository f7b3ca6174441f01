// SPDX-License-Identifier: GPL-2.0
#include "mutator/forge.hpp"

#include "segments.hpp"

#include <cstring>
#include <linux/rsm_common.h>

namespace hostile {
namespace {

constexpr unsigned types[] = {
    RSM_MSG_HELLO,      RSM_MSG_WELCOME,   RSM_MSG_HEARTBEAT, RSM_MSG_BYE,  RSM_MSG_CONNECT, RSM_MSG_CONNECTED,
    RSM_MSG_DISCONNECT, RSM_MSG_UNPUBLISH, RSM_MSG_REPUBLISH, RSM_MSG_BELL, RSM_MSG_MOVE,    RSM_MSG_MOVED,
    RSM_MSG_PLACE,
};

u32 length_of(unsigned type) {
    switch (type) {
    case RSM_MSG_CONNECT:
        return sizeof(rsm_msg_connect);
    case RSM_MSG_CONNECTED:
        return sizeof(rsm_msg_connected);
    case RSM_MSG_DISCONNECT:
    case RSM_MSG_UNPUBLISH:
    case RSM_MSG_REPUBLISH:
    case RSM_MSG_BELL:
    case RSM_MSG_MOVED:
    case RSM_MSG_PLACE:
        return sizeof(rsm_msg_connection);
    case RSM_MSG_MOVE:
        return sizeof(rsm_msg_move);
    default:
        return sizeof(rsm_msg_hello);
    }
}

} // namespace

Message Forger::message(Route route, unsigned type) {
    Message message;
    rsm_msg_header &header = message.header();
    message.length = length_of(type);
    header.version = RSM_PROTOCOL_VERSION;
    header.type = static_cast<__le16>(type);
    header.len = message.length;
    header.from = peek(window_.node(route.from).incarnation);
    header.to = peek(window_.node(route.to).incarnation);
    return message;
}

Message Forger::greeting(Route route, unsigned type, u32 node, u32 interval_ms) {
    Message result = message(route, type);
    result.as<rsm_msg_hello>().node = node;
    result.as<rsm_msg_hello>().interval_ms = interval_ms;
    return result;
}

Message Forger::connect(Route route, u32 id, u32 cookie) {
    Message result = message(route, RSM_MSG_CONNECT);
    result.as<rsm_msg_connect>().id = id;
    result.as<rsm_msg_connect>().cookie = cookie;
    return result;
}

Message Forger::connected(Route route, u32 cookie, u32 status) {
    Message result = message(route, RSM_MSG_CONNECTED);
    auto &body = result.as<rsm_msg_connected>();
    body.cookie = cookie;
    body.status = status;
    body.handle = name();
    body.mode = static_cast<u32>(chance_.bits());
    body.uid = chance_.instead_of<u32>(0);
    body.gid = chance_.instead_of<u32>(0);
    body.length = length();
    body.place[0] = place(route);
    body.place[1] = chance_.one_in(8) ? chance_.bits() : 0;
    return result;
}

Message Forger::connection(Route route, unsigned type, u32 cookie, u32 handle) {
    Message result = message(route, type);
    auto &body = result.as<rsm_msg_connection>();
    body.cookie = cookie;
    body.handle = handle;
    body.value = chance_.instead_of<u32>(0666);
    body.to_exporter = static_cast<u32>(chance_.below(2));
    return result;
}

Message Forger::move(Route route, u32 cookie, u32 handle, u64 place) {
    Message result = message(route, RSM_MSG_MOVE);
    auto &body = result.as<rsm_msg_move>();
    body.cookie = cookie;
    body.handle = handle;
    body.place[0] = place;
    body.place[1] = chance_.one_in(8) ? chance_.bits() : 0;
    return result;
}

Message Forger::any(Route route) {
    const unsigned type = chance_.pick(types);
    switch (type) {
    case RSM_MSG_CONNECT:
        return connect(route, segment_id(static_cast<u32>(chance_.below(4)), 0) + name() % 4,
                       name());
    case RSM_MSG_CONNECTED:
        return connected(route, name(),
                         chance_.one_in(3) ? chance_.instead_of<u32>(RSMERR_TIMEOUT) : 0);
    case RSM_MSG_DISCONNECT:
    case RSM_MSG_UNPUBLISH:
    case RSM_MSG_REPUBLISH:
    case RSM_MSG_BELL:
    case RSM_MSG_MOVED:
    case RSM_MSG_PLACE:
        return connection(route, type, name(), name());
    case RSM_MSG_MOVE:
        return move(route, name(), name(), place(route));
    default:
        return greeting(route, type, peek(window_.node(route.from).node_id),
                        chance_.instead_of<u32>(1000));
    }
}

u64 Forger::chunk_of(u32 slot) {
    const u64 owner = peek(window_.node(slot).incarnation);
    const auto chunks = window_.chunks();
    const u64 start = chance_.below(chunks.size());
    for (u64 i = 0; i < chunks.size(); i++)
        if (peek(chunks[(start + i) % chunks.size()]) == owner)
            return (start + i) % chunks.size();
    return start;
}

u64 Forger::place(Route route) {
    const Layout &layout = window_.layout();
    const auto at = [&layout](u64 chunk) { return layout.data + (chunk << layout.chunk_shift); };
    switch (chance_.below(6)) {
    case 0: // the receiver's own
        return at(chunk_of(route.to));
    case 1: // anybody's
        return at(chance_.below(layout.chunks));
    case 2: // beyond the end, or nearly
        return at(layout.chunks - chance_.below(3));
    case 3: // before the start, or unaligned
        return chance_.instead_of<u64>(layout.data);
    case 4:
        return ~u64{0} << chance_.below(64);
    default: // the sender's
        return at(chunk_of(route.from));
    }
}

u64 Forger::length() {
    switch (chance_.below(4)) {
    case 0:
        return chance_.instead_of<u64>(segment_size);
    case 1:
        return (~u64{0} << 12U) - (chance_.below(3) << 12U);
    case 2:
        return u64{window_.layout().chunks} << window_.layout().chunk_shift;
    default:
        return chance_.one_in(2) ? segment_size : 1U << window_.layout().chunk_shift;
    }
}

u32 Forger::name() {
    return chance_.one_in(5) ? chance_.instead_of<u32>(0) : static_cast<u32>(chance_.below(8));
}

// Fields are of 2, 4 or 8 bytes: those of 8 are spoilt by halves.
void Forger::spoil(Message &message) {
    if (chance_.one_in(8)) {
        message.length = chance_.instead_of<u32>(message.length);
        return;
    }
    if (chance_.one_in(4)) {
        auto &half = message.as<__le16[2]>()[chance_.below(2)];
        half = chance_.instead_of(half);
        return;
    }
    auto &word = message.as<__le32[message_max / 4]>()[1 + chance_.below(message_max / 4 - 1)];
    word = chance_.instead_of(word);
}

void Forger::write(rsm_window_message &entry, const Message &message) {
    std::memcpy(entry.data, message.data.data(), message.data.size());
    poke(entry.len, message.length);
}

void Forger::inject(Route route, const Message &message) {
    rsm_window_queue &queue = window_.queue(route.from, route.to);
    const u32 tail = peek(queue.tail);
    write(queue.message[tail % RSM_WINDOW_QUEUE_SLOTS], message);
    poke(queue.tail, tail + 1);
    window_.ring(route.to);
}

void Forger::overwrite(Route route, const Message &message) {
    write(window_.queue(route.from, route.to).message[chance_.below(RSM_WINDOW_QUEUE_SLOTS)],
          message);
}

} // namespace hostile
