// SPDX-License-Identifier: GPL-2.0
// Memory that users and peers make the kernel allocate: each has its bound, and a user at the bound
// keeps nobody else from working. Documentation/limits.md names the bounds.
#include "interconnects/node.hpp"
#include "interconnects/testctl.hpp"
#include "netlink/support/client.hpp"
#include "support/child.hpp"
#include "support/hanging.hpp"
#include "support/raw.hpp"

#include <csignal>
#include <deque>
#include <latch>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace rsmtest;
using raw::status;
using raw::success;

namespace {

constexpr std::size_t share = 32;
constexpr std::uint32_t first_free_id = 0x400000; // lower ones are for others
constexpr std::size_t table_size = std::size_t{RSM_TABLE_SLOTS} * RSM_SLOT_SIZE;

void expect_to_work()
{
    const raw::Published segment;
    ASSERT_TRUE(segment.ok);
    const Fd handle = raw::open_segment();
    EXPECT_EQ(raw::connect(handle.get(), segment.id), success);
}

// Another user, and the administrator.
void expect_others_to_work()
{
    in_child_as(bob(), expect_to_work);
    expect_to_work();
}

raw::Outcome bind_to(const char *controller, const Fd &handle, const Pages &pages)
{
    rsm_bind argument = raw::bind_argument(pages.data(), pages.size(), 0, -1, controller);
    return raw::call(handle.get(), RSM_IOC_BIND, argument);
}

// All handles that this process gets, but no more than its user's share.
std::vector<Fd> all_handles()
{
    std::vector<Fd> handles;
    for (;;) {
        Fd one = raw::open_segment();
        if (!one.valid())
            return handles;
        handles.push_back(std::move(one));
    }
}

// Has the kernel make all words that a control handle can have.
bool touch_words(const Fd &control)
{
    for (const std::uint64_t offset : {RSM_MMAP_STATUS, RSM_MMAP_CONSUMED}) {
        const void *words = raw::map(control.get(), table_size, PROT_READ,
                                     static_cast<off_t>(offset));
        if (!words)
            return false;
        for (std::size_t at = 0; at < table_size; at += page_size())
            (void)static_cast<const volatile char *>(words)[at];
    }
    return true;
}

// A user has 32 of 64 handles.
class Owners : public testing::Test {
protected:
    void SetUp() override
    {
        ASSERT_TRUE(module.loaded());
        ASSERT_TRUE(segments.set("64"));
        ASSERT_TRUE(per_user.set("50"));
    }
    // A process of a user does something, tells of it, and has its results until the others have
    // worked, which it hears.
    static void while_held(const Child::Body &body)
    {
        Child holder(alice(), body);
        holder.receive();
        expect_others_to_work();
        holder.send();
        holder.expect_success();
    }

    ModuleParameter segments{"max_segments"};
    ModuleParameter per_user{"max_segments_per_user"};
    TestControllers module;
};

// A memory cgroup that a process can enter.
class MemoryGroup {
public:
    MemoryGroup() : mounted_(::mount("none", root, "cgroup2", 0, nullptr) == 0)
    {
        available_ = mounted_ && write_text(std::string(root) + "/cgroup.subtree_control", "+memory") &&
                     ::mkdir(path("").c_str(), 0755) == 0;
    }
    ~MemoryGroup()
    {
        if (available_)
            ::rmdir(path("").c_str());
        if (mounted_)
            ::umount2(root, MNT_DETACH);
    }
    MemoryGroup(const MemoryGroup &) = delete;
    MemoryGroup &operator=(const MemoryGroup &) = delete;
    bool available() const { return available_; }
    bool enter(pid_t pid) const { return write_text(path("cgroup.procs"), std::to_string(pid)); }
    bool limit(std::uint64_t bytes) const
    {
        return write_text(path("memory.max"), std::to_string(bytes));
    }
    std::uint64_t current() const
    {
        return std::stoull(read_line(path("memory.current")).value_or("0"));
    }

private:
    static constexpr const char *root = "/sys/fs/cgroup";
    static std::string path(const std::string &file)
    {
        return std::string(root) + "/rsm-test/" + file;
    }
    bool mounted_;
    bool available_ = false;
};

} // namespace

