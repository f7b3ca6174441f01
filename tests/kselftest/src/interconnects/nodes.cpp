// SPDX-License-Identifier: GPL-2.0
// Messages between this node and one that the test plays.
#include "interconnects/node.hpp"
#include "interconnects/scene.hpp"
#include "interconnects/testctl.hpp"
#include "netlink/support/client.hpp"
#include "support/child.hpp"
#include "support/raw.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <deque>
#include <fstream>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace rsmtest;

namespace {

constexpr std::uint32_t segment = 77;
constexpr std::uint32_t handle = 9;

class Nodes : public testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(module.loaded()); }
    TestControllers module;
};

struct NodesExport {
    explicit NodesExport(std::vector<rsm_acl_entry> list, std::uint32_t flags = 0)
    {
        auto argument = raw::bind_argument(memory.data(), memory.size(), flags, -1, "nodes0");
        EXPECT_EQ(raw::call(fd.get(), RSM_IOC_BIND, argument), raw::success);
        EXPECT_EQ(raw::publish(fd.get(), id, list), raw::success);
    }
    Pages memory{1};
    Fd fd = raw::open_segment();
    std::uint32_t id = 0;
};

// A connect of this process to segment 77 of the node, which goes on until it has an answer.
class Connecting {
public:
    explicit Connecting(const TestNode &node, std::uint32_t id = segment)
        : argument_(raw::connect_argument(id, RSM_PERM_READ, -1, "nodes0")),
          thread_([this, number = node.id()] {
              id_ = gettid();
              argument_.node = number;
              outcome_ = raw::call(fd.get(), RSM_IOC_CONNECT, argument_);
              over_ = true;
          })
    {
    }
    ~Connecting()
    {
        if (thread_.joinable())
            thread_.join();
    }
    Connecting(const Connecting &) = delete;
    Connecting &operator=(const Connecting &) = delete;
    bool is_over() const { return over_; }
    pid_t thread() const { return id_; }
    raw::Outcome outcome()
    {
        thread_.join();
        return outcome_;
    }
    Fd fd = raw::open_segment();

private:
    rsm_connect argument_;
    raw::Outcome outcome_;
    std::atomic<pid_t> id_{0};
    std::atomic<bool> over_{false};
    std::thread thread_;
};

// Plays the exporter's part of a connect; the cookie by which the importer knows it.
std::uint32_t admit(TestNode &node, std::uint32_t mode = 0666, std::uint64_t place = good_place)
{
    const auto request = node.next();
    if (!request || request->type() != RSM_MSG_CONNECT)
        return 0;
    auto answer = node.make<rsm_msg_connected>(RSM_MSG_CONNECTED);
    answer.cookie = request->as<rsm_msg_connect>().cookie;
    answer.handle = handle;
    answer.mode = mode;
    answer.uid = 4711;
    answer.gid = 4711;
    answer.length = page_size();
    answer.place[0] = place;
    return node.send(Message(answer)) ? answer.cookie : 0;
}

// Plays the exporter's node, which moves a segment to another place.
bool move_segment(TestNode &node, std::uint32_t cookie)
{
    auto move = node.make<rsm_msg_move>(RSM_MSG_MOVE);
    move.cookie = cookie;
    move.handle = handle;
    move.place[0] = good_place;
    return node.send(Message(move));
}

// Plays the exporter's node, which has no such segment.
bool refuse(TestNode &node, const Message &request)
{
    auto refusal = node.make<rsm_msg_connected>(RSM_MSG_CONNECTED);
    refusal.cookie = request.as<rsm_msg_connect>().cookie;
    refusal.status = RSMERR_SEG_NOT_PUBLISHED;
    return node.send(Message(refusal));
}

// All that was sent before has been handled: what nobody knows is answered by DISCONNECT, in turn.
void catch_up(TestNode &node)
{
    ASSERT_TRUE(node.send_connection(RSM_MSG_UNPUBLISH, 0x7f00, 0x7f00));
    const auto answer = node.next();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->type(), RSM_MSG_DISCONNECT);
    EXPECT_EQ(answer->as<rsm_msg_connection>().cookie, 0x7f00u);
}

// Does the thread wait for importers? User-Mode Linux has the function of the kernel that it sleeps in only in the
// stack, other kernels only in wchan.
bool waits_for_importers(pid_t thread)
{
    constexpr auto function = "rsm_remote_importers_wait";
    const std::string folder = "/proc/self/task/" + std::to_string(thread);
    std::ifstream stack(folder + "/stack");
    const std::string text{std::istreambuf_iterator<char>(stack), {}};
    return read_line(folder + "/wchan") == function || text.find(function) != std::string::npos;
}

// How often a process or thread has gone to sleep, by its folder of /proc.
long switches(const std::string &folder)
{
    constexpr std::string_view field = "voluntary_ctxt_switches:";
    std::ifstream status(folder + "/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(field))
            return std::stol(line.substr(field.size()));
    return -1;
}

// A call that waits for importers, by a thread of its own. It has to succeed.
class WaitingCall {
public:
    explicit WaitingCall(std::function<raw::Outcome()> call)
        : thread_([this, call = std::move(call)] {
              id_ = gettid();
              EXPECT_EQ(call(), raw::success);
              over_ = true;
          })
    {
    }
    ~WaitingCall() { thread_.join(); }
    WaitingCall(const WaitingCall &) = delete;
    WaitingCall &operator=(const WaitingCall &) = delete;
    bool is_over() const { return over_; }
    pid_t thread() const { return id_; }
    // Until it waits, or is over. The work of the link that it has queued runs soon after, as a rule.
    void await_wait() const
    {
        eventually([&] { return over_ || (id_ && waits_for_importers(id_)); });
        usleep(50000);
    }

private:
    std::atomic<pid_t> id_ = 0;
    std::atomic<bool> over_ = false;
    std::thread thread_;
};

struct Unpublishing : WaitingCall {
    explicit Unpublishing(const NodesExport &exported)
        : WaitingCall([descriptor = exported.fd.get()] { return raw::unpublish(descriptor); })
    {
    }
};

} // namespace

// N13: a CONNECT that came so early was dropped, and the importer asked again after a heartbeat.
TEST_F(Nodes, message_right_behind_the_greeting_is_answered)
{
    NodesExport exported({{first_node, 0600}});
    for (int round = 0; round < 20; round++) {
        ASSERT_TRUE(set_parameter("early_connect", std::to_string(exported.id)));
        TestNode node(0);
        ASSERT_TRUE(node.valid());
        ASSERT_TRUE(node.connect(exported.id, 2));
        for (std::uint32_t cookie = 1; cookie <= 2; cookie++) {
            const auto answer = node.next();
            ASSERT_TRUE(answer);
            ASSERT_EQ(answer->type(), RSM_MSG_CONNECTED);
            ASSERT_EQ(answer->as<rsm_msg_connected>().cookie, cookie);
        }
    }
}

