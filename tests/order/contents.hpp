// SPDX-License-Identifier: GPL-2.0
// Which bytes memory may hold, by the posts of an execution.
#pragma once

#include "order/facts.hpp"

#include <bitset>
#include <functional>

namespace order {

using Tokens = std::bitset<256>;
using Contents = std::vector<Tokens>; // by index: the tokens that may be there

// Whether a write is in place.
enum class Effect { YES, MAYBE, NO };

class Memory {
  public:
    // `must_be_refused`: the target of this post was gone, or never there, when it was posted.
    Memory(const Facts &facts, const std::function<bool(int post)> &must_be_refused);

    // The bytes that a send or write takes along, or a read brings.
    const Contents &carried(int post) const { return carried_[static_cast<std::size_t>(post)]; }
    // The contents of a target, given which of the writes to it are in place.
    Contents state(int buffer, const std::function<Effect(int post)> &effect) const;
    // The contents after every read and write of the buffer's endpoint, when the program is over.
    Contents at_end(int buffer) const;
    // When the receive of this send was dequeued.
    Contents when_received(int buffer, int send) const;

    const std::vector<int> &writes_to(int buffer) const {
        return writes_[static_cast<std::size_t>(buffer)];
    }
    // The read that fills the buffer, or -1.
    int read_into(int buffer) const { return filled_by_[static_cast<std::size_t>(buffer)]; }
    // Nothing of it may ever be in place. A write whose target goes while the write is carried out
    // fails as well, but may have come so far.
    bool refused(int write) const;
    // The read has surely completed before the later request starts.
    bool ordered(int read, int later) const;

  private:
    void run();
    Contents take(int post) const;
    Contents bring(int read) const;

    const Facts &facts_;
    std::vector<Contents> carried_;
    std::vector<std::vector<int>> writes_;
    std::vector<int> filled_by_;
    std::vector<bool> must_be_refused_; // by post; only writes
};

} // namespace order
