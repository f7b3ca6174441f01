// SPDX-License-Identifier: GPL-2.0
// Parts of tests that run after exec, in the same process with another address space.
#pragma once

#include <string>

namespace rsmtest {

// A part of a test that runs after exec, in the same binary. Objects of this class are static. A Child
// or in_child() expects that the body returns 0.
class Sequel {
public:
    using Body = int (*)();

    Sequel(const char *name, Body body);
    // Executes the body in place of what the process does now. Returns if that fails.
    void exec() const;
    // In a process that exec() made: runs the body, and returns true. In any other process: false.
    static bool run(int &result);

private:
    const char *name_;
};

// Sleeps until the parent ends.
extern const Sequel sleeper;

} // namespace rsmtest
