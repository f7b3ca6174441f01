// SPDX-License-Identifier: GPL-2.0
// Dumps of many messages, and beside those who change what they are of.
#include "netlink/support/client.hpp"
#include "support/child.hpp"
#include "support/fault.hpp"
#include "support/raw.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sched.h>
#include <set>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace rsmtest;
using netlink::Client;
using netlink::Message;
using netlink::Request;
using netlink::Result;
using raw::success;

namespace {

constexpr int changers = 50;
constexpr int dumps = 15;

// Segments that are there all the time, by number.
std::set<std::uint64_t> numbers_of(const Result &result)
{
    std::set<std::uint64_t> numbers;
    std::uint64_t last = 0;
    for (const Message &message : result.messages) {
        const std::uint64_t number = message.number(RSM_A_SEGMENT_NUMBER);
        EXPECT_GT(number, last) << "twice, or not in order";
        last = number;
        numbers.insert(number);
    }
    return numbers;
}

// The state of one moment, as a message says it.
void expect_consistent(const Message &message)
{
    const auto state = message.number(RSM_A_SEGMENT_STATE);
    EXPECT_EQ(message.has(RSM_A_SEGMENT_ID), state == RSM_SEGMENT_STATE_PUBLISHED);
    EXPECT_EQ(message.has(RSM_A_SEGMENT_MODE), state == RSM_SEGMENT_STATE_PUBLISHED);
    EXPECT_EQ(message.number(RSM_A_SEGMENT_PINNED_BYTES) == 0, state == RSM_SEGMENT_STATE_DEAD);
}

void change(const std::atomic<bool> &stop)
{
    while (!stop) {
        const raw::Published segment;
        const Fd handle = raw::open_segment();
        if (segment.ok)
            raw::connect(handle.get(), segment.id);
        raw::unpublish(segment.handle.get());
    }
}

// Lets each allocation fail on the way, one at a time. There always is an answer.
void fail_everywhere(FaultInjection &faults, const Request &request, int flags)
{
    bool hit = true;
    int failed = 0;
    for (int n = 1; hit && n < 500; n++) {
        Client client;
        bool sent = false;
        hit = faults.nth(n, [&] { sent = client.send(request, NLM_F_REQUEST | flags); });
        if (!sent)
            continue;
        const int error = client.answer().error;
        EXPECT_TRUE(error == 0 || error == ENOMEM || error == ENOBUFS) << error;
        failed += error != 0;
    }
    EXPECT_FALSE(hit) << "faults have no end";
    EXPECT_GT(failed, 0) << "no fault has reached the command";
}

} // namespace

TEST(NetlinkDump, of_more_than_a_message_full)
{
    std::vector<raw::Published> segments(700);
    Client client;
    const Result all = client.dump(RSM_CMD_SEGMENT_GET);
    EXPECT_EQ(all.error, 0);
    EXPECT_FALSE(all.interrupted);
    std::set<std::uint64_t> ids;
    for (const Message &message : all.messages)
        ids.insert(message.number(RSM_A_SEGMENT_ID));
    EXPECT_EQ(all.messages.size(), segments.size());
    for (const auto &segment : segments)
        EXPECT_TRUE(ids.contains(segment.id));
    EXPECT_EQ(client.dump(RSM_CMD_PROCESS_GET).one().number(RSM_A_PROCESS_SEGMENTS), 700U);
}

TEST(NetlinkDump, survives_fifty_threads_that_publish_and_unpublish)
{
    std::vector<raw::Published> stay(100);
    Client client;
    const std::set<std::uint64_t> there = numbers_of(client.dump(RSM_CMD_SEGMENT_GET));
    std::atomic<bool> stop = false;
    std::vector<std::jthread> threads;
    for (int i = 0; i < changers; i++)
        threads.emplace_back([&] { change(stop); });
    int interrupted = 0;
    for (int i = 0; i < dumps || !interrupted; i++) {
        const Result all = client.dump(RSM_CMD_SEGMENT_GET);
        ASSERT_EQ(all.error, 0);
        const auto seen = numbers_of(all);
        for (const std::uint64_t number : there)
            EXPECT_TRUE(seen.contains(number)) << "was there all the time";
        for (const Message &message : all.messages)
            expect_consistent(message);
        interrupted += all.interrupted;
        for (const int command : {RSM_CMD_IMPORT_GET, RSM_CMD_PROCESS_GET,
                                  RSM_CMD_CONTROLLER_GET})
            EXPECT_EQ(client.dump(command).error, 0);
    }
    stop = true;
    threads.clear();
    const Result last = client.dump(RSM_CMD_SEGMENT_GET);
    EXPECT_FALSE(last.interrupted);
    for (const Message &message : last.messages)
        EXPECT_EQ(message.number(RSM_A_SEGMENT_IMPORTERS), 0U);
}

