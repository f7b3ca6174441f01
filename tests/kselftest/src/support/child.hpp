// SPDX-License-Identifier: GPL-2.0
// A second process that takes part in a test.
#pragma once

#include "support/system.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>

namespace rsmtest {

// One end of the line between a test and its child. A wait ends when the other side sends something or
// ends, which is a test failure; the runner ends a test that waits for ever.
class Link {
public:
    explicit Link(Fd end) : end_(std::move(end)) {}

    void send(std::uint64_t value = 1);
    // Next value from the other side.
    std::uint64_t receive(const Place &place = Place::here());
    // Nothing if the other side has ended, which is no failure here.
    std::optional<std::uint64_t> receive_unless_ended(const Place &place = Place::here());
    // Whether the other side has sent a value, or has ended.
    bool is_readable() const;
    void send_fd(int fd);
    Fd receive_fd(const Place &place = Place::here());
    int descriptor() const { return end_.get(); }
    void close() { end_.reset(); }

private:
    Fd end_;
};

// Forks a process that runs a function and exits. A failed assertion there
// fails expect_success() here. It dies with its parent, and when the object
// goes.
class Child {
public:
    using Body = std::function<void(Link &)>;

    explicit Child(const Body &body);
    // The same as another user.
    Child(const User &user, const Body &body);
    ~Child();
    Child(const Child &) = delete;
    Child &operator=(const Child &) = delete;

    Link &link() { return link_; }
    void send(std::uint64_t value = 1) { link_.send(value); }
    std::uint64_t receive(const Place &place = Place::here())
    {
        return link_.receive(place);
    }
    pid_t pid() const { return pid_; }

    // Waits for its end: it must exit with status 0.
    void expect_success(const Place &place = Place::here());
    // Waits for its end and returns the wait status.
    int wait(const Place &place = Place::here());
    // Stops it by a signal, and waits until it has stopped.
    void stop();
    // kill -9, and waits for the end.
    void kill();
    // Gives up responsibility for a process that somebody else ends.
    void abandon() { pid_ = -1; }

private:
    void start(const User *user, const Body &body);

    pid_t pid_ = -1;
    Link link_{Fd()};
};

// Runs a function in a process of its own and expects that to succeed.
void in_child(const std::function<void()> &body);
void in_child_as(const User &user, const std::function<void()> &body);

} // namespace rsmtest