TEST_F(Owners, access_lists_of_all_segments_of_a_user)
{
    const std::vector<rsm_acl_entry> list(RSM_ACL_MAX, {first_node, 0600});
    const std::vector<rsm_acl_entry> longer(RSM_ACL_MAX + 1, {first_node, 0600});
    while_held([&](Link &link) {
        std::vector<Fd> handles = all_handles();
        EXPECT_EQ(handles.size(), share);
        const Pages memory(1);
        for (const Fd &each : handles) {
            std::uint32_t id = 0;
            ASSERT_EQ(bind_to("nodes0", each, memory), success);
            EXPECT_EQ(raw::publish(each.get(), id, longer), status(RSMERR_BAD_ACL));
            ASSERT_EQ(raw::publish(each.get(), id, list), success);
            EXPECT_EQ(raw::republish(each.get(), longer), status(RSMERR_BAD_ACL));
            EXPECT_EQ(raw::republish(each.get(), list), success);
        }
        link.send();
        link.receive();
    });
}

TEST_F(Owners, words_of_all_control_handles_of_a_process)
{
    while_held([](Link &link) {
        const rlimit few{16, 16};
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
        std::vector<Fd> controls;
        for (Fd one = raw::open_control(); one.valid(); one = raw::open_control())
            controls.push_back(std::move(one));
        EXPECT_EQ(errno, EMFILE);
        EXPECT_GE(controls.size(), 4U);
        for (const Fd &each : controls) {
            EXPECT_TRUE(touch_words(each));
            EXPECT_EQ(raw::map(each.get(), table_size + page_size(), PROT_READ, RSM_MMAP_STATUS),
                      nullptr);
        }
        link.send();
        link.receive();
    });
}

// A cgroup that is full costs the process that has filled it, and nobody else.
TEST_F(Owners, words_are_charged_to_the_cgroup)
{
    const MemoryGroup group;
    if (!group.available())
        GTEST_SKIP() << "this kernel has no memory cgroups";
    Child holder([](Link &link) {
        link.receive();
        const Fd first = raw::open_control();
        EXPECT_TRUE(touch_words(first));
        link.send();
        link.receive();
        std::vector<Fd> more;
        for (;;) {
            more.push_back(raw::open_control());
            touch_words(more.back());
        }
    });
    ASSERT_TRUE(group.enter(holder.pid()));
    const std::uint64_t before = group.current();
    holder.send();
    holder.receive();
    EXPECT_GE(group.current() - before, 2 * table_size);
    ASSERT_TRUE(group.limit(group.current() + 3 * table_size));
    holder.send();
    const int ended = holder.wait();
    EXPECT_TRUE(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL) << ended;
    expect_others_to_work();
}

// Ids so far apart that each has nodes of the index to itself, on three levels of 64 entries.
TEST_F(Owners, ids_that_lie_far_apart_are_charged_to_the_cgroup)
{
    constexpr std::uint64_t count = 1000, distance = 64 * 64 * 64, node_at_least = 512;
    const MemoryGroup group;
    if (!group.available())
        GTEST_SKIP() << "this kernel has no memory cgroups";
    ASSERT_TRUE(segments.set(std::to_string(2 * count)));
    Child holder([&](Link &link) {
        const rlimit many{2 * count, 2 * count};
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &many), 0);
        const Pages memory(1);
        std::vector<Fd> handles(count);
        link.receive();
        for (Fd &each : handles) {
            each = raw::open_segment();
            ASSERT_EQ(raw::bind(each.get(), memory.data(), memory.size()), success);
        }
        link.send();
        link.receive();
        std::uint32_t id = first_free_id;
        for (const Fd &each : handles) {
            ASSERT_EQ(raw::publish(each.get(), id), success);
            id += distance;
        }
        link.send();
        link.receive();
    });
    ASSERT_TRUE(group.enter(holder.pid()));
    holder.send();
    holder.receive();
    const std::uint64_t before = group.current();
    holder.send();
    holder.receive();
    EXPECT_GE(group.current() - before, count * 3 * node_at_least);
    holder.send();
    holder.expect_success();
}

