// SPDX-License-Identifier: GPL-2.0
#include "rdma_service.hpp"

#include <cstdio>
#include <string>
#include <thread>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

#include "ofed.hpp"
#include "perftest.hpp"

namespace rsmperf {

namespace {

constexpr in_port_t port = 18700;

Descriptor tcp_socket() {
    return Descriptor(check_errno(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
}

// This process is the measuring host's, and waits for memory to change: something else has to
// notice the end. A failure because the client takes nothing any more is an end, too.
void end_with(Channel &channel) {
    std::thread([&channel] {
        channel.wait_closed();
        _exit(0);
    }).detach();
}

void echo_writes(DatSide &side, const DatMemory &theirs, std::size_t size) {
    const DatMemory target{theirs.context, theirs.address + rdma_half};
    for (char expected = 1;; expected++) {
        wait_for_byte(side.data(), size, expected);
        side.data()[size - 1] = expected;
        side.write(target, size);
    }
}

// The measuring host tells where its memory is once it is connected.
void be_dat_side(Channel &channel, const RdmaOrder &order) {
    DatSide side(rdma_memory, rdma_adapter);
    clear_last_byte(side.data(), order.size);
    side.listen();
    channel.send(RdmaSide{side.qualifier(), side.memory(), 0, 0});
    side.accept();
    const auto theirs = channel.expect<DatMemory>();
    if (order.role == RdmaRole::dat_stay) {
        return channel.wait_closed();
    }
    end_with(channel);
    echo_writes(side, theirs, order.size);
}

void echo_puts(const Import &import, char *memory, std::size_t size) {
    for (char expected = 1;; expected++) {
        wait_for_byte(memory, size, expected);
        memory[size - 1] = expected;
        check_rsm(rsm_memseg_import_put(import.get(), rdma_half, memory, size),
                  "rsm_memseg_import_put");
    }
}

void be_put_side(Channel &channel, const RdmaOrder &order) {
    const PrivateMemory memory(rdma_memory);
    clear_last_byte(memory.data(), order.size);
    const Controller home(rdma_controller, 0);
    Export segment(home, memory.data(), memory.size());
    channel.send(RdmaSide{0, {}, Topology().own_node(), segment.publish()});
    const auto theirs = channel.expect<RdmaSide>();
    const auto away = Controller::once_up(rdma_controller, theirs.node);
    const Import import(away, theirs.segment);
    check_rsm(rsm_memseg_import_set_mode(import.get(), RSM_BARRIER_MODE_EXPLICIT),
              "rsm_memseg_import_set_mode");
    channel.send(true);
    if (order.role == RdmaRole::put_stay) {
        return channel.wait_closed();
    }
    end_with(channel);
    echo_puts(import, memory.data(), order.size);
}

Command server_of(const RdmaOrder &order) {
    const std::string test = order.test.data();
    return test == ofed_test ? ofed_server(order.size) : perftest_server(test, order.size);
}

void carry_out(Channel &channel) {
    auto order = channel.expect<RdmaOrder>();
    order.test.back() = '\0';
    if (order.size == 0 || order.size > rdma_half) {
        throw std::runtime_error("the other side sent an invalid order");
    }
    if (order.role == RdmaRole::program) {
        const Program server(Place::peer, server_of(order));
        channel.send(RdmaSide{});
        channel.wait_closed();
    } else if (order.role == RdmaRole::dat_echo || order.role == RdmaRole::dat_stay) {
        be_dat_side(channel, order);
    } else {
        be_put_side(channel, order);
    }
}

} // namespace

void serve_rdma() {
    const auto listener = tcp_socket();
    const int yes = 1;
    const sockaddr_in address{.sin_family = AF_INET,
                              .sin_port = htons(port),
                              .sin_addr = {htonl(INADDR_ANY)},
                              .sin_zero = {}};
    check_errno(setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)),
                "setsockopt");
    check_errno(bind(listener.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)),
                "bind");
    check_errno(listen(listener.get(), 16), "listen");
    for (;;) {
        Channel client(Descriptor(check_errno(accept(listener.get(), nullptr, nullptr), "accept")));
        const Peer worker([&client](Channel & /*parent*/) { carry_out(client); });
        client = Channel(Descriptor()); // so that its end is seen
    }
}

Channel order_rdma(const sockaddr_in &address, const RdmaOrder &order) {
    sockaddr_in target = address;
    target.sin_port = htons(port);
    for (int tries = 0;; tries++) {
        auto end = tcp_socket();
        if (::connect(end.get(), reinterpret_cast<const sockaddr *>(&target), sizeof(target)) ==
            0) {
            Channel channel(std::move(end));
            channel.send(order);
            return channel;
        }
        if (tries == 600) {
            fail_errno("no answer from rsmperf --serve-rdma");
        }
        usleep(100000);
    }
}

} // namespace rsmperf
