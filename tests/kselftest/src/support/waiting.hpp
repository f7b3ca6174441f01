// SPDX-License-Identifier: GPL-2.0
// Waits of tests have names instead of limits: only the runner has a limit, and shows the names.
#pragma once

namespace rsmtest {

// A line of a test's source. clang 14 has no std::source_location.
struct Place {
    const char *file;
    int line;

    // As a default argument, here() names the line of the call.
    static constexpr Place here(const char *file = __builtin_FILE(), int line = __builtin_LINE())
    {
        return {file, line};
    }
};

// Names what this thread waits for, as long as the object lives; objects of a thread nest. The runner
// ends a test that takes too long, and the stack of each thread begins with this name and place.
class Waiting {
public:
    explicit Waiting(const char *what, const Place &place = Place::here());
    ~Waiting();
    Waiting(const Waiting &) = delete;
    Waiting &operator=(const Waiting &) = delete;

    // Writes what this thread waits for to standard error, if anything. Signal handlers may call it.
    static void show();

private:
    const char *what_;
    Place place_;
    const Waiting *outer_;
};

} // namespace rsmtest
