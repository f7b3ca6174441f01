// SPDX-License-Identifier: GPL-2.0
// Between two hosts over one RDMA device: uDAPL and RSMAPI against perftest, in the patterns that
// perftest measures.
#include <arpa/inet.h>

#include "ofed.hpp"
#include "perftest.hpp"
#include "rdma_service.hpp"
#include "rows.hpp"

namespace rsmperf {

namespace {

sockaddr_in address_of(const Settings &settings) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    if (inet_pton(AF_INET, settings.host.c_str(), &address.sin_addr) != 1) {
        throw std::runtime_error("--rdma wants the IPv4 address of a host");
    }
    return address;
}

RdmaOrder order_of(RdmaRole role, std::size_t size, const std::string &test = {}) {
    RdmaOrder order{role, size, {}};
    test.copy(order.test.data(), order.test.size() - 1);
    return order;
}

// The output of a program.
double floor_of(const Settings &settings, const std::string &test, std::size_t size) {
    auto server = order_rdma(address_of(settings), order_of(RdmaRole::program, size, test));
    server.expect<RdmaSide>();
    return test == ofed_test ? ofed_time(size, settings.host)
                             : perftest_time(test, size, settings.host);
}

// A figure, or the share of it that the program measures, against what the program says. The pair
// of sides is made anew each time: the other host serves one order at a time, and a side that waits
// for memory to change takes all of a processor.
constexpr double whole = 1;
constexpr double half = 0.5;

template <typename Pair>
using Deed = std::function<void(Pair &, std::size_t)>;

template <typename Pair>
double figure_of(const Settings &settings, RdmaRole role, std::size_t size,
                 const Deed<Pair> &deed) {
    const std::size_t count = rdma_iterations(size);
    Pair pair(settings, role, size);
    deed(pair, count / 10);
    return time_batch([&](std::size_t times) { deed(pair, times); }, count);
}

template <typename Pair>
Times against(const Settings &settings, const std::string &test, RdmaRole role, std::size_t size,
              const Deed<Pair> &deed, double share = whole) {
    return in_turns(settings,
                    single([&] { return figure_of<Pair>(settings, role, size, deed) * share; }),
                    single([&] { return floor_of(settings, test, size); }));
}

// Does one thing many times.
template <auto once>
constexpr auto each = [](auto &pair, std::size_t count) {
    for (; count > 0; count--) {
        (pair.*once)();
    }
};

// A connection by uDAPL.
class DatPair {
  public:
    DatPair(const Settings &settings, RdmaRole role, std::size_t size)
        : channel_(order_rdma(address_of(settings), order_of(role, size))), size_(size) {
        auto address = address_of(settings);
        const auto far = channel_.expect<RdmaSide>();
        clear_last_byte(side_.data(), size_);
        side_.connect(reinterpret_cast<sockaddr &>(address), far.qualifier);
        channel_.send(side_.memory());
        target_ = {far.memory.context, far.memory.address + rdma_half};
    }

    void write_and_wait() {
        turn_++;
        side_.data()[size_ - 1] = turn_;
        side_.write(target_, size_);
        wait_for_byte(side_.data(), size_, turn_);
    }
    void write_many(std::size_t count) { side_.write_many(target_, size_, count, rdma_window); }
    void read() { side_.read(target_, size_); }

  private:
    Channel channel_;
    std::size_t size_;
    DatSide side_{rdma_memory, rdma_adapter};
    DatMemory target_{};
    char turn_ = 0;
};

Times write_latency(const Settings &settings, const std::string &test, std::size_t size) {
    return against<DatPair>(settings, test, RdmaRole::dat_echo, size,
                            each<&DatPair::write_and_wait>, half);
}

Times read_latency(const Settings &settings, std::size_t size) {
    return against<DatPair>(settings, "ib_read_lat", RdmaRole::dat_stay, size,
                            each<&DatPair::read>);
}

// Segments of both hosts, each imported by the other.
class PutPair {
  public:
    PutPair(const Settings &settings, RdmaRole role, std::size_t size)
        : channel_(order_rdma(address_of(settings), order_of(role, size))), size_(size),
          far_(channel_.expect<RdmaSide>()) {
        clear_last_byte(memory_.data(), size_);
        channel_.send(RdmaSide{0, {}, Topology().own_node(), segment_.publish()});
        channel_.expect<bool>();
        // Puts return before the data has arrived.
        check_rsm(rsm_memseg_import_set_mode(import_.get(), RSM_BARRIER_MODE_EXPLICIT),
                  "rsm_memseg_import_set_mode");
    }