// Between two messages of a dump, a node that has come by another link loses its first link, which
// no longer is shown: neither link is new.
TEST_F(Nodes, dump_says_that_a_node_has_moved_meanwhile)
{
    constexpr unsigned node_count = 46; // more than the first message of a dump takes
    std::vector<std::unique_ptr<TestNode>> nodes;
    for (unsigned i = 0; i < node_count; i++) {
        nodes.push_back(std::make_unique<TestNode>(i));
        ASSERT_TRUE(nodes.back()->valid());
    }
    nodes[1].reset();
    ASSERT_TRUE(set_parameter("node_id", std::to_string(first_node)));
    TestNode moved(1);
    ASSERT_TRUE(moved.valid());

    netlink::Client client;
    ASSERT_TRUE(client.send(netlink::Request(RSM_CMD_NODE_GET), NLM_F_REQUEST | NLM_F_DUMP));
    nodes[0].reset();
    const netlink::Result all = client.answer();
    EXPECT_EQ(all.error, 0);
    EXPECT_TRUE(all.interrupted);
    const netlink::Result again = client.dump(RSM_CMD_NODE_GET);
    EXPECT_FALSE(again.interrupted);
    EXPECT_EQ(again.messages.size(), node_count - 1);
}

// N8, the exporter: a node that the list names no more is told so, and not that it has mode 0.
TEST_F(Nodes, republish_tells_a_node_that_it_is_not_listed)
{
    NodesExport exported({{first_node, 0640}});
    TestNode node(0);
    ASSERT_NE(node.import(exported.id, 1), 0u);
    const auto told = [&](const rsm_acl_entry &entry) {
        EXPECT_EQ(raw::republish(exported.fd.get(), {&entry, 1}), raw::success);
        const auto message = node.next();
        EXPECT_TRUE(message && message->type() == RSM_MSG_REPUBLISH);
        return message ? message->as<rsm_msg_connection>().value : ~0u;
    };
    EXPECT_EQ(told({first_node + 1, 0666}), RSM_MODE_CLOSED);
    EXPECT_EQ(told({first_node, 0}), 0u);
    EXPECT_EQ(told({first_node, 0444}), 0444u);
}

// The event that a node is up may come late, when the listener is there.
static auto next_denial(netlink::Client &listener)
{
    auto event = listener.event();
    while (event && event->command() == RSM_EVENT_NODE_UP)
        event = listener.event();
    return event;
}

// The exporting node denies nodes, and the importing node denies its users.
TEST_F(Nodes, denied_connects_are_events)
{
    netlink::Client listener;
    TestNode node(0);
    ASSERT_TRUE(node.valid());
    NodesExport exported({{first_node + 1, 0666}});
    ASSERT_EQ(listener.subscribe(), 0);
    ASSERT_TRUE(node.connect(exported.id, 1));
    auto denied = next_denial(listener);
    ASSERT_TRUE(denied);
    EXPECT_EQ(denied->command(), RSM_EVENT_DENIED);
    EXPECT_EQ(denied->number(RSM_A_DENIAL_KIND), RSM_DENIAL_NODE);
    EXPECT_EQ(denied->text(RSM_A_DENIAL_CONTROLLER), "nodes0");
    EXPECT_EQ(denied->number(RSM_A_DENIAL_NODE_ID), raw::local_node());
    EXPECT_EQ(denied->number(RSM_A_DENIAL_ID), exported.id);
    EXPECT_EQ(denied->number(RSM_A_DENIAL_IMPORTER_NODE_ID), node.id());
    EXPECT_FALSE(denied->has(RSM_A_DENIAL_UID)) << "the other node has not said who";
    ASSERT_TRUE(node.next());

    Child child(alice(), [&](Link &) {
        Connecting connecting(node);
        EXPECT_EQ(connecting.outcome(), raw::status(RSMERR_PERM_DENIED));
    });
    const auto pid = static_cast<std::uint32_t>(child.pid());
    EXPECT_NE(admit(node, 0), 0u);
    child.expect_success();
    denied = next_denial(listener);
    ASSERT_TRUE(denied);
    EXPECT_EQ(denied->command(), RSM_EVENT_DENIED);
    EXPECT_EQ(denied->number(RSM_A_DENIAL_KIND), RSM_DENIAL_USER);
    EXPECT_EQ(denied->number(RSM_A_DENIAL_NODE_ID), node.id());
    EXPECT_EQ(denied->number(RSM_A_DENIAL_ID), segment);
    EXPECT_EQ(denied->number(RSM_A_DENIAL_PID), pid);
}

// N8, the importer: root used to be let in while an older connection lived.
TEST_F(Nodes, closed_segment_admits_nobody)
{
    TestNode node(0);
    ASSERT_TRUE(node.valid());
    Connecting first(node);
    const std::uint32_t cookie = admit(node, 0);
    ASSERT_NE(cookie, 0u);
    ASSERT_EQ(first.outcome(), raw::success) << "CAP_IPC_OWNER goes before the mode";

    ASSERT_TRUE(node.send_connection(RSM_MSG_REPUBLISH, cookie, handle, RSM_MODE_CLOSED));
    catch_up(node);
    EXPECT_EQ(Connecting(node).outcome(), raw::status(RSMERR_SEG_NOT_PUBLISHED_TO_NODE));
    ASSERT_TRUE(node.send_connection(RSM_MSG_REPUBLISH, cookie, handle, 0));
    catch_up(node);
    EXPECT_EQ(Connecting(node).outcome(), raw::success);
    EXPECT_EQ(raw::post(first.fd.get()), raw::success) << "its connection went on";
}

// N11: the interrupt gives few imports their event; many get theirs from the link's worker, which is
// held here. The bells are counted exactly.
TEST_F(Nodes, bells_for_many_imports_are_left_to_the_worker)
{
    TestNode node(0);
    ASSERT_TRUE(node.valid());
    const auto import = [&](std::uint32_t id, bool first) {
        auto imported = std::make_unique<Connecting>(node, id);
        const std::uint32_t cookie = first ? admit(node) : 1;
        EXPECT_NE(cookie, 0u);
        EXPECT_EQ(imported->outcome(), raw::success);
        return std::pair{std::move(imported), cookie};
    };
    const auto [one, cookie_of_one] = import(segment + 1, true);
    auto [crowd_first, cookie] = import(segment, true);
    std::vector<std::unique_ptr<Connecting>> crowd;
    crowd.push_back(std::move(crowd_first));
    for (int i = 0; i < 40; i++)
        crowd.push_back(import(segment, false).first);

    ASSERT_TRUE(set_parameter("hold_attach", "1"));
    ASSERT_TRUE(move_segment(node, cookie_of_one));
    await_held();
    ASSERT_TRUE(node.send_connection(RSM_MSG_BELL, cookie_of_one, handle));
    for (int i = 0; i < 3; i++)
        ASSERT_TRUE(node.send_connection(RSM_MSG_BELL, cookie, handle));
    ASSERT_TRUE(node.send_connection(RSM_MSG_BELL, cookie, handle, RSM_SIGPOST_NO_ACCUMULATE));
    EXPECT_EQ(raw::wait(one->fd.get()), raw::success);
    for (const auto &importer : crowd)
        EXPECT_EQ(raw::wait(importer->fd.get()), raw::status(RSMERR_TIMEOUT));

    ASSERT_TRUE(set_parameter("hold_attach", "0"));
    for (const auto &importer : crowd) {
        for (int i = 0; i < 3; i++)
            EXPECT_EQ(raw::wait(importer->fd.get(), -1), raw::success);
        EXPECT_EQ(raw::wait(importer->fd.get()), raw::status(RSMERR_TIMEOUT));
    }
    const auto moved = node.next();
    ASSERT_TRUE(moved);
    EXPECT_EQ(moved->type(), RSM_MSG_MOVED);
}

