// SPDX-License-Identifier: GPL-2.0
// Messages that pass the first checks, and what is in them.
#pragma once

#include "mutator/chance.hpp"
#include "mutator/window.hpp"

#include <array>

namespace hostile {

struct Message {
    u32 length = 0;
    alignas(8) std::array<std::byte, message_max> data{};

    template <class T>
    T &as() {
        return *reinterpret_cast<T *>(data.data());
    }
    rsm_msg_header &header() { return as<rsm_msg_header>(); }
};

// Where a message claims to come from and is meant to go.
struct Route {
    u32 from;
    u32 to;
};

class Forger {
  public:
    Forger(Window &window, Chance &chance) : window_(window), chance_(chance) {}

    // Current incarnations, the right length, the rest as it comes.
    Message message(Route route, unsigned type);
    Message any(Route route);
    Message greeting(Route route, unsigned type, u32 node, u32 interval_ms);
    Message connect(Route route, u32 id, u32 cookie);
    Message connected(Route route, u32 cookie, u32 status);
    Message connection(Route route, unsigned type, u32 cookie, u32 handle);
    Message move(Route route, u32 cookie, u32 handle, u64 place);

    // An offset into the window, or what looks like one.
    u64 place(Route route);
    u64 length();
    // A small number, as cookies and handles are, or anything.
    u32 name();

    // Another value for some field of it.
    void spoil(Message &message);
    // Puts it where its receiver looks next, whatever the sender thinks of that.
    void inject(Route route, const Message &message);
    // Over one that may be on its way.
    void overwrite(Route route, const Message &message);

  private:
    u64 chunk_of(u32 slot);
    static void write(rsm_window_message &entry, const Message &message);

    Window &window_;
    Chance &chance_;
};

} // namespace hostile
