// SPDX-License-Identifier: GPL-2.0
#include "ofed.hpp"

#include <cstdlib>
#include <stdexcept>

#include "perftest.hpp"

namespace rsmperf {

namespace {

// tests/bench/run puts it there. dat.conf is that of our library, which has another version.
constexpr const char *registry = "DAT_OVERRIDE=/etc/ofed-dat.conf";
constexpr const char *adapter = "ofed";

Command command_for(std::size_t size) {
    return {"env",     registry,
            ofed_test, "-P",
            adapter,   "-W",
            "-b",      std::to_string(size),
            "-B",      std::to_string(rdma_iterations(size))};
}

// RDMA write PingPong: (1000 x 8) Total ... us: latency 12.34 us, BW ... MB/s
double latency(const std::string &text) {
    const std::string before = "PingPong: ";
    const std::string word = "latency ";
    auto at = text.find(before);
    at = at == std::string::npos ? at : text.find(word, at);
    const double result =
        at == std::string::npos ? 0 : std::strtod(&text[at + word.size()], nullptr);
    if (result <= 0) {
        throw std::runtime_error("dtest printed no figure");
    }
    return result * 1e3;
}

} // namespace

Command ofed_server(std::size_t size) {
    auto command = command_for(size);
    command.emplace_back("-s");
    return command;
}

double ofed_time(std::size_t size, const std::string &address) {
    auto command = command_for(size);
    command.insert(command.end(), {"-h", address});
    return latency(output_of_client(command));
}

} // namespace rsmperf