    void put(std::size_t size) const {
        check_rsm(rsm_memseg_import_put(import_.get(), rdma_half, memory_.data(), size),
                  "rsm_memseg_import_put");
    }
    void put_and_wait() {
        turn_++;
        memory_.data()[size_ - 1] = turn_;
        put(size_);
        wait_for_byte(memory_.data(), size_, turn_);
    }
    void get() const {
        check_rsm(rsm_memseg_import_get(import_.get(), rdma_half, memory_.data(), size_),
                  "rsm_memseg_import_get");
    }
    void put_many(std::size_t count) {
        rsmapi_barrier_t barrier{};
        check_rsm(rsm_memseg_import_init_barrier(import_.get(), RSM_BAR_DEFAULT, &barrier),
                  "rsm_memseg_import_init_barrier");
        check_rsm(rsm_memseg_import_open_barrier(&barrier), "rsm_memseg_import_open_barrier");
        for (; count > 0; count--) {
            put(size_);
        }
        check_rsm(rsm_memseg_import_close_barrier(&barrier), "rsm_memseg_import_close_barrier");
        check_rsm(rsm_memseg_import_destroy_barrier(&barrier), "rsm_memseg_import_destroy_barrier");
    }

  private:
    Channel channel_;
    std::size_t size_;
    RdmaSide far_;
    PrivateMemory memory_{rdma_memory};
    Controller home_{rdma_controller, 0};
    Export segment_{home_, memory_.data(), memory_.size()};
    Controller away_ = Controller::once_up(rdma_controller, far_.node);
    Import import_{away_, far_.segment};
    char turn_ = 0;
};

Times put_latency(const Settings &settings, std::size_t size) {
    return against<PutPair>(settings, "ib_write_lat", RdmaRole::put_echo, size,
                            each<&PutPair::put_and_wait>, half);
}

Times get_latency(const Settings &settings, std::size_t size) {
    return against<PutPair>(settings, "ib_read_lat", RdmaRole::put_stay, size, each<&PutPair::get>);
}

} // namespace

Times verbs_write8(const Settings &settings) {
    return write_latency(settings, "ib_write_lat", sizeof(std::uint64_t));
}

Times verbs_write8_ofed(const Settings &settings) {
    return write_latency(settings, ofed_test, sizeof(std::uint64_t));
}

Times verbs_write_64k(const Settings &settings) {
    return write_latency(settings, "ib_write_lat", 64 * KiB);
}

Times verbs_read8(const Settings &settings) {
    return read_latency(settings, sizeof(std::uint64_t));
}

Times verbs_read_64k(const Settings &settings) {
    return read_latency(settings, 64 * KiB);
}

Times verbs_write_bw(const Settings &settings) {
    return against<DatPair>(settings, "ib_write_bw", RdmaRole::dat_stay, 64 * KiB,
                            [](auto &pair, std::size_t count) { pair.write_many(count); });
}

Times rdma_put_4k(const Settings &settings) {
    return put_latency(settings, 4 * KiB);
}

Times rdma_put_64k(const Settings &settings) {
    return put_latency(settings, 64 * KiB);
}

Times rdma_get_4k(const Settings &settings) {
    return get_latency(settings, 4 * KiB);
}

Times rdma_get_64k(const Settings &settings) {
    return get_latency(settings, 64 * KiB);
}

Times rdma_put_bw(const Settings &settings) {
    return against<PutPair>(settings, "ib_write_bw", RdmaRole::put_stay, 64 * KiB,
                            [](auto &pair, std::size_t count) { pair.put_many(count); });
}

} // namespace rsmperf
