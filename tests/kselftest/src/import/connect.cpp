// SPDX-License-Identifier: GPL-2.0
// Connecting: I1, I3, I12, and disconnecting.
#include "support/loopback.hpp"
#include "support/unchanged.hpp"

#include <memory>
#include <string>
#include <sys/stat.h>

using namespace rsmtest;

namespace {

class ImportConnect : public PublishedTest {
protected:
    int connect(rsm_node_id_t node, rsm_memseg_id_t id, rsm_permission_t permission)
    {
        auto handle = reinterpret_cast<rsm_memseg_import_handle_t>(0x1234);
        const int result = rsm_memseg_import_connect(ctl, node, id, permission, &handle);
        if (result == RSM_SUCCESS) {
            EXPECT_EQ(rsm_memseg_import_disconnect(handle), RSM_SUCCESS);
        } else {
            EXPECT_EQ(handle, nullptr);
        }
        return result;
    }
};

// Rights that alice may ask for: a set of letters out of r, w and b (both).
std::string rights_of_alice(rsm_memseg_id_t id)
{
    std::string rights;
    Child child(alice(), [&](Link &link) {
        Controller controller;
        std::uint64_t bits = 0;
        for (const rsm_permission_t wanted : {0400u, 0200u, 0600u})
            bits = bits << 1 |
                   (ImportSegment(controller, id, wanted).status() == RSM_SUCCESS ? 1 : 0);
        link.send(bits);
    });
    const std::uint64_t bits = child.receive();
    child.expect_success();
    if (bits & 4)
        rights += 'r';
    if (bits & 2)
        rights += 'w';
    if (bits & 1)
        rights += 'b';
    return rights;
}

} // namespace

TEST_F(ImportConnect, I1_argument_errors_in_order)
{
    Unchanged unchanged;
    const rsm_node_id_t node = local_node();
    rsm_memseg_import_handle_t handle = nullptr;
    EXPECT_EQ(rsm_memseg_import_connect(nullptr, node + 1, 0, 0100, nullptr), RSMERR_BAD_CTLR_HNDL);
    EXPECT_EQ(rsm_memseg_import_connect(nullptr, node, seg.id(), RSM_PERM_RDWR, &handle),
              RSMERR_BAD_CTLR_HNDL);
    EXPECT_EQ(rsm_memseg_import_connect(ctl, node + 1, 0, 0100, nullptr), RSMERR_BAD_SEG_HNDL);
    for (const rsm_permission_t permission : {0100u, 01u, 0444u, 0666u, 0700u, 01600u, ~0u})
        EXPECT_EQ(connect(node + 1, 0x600099, permission), RSMERR_PERM_DENIED) << permission;
    EXPECT_EQ(connect(node + 1, seg.id(), RSM_PERM_RDWR), RSMERR_CTLR_NOT_PRESENT);
    EXPECT_EQ(connect(~0u, seg.id(), RSM_PERM_RDWR), RSMERR_CTLR_NOT_PRESENT);
    EXPECT_EQ(connect(node + 1, 0x600099, RSM_PERM_RDWR), RSMERR_CTLR_NOT_PRESENT);
    for (const rsm_memseg_id_t id : {0u, 1u, 0x600099u, 0xFFFFFFFFu})
        EXPECT_EQ(connect(node, id, RSM_PERM_RDWR), RSMERR_SEG_NOT_PUBLISHED) << id;
    EXPECT_EQ(connect(node, seg.id(), RSM_PERM_RDWR), RSM_SUCCESS);
}

TEST_F(ImportConnect, I1_access_list_that_grants_nothing)
{
    rsmapi_access_entry_t nothing{local_node(), 0};
    ASSERT_EQ(rsm_memseg_export_republish(seg, &nothing, 1), RSM_SUCCESS);
    in_child_as(alice(), [&] {
        Controller controller;
        for (const rsm_permission_t permission : {0400u, 0200u, 0600u})
            EXPECT_EQ(ImportSegment(controller, seg.id(), permission).status(), RSMERR_PERM_DENIED);
        EXPECT_EQ(ImportSegment(controller, seg.id(), RSM_PERM_NONE).status(), RSM_SUCCESS);
    });
}

TEST_F(ImportConnect, I1_perm_none_can_post_but_not_touch_data)
{
    ImportSegment imported(ctl, seg.id(), RSM_PERM_NONE);
    ASSERT_EQ(imported.status(), RSM_SUCCESS);
    ASSERT_EQ(imported.init_barrier(), RSM_SUCCESS);
    std::uint64_t value = 0;
    EXPECT_EQ(imported.put64(0, 1), RSMERR_PERM_DENIED);
    EXPECT_EQ(imported.get64(0, &value), RSMERR_PERM_DENIED);
    EXPECT_EQ(imported.map(page_size(), 0, RSM_PERM_READ), RSMERR_BAD_PERMS);
    EXPECT_EQ(rsm_intr_signal_post(static_cast<rsm_memseg_import_handle_t>(imported), 0),
              RSM_SUCCESS);
    EXPECT_EQ(rsm_intr_signal_wait(static_cast<rsm_memseg_export_handle_t>(seg), 0), RSM_SUCCESS);
}