namespace {

constexpr const char *hold_copies = "/sys/module/rsm_testctl/parameters/hold_copies";
constexpr const char *copy_held = "/sys/module/rsm_testctl/parameters/copy_held";

// A segment of window0 that its exporter sees. Its end makes a copy for the exporter's mapping.
class WindowSegment {
public:
    WindowSegment()
    {
        rsm_bind bind = raw::bind_argument(pages_.data(), pages_.size(), 0, -1, "window0");
        EXPECT_EQ(raw::call(handle_.get(), RSM_IOC_BIND, bind), success);
        void *view = raw::map(handle_.get(), pages_.size());
        EXPECT_NE(view, nullptr);
        view_ = static_cast<volatile std::uint64_t *>(view);
        *view_ = 7;
    }
    ~WindowSegment() { ::munmap(const_cast<std::uint64_t *>(view_), pages_.size()); }
    WindowSegment(const WindowSegment &) = delete;
    WindowSegment &operator=(const WindowSegment &) = delete;
    raw::Outcome end() const { return raw::destroy(handle_.get()); }
    std::uint64_t contents() const { return *view_; }

private:
    Pages pages_{2};
    Fd handle_ = raw::open_segment();
    volatile std::uint64_t *view_ = nullptr;
};

} // namespace

// The copy used to be made under the lock of the importers' list, which every reader takes.
TEST(NetlinkDump, does_not_wait_for_the_copy_of_a_segment_that_ends)
{
    ASSERT_EQ(std::system("modprobe rsm_testctl"), 0);
    {
        const WindowSegment segment;
        Client before;
        const Result shown = before.dump(RSM_CMD_SEGMENT_GET);
        EXPECT_EQ(shown.one().number(RSM_A_SEGMENT_PINNED_BYTES),
                  shown.one().number(RSM_A_SEGMENT_LENGTH));
        ASSERT_TRUE(write_text(hold_copies, "1"));
        std::jthread end([&] { EXPECT_EQ(segment.end(), success); });
        while (read_line(copy_held) != "Y")
            sched_yield();
        Client client;
        EXPECT_EQ(client.dump(RSM_CMD_SEGMENT_GET).messages.size(), 1U);
        EXPECT_EQ(client.dump(RSM_CMD_PROCESS_GET).messages.size(), 1U);
        ASSERT_TRUE(write_text(hold_copies, "0"));
        end.join();
        EXPECT_EQ(segment.contents(), 7U);
    }
    EXPECT_EQ(std::system("rmmod rsm_testctl"), 0);
}

namespace {

std::int64_t processes_looked_at()
{
    std::ifstream file("/sys/kernel/debug/rsm/work");
    std::string name;
    std::int64_t value = 0;
    while (file >> name >> value)
        if (name == "processes_looked_at")
            return value;
    ADD_FAILURE() << "no counter";
    return 0;
}

} // namespace

// It used to go through all segments of the node and to sort them, for each process asked for.
TEST(NetlinkDump, of_processes_costs_processes_and_not_segments)
{
    std::vector<raw::Published> segments(700);
    Client client;
    const auto pid = static_cast<std::uint32_t>(getpid());
    const std::int64_t before = processes_looked_at();
    EXPECT_EQ(client.ask(Request(RSM_CMD_PROCESS_GET).put(RSM_A_PROCESS_PID, pid))
                  .one()
                  .number(RSM_A_PROCESS_SEGMENTS),
              segments.size());
    EXPECT_LE(processes_looked_at() - before, 8);
    EXPECT_EQ(client.dump(RSM_CMD_PROCESS_GET).one().number(RSM_A_PROCESS_SEGMENTS),
              segments.size());
    EXPECT_LE(processes_looked_at() - before, 16);
    segments.resize(2);
    const Result some = client.dump(RSM_CMD_PROCESS_GET);
    EXPECT_EQ(some.one().number(RSM_A_PROCESS_SEGMENTS), segments.size());
    EXPECT_EQ(some.one().number(RSM_A_PROCESS_PINNED_BYTES), segments.size() * page_size());
    segments.clear();
    EXPECT_TRUE(client.dump(RSM_CMD_PROCESS_GET).messages.empty());
}

