// SPDX-License-Identifier: GPL-2.0
// One test binary, loaded once; each of its tests runs in a process forked from it.
#pragma once

#include "support/system.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace rsmrun {

class Area {
public:
    // `output` is the file that the tests write to.
    Area(std::string name, std::string binary, int output);
    ~Area();
    Area(const Area &) = delete;
    Area &operator=(const Area &) = delete;

    const std::string &name() const { return name_; }
    // Loads the binary and reads the names of its tests; false when it does not say them.
    bool load();
    const std::vector<std::string> &tests() const { return tests_; }

    // Starts a test: the number of its process and session, or nothing.
    std::optional<pid_t> start(const std::string &test);
    // The wait status of the test that runs. Nothing after `limit`, or when the binary's process is gone.
    std::optional<int> wait(std::chrono::milliseconds limit);
    // Whether the binary's process is still there to answer.
    bool alive();
    // Whether the tests so far have left processes behind that still exist.
    bool has_orphans();
    // Ends the binary's process; load() starts a new one.
    void unload();

private:
    void exec(int control);
    bool read_list();
    std::optional<std::int64_t> receive(std::chrono::milliseconds limit);
    bool send(const std::string &text);

    std::string name_;
    std::string binary_;
    int output_;
    pid_t process_ = -1;
    rsmtest::Fd control_;
    std::vector<std::string> tests_;
};

} // namespace rsmrun
