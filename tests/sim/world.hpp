// SPDX-License-Identifier: GPL-2.0
// Nodes, the network between them, and what their users do: the part of the world that is not the
// agent. It knows the truth, which the agent's nodes only hear of.
#pragma once

#include "runtime.hpp"
#include "scenario.hpp"

#include <array>
#include <deque>

extern "C" {
#include "kernel/agent/agent.h"
#include "kernel/ivshmem/membership.h"
#include "kernel/rdma/reconnect.h"
}

namespace sim {

class World;
struct Node;

// Messages on their way to one end of a connection, in their order.
struct Direction {
    struct Message {
        Time arrives;
        std::size_t length;
        alignas(8) std::array<std::byte, RSM_MESSAGE_MAX> data;
    };
    std::deque<Message> messages;
    bool refused = false; // the agent takes none until it says so
    Time last = 0;
};

// A connection of two nodes; the end of the node with the lower id is 0.
struct Channel {
    bool open = true;
    bool agreed = false; // the node with the lower id knows that the other one has accepted
    bool proven = false; // the other one knows who has connected
    std::array<Direction, 2> to;
    std::array<std::uint64_t, 2> incarnation{};
};

// A work item of a node: one instance runs at a time, and once more if it was queued meanwhile.
struct Work {
    std::uint64_t queued = 0; // number of the one that is due, or 0
    bool running = false;
    bool again = false;
};

// The way of a node to another one.
struct Peer {
    rsm_link link;
    Node *node;
    Node *other;
    std::shared_ptr<Channel> channel;
    bool lied; // the node has greeted with another interval than its own over this link
    // In a network: when to connect, a request that has come, and the work that looks.
    rsm_reconnect reconnect;
    std::shared_ptr<Channel> incoming;
    Work look;
    // In a window: messages are taken, and what the link was started to.
    bool running;
    u64 started;
    u64 heard_beat;
    Time stale; // for so long the link has gone on with a node that has lost its slot
    int end() const;
};

// Memory behind a segment: an exporter's, or what an importing node knows of it.
struct Memory {
    rsm_mem mem;
    Node *node;
    std::uint64_t number;
    std::uint64_t place; // 0 for an exporter's
};

// With it a node reaches memory of another one.
struct Key {
    std::uint64_t memory;
    u32 rights;
    Node *exporter;
    const Node *importer;
};

struct Export {
    rsm_export exp;
    Node *node;
    bool busy; // a call is under way
    std::vector<std::byte> list;
};

struct Import {
    rsm_import imp;
    bool busy;
};

// All guests share it. The slot of a node is its index.
struct Window {
    std::array<rsm_slot_view, RSM_WINDOW_SLOTS_MAX> slots{};
    std::set<u64> owners; // incarnations that have chunks
    std::map<std::pair<u32, u32>, std::shared_ptr<Channel>> queues; // by the nodes' ids
};

// A guest's part in it.
struct Membership {
    rsm_membership machine;
    u64 incarnation; // that others may know
    bool leaving;
    Work tick;
    std::set<u64> swept; // the owners that the last sweep has found
};

// Something that has gone on from then on, perhaps until another time.
struct Period {
    Time from;
    Time to;
};

inline constexpr std::size_t export_slots = 3;
inline constexpr std::size_t import_slots = 6;

struct Node : Owner {
    u32 id = 0;
    bool alive = false;
    bool joined = false;
    bool busy = false; // is coming or going
    std::uint64_t sent = 0; // messages
    bool mute = false;
    u32 exaggeration = 0; // what it says of its interval is so many times too much
    rsm_controller ctl = {};
    Membership membership{};
    std::vector<std::unique_ptr<Peer>> peers; // by index of the other node
    std::map<u32, Export *> published;
    std::array<Export *, export_slots> exports{};
    std::array<Import *, import_slots> imports{};
    std::set<Export *> all_exports;
    std::set<Import *> all_imports;
    Time slow_since = 0; // from then on its works come late
    Time slow_for = 0; // for so much of the time that it runs
    std::vector<Period> troubles; // it did not do what a node does
    std::vector<Period> stalls; // one after the other
};

// A node that has a link to one that has died, and does not know of the death yet.
struct Survivor {
    const Node *node;
    const Node *dead;
    Time since;
    Time heard; // the last message of the dead node has arrived
    Time two_heartbeats;
};

// How long after a death, less two heartbeats, an undisturbed node knew of it.
struct Notice {
    std::int64_t late;
    std::int64_t late_since_heard; // since the arrival of a last message that the network has delayed
};

// The cost of one node of so many.
struct Cost {
    std::uint32_t nodes = 0;
    std::size_t bytes = 0; // of its agent
    std::size_t segment_bytes = 0; // more, when each other node imports one segment
    double messages = 0; // that it sends in a second, at rest
    std::size_t timers = 0; // that are armed
    double expired = 0; // in a second
    std::uint64_t unpublish_messages = 0; // to take that segment back
    Time unpublish_time = 0;
};

class World {
public:
    World(Runtime &runtime, const Scenario &scenario);
    ~World();
    World(const World &) = delete;
    World &operator=(const World &) = delete;
    // Everything, from the first node to the last check.
    void run();
    // Without any of that: what it costs the first node that the others are there.
    Cost measure();
    static World &now_running();