TEST_F(ImportConnect, I1_after_unpublish)
{
    ASSERT_EQ(seg.unpublish(), RSM_SUCCESS);
    EXPECT_EQ(connect(local_node(), seg.id(), RSM_PERM_RDWR), RSMERR_SEG_NOT_PUBLISHED);
    ASSERT_EQ(seg.publish(seg.id() >= 0x80000000u ? 0 : seg.id()), RSM_SUCCESS);
    EXPECT_EQ(connect(local_node(), seg.id(), RSM_PERM_RDWR), RSM_SUCCESS);
}

TEST_F(ImportConnect, I1_handles_of_the_wrong_kind)
{
    ImportSegment imported(ctl, seg.id());
    ASSERT_EQ(imported.status(), RSM_SUCCESS);
    auto as_export = reinterpret_cast<rsm_memseg_export_handle_t>(
        static_cast<rsm_memseg_import_handle_t>(imported));
    auto as_import = reinterpret_cast<rsm_memseg_import_handle_t>(
        static_cast<rsm_memseg_export_handle_t>(seg));
    rsm_memseg_id_t id = 0;
    std::uint64_t value = 0;
    void *address = nullptr;
    EXPECT_EQ(rsm_memseg_export_publish(as_export, &id, nullptr, 0), RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(rsm_memseg_export_destroy(as_export), RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(rsm_memseg_import_disconnect(as_import), RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(rsm_memseg_import_get64(as_import, 0, &value, 1), RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(rsm_memseg_import_map(as_import, &address, RSM_MAP_NONE, RSM_PERM_READ, 0, 8),
              RSMERR_BAD_SEG_HNDL);
}

TEST_F(ImportConnect, I3_umask_defaults)
{
    // alice is neither owner nor group of a segment made by root.
    struct Case {
        mode_t mask;
        const char *rights;
    };
    for (const Case &c : {Case{022, "r"}, Case{077, ""}, Case{027, ""}, Case{0, "rwb"},
                          Case{024, "w"}}) {
        const mode_t before = umask(c.mask);
        Pages pages(1);
        ExportSegment other(ctl, pages);
        umask(before);
        ASSERT_EQ(other.publish(), RSM_SUCCESS);
        EXPECT_EQ(rights_of_alice(other.id()), c.rights) << std::oct << c.mask;
    }
}

TEST_F(ImportConnect, I3_umask_of_creation_counts)
{
    const mode_t before = umask(022);
    Pages pages(1);
    ExportSegment other(ctl, pages);
    umask(077);
    ASSERT_EQ(other.publish(), RSM_SUCCESS);
    umask(before);
    EXPECT_EQ(rights_of_alice(other.id()), "r");
    // A list replaces the default, no list brings it back.
    rsmapi_access_entry_t all{local_node(), 0666};
    ASSERT_EQ(rsm_memseg_export_republish(other, &all, 1), RSM_SUCCESS);
    EXPECT_EQ(rights_of_alice(other.id()), "rwb");
    ASSERT_EQ(rsm_memseg_export_republish(other, nullptr, 0), RSM_SUCCESS);
    EXPECT_EQ(rights_of_alice(other.id()), "r");
}

TEST_F(ImportConnect, I12_own_process_and_many_handles)
{
    std::vector<std::unique_ptr<ImportSegment>> handles;
    for (int i = 0; i < 50; i++) {
        handles.push_back(std::make_unique<ImportSegment>(ctl, seg.id()));
        ASSERT_EQ(handles.back()->status(), RSM_SUCCESS);
        ASSERT_EQ(handles.back()->map(memory.size()), RSM_SUCCESS);
    }
    for (std::size_t i = 0; i < handles.size(); i++) {
        handles[i]->at(8) = i;
        EXPECT_EQ(memory.at(8), i);
        EXPECT_EQ(handles[handles.size() - 1 - i]->at(8), i);
    }
}

TEST_F(ImportConnect, I12_exporters_stores_are_seen_at_once)
{
    ImportSegment imported(ctl, seg.id());
    ASSERT_EQ(imported.map(memory.size()), RSM_SUCCESS);
    for (std::size_t at = 0; at < memory.size(); at += 1024) {
        memory.at(at) = at + 1;
        EXPECT_EQ(imported.at(at), at + 1);
        imported.at(at) = at + 2;
        EXPECT_EQ(memory.at(at), at + 2);
    }
}
