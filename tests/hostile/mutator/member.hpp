// SPDX-License-Identifier: GPL-2.0
// A node that joins the window by the rules: it greets, beats, and reads what the guests send.
#pragma once

#include "mutator/chance.hpp"
#include "mutator/forge.hpp"
#include "mutator/window.hpp"

#include <chrono>
#include <cstdint>
#include <map>

namespace hostile {

class Member {
  public:
    Member(Window &window, Chance &chance, u32 node);
    Member(const Member &) = delete;
    Member &operator=(const Member &) = delete;
    // Leaves as a guest does, so that the others know at once.
    virtual ~Member();

    // Looks after every guest once; called all the time.
    void step();

  protected:
    using Clock = std::chrono::steady_clock;

    // A guest has ended its link with us, or has gone.
    virtual void link_ended(u32 /*slot*/) {}
    // False to leave what a guest has sent where it is.
    virtual bool reads(u32 /*slot*/) { return true; }
    // Our heartbeat interval, as a guest is told it, in milliseconds.
    virtual u32 interval_for(u32 slot) { return peek(window_.node(slot).interval_ms); }
    // A message other than a greeting.
    virtual void received(u32 slot, Message &message) = 0;
    // After the messages, while a guest's link is up.
    virtual void act(u32 slot) = 0;

    Window &window() { return window_; }
    Chance &chance() { return chance_; }
    Forger &forger() { return forger_; }
    Route to(u32 slot) const { return {window_.own_slot(), slot}; }
    bool is_linked(u32 slot) { return guests_[slot].incarnation != 0; }

    // False if there is no room.
    bool send(u32 slot, const Message &message);
    // The same in two steps: the entry with the message, NULL if there is no room; and the announcement.
    rsm_window_message *write(u32 slot, const Message &message);
    void announce(u32 slot);
    // Offset of memory of ours in the window, for a segment.
    u64 own_memory();

    std::uint64_t lives() const { return lives_; }
    std::uint64_t links() const { return links_; }
    std::uint64_t sent() const { return sent_; }
    std::uint64_t messages_received() const { return received_; }

  private:
    struct Guest {
        u64 incarnation = 0; // 0 until it has greeted us
        u32 tail = 0;        // of our queue to it
        u32 head = 0;        // of its queue to us
        Clock::time_point beat;
    };

    void join();
    void look_after(u32 slot);
    void forget(u32 slot);
    void greet(u32 slot, Guest &guest);
    void read(u32 slot, Guest &guest);
    void handle(u32 slot, Guest &guest, Message &message);

    Window &window_;
    Chance &chance_;
    Forger forger_;
    u32 node_;
    u64 incarnation_ = 0;
    std::map<u32, Guest> guests_;
    std::uint64_t lives_ = 0, sent_ = 0, received_ = 0, links_ = 0;
};

} // namespace hostile
