// SPDX-License-Identifier: GPL-2.0
// An interconnect that can't be mapped: librsm and the core serve it by
// commands, and programs see no difference but that they can't map.
#include "interconnects/testctl.hpp"

#include <cstring>
#include <numeric>

using namespace rsmtest;

namespace {

class NoMap : public testing::Test {
protected:
    static constexpr std::size_t page_count = 4;

    void SetUp() override
    {
        ASSERT_TRUE(module.loaded());
        ASSERT_EQ(ctl.status(), RSM_SUCCESS);
        ASSERT_EQ(seg.status(), RSM_SUCCESS);
        ASSERT_EQ(seg.publish(0, {{local_node(), 0600}}), RSM_SUCCESS);
    }
    TestControllers module;
    Controller ctl{"nomap0"};
    Pages memory{page_count};
    ExportSegment seg{ctl, memory, RSM_ALLOW_REBIND};
};

rsm_iovec_t address_entry(void *address, std::size_t remote, std::size_t length)
{
    rsm_iovec_t entry{};
    entry.io_type = RSM_VA_TYPE;
    entry.local.vaddr = static_cast<caddr_t>(address);
    entry.remote_offset = remote;
    entry.transfer_length = length;
    return entry;
}

rsm_scat_gath_t request(rsm_memseg_import_handle_t handle, std::vector<rsm_iovec_t> &entries,
                        uint_t flags = 0)
{
    rsm_scat_gath_t result{};
    result.io_request_count = entries.size();
    result.flags = flags;
    result.remote_handle = handle;
    result.iovec = entries.data();
    return result;
}

} // namespace

TEST_F(NoMap, map_fails)
{
    ImportSegment imp(ctl, seg.id());
    ASSERT_EQ(imp.status(), RSM_SUCCESS);
    EXPECT_EQ(imp.map(page_size()), RSMERR_MAP_FAILED);
}

TEST_F(NoMap, put_and_get)
{
    ImportSegment imp(ctl, seg.id());
    ASSERT_EQ(imp.status(), RSM_SUCCESS);
    EXPECT_EQ(imp.put64(0, 1), RSMERR_BARRIER_UNINITIALIZED);
    ASSERT_EQ(imp.init_barrier(), RSM_SUCCESS);
    EXPECT_EQ(imp.put64(8, 0x1122334455667788), RSM_SUCCESS);
    EXPECT_EQ(memory.at(8), 0x1122334455667788u);
    memory.at(16) = 42;
    std::uint64_t value = 0;
    EXPECT_EQ(imp.get64(16, &value), RSM_SUCCESS);
    EXPECT_EQ(value, 42u);

    std::vector<char> out(memory.size()), in(memory.size());
    std::iota(out.begin(), out.end(), char{1});
    EXPECT_EQ(rsm_memseg_import_put(imp, 0, out.data(), out.size()), RSM_SUCCESS);
    EXPECT_EQ(std::memcmp(memory.data(), out.data(), out.size()), 0);
    EXPECT_EQ(rsm_memseg_import_get(imp, 0, in.data(), in.size()), RSM_SUCCESS);
    EXPECT_EQ(in, out);
}

TEST_F(NoMap, ranges_are_checked)
{
    ImportSegment imp(ctl, seg.id());
    ASSERT_EQ(imp.init_barrier(), RSM_SUCCESS);
    const auto end = static_cast<off_t>(memory.size());
    std::uint64_t value = 0;
    EXPECT_EQ(imp.get64(end, &value), RSMERR_BAD_LENGTH);
    EXPECT_EQ(imp.get64(-8, &value), RSMERR_BAD_OFFSET);
    EXPECT_EQ(rsm_memseg_import_get64(imp, 0, &value, ~0ul), RSMERR_BAD_LENGTH);
}

