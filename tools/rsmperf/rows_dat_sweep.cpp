// SPDX-License-Identifier: GPL-2.0
// uDAPL between two processes: transfers of any size, beside what others have for that.
#include "dat_server.hpp"
#include "event_echo.hpp"
#include "fabric.hpp"
#include "parallel.hpp"
#include "rows.hpp"
#include "shared_copy.hpp"
#include "tcp.hpp"
#include "ucx.hpp"

namespace rsmperf {

namespace {

// A thread's connection, to a process of its own.
class Connection {
  public:
    explicit Connection(const Settings &settings)
        : size_(settings.point.size), server_(DatRole::stay, {.size = size_}),
          side_(whole_pages(size_)) {
        server_.connect(side_);
    }

  protected:
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] DatSide &side() { return side_; }
    [[nodiscard]] const DatMemory &far() const { return server_.memory(); }

  private:
    std::size_t size_;
    DatServer server_;
    DatSide side_;
};

class Writer : public Connection {
  public:
    using Connection::Connection;
    void run(std::size_t count) {
        for (; count > 0; count--) {
            side().write(far(), size());
        }
    }
};

class Reader : public Connection {
  public:
    using Connection::Connection;
    void run(std::size_t count) {
        for (; count > 0; count--) {
            side().read(far(), size());
        }
    }
};

template <typename Worker>
Times against_memcpy(const Settings &settings) {
    Parallel<Worker> figure(settings.point.threads, settings);
    Parallel<SharedCopy> floor(settings.point.threads, settings);
    return compare_parallel(settings, figure, floor);
}

// Messages there and back.
class DatPingPong {
  public:
    DatPingPong(DatRole role, std::size_t size)
        : size_(size), server_(role, {.size = size}), side_(whole_pages(size)) {
        post_receives(side_, size);
        server_.connect(side_);
    }

    void round_trip(void (DatSide::*wait)()) {
        side_.send(size_);
        side_.post_receive(size_);
        (side_.*wait)();
    }

  private:
    std::size_t size_;
    DatServer server_;
    DatSide side_;
};

// Half of a round trip, as is usual. The floors report half of one already.
Times half_round_trip(const Settings &settings, double (*floor)(std::size_t)) {
    const auto size = settings.point.size;
    DatPingPong pair(DatRole::echo, size);
    auto times =
        in_turns(settings, batches(settings, repeat([&] { pair.round_trip(&DatSide::reap); })),
                 single([=] { return floor(size); }));
    times.figure.divide(2);
    return times;
}

// Requests with a window, to a server of this role; the floor is a bandwidth test of UCX.
template <typename Post>
Times stream(const Settings &settings, DatRole role, const char *floor, Post post) {
    const Point point = settings.point;
    DatServer server(role, {.size = point.size});
    DatSide side(whole_pages(point.size));
    server.connect(side);

    return in_turns(
        settings,
        batches(settings,
                [&](std::size_t count) { post(side, server.memory(), point, count); }),
        single([&] { return ucx_latency(floor, point.size); }));
}

} // namespace

Times dat_write(const Settings &settings) {
    return against_memcpy<Writer>(settings);
}

Times dat_read(const Settings &settings) {
    return against_memcpy<Reader>(settings);
}

Times dat_write_stream(const Settings &settings) {
    return stream(settings, DatRole::stay, "ucp_put_bw",
                  [](DatSide &side, const DatMemory &to, const Point &point, std::size_t count) {
                      side.write_many(to, point.size, count, point.window);
                  });
}

Times dat_send_stream(const Settings &settings) {
    return stream(settings, DatRole::sink, "tag_bw",
                  [](DatSide &side, const DatMemory &, const Point &point, std::size_t count) {
                      side.send_many(point.size, count, point.window);
                  });
}

Times dat_write_pingpong(const Settings &settings) {
    const auto size = settings.point.size;
    DatServer server(DatRole::echo_writes, {.size = size});
    DatSide side(2 * whole_pages(size));
    last_byte_in(side, size) = 0;
    server.connect(side);
    const auto to = incoming_half(server.memory(), size);
    char turn = 0;

    auto times = in_turns(settings, batches(settings, repeat([&] {
                                                turn++;
                                                side.data()[size - 1] = turn;
                                                side.write(to, size);
                                                wait_for_turn(side, size, turn);
                                            })),
                          single([size] { return ucx_latency("ucp_put_lat", size); }));
    times.figure.divide(2);
    return times;
}

// Both sides copy a message of this size at least once.
Times dat_send(const Settings &settings) {
    const auto size = settings.point.size;
    DatPingPong pair(DatRole::echo, size);
    const SharedCopy copy(settings);
    auto times = compare(settings, repeat([&] { pair.round_trip(&DatSide::reap); }),
                         [&](std::size_t count) { copy.run(count); });
    times.figure.divide(2);
    return times;
}

Times dat_send_ucx(const Settings &settings) {
    return half_round_trip(settings, [](std::size_t size) { return ucx_latency("tag_lat", size); });
}

Times dat_send_fabric(const Settings &settings) {
    return half_round_trip(settings, fabric_latency);
}

Times dat_send_tcp(const Settings &settings) {
    DatPingPong pair(DatRole::echo, settings.point.size);
    TcpPingPong tcp(settings.point.size);
    auto times = compare(settings, repeat([&] { pair.round_trip(&DatSide::reap); }),
                         repeat([&] { tcp.round_trip(); }));
    times.divide(2);
    return times;
}

Times dat_wake(const Settings &settings) {
    constexpr std::size_t size = 8;
    DatPingPong pair(DatRole::echo_sleeping, size);
    const EventEcho events;
    auto times = compare(settings, repeat([&] { pair.round_trip(&DatSide::sleep_until_done); }),
                         repeat([&] { events.round_trip(); }));
    times.divide(2);
    return times;
}

} // namespace rsmperf
