// SPDX-License-Identifier: GPL-2.0
// A third node that joins by the rules, and then uses its place among the others.
#pragma once

#include "mutator/chance.hpp"
#include "mutator/forge.hpp"
#include "mutator/window.hpp"

#include <chrono>
#include <deque>
#include <map>
#include <span>
#include <string>

namespace hostile {

enum class Manner {
    liar,  // answers with places, lengths and statuses of its own making
    mute,  // imports what it can get and answers nothing; lives, by its heartbeats
    slow,  // imports everything many times over and answers as late as it may
    flood, // sends all the time what has to be handled
    deaf,  // asks until the answers do not fit any more, and reads none of them
};

// NULL for no manner's name.
const Manner *find_manner(const std::string &name);
std::span<const char *const> manner_names();

class Stranger {
  public:
    Stranger(Window &window, Chance &chance, Manner manner);
    Stranger(const Stranger &) = delete;
    Stranger &operator=(const Stranger &) = delete;
    ~Stranger();

    // Looks after everybody once; called all the time.
    void step();
    std::string summary() const;

  private:
    using Clock = std::chrono::steady_clock;
    struct Late {
        Clock::time_point when;
        Message answer;
    };
    struct Guest {
        u64 incarnation = 0; // 0 until it has greeted us
        u32 interval = 0;    // of its heartbeats, in milliseconds
        u32 tail = 0;        // of our queue to it
        u32 head = 0;        // of its queue to us
        Clock::time_point beat;
        std::map<u32, u32> handles; // of segments that we import, by our cookie
        std::deque<Late> late;
        u32 last_cookie = 0;
    };

    void join();
    void look_after(u32 slot);
    void greet(u32 slot, Guest &guest);
    void read(u32 slot, Guest &guest);
    void handle(u32 slot, Guest &guest, Message &message);
    void be_asked(u32 slot, Guest &guest, const rsm_msg_connect &message);
    void be_told(u32 slot, Guest &guest, const rsm_msg_connection &message);
    void misbehave(u32 slot, Guest &guest);
    void import_all(u32 slot, Guest &guest, u32 times);
    void pester(u32 slot, Guest &guest);
    void answer_late(u32 slot, Guest &guest);
    // False if there is no room.
    bool send(u32 slot, const Message &message);
    Route to(u32 slot) const { return {window_.own_slot(), slot}; }
    u32 interval_for(u32 slot);
    u64 own_chunk();

    Window &window_;
    Chance &chance_;
    Forger forger_;
    Manner manner_;
    u64 incarnation_ = 0;
    std::map<u32, Guest> guests_;
    u64 lives_ = 0, sent_ = 0, received_ = 0, links_ = 0;
};

} // namespace hostile