// N7: a user who may not has no key made, and waits for none.
TEST_F(Nodes, denied_connect_asks_for_no_place)
{
    TestNode node(0);
    ASSERT_TRUE(node.valid());
    Child denied(nobody_in({rsm_group}), [&](Link &) {
        EXPECT_EQ(Connecting(node).outcome(), raw::status(RSMERR_PERM_DENIED));
    });
    const std::uint32_t cookie = admit(node, 0600, 0);
    ASSERT_NE(cookie, 0u);
    const auto answer = node.next();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->type(), RSM_MSG_DISCONNECT);
    denied.expect_success();
}

TEST_F(Nodes, allowed_connect_asks_for_the_place)
{
    TestNode node(0);
    ASSERT_TRUE(node.valid());
    Connecting importer(node);
    const std::uint32_t cookie = admit(node, 0600, 0);
    const auto request = node.next();
    ASSERT_TRUE(request);
    ASSERT_EQ(request->type(), RSM_MSG_PLACE);
    ASSERT_TRUE(move_segment(node, cookie));
    EXPECT_EQ(importer.outcome(), raw::success);
    const auto moved = node.next();
    ASSERT_TRUE(moved);
    EXPECT_EQ(moved->type(), RSM_MSG_MOVED);
}

TEST_F(Nodes, place_that_is_refused)
{
    TestNode node(0);
    ASSERT_TRUE(node.valid());
    Connecting importer(node);
    const std::uint32_t cookie = admit(node, 0600, 0);
    ASSERT_TRUE(node.next());
    auto answer = node.make<rsm_msg_connected>(RSM_MSG_CONNECTED);
    answer.cookie = cookie;
    answer.status = RSMERR_INSUFFICIENT_RESOURCES;
    ASSERT_TRUE(node.send(Message(answer)));
    EXPECT_EQ(importer.outcome(), raw::status(RSMERR_INSUFFICIENT_RESOURCES));
    catch_up(node);
}

// A node that lives and never answers PLACE used to keep the caller until a signal came.
TEST_F(Nodes, place_that_never_comes)
{
    ASSERT_TRUE(set_parameter("place_ms", "1"));
    TestNode node(0);
    ASSERT_TRUE(node.valid());
    Connecting importer(node);
    ASSERT_NE(admit(node, 0600, 0), 0u);
    const auto request = node.next();
    ASSERT_TRUE(request);
    EXPECT_EQ(request->type(), RSM_MSG_PLACE);
    EXPECT_EQ(importer.outcome(), raw::status(RSMERR_REMOTE_NODE_UNREACHABLE));
    const auto farewell = node.next();
    ASSERT_TRUE(farewell);
    EXPECT_EQ(farewell->type(), RSM_MSG_DISCONNECT);
    catch_up(node); // the link goes on
}

// The kind of bell that does not count, to a crowd: each import gets it, once.
TEST_F(Nodes, bells_that_do_not_count_reach_many_imports)
{
    TestNode node(0);
    ASSERT_TRUE(node.valid());
    std::vector<std::unique_ptr<Connecting>> crowd;
    crowd.push_back(std::make_unique<Connecting>(node));
    const std::uint32_t cookie = admit(node);
    ASSERT_NE(cookie, 0u);
    ASSERT_EQ(crowd.front()->outcome(), raw::success);
    for (int i = 0; i < 40; i++) {
        crowd.push_back(std::make_unique<Connecting>(node));
        ASSERT_EQ(crowd.back()->outcome(), raw::success);
    }
    ASSERT_TRUE(node.send_connection(RSM_MSG_BELL, cookie, handle, RSM_SIGPOST_NO_ACCUMULATE));
    for (const auto &importer : crowd) {
        EXPECT_EQ(raw::wait(importer->fd.get(), -1), raw::success);
        EXPECT_EQ(raw::wait(importer->fd.get()), raw::status(RSMERR_TIMEOUT));
    }
}

// A second CONNECTED for one connect is the first one again, or the exporter is to forget the handle of it.
TEST_F(Nodes, second_answer_to_a_connect)
{
    TestNode node(0);
    ASSERT_TRUE(node.valid());
    Connecting importer(node);
    const std::uint32_t cookie = admit(node);
    ASSERT_NE(cookie, 0u);
    ASSERT_EQ(importer.outcome(), raw::success);
    auto again = node.make<rsm_msg_connected>(RSM_MSG_CONNECTED);
    again.cookie = cookie;
    again.handle = handle;
    again.mode = 0666;
    again.length = page_size();
    again.place[0] = good_place;
    ASSERT_TRUE(node.send(Message(again)));
    catch_up(node);
    again.handle = handle + 1;
    ASSERT_TRUE(node.send(Message(again)));
    const auto answer = node.next();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->type(), RSM_MSG_DISCONNECT);
    EXPECT_EQ(answer->as<rsm_msg_connection>().handle, handle + 1);
    ASSERT_TRUE(node.send_connection(RSM_MSG_BELL, cookie, handle));
    EXPECT_EQ(raw::wait(importer.fd.get(), -1), raw::success);
}

TEST_F(Nodes, signal_ends_a_connect_that_has_no_answer)
{
    TestNode node(0);
    ASSERT_TRUE(node.valid());
    Child importer([&](Link &) {
        struct sigaction action {};
        action.sa_handler = [](int) {};
        ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
        auto argument = raw::connect_argument(segment, RSM_PERM_READ, -1, "nodes0");
        argument.node = node.id();
        const Fd fd = raw::open_segment();
        EXPECT_EQ(raw::call(fd.get(), RSM_IOC_CONNECT, argument), (raw::Outcome{EINTR, 0}));
    });
    const auto request = node.next();
    ASSERT_TRUE(request);
    EXPECT_EQ(request->type(), RSM_MSG_CONNECT);
    ASSERT_EQ(kill(importer.pid(), SIGUSR1), 0);
    importer.expect_success();
}

