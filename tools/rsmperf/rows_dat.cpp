// SPDX-License-Identifier: GPL-2.0
// uDAPL between two processes of one machine.
#include <cstring>

#include "dat_server.hpp"
#include "io_uring.hpp"
#include "rows.hpp"
#include "tcp.hpp"
#include "ucx.hpp"

namespace rsmperf {

namespace {

constexpr std::size_t small = 8;
constexpr std::size_t register_size = 16 * MiB;

} // namespace

Times dat_write8(const Settings &settings) {
    DatServer server(DatRole::stay);
    DatSide side(MiB);
    server.connect(side);

    return in_turns(settings,
                    batches(settings, repeat([&] { side.write(server.memory(), small); })),
                    single([] { return ucx_latency("ucp_put_lat", small); }));
}

Times dat_write_1m(const Settings &settings) {
    DatServer server(DatRole::stay);
    const PosixShm shared(MiB);
    DatSide side(MiB);
    server.connect(side);

    const auto figure = repeat([&] { side.write(server.memory(), MiB); });
    const auto floor = repeat([&] {
        std::memcpy(shared.data(), side.data(), MiB);
        touched(shared.data());
    });
    return compare(settings, figure, floor);
}

Times dat_send8(const Settings &settings) {
    DatServer server(DatRole::echo, {.size = small});
    DatSide side(MiB);
    post_receives(side, small);
    server.connect(side);

    const auto round_trip = repeat([&] {
        side.send(small);
        side.post_receive(small);
        side.reap();
    });
    auto times = in_turns(settings, batches(settings, round_trip),
                          single([] { return ucx_latency("tag_lat", small); }));
    times.figure.divide(2);
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
    const DatServer server(DatRole::accept_for_ever);
    const TcpServer tcp(TcpRole::greet);
    DatSide side(MiB);

    return compare(settings, repeat([&] {
                       side.connect(server.qualifier());
                       side.hang_up();
                   }),
                   repeat([&] { tcp.connect_and_close(); }));
}

} // namespace rsmperf