TEST_F(NoMap, scatter_gather_with_local_handle_and_signal)
{
    ImportSegment imp(ctl, seg.id());
    Pages local(1);
    rsm_localmemory_handle_t handle = nullptr;
    ASSERT_EQ(rsm_create_localmemory_handle(ctl, &handle, reinterpret_cast<caddr_t>(local.data()),
                                            local.size()),
              RSM_SUCCESS);
    local.at(128) = 77;
    std::uint64_t direct = 88;
    auto by_handle = address_entry(nullptr, 64, 8);
    by_handle.io_type = RSM_HANDLE_TYPE;
    by_handle.local.handle = handle;
    by_handle.local_offset = 128;
    std::vector<rsm_iovec_t> entries{by_handle, address_entry(&direct, 72, 8)};
    auto sg = request(imp, entries, RSM_IMPLICIT_SIGPOST);
    EXPECT_EQ(rsm_memseg_import_putv(&sg), RSM_SUCCESS);
    EXPECT_EQ(sg.io_residual_count, 0u);
    EXPECT_EQ(memory.at(64), 77u);
    EXPECT_EQ(memory.at(72), 88u);
    EXPECT_EQ(rsm_intr_signal_wait(static_cast<rsm_memseg_export_handle_t>(seg), 0), RSM_SUCCESS);

    memory.at(64) = 99;
    EXPECT_EQ(rsm_memseg_import_getv(&sg), RSM_SUCCESS);
    EXPECT_EQ(local.at(128), 99u);
    EXPECT_EQ(rsm_free_localmemory_handle(ctl, handle), RSM_SUCCESS);
}

TEST_F(NoMap, barriers_and_abort)
{
    ImportSegment imp(ctl, seg.id());
    ASSERT_EQ(imp.init_barrier(), RSM_SUCCESS);
    ASSERT_EQ(imp.explicit_mode(), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_order_barrier(imp.barrier()), RSMERR_BARRIER_NOT_OPENED);
    ASSERT_EQ(rsm_memseg_import_open_barrier(imp.barrier()), RSM_SUCCESS);
    EXPECT_EQ(imp.put64(0, 5), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_order_barrier(imp.barrier()), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_close_barrier(imp.barrier()), RSM_SUCCESS);
    ASSERT_EQ(rsm_memseg_import_open_barrier(imp.barrier()), RSM_SUCCESS);
    ASSERT_EQ(seg.unpublish(), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_close_barrier(imp.barrier()), RSMERR_CONN_ABORTED);
    std::uint64_t value = 1;
    std::vector<rsm_iovec_t> entries{address_entry(&value, 0, 8)};
    auto sg = request(imp, entries);
    EXPECT_EQ(rsm_memseg_import_putv(&sg), RSMERR_CONN_ABORTED);
    EXPECT_EQ(memory.at(0), 5u);
}

TEST_F(NoMap, rights_hold)
{
    ImportSegment reader(ctl, seg.id(), RSM_PERM_READ);
    ASSERT_EQ(reader.init_barrier(), RSM_SUCCESS);
    std::uint64_t value = 0;
    EXPECT_EQ(reader.get64(0, &value), RSM_SUCCESS);
    EXPECT_EQ(reader.put64(0, 1), RSMERR_PERM_DENIED);
}

// I1: the errors of connect that loopback can't show.
TEST_F(NoMap, connect_errors)
{
    rsm_memseg_import_handle_t imp = nullptr;
    EXPECT_EQ(rsm_memseg_import_connect(ctl, listed_node, seg.id(), RSM_PERM_READ, &imp),
              RSMERR_REMOTE_NODE_UNREACHABLE);
    ASSERT_EQ(seg.unpublish(), RSM_SUCCESS);
    ASSERT_EQ(seg.publish(0, {{listed_node, 0666}}), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_connect(ctl, local_node(), seg.id(), RSM_PERM_READ, &imp),
              RSMERR_SEG_NOT_PUBLISHED_TO_NODE);
    EXPECT_EQ(imp, nullptr);
}

TEST_F(NoMap, access_list_of_several_nodes)
{
    ASSERT_EQ(seg.unpublish(), RSM_SUCCESS);
    EXPECT_EQ(seg.publish(0, {{local_node(), 0600}, {5, 0600}}), RSMERR_BAD_ACL);
    EXPECT_EQ(seg.publish(0, {{listed_node, 0600}, {local_node(), 0400}}), RSM_SUCCESS);
}

// 7.4 step 6: the controller's own limit.
TEST_F(NoMap, export_larger_than_the_controller_takes)
{
    rsmapi_controller_attr_t attr{};
    ASSERT_EQ(rsm_get_controller_attr(ctl, &attr), RSM_SUCCESS);
    ASSERT_EQ(attr.attr_max_export_segment_size, 16u << 20);
    Pages large((attr.attr_max_export_segment_size / page_size()) + 1);
    ExportSegment too_large(ctl, large);
    EXPECT_EQ(too_large.status(), RSMERR_BAD_LENGTH);
}