// More connects than may be under way at a time: those that wait took each turn that became free.
TEST_F(Nodes, connects_without_end_leave_turns_to_requests)
{
    constexpr unsigned more_than_turns = 48;
    TestNode node(0);
    ASSERT_TRUE(node.valid());
    const NodesExport exported({{node.id(), 0600}});
    const std::uint32_t known_as = node.import(exported.id, 1);
    ASSERT_NE(known_as, 0u);
    std::list<Connecting> connects;
    for (unsigned i = 0; i < more_than_turns; i++)
        connects.emplace_back(node);
    const auto first = node.next();
    ASSERT_TRUE(first);
    ASSERT_EQ(first->type(), RSM_MSG_CONNECT);
    std::thread exporter([&] { EXPECT_EQ(raw::unpublish(exported.fd.get()), raw::success); });
    auto message = node.next();
    while (message && message->type() == RSM_MSG_CONNECT)
        message = node.next();
    EXPECT_TRUE(message && message->type() == RSM_MSG_UNPUBLISH) << "the link has ended";
    EXPECT_TRUE(node.send_connection(RSM_MSG_DISCONNECT, 1, known_as));
    exporter.join();
    EXPECT_TRUE(refuse(node, *first));
    EXPECT_TRUE(eventually([&] {
        while (node.has_message())
            refuse(node, node.next().value_or(Message()));
        return std::all_of(connects.begin(), connects.end(), std::mem_fn(&Connecting::is_over));
    }));
    for (Connecting &connecting : connects)
        EXPECT_EQ(connecting.outcome(), raw::status(RSMERR_SEG_NOT_PUBLISHED));
}

// Nodes of which this one knows after as short a time as possible that they have failed.
class NodesFail : public Nodes {
protected:
    void SetUp() override
    {
        Nodes::SetUp();
        ASSERT_TRUE(set_parameter("impatient", "1"));
    }
    static int ends()
    {
        return std::stoi(read_line("/sys/module/rsm_testctl/parameters/ends").value_or("-1"));
    }
    // The callers return before the controller learns that the link has ended.
    static int ends_after(int before)
    {
        EXPECT_TRUE(eventually([&] { return ends() != before; }));
        return ends();
    }
};

TEST_F(NodesFail, that_never_answer_a_connect)
{
    const int before = ends();
    TestNode node(0);
    ASSERT_TRUE(node.valid());
    EXPECT_EQ(Connecting(node).outcome(), raw::status(RSMERR_REMOTE_NODE_UNREACHABLE));
    EXPECT_EQ(ends_after(before), before + 1);
}

// The way to the node is full with answers that it does not take: a request and a connect wait for
// their turn until the node has failed.
TEST_F(NodesFail, that_ask_and_take_no_answers)
{
    constexpr unsigned room = 256, more = 8;
    const int before = ends();
    TestNode node(0);
    ASSERT_TRUE(node.valid());
    const NodesExport exported({{node.id(), 0600}});
    ASSERT_NE(node.import(exported.id, 1), 0u);
    for (std::uint32_t i = 0; i < room + more; i++)
        ASSERT_TRUE(node.connect(exported.id + 1, 2 + i));
    Connecting importer(node);
    EXPECT_EQ(raw::unpublish(exported.fd.get()), raw::success);
    EXPECT_EQ(importer.outcome(), raw::status(RSMERR_REMOTE_NODE_UNREACHABLE));
    EXPECT_EQ(ends_after(before), before + 1);
}

// Answers that the node does not take fill the way to it, and some wait.
class NodesFullWay : public Nodes {
protected:
    static constexpr unsigned answers = 256 + 8;
    static std::chrono::milliseconds longest_interval()
    {
        return 4 * std::chrono::milliseconds(std::stoi(read_line("/sys/module/rsm/parameters/heartbeat_ms").value()));
    }
    static void fill(TestNode &node)
    {
        for (std::uint32_t i = 0; i < answers; i++)
            ASSERT_TRUE(node.connect(0x7fff00, 100 + i));
    }
    static void empty(TestNode &node)
    {
        for (std::uint32_t i = 0; i < answers; i++) {
            const auto answer = node.next();
            ASSERT_TRUE(answer);
            ASSERT_EQ(answer->type(), RSM_MSG_CONNECTED);
        }
    }
};

// A full way counts from the time at which it was full again, and not from an earlier time.
TEST_F(NodesFullWay, that_had_room_meanwhile)
{
    const std::vector<rsm_acl_entry> list{{first_node, 0600}};
    const NodesExport first(list), second(list);
    TestNode node(0);
    const std::uint32_t known_first = node.import(first.id, 1), known_second = node.import(second.id, 2);
    ASSERT_NO_FATAL_FAILURE(fill(node));
    {
        Unpublishing unpublishing(first);
        unpublishing.await_wait();
        // The importer leaves before its node is asked.
        ASSERT_TRUE(node.send_connection(RSM_MSG_DISCONNECT, 1, known_first));
    }
    ASSERT_NO_FATAL_FAILURE(empty(node));
    // The node has the longest interval that fits, so that a busy machine is no silent node.
    std::this_thread::sleep_for(2 * longest_interval() + std::chrono::milliseconds(500));
    ASSERT_NO_FATAL_FAILURE(fill(node));
    Unpublishing unpublishing(second);
    unpublishing.await_wait();
    ASSERT_NO_FATAL_FAILURE(empty(node));
    const auto request = node.next();
    ASSERT_TRUE(request) << "the node has been given up";
    EXPECT_EQ(request->type(), RSM_MSG_UNPUBLISH);
    EXPECT_TRUE(node.send_connection(RSM_MSG_DISCONNECT, 2, known_second));
}

// The way is full for sure, and so is what leads to it.
class NodesBrim : public NodesFullWay {
protected:
    // The way, half of what may wait for it, and messages that nobody has read: the last of them finds room only once
    // the way is full.
    static constexpr unsigned brim = 256 + 32 + 64;

    static void fill(TestNode &node)
    {
        for (std::uint32_t i = 0; i < brim; i++)
            ASSERT_TRUE(node.connect(0x7fff00, 100 + i));
    }
    static std::vector<Message> empty(TestNode &node, unsigned more)
    {
        std::vector<Message> found;
        for (unsigned i = 0; i < brim + more; i++) {
            const auto message = node.next();
            EXPECT_TRUE(message) << "the node has been given up";
            if (!message)
                break;
            if (message->type() != RSM_MSG_CONNECTED)
                found.push_back(*message);
        }
        EXPECT_EQ(found.size(), more);
        return found;
    }
};

// Else a process that exits would wait for each node that it imports from.
TEST_F(NodesBrim, importers_leave_at_once)
{
    TestNode node(0);
    ASSERT_TRUE(node.valid());
    Connecting importer(node), other(node, segment + 1);
    for (int i = 0; i < 2; i++)
        ASSERT_NE(admit(node), 0u);
    ASSERT_EQ(importer.outcome(), raw::success);
    ASSERT_EQ(other.outcome(), raw::success);
    ASSERT_NO_FATAL_FAILURE(fill(node));
    importer.fd.reset();
    other.fd.reset();
    for (const Message &message : empty(node, 2))
        EXPECT_EQ(message.type(), RSM_MSG_DISCONNECT);
    catch_up(node);
}

