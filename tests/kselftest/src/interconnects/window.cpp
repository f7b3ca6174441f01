// SPDX-License-Identifier: GPL-2.0
// An interconnect with memory of its own, and what both kinds show in the
// topology.
#include "interconnects/testctl.hpp"
#include "support/raw.hpp"

#include <cstring>

using namespace rsmtest;

namespace {

class Window : public testing::Test {
protected:
    void SetUp() override
    {
        ASSERT_TRUE(module.loaded());
        std::memset(memory.data(), 7, memory.size());
        auto argument = raw::bind_argument(memory.data(), memory.size(), RSM_ALLOW_REBIND, -1,
                                           "window0");
        ASSERT_EQ(raw::call(exporter.get(), RSM_IOC_BIND, argument), raw::success);
        ASSERT_EQ(raw::publish(exporter.get(), id), raw::success);
    }
    TestControllers module;
    Pages memory{4};
    Fd exporter = raw::open_segment();
    std::uint32_t id = 0;
};

raw::Outcome connect(const Fd &importer, std::uint32_t id, const char *controller)
{
    auto argument = raw::connect_argument(id, RSM_PERM_RDWR, -1, controller);
    return raw::call(importer.get(), RSM_IOC_CONNECT, argument);
}

} // namespace

TEST_F(Window, contents_move_and_both_sides_see_the_window)
{
    auto *own = static_cast<volatile char *>(raw::map(exporter.get(), memory.size()));
    ASSERT_NE(static_cast<volatile void *>(own), MAP_FAILED);
    EXPECT_EQ(own[0], 7);
    const Fd importer = raw::open_segment();
    ASSERT_EQ(connect(importer, id, "window0"), raw::success);
    auto *theirs = static_cast<volatile char *>(raw::map(importer.get(), memory.size()));
    ASSERT_NE(static_cast<volatile void *>(theirs), MAP_FAILED);
    EXPECT_EQ(theirs[4097], 7);
    theirs[4097] = 8;
    EXPECT_EQ(own[4097], 8);
    own[0] = 9;
    EXPECT_EQ(theirs[0], 9);
    munmap(const_cast<char *>(own), memory.size());
    munmap(const_cast<char *>(theirs), memory.size());
}

// Any controller reaches a segment of the own node.
TEST_F(Window, loopback_reaches_it)
{
    const Fd importer = raw::open_segment();
    ASSERT_EQ(connect(importer, id, "loopback"), raw::success);
    auto *theirs = static_cast<volatile char *>(raw::map(importer.get(), memory.size()));
    ASSERT_NE(static_cast<volatile void *>(theirs), MAP_FAILED);
    EXPECT_EQ(theirs[0], 7);
    ASSERT_EQ(raw::unpublish(exporter.get()), raw::success);
    EXPECT_EQ(theirs[0], 0);
    munmap(const_cast<char *>(theirs), memory.size());
}

TEST_F(Window, rebind_and_transfers)
{
    const Fd importer = raw::open_segment();
    ASSERT_EQ(connect(importer, id, "window0"), raw::success);
    std::uint64_t value = 0;
    const auto entry = raw::entry(&value, 8, sizeof(value));
    ASSERT_EQ(raw::transfer(importer.get(), RSM_IOC_GETV, {&entry, 1}), raw::success);
    EXPECT_EQ(value, 0x0707070707070707u);
    Pages other(4);
    other.at(8) = 55;
    ASSERT_EQ(raw::rebind(exporter.get(), other.data(), other.size()), raw::success);
    ASSERT_EQ(raw::transfer(importer.get(), RSM_IOC_GETV, {&entry, 1}), raw::success);
    EXPECT_EQ(value, 55u);
}

TEST_F(Window, module_stays_while_a_segment_uses_it)
{
    EXPECT_NE(std::system("rmmod rsm_testctl 2>/dev/null"), 0);
}

// C6: what the topology shows once there are interconnects.
TEST_F(Window, topology_lists_controllers_and_paths)
{
    rsm_topology_t *topology = nullptr;
    ASSERT_EQ(rsm_get_interconnect_topology(&topology), RSM_SUCCESS);
    ASSERT_EQ(topology->topology_hdr.local_cntlr_count, 2u);
    const char *names[] = {"nomap0", "window0"};
    for (int i = 0; i < 2; ++i) {
        const rsm_connections_t &c = *topology->connections[i];
        EXPECT_STREQ(c.hdr.cntlr_name, names[i]);
        EXPECT_EQ(c.hdr.local_hwaddr, i == 0 ? 0x10u : 0x20u);
        ASSERT_EQ(c.hdr.remote_cntlr_count, 1);
        EXPECT_EQ(c.remote_cntlr[0].remote_nodeid, listed_node);
        EXPECT_STREQ(c.remote_cntlr[0].remote_cntlrname, names[i]);
        EXPECT_EQ(c.remote_cntlr[0].remote_hwaddr, 0x77u);
        EXPECT_EQ(c.remote_cntlr[0].connection_state, 1u);
    }
    rsm_free_interconnect_topology(topology);
}