    // The controller's and the core's, for the agent.
    int send(Peer &peer, const void *message, std::size_t length);
    void take_again(Peer &peer);
    void down(Peer &peer);
    bool stirs(Peer &peer);
    u32 place(Peer &peer, rsm_mem *mem, u32 rights, rsm_place &place, void **keys);
    void leave(std::uint64_t key);
    u32 attach(Peer &peer, const rsm_place &place, rsm_mem **mem);
    void put(rsm_mem *mem);
    void put(Node &node, Import &import);
    void is_down(const Peer &peer, const std::string &why);
    void free_export(Export &segment);
    Node &here() { return static_cast<Node &>(*runtime_.owner()); }
    Runtime &runtime() { return runtime_; }
    const Scenario &scenario() const { return scenario_; }
    Node &node(std::size_t index) { return *nodes_[index]; }
    void boot(Node &node);
    void join(Node &node);
    void heal();
    void settle(Time time) { runtime_.run_until(runtime_.time() + time); }
    std::uint64_t messages() const;
    std::uint64_t deaths() const { return deaths_; }
    std::uint64_t connects() const { return connects_; }
    const std::vector<Notice> &notices() const { return notices_; }

private:
    using Body = std::function<void()>;
    // network.cpp
    std::size_t index(const Node &node) const { return node.id - 1; }
    Peer &peer(Node &node, const Node &other) { return *node.peers[index(other)]; }
    bool is_cut(const Node &a, const Node &b) const;
    void pump(Peer &peer, const std::shared_ptr<Channel> &channel);
    void note_activity(Peer &peer);
    void schedule_pump(Peer &peer, Time when);
    rsm_reconnect_output step(Peer &peer, rsm_reconnect_event event, const char *why = nullptr);
    void begin_network(Node &node);
    void leave_network(Node &node);
    void wake_look(Peer &peer, Time when);
    void queue_look(Peer &peer, const rsm_reconnect_output &output);
    void look_at(Peer &peer);
    bool reaches(const Peer &peer) const;
    void close_channel(Peer &peer, const std::shared_ptr<Channel> &channel);
    void give_up(Peer &peer, const std::shared_ptr<Channel> &channel, const char *why);
    void ask_other(Peer &peer, const std::shared_ptr<Channel> &channel);
    void tell_other(Peer &peer, const std::shared_ptr<Channel> &channel, bool Channel::*what);
    bool wait_until(Peer &peer, const std::shared_ptr<Channel> &channel, bool Channel::*what);
    void connect(Peer &peer);
    void accept(Peer &peer, const std::shared_ptr<Channel> &channel);
    void adopt(Peer &peer, const std::shared_ptr<Channel> &channel);
    void fail_later(Peer &peer, const char *why, Time most);
    void cut(std::uint64_t group, Time how_long);
    Time delay() { return 20 + runtime_.random.below(scenario_.delay); }

    // window.cpp
    std::shared_ptr<Channel> queues(const Node &a, const Node &b);
    void join_window(Node &node);
    void leave_window(Node &node);
    void scribble(const Action &action);
    void wake_tick(Node &node, Time when);
    void queue_tick(Node &node, Time when);
    void tick(Node &node);
    rsm_membership_output step(Node &node, const rsm_membership_input &input);
    void write_entry(Node &node);
    void enter(Node &node);
    void give_up(Node &node, u64 running);
    void start_link(Peer &peer);
    void stop_links(Node &node, u64 slots, const char *why);
    void stop_misread_links(Node &node, u64 slots);
    u64 slots_that_greet(const Node &node) const;
    void link_is_down(Peer &peer);
    void expel(Node &by, u32 slot, u64 incarnation);
    void sweep(Node &node, unsigned long grace);
    void check_released(const Node &by, u64 owner);
    bool uses(const Node &node, u64 owner) const;
    bool is_member(const Node &node) const;
    template <class Do> void for_slots(Node &node, u64 slots, Do what);