// An owner does not wait for nodes; each hears only of the last list.
TEST_F(NodesBrim, republish_does_not_wait)
{
    const NodesExport exported({{first_node, 0600}});
    TestNode node(0);
    ASSERT_NE(node.import(exported.id, 1), 0u);
    ASSERT_NO_FATAL_FAILURE(fill(node));
    for (const std::uint32_t mode : {0400u, 0444u}) {
        const rsm_acl_entry entry{first_node, mode};
        EXPECT_EQ(raw::republish(exported.fd.get(), {&entry, 1}), raw::success);
    }
    for (const Message &message : empty(node, 1)) {
        EXPECT_EQ(message.type(), RSM_MSG_REPUBLISH);
        EXPECT_EQ(message.as<rsm_msg_connection>().value, 0444u);
    }
    catch_up(node);
}

// The list goes with its owner. A node would hear of the list that holds without one, and let its users in.
TEST_F(NodesBrim, list_of_an_owner_who_is_gone)
{
    TestNode node(0);
    Child owner([&](Link &link) {
        const NodesExport exported({{first_node, 0600}});
        link.send(exported.id);
        link.receive();
        const rsm_acl_entry none{first_node + 1, 0600};
        EXPECT_EQ(raw::republish(exported.fd.get(), {&none, 1}), raw::success);
        link.send();
        pause();
    });
    const std::uint32_t known_as = node.import(static_cast<std::uint32_t>(owner.receive()), 1);
    ASSERT_NE(known_as, 0u);
    ASSERT_NO_FATAL_FAILURE(fill(node));
    owner.send();
    owner.receive();
    ASSERT_EQ(kill(owner.pid(), SIGKILL), 0);
    owner.wait();
    for (const Message &message : empty(node, 2))
        EXPECT_TRUE(message.type() == RSM_MSG_UNPUBLISH || message.as<rsm_msg_connection>().value == RSM_MODE_CLOSED);
    EXPECT_TRUE(node.send_connection(RSM_MSG_DISCONNECT, 1, known_as));
    catch_up(node);
}

// An owner who posts waits for room, and can be killed.
TEST_F(NodesBrim, post_ends_with_its_process)
{
    const NodesExport exported({{first_node, 0600}});
    TestNode node(0);
    ASSERT_NE(node.import(exported.id, 1), 0u);
    ASSERT_NO_FATAL_FAILURE(fill(node));
    Child poster([&](Link &link) {
        link.send();
        raw::post(exported.fd.get());
    });
    poster.receive();
    const std::string process = "/proc/" + std::to_string(poster.pid());
    const long before = switches(process);
    eventually([&] { return switches(process) > before + 10; }); // it looks for room again and again
    ASSERT_EQ(kill(poster.pid(), SIGKILL), 0);
    poster.wait();
    empty(node, 0);
    catch_up(node);
}

// The work of a link is held for longer than a peer may take.
class NodesHeldWork : public NodesFail {
protected:
    static void hold(TestNode &node, std::uint32_t cookie)
    {
        ASSERT_TRUE(set_parameter("hold_attach", "1"));
        ASSERT_TRUE(move_segment(node, cookie));
        ASSERT_TRUE(eventually([&] { return held() != 0 || node.has_ended(); }));
        ASSERT_NE(held(), 0) << "the node has been given up";
    }
    // A peer that is at fault would be given up by then.
    static void outlast_patience()
    {
        const int interval = std::stoi(read_line("/sys/module/rsm/parameters/heartbeat_ms").value());
        std::this_thread::sleep_for(3 * std::chrono::milliseconds(interval));
    }
    // The scene has two nodes, and leaves nothing held.
    template <class Scene> void play_held(Scene scene)
    {
        play(nodes, 2, [&] {
            scene(nodes[0], nodes[1]);
            EXPECT_TRUE(set_parameter("hold_attach", "0"));
        });
    }
    void TearDown() override { set_parameter("hold_attach", "0"); }

    std::deque<TestNode> nodes;
};

// The way was full once, and this node has not sent what waits since.
TEST_F(NodesHeldWork, does_not_blame_a_peer_that_has_room)
{
    play_held([](TestNode &node, TestNode &) {
        Connecting importer(node);
        const std::uint32_t cookie = admit(node);
        ASSERT_EQ(importer.outcome(), raw::success);
        constexpr unsigned room = 256, more = 8;
        for (std::uint32_t i = 0; i < room + more; i++)
            ASSERT_TRUE(node.connect(0x7fff00, 100 + i));
        ASSERT_NO_FATAL_FAILURE(hold(node, cookie));
        for (unsigned i = 0; i < room; i++)
            ASSERT_TRUE(node.next());
        const std::jthread poster([&] { EXPECT_EQ(raw::post(importer.fd.get()), raw::success); });
        outlast_patience();
        EXPECT_TRUE(set_parameter("hold_attach", "0"));
        for (unsigned i = 0; i < more + 2; i++)
            EXPECT_TRUE(node.next()) << "the node has been given up";
    });
}

TEST_F(NodesHeldWork, does_not_miss_an_answer_that_has_come)
{
    play_held([](TestNode &node, TestNode &other) {
        Connecting importer(node);
        const std::uint32_t cookie = admit(node);
        ASSERT_EQ(importer.outcome(), raw::success);
        Connecting connecting(other);
        const auto request = other.next();
        ASSERT_TRUE(request);
        ASSERT_NO_FATAL_FAILURE(hold(node, cookie));
        EXPECT_TRUE(refuse(other, *request));
        outlast_patience();
        EXPECT_TRUE(set_parameter("hold_attach", "0"));
        EXPECT_EQ(connecting.outcome(), raw::status(RSMERR_SEG_NOT_PUBLISHED));
    });
}

// A peer whose MOVEs take long does not hold up what this node asks of it.
TEST_F(NodesHeldWork, sends_requests_between_messages)
{
    play_held([](TestNode &node, TestNode &) {
        const NodesExport exported({{first_node, 0600}});
        const std::uint32_t known_as = node.import(exported.id, 1);
        Connecting importer(node), other(node, segment + 1);
        const std::uint32_t cookies[] = {admit(node), admit(node)};
        ASSERT_EQ(importer.outcome(), raw::success);
        ASSERT_EQ(other.outcome(), raw::success);
        ASSERT_NO_FATAL_FAILURE(hold(node, cookies[0]));
        Unpublishing unpublishing(exported);
        unpublishing.await_wait();
        ASSERT_NO_FATAL_FAILURE(hold(node, cookies[1]));
        outlast_patience();
        EXPECT_TRUE(set_parameter("pass", "1"));
        for (const unsigned type : {RSM_MSG_MOVED, RSM_MSG_UNPUBLISH}) {
            const auto message = node.next();
            ASSERT_TRUE(message);
            EXPECT_EQ(message->type(), type);
        }
        EXPECT_TRUE(set_parameter("hold_attach", "0"));
        EXPECT_TRUE(node.send_connection(RSM_MSG_DISCONNECT, 1, known_as));
    });
}

// A thread that waits for one segment sleeps on while others get their answers.
class NodesSleepers : public Nodes {
protected:
    static constexpr unsigned rounds = 50;

    static long switches_of(pid_t thread) { return switches("/proc/self/task/" + std::to_string(thread)); }

    std::deque<TestNode> nodes;
};