// Each thread's own memory does not come, for as long as the test wants.
TEST_F(Owners, pages_that_transfers_copy_through_are_charged_to_the_cgroup)
{
    // Each transfer takes half a page besides, and the figure may be wrong by 130 pages on two processors.
    constexpr std::size_t count = 384;
    const MemoryGroup group;
    if (!group.available())
        GTEST_SKIP() << "this kernel has no memory cgroups";
    const HangingPage page;
    Child holder([&](Link &link) {
        link.receive();
        const raw::Published segment;
        const Fd handle = raw::open_segment();
        ASSERT_EQ(raw::connect(handle.get(), segment.id), success);
        const Pages memory = page.map();
        const rsm_transfer_entry entry = raw::entry(memory.data(), 0, 8);
        std::latch begin(1);
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < count; ++i)
            threads.emplace_back([&] {
                begin.wait();
                EXPECT_EQ(raw::transfer(handle.get(), RSM_IOC_PUTV, {&entry, 1}), success);
            });
        link.send();
        link.receive();
        begin.count_down();
    });
    ASSERT_TRUE(group.enter(holder.pid()));
    holder.send();
    holder.receive();
    const std::uint64_t before = group.current();
    holder.send();
    EXPECT_TRUE(eventually([&] { return group.current() >= before + count * page_size(); }));
    page.give();
    holder.expect_success();
}

// An administrator's revoke ends a segment: its memory of the window goes, and a copy for the mappings of
// its exporter comes, on the same account. A segment of window0 has 16 pages at most, which is less than a
// cgroup's figure may be wrong by.
TEST_F(Owners, copies_of_dead_window_segments_are_charged_to_the_cgroup)
{
    static constexpr std::size_t count = 32, page_count = 16;
    const MemoryGroup group;
    if (!group.available())
        GTEST_SKIP() << "this kernel has no memory cgroups";
    Child exporter([](Link &link) {
        link.receive();
        Controller controller("window0");
        std::deque<Pages> memory;
        std::deque<ExportSegment> segments;
        for (std::size_t i = 0; i < count; ++i) {
            ExportSegment &each = segments.emplace_back(controller, memory.emplace_back(page_count));
            ASSERT_EQ(each.publish(), RSM_SUCCESS);
            memory.back().at() = i;
            link.send(each.id());
        }
        link.send();
        link.receive();
        for (std::size_t i = 0; i < count; ++i)
            EXPECT_EQ(memory[i].at(), i);
    });
    ASSERT_TRUE(group.enter(exporter.pid()));
    exporter.send();
    std::vector<std::uint32_t> ids(count);
    for (std::uint32_t &id : ids)
        id = static_cast<std::uint32_t>(exporter.receive());
    exporter.receive();
    const std::uint64_t before = group.current();
    netlink::Client administrator;
    for (const std::uint32_t id : ids)
        ASSERT_EQ(administrator.ask(netlink::Request(RSM_CMD_SEGMENT_REVOKE).put(RSM_A_SEGMENT_ID, id)).error, 0);
    EXPECT_GE(group.current() + count * page_count / 2 * page_size(), before);
    exporter.send();
    exporter.expect_success();
}

