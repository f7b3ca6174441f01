// SPDX-License-Identifier: GPL-2.0
// A third node that joins by the rules, and then uses its place among the others.
#pragma once

#include "mutator/member.hpp"

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

class Stranger : public Member {
  public:
    Stranger(Window &window, Chance &chance, Manner manner);

    std::string summary() const;

  private:
    struct Late {
        Clock::time_point when;
        Message answer;
    };
    struct Guest {
        std::map<u32, u32> handles; // of segments that we import, by our cookie
        std::deque<Late> late;
        u32 last_cookie = 0;
    };

    void link_ended(u32 slot) override;
    bool reads(u32 slot) override;
    u32 interval_for(u32 slot) override;
    void received(u32 slot, Message &message) override;
    void act(u32 slot) override;

    void be_asked(u32 slot, const rsm_msg_connect &message);
    void be_told(u32 slot, const rsm_msg_connection &message);
    void import_all(u32 slot, u32 times);
    void pester(u32 slot);
    void answer_late(u32 slot);

    Manner manner_;
    std::map<u32, Guest> guests_;
};

} // namespace hostile