TEST_F(NodesSleepers, wait_for_the_importers_of_one_segment)
{
    play(nodes, 1, [&] {
        const std::vector<rsm_acl_entry> list{{first_node, 0600}};
        TestNode &node = nodes[0];
        const NodesExport exported(list);
        const std::uint32_t known_as = node.import(exported.id, 1);
        Unpublishing unpublishing(exported);
        unpublishing.await_wait();
        ASSERT_TRUE(node.next());
        const long before = switches_of(unpublishing.thread());
        for (std::uint32_t i = 0; i < rounds; i++) {
            const NodesExport other(list);
            const std::uint32_t handle_there = node.import(other.id, 2 + i);
            ASSERT_TRUE(node.send_connection(RSM_MSG_DISCONNECT, 2 + i, handle_there));
        }
        ASSERT_NO_FATAL_FAILURE(catch_up(node));
        EXPECT_LT(switches_of(unpublishing.thread()) - before, static_cast<long>(rounds / 2));
        EXPECT_TRUE(node.send_connection(RSM_MSG_DISCONNECT, 1, known_as));
    });
}

// It also wakes after each interval, and asks again.
TEST_F(NodesSleepers, wait_for_one_answer)
{
    play(nodes, 1, [&] {
        TestNode &node = nodes[0];
        Connecting other(node, segment + 1);
        const std::uint32_t cookie = admit(node);
        ASSERT_EQ(other.outcome(), raw::success);
        Connecting importer(node);
        const auto request = node.next();
        ASSERT_TRUE(request);
        const long before = switches_of(importer.thread());
        long asked_again = 0;
        for (unsigned i = 0; i < rounds; i++) {
            ASSERT_TRUE(move_segment(node, cookie));
            auto answer = node.next();
            for (; answer && answer->type() == RSM_MSG_CONNECT; asked_again++)
                answer = node.next();
            ASSERT_TRUE(answer && answer->type() == RSM_MSG_MOVED);
        }
        EXPECT_LT(switches_of(importer.thread()) - before - asked_again, static_cast<long>(rounds / 2));
        EXPECT_TRUE(refuse(node, *request));
        EXPECT_EQ(importer.outcome(), raw::status(RSMERR_SEG_NOT_PUBLISHED));
    });
}

// N7, the exporter: keys used to be made while the link did nothing else, for everybody who asked.
class NodesKeys : public Nodes {
protected:
    static std::string keys()
    {
        return read_line("/sys/module/rsm_testctl/parameters/keys").value_or("none");
    }
    void SetUp() override
    {
        Nodes::SetUp();
        ASSERT_TRUE(set_parameter("hold_keys", "1"));
    }
};

TEST_F(NodesKeys, are_made_when_asked_for_and_beside_the_link)
{
    NodesExport exported({{first_node, 0600}});
    TestNode node(0);
    const std::uint32_t known_as = node.import(exported.id, 1);
    ASSERT_NE(known_as, 0u);
    ASSERT_TRUE(node.send_connection(RSM_MSG_PLACE, 1, known_as));
    ASSERT_TRUE(node.send_connection(RSM_MSG_PLACE, 1, known_as));
    await_held();
    EXPECT_NE(node.import(exported.id, 2), 0u) << "while keys are made";
    EXPECT_EQ(keys(), "0");
    ASSERT_TRUE(set_parameter("hold_keys", "0"));
    const auto move = node.next();
    ASSERT_TRUE(move);
    EXPECT_EQ(move->type(), RSM_MSG_MOVE);
    ASSERT_TRUE(node.send_connection(RSM_MSG_MOVED, 1, known_as));
    catch_up(node);
    EXPECT_EQ(keys(), "1");
    ASSERT_TRUE(node.send_connection(RSM_MSG_DISCONNECT, 1, known_as));
    catch_up(node);
    EXPECT_EQ(keys(), "0");
}

TEST_F(NodesKeys, segment_that_is_withdrawn_meanwhile)
{
    NodesExport exported({{first_node, 0600}});
    TestNode node(0);
    const std::uint32_t known_as = node.import(exported.id, 1);
    ASSERT_NE(known_as, 0u);
    ASSERT_TRUE(node.send_connection(RSM_MSG_PLACE, 1, known_as));
    await_held();
    raw::Outcome outcome;
    std::thread exporter([&] { outcome = raw::unpublish(exported.fd.get()); });
    const auto request = node.next();
    EXPECT_TRUE(request && request->type() == RSM_MSG_UNPUBLISH);
    EXPECT_TRUE(node.send_connection(RSM_MSG_DISCONNECT, 1, known_as));
    EXPECT_TRUE(set_parameter("hold_keys", "0"));
    exporter.join();
    EXPECT_EQ(outcome, raw::success);
    EXPECT_EQ(keys(), "0");
}

// The link does not wait for keys that nobody wants any more.
TEST_F(NodesKeys, node_that_leaves_meanwhile)
{
    NodesExport exported({{first_node, 0600}});
    TestNode node(0);
    const std::uint32_t known_as = node.import(exported.id, 1);
    ASSERT_NE(known_as, 0u);
    ASSERT_TRUE(node.send_connection(RSM_MSG_PLACE, 1, known_as));
    await_held();
    for (int i = 0; i < 2; i++)
        ASSERT_TRUE(node.send_connection(RSM_MSG_DISCONNECT, 1, known_as));
    catch_up(node);
    EXPECT_NE(node.import(exported.id, 2), 0u) << "while keys are made";
    ASSERT_TRUE(set_parameter("hold_keys", "0"));
    const auto refusal = node.next();
    ASSERT_TRUE(refusal);
    ASSERT_EQ(refusal->type(), RSM_MSG_CONNECTED);
    EXPECT_EQ(refusal->as<rsm_msg_connected>().cookie, 1u);
    EXPECT_NE(refusal->as<rsm_msg_connected>().status, 0u);
    EXPECT_EQ(keys(), "0");
}

// Else a peer that delays its own keys would keep all workers that make keys.
TEST_F(NodesKeys, of_a_peer_are_made_one_at_a_time)
{
    NodesExport exported({{first_node, 0600}, {first_node + 1, 0600}});
    TestNode node(0), other(1);
    std::vector<std::uint32_t> known_as;
    for (std::uint32_t cookie = 1; cookie <= 3; cookie++) {
        known_as.push_back(node.import(exported.id, cookie));
        ASSERT_TRUE(node.send_connection(RSM_MSG_PLACE, cookie, known_as.back()));
    }
    const std::uint32_t known_there = other.import(exported.id, 1);
    ASSERT_TRUE(other.send_connection(RSM_MSG_PLACE, 1, known_there));
    eventually([] { return held() >= 2; });
    // It has no keys that it would have to wait for.
    ASSERT_TRUE(node.send_connection(RSM_MSG_DISCONNECT, 2, known_as[1]));
    catch_up(node);
    catch_up(other);
    EXPECT_EQ(held(), 2) << "one of each node";
    ASSERT_TRUE(set_parameter("hold_keys", "0"));
    for (const std::uint32_t cookie : {1U, 3U}) {
        const auto move = node.next();
        ASSERT_TRUE(move);
        ASSERT_EQ(move->type(), RSM_MSG_MOVE);
        EXPECT_EQ(move->as<rsm_msg_move>().cookie, cookie);
    }
    const auto move = other.next();
    EXPECT_TRUE(move && move->type() == RSM_MSG_MOVE);
}

