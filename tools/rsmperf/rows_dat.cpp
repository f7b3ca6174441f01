// SPDX-License-Identifier: GPL-2.0
// uDAPL between two processes of one machine.
#include <cstring>
#include <tuple>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dat_side.hpp"
#include "io_uring.hpp"
#include "rows.hpp"
#include "ucx.hpp"

namespace rsmperf {

namespace {

constexpr std::size_t small = 8;
constexpr std::size_t register_size = 16 * MiB;

// The other process sends this as soon as it listens.
struct Greeting {
    DAT_CONN_QUAL qualifier;
    DatMemory memory;
};

// The passive side, in a process of its own, which then does `rest`.
template <typename Rest>
Peer passive_side(std::size_t size, Rest rest) {
    return Peer([size, rest](Channel &channel) {
        run_on(Place::peer);
        DatSide side(size);
        side.listen();
        channel.send(Greeting{side.qualifier(), side.memory()});
        rest(side, channel);
    });
}

void accept_and_stay(DatSide &side, Channel &channel) {
    side.accept();
    channel.wait_closed();
}

// One receive more than has to be there: the next can be posted while a message is on its way, as
// ucx_perftest does and programs do.
void post_receives(DatSide &side) {
    side.post_receive(small);
    side.post_receive(small);
}

// Answers every message, until the process is killed.
void echo(DatSide &side, Channel & /*channel*/) {
    post_receives(side);
    side.accept();
    for (;;) {
        side.reap();
        side.send(small);
        side.post_receive(small);
    }
}

void accept_for_ever(DatSide &side, Channel & /*channel*/) {
    for (;;) {
        side.accept();
        side.wait_for_hang_up();
    }
}

// TCP over the loopback device: the other way to a connection with a process by number.
class TcpServer {
  public:
    TcpServer()
        : peer_([](Channel &channel) {
              const Descriptor listener(
                  check_errno(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
              sockaddr_in address{.sin_family = AF_INET,
                                  .sin_port = 0,
                                  .sin_addr = {htonl(INADDR_LOOPBACK)},
                                  .sin_zero = {}};
              socklen_t length = sizeof(address);
              auto *generic = reinterpret_cast<sockaddr *>(&address);
              check_errno(bind(listener.get(), generic, length), "bind");
              check_errno(getsockname(listener.get(), generic, &length), "getsockname");
              check_errno(listen(listener.get(), 16), "listen");
              channel.send(address);
              for (;;) {
                  const Descriptor client(
                      check_errno(accept(listener.get(), nullptr, nullptr), "accept"));
                  char byte = 0;
                  // A client that has gone is no error.
                  std::ignore = ::send(client.get(), &byte, 1, MSG_NOSIGNAL);
                  std::ignore = ::recv(client.get(), &byte, 1, 0);
              }
          }),
          address_(peer_.channel().expect<sockaddr_in>()) {}
    TcpServer(const TcpServer &) = delete;
    TcpServer(TcpServer &&) = delete;
    TcpServer &operator=(const TcpServer &) = delete;
    TcpServer &operator=(TcpServer &&) = delete;
    ~TcpServer() { peer_.kill(); }

    void connect_and_close() const {
        const Descriptor end(check_errno(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
        const linger at_once{1, 0};
        char byte = 0;
        check_errno(setsockopt(end.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)),
                    "setsockopt");
        check_errno(
            connect(end.get(), reinterpret_cast<const sockaddr *>(&address_), sizeof(address_)),
            "connect");
        check_errno(recv(end.get(), &byte, 1, 0), "recv");
    }

  private:
    Peer peer_;
    sockaddr_in address_;
};

} // namespace

Times dat_write8(const Settings &settings) {
    auto peer = passive_side(MiB, accept_and_stay);
    const auto greeting = peer.channel().expect<Greeting>();
    DatSide side(MiB);
    side.connect(greeting.qualifier);

    const auto figure = repeat([&] { side.write(greeting.memory, small); });
    const auto count = calibrate(settings, figure);
    return best_of(
        settings.rounds, [&] { return time_batch(figure, count); },
        [] { return ucx_latency("ucp_put_lat", small); });
}

Times dat_write_1m(const Settings &settings) {
    auto peer = passive_side(MiB, accept_and_stay);
    const auto greeting = peer.channel().expect<Greeting>();
    const PosixShm shared(MiB);
    DatSide side(MiB);
    side.connect(greeting.qualifier);

    const auto figure = repeat([&] { side.write(greeting.memory, MiB); });
    const auto floor = repeat([&] {
        std::memcpy(shared.data(), side.data(), MiB);
        touched(shared.data());
    });
    return compare(settings, figure, floor);
}

Times dat_send8(const Settings &settings) {
    auto peer = passive_side(MiB, echo);
    const auto greeting = peer.channel().expect<Greeting>();
    DatSide side(MiB);
    post_receives(side);
    side.connect(greeting.qualifier);

    const auto round_trip = repeat([&] {
        side.send(small);
        side.post_receive(small);
        side.reap();
    });
    const auto count = calibrate(settings, round_trip);
    const auto times = best_of(
        settings.rounds, [&] { return time_batch(round_trip, count) / 2; },
        [] { return ucx_latency("tag_lat", small); });
    peer.kill();
    return times;
}

Times dat_register(const Settings &settings) {
    const PrivateMemory memory(register_size);
    const Ring ring;
    const DatAdapter adapter;

    return compare_single(settings,
                          repeat([&] { adapter.register_and_free(memory.data(), memory.size()); }),
                          repeat([&] { ring.register_and_unregister(memory); }));
}

Times dat_connect(const Settings &settings) {
    auto peer = passive_side(MiB, accept_for_ever);
    const auto greeting = peer.channel().expect<Greeting>();
    const TcpServer server;
    DatSide side(MiB);

    const auto times = compare(settings, repeat([&] {
                                   side.connect(greeting.qualifier);
                                   side.hang_up();
                               }),
                               repeat([&] { server.connect_and_close(); }));
    peer.kill();
    return times;
}

} // namespace rsmperf
