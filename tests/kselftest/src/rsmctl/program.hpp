// SPDX-License-Identifier: GPL-2.0
// rsmctl as a program: what it is told, what it says.
#pragma once

#include "support/system.hpp"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace rsmtest {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

// A run of rsmctl. It dies with its parent, and when the object goes.
class Program {
public:
    explicit Program(const Words &arguments, const std::optional<User> &user = {});
    ~Program();
    Program(const Program &) = delete;
    Program &operator=(const Program &) = delete;

    // Next line of its output; nothing if it ends, or says nothing for too long.
    std::optional<std::string> line();
    // Waits for its end: its exit status, or -1. All that it has said is in out() and err() then.
    int wait();
    const std::string &out() const { return out_; }
    const std::string &err() const { return err_; }

private:
    void become_program(const Words &arguments, const std::optional<User> &user, int out, int err);
    bool read_more();

    pid_t pid_ = -1;
    Fd out_end_;
    Fd err_end_;
    std::string out_;
    std::string err_;
};

struct Outcome {
    int status = -1;
    std::string out;
    std::string err;
};

Outcome rsmctl(const Words &arguments, const std::optional<User> &user = {});

// Its JSON; it must succeed and complain of nothing.
Json rsmctl_json(Words arguments, const std::optional<User> &user = {});

// The object of a list whose key has this value; null if there is none, or more than one.
Json find(const Json &list, const std::string &key, const Json &value);

// The next event of a kind that `rsmctl monitor -j` tells of, of whom or what the value tells.
Json next_event(Program &monitor, const std::string &event, const std::string &key,
                const Json &value);
// From here on it hears what happens.
void hear_start(Program &monitor);

} // namespace rsmtest
