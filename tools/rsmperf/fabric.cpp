// SPDX-License-Identifier: GPL-2.0
#include "fabric.hpp"

#include <sstream>
#include <stdexcept>
#include <vector>

#include <unistd.h>

#include "program.hpp"
#include "ucx.hpp"

namespace rsmperf {

double fabric_time(const std::string &report) {
    std::istringstream lines(report);
    std::string last;
    for (std::string line; std::getline(lines, line);) {
        last = line.empty() ? last : line;
    }
    // bytes, sent, acknowledged, total, time, MB/s, µs of a transfer, transfers per µs
    std::istringstream line(last);
    std::string skipped;
    for (int at = 0; at < 6; at++) {
        line >> skipped;
    }
    double result = 0;
    if (!(line >> result) || result <= 0) {
        throw std::runtime_error("fi_pingpong printed no figure");
    }
    return result * 1000;
}

double fabric_latency(std::size_t size) {
    const auto port = std::to_string(30000 + getpid() % 10000);
    const Command listen = {"fi_pingpong",
                            "-p",
                            "shm",
                            "-e",
                            "rdm",
                            "-B",
                            port,
                            "-I",
                            std::to_string(iterations_of(size)),
                            "-S",
                            std::to_string(size)};
    Command ask = listen;
    ask[5] = "-P";
    ask.emplace_back("127.0.0.1");
    const Program server(Place::peer, listen);
    return fabric_time(output_of_client(ask));
}

} // namespace rsmperf