    // nodes.cpp
    void wake_work(Node &node, Work &work, Time when, const Body &body);
    void run_work(Node &node, Work &work, const Body &body);
    void die(Node &node);
    void exit_links(Node &node);
    void leave(Node &node);
    void stall(Node &node, Time how_long);
    void slow_down(Node &node, Time lag);
    void act(const Action &action);
    void act_user(const Action &action);
    void act_node(Node &node, const Action &action);
    void act_export(Export &segment, const Action &action);
    Export *pick(u32 value, const Node *not_of) const;
    void trouble(Node &node, Time how_long);

    // users.cpp
    void start(Node &node, const char *name, Time bound, Body body);
    void watch();
    void publish(Node &node, const Action &action);
    void with_export(Export &segment, const char *name, Time bound,
                     const std::function<void(Export &)> &body);
    void republish(Export &segment, u32 list);
    void rebind(Export &segment);
    void unpublish(Export &segment);
    void destroy(Export &segment);
    void connect_user(Node &node, const Action &action);
    // How users know a segment.
    struct Name {
        u32 node;
        u32 id;
    };
    static Name name_of(const Export &segment);
    u32 try_connect(Import &import, Name target, u32 user, u32 rights);
    Import &make_import(Node &node);
    void forget(Node &node, Import &import);
    void close(Import &import);
    void use(Node &node, const Action &action);
    void set_list(Export &segment, u32 list);
    rsm_mem *make_memory(Node &node, std::uint64_t place);

    // checks.cpp
    void begin();
    void check_step(Owner *owner);
    void check_unreached(std::uint64_t memory, const Node &exporter, const char *when);
    Time run_since(const Node &node, Time time) const;
    bool is_slow(const Node &node) const;
    bool is_as_good_as_dead(const Node &node, const Node &to) const;
    bool was_troubled(const Node &a, const Node &b, const Period &time) const;
    bool has_beaten(const Node &node, Time time) const;
    Time heard_last(const Node &node, const Node &dead) const;
    bool has_lied(const Node &node, const Node &to) const;
    Time notice_bound(const Node &node) const;
    void note_death(const Node &dead);
    void note_notice(const Peer &peer, const std::string &why);
    void check_former_lives(Time since_last);
    void check_former_life(Peer &peer, Time since_last);
    bool are_connected();
    void check_links();
    void check_connects();
    void check_connect(Node &node, Export &segment, u32 user);
    void check_imports();
    void check_leaks();
    void close_all();
    void part_all();
    Time patience() const { return 2 * longest_ * ms; }
    // How long a connect may wait for keys.
    Time place_time() const { return patience() + 3 * scenario_.key_time; }
    bool fit(const Node &a, const Node &b) const;
    void await(const std::vector<std::uint64_t> &tasks);
    void ask(const std::function<void()> &body, Node &node);

    struct Call {
        Node *node;
        std::uint64_t task;
        std::string name;
        Time bound;
        Time spent;
        Time lag; // of its node's works, the longest so far
    };

    Runtime &runtime_;
    const Scenario &scenario_;
    std::vector<std::unique_ptr<Node>> nodes_;
    std::map<rsm_mem *, std::unique_ptr<Memory>> memories_;
    std::map<std::uint64_t, Key> keys_;
    std::set<std::uint64_t> taken_back_; // numbers of memory that rebinds have taken from importers
    std::vector<Call> calls_;
    std::uint64_t last_ = 0;
    Window window_;
    std::uint64_t group_ = 0; // nodes with their bit can't reach those without
    u32 next_id_ = 100;
    std::uint64_t deaths_ = 0;
    std::vector<Survivor> survivors_;
    std::vector<Notice> notices_;
    std::uint64_t connects_ = 0; // that have succeeded
    unsigned int longest_ = 0;
    std::vector<Period> cuts_;
};

} // namespace sim