TEST_F(NodesKeys, list_that_allows_more_meanwhile)
{
    NodesExport exported({{first_node, 0400}});
    TestNode node(0);
    const std::uint32_t known_as = node.import(exported.id, 1);
    ASSERT_NE(known_as, 0u);
    ASSERT_TRUE(node.send_connection(RSM_MSG_PLACE, 1, known_as));
    await_held();
    const rsm_acl_entry more{first_node, 0600};
    EXPECT_EQ(raw::republish(exported.fd.get(), {&more, 1}), raw::success);
    ASSERT_TRUE(node.next()); // REPUBLISH
    ASSERT_TRUE(set_parameter("hold_keys", "0"));
    const auto move = node.next();
    ASSERT_TRUE(move);
    ASSERT_EQ(move->type(), RSM_MSG_MOVE);
    EXPECT_EQ(move->as<rsm_msg_move>().place[1], 1u) << "the keys allow writing";
}

class NodesStaleKey : public NodesKeys {
protected:
    // The call does not return while the key of an importer is made, and returns once the key has ended.
    template <class Call> static void awaits_the_end_of_a_key(TestNode &node, std::uint32_t known_as, Call call)
    {
        ASSERT_NE(known_as, 0u);
        ASSERT_TRUE(node.send_connection(RSM_MSG_PLACE, 1, known_as));
        await_held();
        WaitingCall waiting(call);
        waiting.await_wait();
        catch_up(node);
        EXPECT_FALSE(waiting.is_over()) << "the key is being made";
        EXPECT_TRUE(set_parameter("hold_keys", "0"));
    }
};

// Else the importer's node could use the key to memory that its owner has taken back.
TEST_F(NodesStaleKey, rebind_waits_for_its_end)
{
    NodesExport exported({{first_node, 0600}}, RSM_ALLOW_REBIND);
    TestNode node(0);
    const std::uint32_t known_as = node.import(exported.id, 1);
    Pages other(1);
    awaits_the_end_of_a_key(node, known_as,
                            [&] { return raw::rebind(exported.fd.get(), other.data(), other.size()); });
    const auto move = node.next();
    EXPECT_TRUE(move && move->type() == RSM_MSG_MOVE);
    EXPECT_TRUE(node.send_connection(RSM_MSG_MOVED, 1, known_as));
    catch_up(node);
    EXPECT_EQ(keys(), "1");
}

// Else the importer's node could write to memory that its owner lets it only read.
TEST_F(NodesStaleKey, republish_that_takes_rights_away_waits_for_its_end)
{
    NodesExport exported({{first_node, 0600}});
    TestNode node(0);
    const std::uint32_t known_as = node.import(exported.id, 1);
    const rsm_acl_entry less{first_node, 0400};
    awaits_the_end_of_a_key(node, known_as, [&] { return raw::republish(exported.fd.get(), {&less, 1}); });
    auto move = node.next();
    if (move && move->type() == RSM_MSG_REPUBLISH)
        move = node.next();
    ASSERT_TRUE(move);
    ASSERT_EQ(move->type(), RSM_MSG_MOVE);
    EXPECT_EQ(move->as<rsm_msg_move>().place[1], 0u) << "the keys allow writing";
}

// So many nodes are asked for something at a time that the offer of a place waits for its turn.
TEST_F(NodesStaleKey, republish_takes_back_an_offer_with_rights_that_are_taken_away)
{
    constexpr std::size_t turns = 16;
    const std::vector<rsm_acl_entry> list{{first_node, 0600}};
    ASSERT_TRUE(set_parameter("hold_keys", "0"));
    TestNode node(0);
    std::deque<NodesExport> others;
    std::deque<Unpublishing> unpublishing;
    for (std::uint32_t cookie = 1; cookie <= turns; cookie++)
        ASSERT_NE(node.import(others.emplace_back(list).id, cookie), 0u);
    const NodesExport exported(list);
    const std::uint32_t known_as = node.import(exported.id, turns + 1);
    std::vector<Message> requests;
    for (const NodesExport &other : others) {
        unpublishing.emplace_back(other);
        const auto request = node.next();
        ASSERT_TRUE(request);
        requests.push_back(*request);
    }
    EXPECT_TRUE(node.send_connection(RSM_MSG_PLACE, turns + 1, known_as));
    eventually([] { return keys() == "1"; });
    const rsm_acl_entry less{first_node, 0400};
    {
        WaitingCall republish([&] { return raw::republish(exported.fd.get(), {&less, 1}); });
        republish.await_wait();
        catch_up(node);
        EXPECT_FALSE(republish.is_over()) << "the place is offered";
        for (const Message &request : requests) {
            const auto &body = request.as<rsm_msg_connection>();
            EXPECT_TRUE(node.send_connection(RSM_MSG_DISCONNECT, body.cookie, body.handle));
        }
        const auto request = node.next();
        EXPECT_TRUE(request && request->type() == RSM_MSG_UNPUBLISH);
        EXPECT_TRUE(node.send_connection(RSM_MSG_DISCONNECT, turns + 1, known_as));
    }
    EXPECT_EQ(keys(), "0");
}

// Importers with the cookies 1, which has a place, and 2, whose node asks for one while a rebind waits for the first.
class NodesMeanwhile : public Nodes {
protected:
    enum class Comes { before_the_rebind, meanwhile };
    void rebind_beside(Comes comes)
    {
        NodesExport exported({{first_node, 0600}}, RSM_ALLOW_REBIND);
        TestNode node(0);
        const std::uint32_t known_as = node.import(exported.id, 1);
        ASSERT_NE(known_as, 0u);
        ASSERT_TRUE(node.place(1, known_as));
        std::uint32_t late = comes == Comes::before_the_rebind ? node.import(exported.id, 2) : 0;
        Pages other(1);
        raw::Outcome outcome;
        std::thread exporter([&] { outcome = raw::rebind(exported.fd.get(), other.data(), other.size()); });
        const auto request = node.next();
        EXPECT_TRUE(request && request->type() == RSM_MSG_MOVE);
        if (comes == Comes::meanwhile)
            late = node.import(exported.id, 2);
        EXPECT_NE(late, 0u);
        EXPECT_TRUE(node.send_connection(RSM_MSG_PLACE, 2, late));
        const auto offer = node.next();
        EXPECT_TRUE(offer && offer->type() == RSM_MSG_MOVE);
        EXPECT_TRUE(node.send_connection(RSM_MSG_MOVED, 1, known_as));
        exporter.join();
        EXPECT_EQ(outcome, raw::success);
        // Had the rebind waited for the late one, the link would have failed.
        catch_up(node);
        EXPECT_TRUE(node.send_connection(RSM_MSG_MOVED, 2, late));
        catch_up(node);
    }
};

