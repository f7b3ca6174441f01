// SPDX-License-Identifier: GPL-2.0
// Controllers and topology: C1 to C6.
#include "support/loopback.hpp"

#include <cstring>
#include <string>

using namespace rsmtest;

namespace {

rsmapi_controller_handle_t get(const char *name, int expected = RSM_SUCCESS)
{
    rsmapi_controller_handle_t handle = nullptr;
    std::string copy = name ? name : "";
    EXPECT_EQ(rsm_get_controller(name ? copy.data() : nullptr, &handle), expected)
        << (name ? name : "NULL");
    EXPECT_EQ(copy, name ? name : "") << "the name was modified";
    return handle;
}

} // namespace

TEST(Controllers, C1_result_pointer_and_names)
{
    char name[] = "loopback";
    EXPECT_EQ(rsm_get_controller(name, nullptr), RSMERR_BAD_CTLR_HNDL);
    EXPECT_EQ(rsm_get_controller(nullptr, nullptr), RSMERR_BAD_CTLR_HNDL);

    rsmapi_controller_handle_t first = get(nullptr);
    ASSERT_NE(first, nullptr);
    for (const char *spelling : {"loopback", "loopback0", "loopback7", "LOOPBACK", "LoopBack0"}) {
        rsmapi_controller_handle_t other = get(spelling);
        EXPECT_EQ(other, first) << spelling;
        EXPECT_EQ(rsm_release_controller(other), RSM_SUCCESS);
    }
    EXPECT_EQ(rsm_release_controller(first), RSM_SUCCESS);
}

TEST(Controllers, C1_first_use_in_capitals)
{
    rsmapi_controller_handle_t handle = get("LOOPBACK");
    EXPECT_NE(handle, nullptr);
    EXPECT_EQ(rsm_release_controller(handle), RSM_SUCCESS);
}

TEST(Controllers, C2_names_that_do_not_exist)
{
    const std::string long_name(MAXNAMELEN, 'x');
    const std::string longer_name(10 * MAXNAMELEN, 'x');
    const std::string long_unit = "loopback" + std::string(MAXNAMELEN, '0');
    for (const std::string &name :
         {std::string("nosuch0"), std::string(), std::string("7"), std::string("loopbac"),
          std::string("loopbackx"), std::string("nosuch99999999999999999999"),
          std::string("../loopback0"), long_name, longer_name, long_unit}) {
        std::string copy = name;
        auto *marker = reinterpret_cast<rsmapi_controller_handle_t>(0x1234);
        rsmapi_controller_handle_t handle = marker;
        EXPECT_EQ(rsm_get_controller(copy.data(), &handle), RSMERR_CTLR_NOT_PRESENT) << name;
        EXPECT_EQ(handle, marker) << "written on failure: " << name;
    }
}

TEST(Controllers, C3_two_references)
{
    rsmapi_controller_handle_t first = get(nullptr);
    rsmapi_controller_handle_t second = get("loopback");
    ASSERT_EQ(first, second);
    EXPECT_EQ(rsm_release_controller(first), RSM_SUCCESS);
    rsmapi_controller_attr_t attributes{};
    EXPECT_EQ(rsm_get_controller_attr(second, &attributes), RSM_SUCCESS);
    EXPECT_EQ(attributes.attr_page_size, page_size());
    EXPECT_EQ(rsm_release_controller(second), RSM_SUCCESS);
}

TEST(Controllers, C3_segments_outlive_the_controller_handle)
{
    rsmapi_controller_handle_t controller = get(nullptr);
    Pages memory(1);
    ExportSegment seg(controller, memory);
    ASSERT_EQ(seg.status(), RSM_SUCCESS);
    ASSERT_EQ(seg.publish(), RSM_SUCCESS);
    ImportSegment imported(controller, seg.id());
    ASSERT_EQ(imported.status(), RSM_SUCCESS);
    ASSERT_EQ(imported.init_barrier(), RSM_SUCCESS);
    EXPECT_EQ(rsm_release_controller(controller), RSM_SUCCESS);

    EXPECT_EQ(imported.put64(8, 77), RSM_SUCCESS);
    EXPECT_EQ(memory.at(8), 77u);
    EXPECT_EQ(seg.unpublish(), RSM_SUCCESS);
    EXPECT_EQ(imported.put64(8, 78), RSMERR_CONN_ABORTED);
}

TEST(Controllers, C4_release_errors)
{
    EXPECT_EQ(rsm_release_controller(nullptr), RSMERR_BAD_CTLR_HNDL);
}

TEST(Controllers, C5_attributes)
{
    rsmapi_controller_attr_t attributes{};
    EXPECT_EQ(rsm_get_controller_attr(nullptr, &attributes), RSMERR_BAD_CTLR_HNDL);
    EXPECT_EQ(rsm_get_controller_attr(nullptr, nullptr), RSMERR_BAD_CTLR_HNDL);
    rsmapi_controller_handle_t handle = get(nullptr);
    EXPECT_EQ(rsm_get_controller_attr(handle, nullptr), RSMERR_BAD_ADDR);
    ASSERT_EQ(rsm_get_controller_attr(handle, &attributes), RSM_SUCCESS);
    const uint_t all = RSM_DAS8 | RSM_DAS16 | RSM_DAS32 | RSM_DAS64;
    EXPECT_EQ(attributes.attr_page_size, page_size());
    EXPECT_EQ(attributes.attr_direct_access_sizes, all);
    EXPECT_EQ(attributes.attr_atomic_sizes, all);
    rsmapi_controller_attr_t again{};
    ASSERT_EQ(rsm_get_controller_attr(handle, &again), RSM_SUCCESS);
    EXPECT_EQ(std::memcmp(&attributes, &again, sizeof(again)), 0);
    EXPECT_EQ(rsm_release_controller(handle), RSM_SUCCESS);
}

TEST(Controllers, C6_topology)
{
    EXPECT_EQ(rsm_get_interconnect_topology(nullptr), RSMERR_BAD_TOPOLOGY_PTR);
    rsm_free_interconnect_topology(nullptr);

    rsm_topology_t *topology = nullptr;
    ASSERT_EQ(rsm_get_interconnect_topology(&topology), RSM_SUCCESS);
    ASSERT_NE(topology, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(topology) % 8, 0u);
    const rsm_topology_hdr_t &header = topology->topology_hdr;
    const auto *end_of_pointers =
        reinterpret_cast<const char *>(&topology->connections[header.local_cntlr_count]);
    for (uint_t i = 0; i < header.local_cntlr_count; i++) {
        const rsm_connections_t *connection = topology->connections[i];
        EXPECT_GE(reinterpret_cast<const char *>(connection), end_of_pointers);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(connection) % 8, 0u);
        EXPECT_NE(std::strncmp(connection->hdr.cntlr_name, "loopback", 8), 0);
    }
    rsm_free_interconnect_topology(topology);
}

TEST(Controllers, C6_node_id_is_that_of_the_kernel_and_constant)
{
    const rsm_node_id_t node = local_node();
    EXPECT_LE(node, 64u);
    EXPECT_EQ(node, local_node());
}

TEST(Controllers, C3_many_gets_and_releases)
{
    in_child([] {
        for (int i = 0; i < 1000; i++) {
            rsmapi_controller_handle_t handle = get(i % 2 ? "loopback" : nullptr);
            EXPECT_EQ(rsm_release_controller(handle), RSM_SUCCESS);
        }
    });
}
