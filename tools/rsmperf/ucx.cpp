// SPDX-License-Identifier: GPL-2.0
#include "ucx.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include <unistd.h>

#include "program.hpp"

namespace rsmperf {

namespace {

// So that messages of many MiB take no minutes.
constexpr std::size_t bytes_moved = std::size_t{1} << 31;

// The last line is iterations,median,average,overall,...; times in microseconds.
double overall(const std::string &text) {
    auto field = text.find_last_of('\n', text.size() - 2);
    for (int skipped = 0; skipped < 3 && field != std::string::npos; skipped++) {
        field = text.find(',', field + 1);
    }
    const double result = field == std::string::npos ? 0 : std::strtod(&text[field + 1], nullptr);
    if (result <= 0) {
        throw std::runtime_error("ucx_perftest printed no figure");
    }
    return result * 1000;
}

} // namespace

std::size_t iterations_of(std::size_t size) {
    constexpr std::size_t most = 20000;
    constexpr std::size_t least = 50;
    return std::clamp(bytes_moved / size, least, most);
}

double ucx_latency(const std::string &test, std::size_t size) {
    const auto port = std::to_string(20000 + getpid() % 10000);
    const Command listen = {"ucx_perftest",
                            "-t",
                            test,
                            "-s",
                            std::to_string(size),
                            "-n",
                            std::to_string(iterations_of(size)),
                            "-p",
                            port,
                            "-f",
                            "-v"};
    Command ask = listen;
    ask.insert(ask.begin() + 1, "127.0.0.1");
    // The process is this figure's own.
    (void)setenv("UCX_TLS", "posix", 1);
    (void)setenv("UCX_WARN_UNUSED_ENV_VARS", "n", 1);
    const Program server(Place::peer, listen);
    return overall(output_of_client(ask));
}

} // namespace rsmperf