// Else a node that comes with one name and goes with another, in turn, would keep the caller for ever.
TEST_F(NodesMeanwhile, rebind_does_not_wait_for_importers_that_come)
{
    rebind_beside(Comes::meanwhile);
}

// Else a node could connect many times before, and keep the caller by asking for one place after the other.
TEST_F(NodesMeanwhile, rebind_does_not_wait_for_importers_that_ask_for_a_place)
{
    rebind_beside(Comes::before_the_rebind);
}

// N15: MOVE and MOVED that nobody has asked for, that name others, or that lead nowhere.
TEST_F(Nodes, moves_of_a_hostile_importer_change_nothing)
{
    NodesExport exported({{first_node, 0600}});
    TestNode node(0);
    const std::uint32_t known_as = node.import(exported.id, 1);
    ASSERT_NE(known_as, 0u);
    ASSERT_TRUE(node.send_connection(RSM_MSG_MOVED, 1, known_as));
    ASSERT_TRUE(node.place(1, known_as));
    for (const std::uint32_t other : {0u, known_as + 1, ~0u}) {
        ASSERT_TRUE(node.send_connection(RSM_MSG_MOVED, 1, other));
        ASSERT_TRUE(node.send_connection(RSM_MSG_PLACE, 1, other));
        ASSERT_TRUE(node.send_connection(RSM_MSG_MOVED, other, known_as));
    }
    ASSERT_TRUE(node.send_connection(RSM_MSG_MOVED, 1, known_as));
    ASSERT_TRUE(node.send_connection(RSM_MSG_PLACE, 1, known_as));
    catch_up(node);
    EXPECT_EQ(read_line("/sys/module/rsm_testctl/parameters/keys").value_or("none"), "1");
}

TEST_F(Nodes, move_to_a_bad_place_ends_that_connection_only)
{
    TestNode node(0);
    ASSERT_TRUE(node.valid());
    Connecting bad(node);
    const std::uint32_t cookie = admit(node);
    ASSERT_EQ(bad.outcome(), raw::success);
    Connecting good(node, segment + 1);
    ASSERT_NE(admit(node), 0u);
    ASSERT_EQ(good.outcome(), raw::success);
    auto move = node.make<rsm_msg_move>(RSM_MSG_MOVE);
    move.cookie = cookie;
    move.handle = handle + 1; // not its handle: answered, and without effect
    move.place[0] = good_place;
    ASSERT_TRUE(node.send(Message(move)));
    auto answer = node.next();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->type(), RSM_MSG_DISCONNECT);
    EXPECT_EQ(raw::post(bad.fd.get()), raw::success);
    ASSERT_TRUE(node.next()); // that event
    move.handle = handle;
    move.place[0] = ~good_place;
    ASSERT_TRUE(node.send(Message(move)));
    answer = node.next();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->type(), RSM_MSG_DISCONNECT);
    EXPECT_EQ(raw::post(bad.fd.get()), raw::status(RSMERR_CONN_ABORTED));
    EXPECT_EQ(raw::post(good.fd.get()), raw::success);
}

// N15: several nodes at once that say anything, and name what is another node's. Handles and cookies
// count for the node that they were given to.
class NodesHostile : public Nodes {
protected:
    static constexpr unsigned hostile_nodes = 4;

    static std::vector<rsm_acl_entry> all_hostile()
    {
        std::vector<rsm_acl_entry> list;
        for (unsigned i = 1; i <= hostile_nodes; i++)
            list.push_back({first_node + i, 0666});
        return list;
    }
    static Message anything(const TestNode &node, std::uint32_t id, std::mt19937 &chance);
    static void babble(TestNode &node, std::uint32_t id);
    void let_all_babble(std::uint32_t id);
};

Message NodesHostile::anything(const TestNode &node, std::uint32_t id, std::mt19937 &chance)
{
    const auto some = [&] { return static_cast<std::uint32_t>(chance() % 4); };
    const unsigned type = RSM_MSG_DISCONNECT + chance() % 9;
    if (type == RSM_MSG_MOVE) {
        auto body = node.make<rsm_msg_move>(type);
        body.cookie = some();
        body.handle = some();
        body.place[0] = some() ? good_place : ~good_place;
        return Message(body);
    }
    if (type <= RSM_MSG_PLACE) {
        auto body = node.make<rsm_msg_connection>(type);
        body.cookie = some();
        body.handle = some();
        body.to_exporter = chance() % 2;
        return Message(body);
    }
    if (type == RSM_MSG_PLACE + 1) {
        auto body = node.make<rsm_msg_connect>(RSM_MSG_CONNECT);
        body.id = id;
        body.cookie = some();
        return Message(body);
    }
    auto body = node.make<rsm_msg_connected>(RSM_MSG_CONNECTED);
    body.cookie = some();
    body.handle = some();
    body.length = page_size() * some();
    body.place[0] = good_place;
    return Message(body);
}

void NodesHostile::babble(TestNode &node, std::uint32_t id)
{
    constexpr int messages = 500;
    std::mt19937 chance(node.id());
    for (int i = 0; i < messages; i++) {
        EXPECT_TRUE(node.send(anything(node, id, chance)));
        while (node.has_message() && node.next())
            continue;
    }
}

void NodesHostile::let_all_babble(std::uint32_t id)
{
    std::vector<std::unique_ptr<TestNode>> nodes;
    std::vector<std::thread> threads;
    for (unsigned i = 1; i <= hostile_nodes; i++) {
        nodes.push_back(std::make_unique<TestNode>(i));
        ASSERT_TRUE(nodes.back()->valid());
    }
    for (const auto &node : nodes)
        threads.emplace_back([&node = *node, id] { babble(node, id); });
    for (std::thread &thread : threads)
        thread.join();
}

TEST_F(NodesHostile, several_at_once_change_nothing_for_another)
{
    NodesExport exported({{first_node, 0600}});
    NodesExport bait(all_hostile());
    TestNode node(0);
    const std::uint32_t known_as = node.import(exported.id, 1);
    ASSERT_NE(known_as, 0u);
    ASSERT_TRUE(node.place(1, known_as));
    Connecting importer(node);
    ASSERT_NE(admit(node), 0u);
    ASSERT_EQ(importer.outcome(), raw::success);
    let_all_babble(bait.id);
    catch_up(node);
    EXPECT_EQ(raw::wait(exported.fd.get()), raw::status(RSMERR_TIMEOUT)) << "an event of others";
    EXPECT_EQ(raw::wait(importer.fd.get()), raw::status(RSMERR_TIMEOUT)) << "an event of others";
    ASSERT_TRUE(node.send_connection(RSM_MSG_BELL, 1, known_as, 0, 1));
    catch_up(node);
    EXPECT_EQ(raw::wait(exported.fd.get()), raw::success);
    EXPECT_EQ(raw::post(importer.fd.get()), raw::success);
    const auto bell = node.next();
    ASSERT_TRUE(bell);
    EXPECT_EQ(bell->type(), RSM_MSG_BELL);
    EXPECT_EQ(read_line("/sys/module/rsm_testctl/parameters/keys").value_or("none"), "1")
        << "something is left of the others";
}
