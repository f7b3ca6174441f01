// SPDX-License-Identifier: GPL-2.0
#include "progress.hpp"

#include <cstdio>

#include <unistd.h>

namespace rsmperf {

namespace {

constexpr const char *to_start_and_clear = "\r\033[K";

} // namespace

Progress::Progress(std::size_t figures) : figures_(figures), shown_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
    if (shown_) {
        (void)std::fputs(to_start_and_clear, stderr);
    }
}

void Progress::next(const std::string &name) {
    at_++;
    name_ = name;
}

void Progress::process(unsigned number, unsigned of) const {
    if (shown_) {
        (void)std::fprintf(stderr, "%s[%zu/%zu] %s, process %u of %u ", to_start_and_clear, at_,
                           figures_, name_.c_str(), number, of);
    }
}

} // namespace rsmperf
