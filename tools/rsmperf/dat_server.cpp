// SPDX-License-Identifier: GPL-2.0
#include "dat_server.hpp"

namespace rsmperf {

namespace {

// Descriptors and locked memory that an endpoint takes at most, and that other things do.
constexpr rlim_t per_endpoint = 4;
constexpr rlim_t spare_descriptors = 300;

// Receives that a sink has posted: as many as programs that stream have.
constexpr std::size_t sink_receives = 64;

void accept_all(DatSide &side) {
    for (std::size_t endpoint = 0; endpoint < side.endpoints(); endpoint++) {
        side.accept(endpoint);
    }
}

// Answers each message.
void echo(DatSide &side, std::size_t size, void (DatSide::*wait)()) {
    for (;;) {
        (side.*wait)();
        side.send(size);
        side.post_receive(size);
    }
}

// Takes each message.
void sink(DatSide &side, std::size_t size) {
    for (;;) {
        side.reap();
        side.post_receive(size);
    }
}

void echo_writes(DatSide &side, std::size_t size, const DatMemory &to) {
    for (char turn = 1;; turn++) {
        wait_for_turn(side, size, turn);
        side.data()[size - 1] = turn;
        side.write(to, size);
    }
}

void accept_for_ever(DatSide &side) {
    for (;;) {
        side.accept();
        side.wait_for_hang_up();
    }
}

void play(DatRole role, DatSide &side, Channel &channel, std::size_t size) {
    if (role == DatRole::accept_for_ever) {
        accept_for_ever(side);
    }
    accept_all(side);
    switch (role) {
    case DatRole::echo:
        echo(side, size, &DatSide::reap);
        break;
    case DatRole::echo_sleeping:
        echo(side, size, &DatSide::sleep_until_done);
        break;
    case DatRole::sink:
        sink(side, size);
        break;
    case DatRole::echo_writes:
        echo_writes(side, size, incoming_half(channel.expect<DatMemory>(), size));
        break;
    default:
        channel.wait_closed();
    }
}

void post_receives_of(DatRole role, DatSide &side, std::size_t size) {
    if (role == DatRole::echo || role == DatRole::echo_sleeping) {
        post_receives(side, size);
    }
    for (std::size_t posted = 0; role == DatRole::sink && posted < sink_receives; posted++) {
        side.post_receive(size);
    }
}

// The other side ends when it has measured enough; the receives that wait for it then are flushed.
void play_until_end(DatRole role, DatSide &side, Channel &channel, std::size_t size) {
    try {
        play(role, side, channel, size);
    } catch (const ConnectionEnded &) {
    }
}

void serve_side(DatRole role, const DatShape &shape, Channel &channel) {
    DatSide side(2 * whole_pages(shape.size), local_adapter, shape.endpoints);
    std::vector<DatMemory> regions{side.memory()};
    for (const auto &region : shape.regions) {
        regions.push_back(side.add_region(region));
    }
    last_byte_in(side, shape.size) = 0;
    post_receives_of(role, side, shape.size);
    side.listen();
    channel.send(side.qualifier());
    channel.send_all(regions);
    play_until_end(role, side, channel, shape.size);
}

// Limits are those of this process, too: it has as many endpoints.
Peer start(DatRole role, const DatShape &shape) {
    raise_limit(RLIMIT_NOFILE, shape.endpoints * per_endpoint + spare_descriptors);
    return Peer([role, shape](Channel &channel) { serve_side(role, shape, channel); });
}

} // namespace

DatServer::DatServer(DatRole role, const DatShape &shape)
    : peer_(start(role, shape)), qualifier_(peer_.channel().expect<DAT_CONN_QUAL>()),
      regions_(peer_.channel().expect_all<DatMemory>()) {}

void DatServer::connect(DatSide &side) {
    for (std::size_t endpoint = 0; endpoint < side.endpoints(); endpoint++) {
        side.connect(qualifier_, endpoint);
    }
    // Roles that want to know where the active side's memory is read it.
    peer_.channel().send(side.memory());
}

void post_receives(DatSide &side, std::size_t size) {
    side.post_receive(size);
    side.post_receive(size);
}

} // namespace rsmperf
