// SPDX-License-Identifier: GPL-2.0
// Other nodes, as a test sees them: sessions there that do what they are told.
#pragma once

#include "net/support/hub.hpp"

#include <sstream>

namespace rsmtest::net {

// An answer on its way.
class Pending {
  public:
    explicit Pending(std::string tag) : tag_(std::move(tag)) {}
    Answer get(const Place &place = Place::here());
    // Whether the answer is there after that time at the latest.
    bool arrived(std::chrono::milliseconds at_most);

  private:
    std::string tag_;
};

// A process on a node.
class Session {
  public:
    explicit Session(unsigned node);
    ~Session();
    Session(Session &&other) noexcept;
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;
    Session &operator=(Session &&) = delete;

    unsigned node() const { return node_; }
    // Tells it something; words may be numbers.
    template <class... Words>
    Pending begin(const Words &...words) {
        return send(join(number_, words...));
    }
    template <class... Words>
    Answer call(const Words &...words) {
        return begin(words...).get();
    }
    // The same, of which only the status matters.
    template <class... Words>
    int status(const Words &...words) {
        return call(words...).status;
    }
    // The same, of which only the first number matters; a failure is a test failure.
    template <class... Words>
    std::uint64_t value(const Words &...words) {
        return checked(call(words...));
    }

    void signal(int number);
    // kill -9, and waits for the end.
    void kill();
    // Again and again until the answer is there: a signal that comes before what it is to interrupt
    // does nothing.
    void interrupt(Pending &pending, int number);
    // Waits until it has ended by itself: its wait status.
    int reap();

  private:
    template <class... Words>
    static std::string join(const Words &...words) {
        std::ostringstream text;
        ((text << words << ' '), ...);
        return text.str();
    }
    Pending send(const std::string &order);
    static std::uint64_t checked(const Answer &answer);

    unsigned node_;
    std::uint64_t number_ = 0;
};

// A node as a whole.
class Peer {
  public:
    explicit Peer(unsigned node) : node_(node) {}

    unsigned node() const { return node_; }
    Session session() const { return Session(node_); }
    // Does its ksft-peer answer?
    bool answers() const;
    // Waits until it does.
    void await(const Place &place = Place::here()) const;
    // Ends all sessions.
    void end_sessions() const;
    // The same when a test ends: the node also shows the test's coverage, if the kernel counts that.
    void reset() const;
    // Waits until it has no handle, pinned page or published id.
    void await_empty(const Place &place = Place::here()) const;
    // How many pages its exports have pinned.
    std::uint64_t pinned_pages() const { return ask("0 stats").value(1); }
    // State of the path from there to another node: 0 if there is none, 3 if it is usable.
    unsigned path_to(unsigned node) const;

  private:
    Answer ask(const std::string &order) const;
    void expect_reset(const std::string &words) const;

    unsigned node_;
};

// The machines, by courtesy of rsm-vm. Each returns when it is done; a failure is a test failure.
struct Vm {
    static void kill(unsigned node);
    static void start(unsigned node) { start(std::vector<unsigned>{node}); }
    // Several at once.
    static void start(const std::vector<unsigned> &nodes);
    static void pause(unsigned node) { command("pause", node); }
    static void resume(unsigned node) { command("resume", node); }
    // All of them stand still at once, this one included.
    static void stall(std::chrono::milliseconds time)
    {
        command("stall", static_cast<unsigned>(time.count()));
    }

  private:
    static void command(const char *what, unsigned argument);
    static void expect_ok(const std::string &what);
};

} // namespace rsmtest::net