TEST_F(Owners, pages_that_imports_show_after_their_end)
{
    while_held([](Link &link) {
        const raw::Published exported;
        ASSERT_TRUE(exported.ok);
        const std::vector<Fd> handles = all_handles();
        EXPECT_EQ(handles.size(), share - 1);
        std::vector<volatile char *> mappings;
        for (const Fd &each : handles) {
            ASSERT_EQ(raw::connect(each.get(), exported.id), success);
            for (int i = 0; i < 3; ++i) {
                void *const mapping = raw::map(each.get(), page_size());
                ASSERT_NE(mapping, nullptr);
                mappings.push_back(static_cast<volatile char *>(mapping));
            }
        }
        exported.memory.at() = ~std::uint64_t{};
        ASSERT_EQ(raw::unpublish(exported.handle.get()), success);
        for (volatile char *each : mappings)
            EXPECT_EQ(*each, 0);
        *mappings[0] = 1;
        EXPECT_EQ(*mappings[1], 1) << "one page for all mappings of an import";
        EXPECT_EQ(*mappings[3], 0) << "one page for each import";
        link.send();
        link.receive();
    });
}

TEST_F(Owners, segments_of_other_nodes_that_a_user_imports)
{
    TestNode node(0);
    ASSERT_TRUE(node.valid());
    Child importer(alice(), [&](Link &link) {
        const std::vector<Fd> handles = all_handles();
        EXPECT_EQ(handles.size(), share);
        std::uint32_t id = 100;
        for (const Fd &each : handles) {
            rsm_connect argument = raw::connect_argument(id++, RSM_PERM_READ, -1, "nodes0");
            argument.node = first_node;
            EXPECT_EQ(raw::call(each.get(), RSM_IOC_CONNECT, argument), success);
        }
        link.send();
        link.receive();
    });
    for (std::size_t i = 0; i < share; ++i) {
        const auto request = node.next();
        ASSERT_TRUE(request && request->type() == RSM_MSG_CONNECT);
        auto answer = node.make<rsm_msg_connected>(RSM_MSG_CONNECTED);
        answer.cookie = request->as<rsm_msg_connect>().cookie;
        answer.handle = static_cast<std::uint32_t>(i + 1);
        answer.mode = 0666;
        answer.length = page_size();
        answer.place[0] = good_place;
        ASSERT_TRUE(node.send(Message(answer)));
    }
    importer.receive();
    expect_others_to_work();
    importer.send();
    importer.expect_success();
    for (std::size_t i = 0; i < share; ++i) {
        const auto goodbye = node.next();
        ASSERT_TRUE(goodbye);
        EXPECT_EQ(goodbye->type(), RSM_MSG_DISCONNECT);
    }
}

// One node may have as many imports as this node has handles, and of one segment fewer.
TEST_F(Owners, importers_of_a_node)
{
    constexpr std::size_t of_a_segment = 32, of_a_node = 64;
    std::vector<Fd> handles;
    std::vector<std::uint32_t> ids;
    const Pages memory(1);
    const std::vector<rsm_acl_entry> list{{first_node, 0600}, {first_node + 1, 0600}};
    for (int i = 0; i < 3; ++i) {
        handles.push_back(raw::open_segment());
        ids.push_back(0);
        ASSERT_EQ(bind_to("nodes0", handles.back(), memory), success);
        ASSERT_EQ(raw::publish(handles.back().get(), ids.back(), list), success);
    }
    TestNode greedy(0), other(1);
    ASSERT_TRUE(greedy.valid() && other.valid());
    std::uint32_t cookie = 1;
    const auto import_all = [&](std::uint32_t id) {
        std::size_t count = 0;
        while (greedy.import(id, cookie++) != 0)
            ++count;
        return count;
    };
    EXPECT_EQ(import_all(ids[0]), of_a_segment);
    EXPECT_EQ(import_all(ids[1]), of_a_node - of_a_segment);
    EXPECT_EQ(import_all(ids[2]), 0U);
    EXPECT_NE(other.import(ids[0], 1), 0U);
    EXPECT_NE(other.import(ids[2], 2), 0U);
    expect_others_to_work();
}