// Segments of one process that it has made as two users are shown to each of them.
TEST(NetlinkDump, of_a_process_with_segments_of_two_users)
{
    in_child([] {
        const raw::Published of_root;
        ASSERT_EQ(::setegid(rsm_group), 0);
        ASSERT_EQ(::seteuid(alice().uid), 0);
        const raw::Published of_alice;
        ASSERT_TRUE(of_alice.ok);
        const auto pid = static_cast<std::uint32_t>(getpid());
        const auto request = Request(RSM_CMD_PROCESS_GET).put(RSM_A_PROCESS_PID, pid);
        {
            Client client;
            const Result mine = client.ask(request);
            EXPECT_EQ(mine.one().number(RSM_A_PROCESS_SEGMENTS), 1U);
            EXPECT_EQ(mine.one().number(RSM_A_PROCESS_UID), alice().uid);
            EXPECT_EQ(client.dump(RSM_CMD_PROCESS_GET).messages.size(), 1U);
        }
        ASSERT_EQ(::seteuid(0), 0);
        Client client;
        const Result all = client.ask(request);
        EXPECT_EQ(all.one().number(RSM_A_PROCESS_SEGMENTS), 2U);
        EXPECT_EQ(all.one().number(RSM_A_PROCESS_UID), 0U);
        EXPECT_EQ(client.dump(RSM_CMD_PROCESS_GET).messages.size(), 2U);
    });
}

// The kernel keeps an entry for each user as which a process has made segments.
TEST(NetlinkDump, of_more_processes_than_a_message_has)
{
    in_child([] {
        constexpr uid_t users = 400;
        Pages memory(1);
        std::vector<Fd> handles;
        ASSERT_EQ(::setegid(rsm_group), 0);
        for (uid_t user = 0; user < users; user++) {
            ASSERT_EQ(::seteuid(20000 + user), 0);
            handles.push_back(raw::open_segment());
            ASSERT_EQ(raw::bind(handles.back().get(), memory.data(), memory.size(), 0), success);
            ASSERT_EQ(::seteuid(0), 0);
        }
        Client client;
        std::set<std::uint64_t> seen;
        for (const Message &message : client.dump(RSM_CMD_PROCESS_GET).messages)
            seen.insert(message.number(RSM_A_PROCESS_UID));
        EXPECT_EQ(seen.size(), users);
    });
}

TEST(NetlinkDump, left_half_way)
{
    std::vector<raw::Published> segments(300);
    for (int i = 0; i < 20; i++) {
        Client client;
        EXPECT_TRUE(client.send(Request(i % 2 ? RSM_CMD_SEGMENT_GET : RSM_CMD_PROCESS_GET),
                                NLM_F_REQUEST | NLM_F_DUMP));
    }
    Client client;
    EXPECT_EQ(client.dump(RSM_CMD_SEGMENT_GET).messages.size(), segments.size());
}

TEST(NetlinkDump, everything_that_can_fail_does)
{
    FaultInjection faults;
    if (!faults.available())
        GTEST_SKIP() << "this kernel has no fault injection";
    const raw::Published segment;
    const Fd handle = raw::open_segment();
    ASSERT_EQ(raw::connect(handle.get(), segment.id), success);
    Client listener;
    ASSERT_EQ(listener.subscribe(), 0);
    for (const int command : {RSM_CMD_SEGMENT_GET, RSM_CMD_IMPORT_GET, RSM_CMD_PROCESS_GET,
                              RSM_CMD_CONTROLLER_GET})
        fail_everywhere(faults, Request(command), NLM_F_DUMP);
    const auto pid = static_cast<std::uint32_t>(getpid());
    fail_everywhere(faults, Request(RSM_CMD_PROCESS_GET).put(RSM_A_PROCESS_PID, pid), NLM_F_ACK);
    fail_everywhere(faults, Request(RSM_CMD_SEGMENT_GET).put(RSM_A_SEGMENT_ID, segment.id),
                    NLM_F_ACK);
    fail_everywhere(faults, Request(RSM_CMD_STATS_GET), NLM_F_ACK);
    // Events that can't be built are lost, and what they are of goes on.
    bool hit = true;
    int injected = 0;
    while (hit && injected < 500) {
        const raw::Published other;
        hit = faults.nth(injected + 1, [&] { raw::unpublish(other.handle.get()); });
        injected += hit;
    }
    EXPECT_FALSE(hit) << "faults have no end";
    FaultInjection::tell(injected);
}
