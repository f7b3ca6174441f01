// SPDX-License-Identifier: GPL-2.0
// Tries each value of a list in each field that a guest reads: of each type of message, and of the window.
#pragma once

#include "mutator/member.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hostile {

// A field gets a value instead of a good one, or two values in turn while a guest reads it.
enum class Change { zero, max, more, less, random, twice };

// A field of a message's entry in a queue, or of the window.
struct Field {
    const char *name;
    std::size_t offset;
    std::size_t size; // 2, 4 or 8 bytes
};

class Flipper;

// A node whose messages have one wrong field each. Behind each message it asks for a segment that is not there: the
// answer says that the guest has handled the message, and still has its link. A message that ends the link three times
// is tried, too: that is no chance. A change of the window is tried once the guest has looked at the window and then
// answers. Fields that no running guest reads have no part: the superblock, the end of a queue that is the guest's own.
// Neither have those that only a third node reads, nor the owners of chunks, of which nobody tells when they are read.
class Sweep : public Member {
  public:
    Sweep(Window &window, Chance &chance);
    ~Sweep() override;

    bool is_done() const { return tried_ == cases_.size(); }
    std::size_t tried() const { return tried_; }
    // "CASES pairs of field and value tried, BROKEN ended the link"
    std::string summary() const;

  private:
    struct Case {
        std::string name;
        // False while it can't be done.
        std::function<bool()> apply;
        unsigned type; // of the message, or 0
    };
    struct Connection {
        u32 cookie;
        u32 handle;
    };

    void link_ended(u32 slot) override;
    void received(u32 slot, Message &message) override;
    void act(u32 slot) override;

    void add_message_cases();
    void add_window_cases();
    void add_cases(const std::string &name, const Field &field, std::byte *base);
    bool send_changed(unsigned type, const Field &field, Change change);
    bool change_window(const Field &field, std::byte *base, Change change);
    void restore(const Field &field, std::byte *base, std::uint64_t before);

    std::optional<Message> good(unsigned type);
    std::optional<Message> about(unsigned type, const std::optional<Connection> &connection);
    void import_one();
    void answer(u32 cookie);
    void be_asked(u32 slot, u32 cookie);
    void be_answered(const rsm_msg_connected &message);
    void be_told(u32 slot, const rsm_msg_connection &message);
    void be_moved(u32 slot, const rsm_msg_move &message);

    // Bells go both ways.
    bool rings_exporter() const { return tried_ % 2 == 0; }
    void ask_for_mark();
    void await_look(u32 value, const Field &field, const std::byte *base);
    void finish();

    u32 victim_;
    std::vector<Case> cases_;
    std::size_t tried_ = 0, broken_ = 0;

    // State of the case that is being tried.
    bool applied_ = false;
    std::unique_ptr<Flipper> flipper_;
    unsigned breaks_ = 0;
    u32 first_mark_ = 0;
    std::optional<u32> asked_; // cookie of the CONNECT that a CONNECTED is to answer
    Clock::time_point again_;  // when to ask once more

    u32 last_mark_;
    u32 last_cookie_ = 0;
    std::optional<Connection> import_; // of a segment of a guest
    std::optional<Connection> export_; // a guest's of a segment of ours
};

// A node that says by being there that the sweep is over: asked for a segment, it has none.
class Beacon : public Member {
  public:
    Beacon(Window &window, Chance &chance);

  private:
    void received(u32 slot, Message &message) override;
    void act(u32 /*slot*/) override {}
};

} // namespace hostile
