// SPDX-License-Identifier: GPL-2.0
// Executes one side of a program with a library, and records what happens.
#pragma once

#include "order/arena.hpp"

#include <optional>

namespace order {

struct Event {
    What what; // COMPLETED, DISCONNECTED, BROKEN or STRANGE
    int index = 0;
    Status status = Status::SUCCESS;
    std::uint32_t length = 0;
};

// One side's connections, once they are established.
class Library {
  public:
    virtual ~Library() = default;

    virtual bool post(int index) = 0; // whether the post was accepted
    virtual Event wait(int evd) = 0;
    virtual std::optional<Event> take(int evd) = 0; // if there is one
    virtual void disconnect(int endpoint, bool graceful) = 0;
    virtual void free(int endpoint) = 0;
    virtual void free_region() = 0;
    virtual void notify() = 0;
    virtual void await_notice() = 0;
};

class Player {
  public:
    Player(const Program &program, int side, Library &library, std::span<std::byte> arena);

    // All steps of this side. One that goes wrong for ever does not return.
    void play();
    // One step of this side.
    void act(const Step &step);
    // Takes the events that are left, and looks at the memory.
    Record finish();

  private:
    void post(int index);
    void await(int index);
    void await_end(int endpoint);
    void note(What what, int index = 0);
    void note(const Event &event, int evd);
    std::vector<Snapshot> look(int post) const;
    const Post &post_of(int index) const { return program_.posts[static_cast<std::size_t>(index)]; }
    const Streams &streams(int endpoint) const;

    const Program &program_;
    int side_;
    Library &library_;
    Arena arena_;
    Record record_;
    std::vector<bool> over_;  // by post: completed or rejected
    std::vector<bool> ended_; // by endpoint
};

} // namespace order
