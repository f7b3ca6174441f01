// SPDX-License-Identifier: GPL-2.0
// Waits of tests have names instead of limits: only the runner has a limit, and shows the names.
#pragma once

#include <source_location>

namespace rsmtest {

// Names what this thread waits for, as long as the object lives; objects of a thread nest. The runner
// ends a test that takes too long, and the stack of each thread begins with this name and place.
class Waiting {
public:
    explicit Waiting(const char *what,
                     const std::source_location &place = std::source_location::current());
    ~Waiting();
    Waiting(const Waiting &) = delete;
    Waiting &operator=(const Waiting &) = delete;

    // Writes what this thread waits for to standard error, if anything. Signal handlers may call it.
    static void show();

private:
    const char *what_;
    std::source_location place_;
    const Waiting *outer_;
};

} // namespace rsmtest
