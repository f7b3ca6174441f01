// SPDX-License-Identifier: GPL-2.0
#include "perftest.hpp"

#include <sstream>
#include <stdexcept>

#include "memory.hpp"

namespace rsmperf {

namespace {

constexpr const char *gid_of_ipv4 = "1"; // index 0 is the link-local address of IPv6

bool is_bandwidth(const std::string &test) {
    return test.ends_with("_bw");
}

// The table's only row begins with the size in bytes: iterations and then, of a latency, the least,
// the most, typical, average; of a bandwidth, peak and average.
double field(const std::string &text, std::size_t size, int number) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::size_t first = 0;
        double value = 0;
        if (!(words >> first) || first != size) {
            continue;
        }
        for (int at = 0; at < number; at++) {
            words >> value;
        }
        if (words && value > 0) {
            return value;
        }
    }
    throw std::runtime_error("perftest printed no figure");
}

} // namespace

// They meet over TCP: with rdma_cm (-R) a client whose server is not ready yet crashes or waits for
// good.
Command perftest_server(const std::string &test, std::size_t size) {
    Command command = {test, "-F", "-d", rdma_device, "-x", gid_of_ipv4};
    command.insert(command.end(), {"-s", std::to_string(size)});
    command.insert(command.end(), {"-n", std::to_string(rdma_iterations(size))});
    if (is_bandwidth(test)) {
        command.insert(command.end(), {"-t", std::to_string(rdma_window)});
    }
    return command;
}

double perftest_time(const std::string &test, std::size_t size, const std::string &address) {
    constexpr int average_latency = 5;
    constexpr int average_bandwidth = 3;
    auto command = perftest_server(test, size);
    command.push_back(address);
    const auto text = output_of_client(command);
    if (!is_bandwidth(test)) {
        return field(text, size, average_latency) * 1e3;
    }
    const double bytes_per_s = field(text, size, average_bandwidth) * static_cast<double>(MiB);
    return static_cast<double>(size) / bytes_per_s * 1e9;
}

} // namespace rsmperf
