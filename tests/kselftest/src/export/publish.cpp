// SPDX-License-Identifier: GPL-2.0
// Publishing, republishing, unpublishing, destroying: E4 to E9, E12, E13.
#include "support/loopback.hpp"
#include "support/unchanged.hpp"

using namespace rsmtest;

namespace {

class ExportPublish : public LoopbackTest {
protected:
    Pages memory{2};
    ExportSegment seg{ctl, memory};
    rsm_node_id_t node = local_node();

    void SetUp() override
    {
        LoopbackTest::SetUp();
        ASSERT_EQ(seg.status(), RSM_SUCCESS);
    }
    int connect(rsm_memseg_id_t id, rsm_permission_t permission = RSM_PERM_READ)
    {
        return ImportSegment(ctl, id, permission).status();
    }
};

} // namespace

TEST_F(ExportPublish, E4_publish_assigns_an_id)
{
    ASSERT_EQ(seg.publish(0), RSM_SUCCESS);
    EXPECT_GE(seg.id(), static_cast<rsm_memseg_id_t>(RSM_USER_APP_ID_BASE));
    EXPECT_EQ(connect(seg.id()), RSM_SUCCESS);
    ExportSegment other(ctl, memory);
    ASSERT_EQ(other.publish(0), RSM_SUCCESS);
    EXPECT_GE(other.id(), static_cast<rsm_memseg_id_t>(RSM_USER_APP_ID_BASE));
    EXPECT_NE(other.id(), seg.id());
}

TEST_F(ExportPublish, E4_publish_ids)
{
    for (const rsm_memseg_id_t id : {0x400000u, 0x4FFFFFu, 0x500000u, 0x600000u, 0x7FFFFFFFu}) {
        ASSERT_EQ(seg.publish(id), RSM_SUCCESS) << std::hex << id;
        EXPECT_EQ(seg.id(), id);
        EXPECT_EQ(connect(id), RSM_SUCCESS);
        ASSERT_EQ(seg.unpublish(), RSM_SUCCESS);
        EXPECT_EQ(connect(id), RSMERR_SEG_NOT_PUBLISHED);
    }
}

TEST_F(ExportPublish, E4_reserved_ids)
{
    Unchanged unchanged;
    for (const rsm_memseg_id_t id : {1u, 0x0FFFFFu, 0x100000u, 0x1FFFFFu, 0x200000u, 0x2FFFFFu,
                                     0x300000u, 0x3FFFFFu, 0x80000000u, 0x80000001u, 0xFFFFFFFFu}) {
        EXPECT_EQ(seg.publish(id), RSMERR_RESERVED_SEGID) << std::hex << id;
        EXPECT_EQ(seg.id(), id);
        EXPECT_EQ(connect(id), RSMERR_SEG_NOT_PUBLISHED);
    }
    EXPECT_EQ(seg.publish(0x600000), RSM_SUCCESS) << "not BOUND after the failures";
    EXPECT_EQ(seg.unpublish(), RSM_SUCCESS);
}

TEST_F(ExportPublish, E4_argument_errors_in_order)
{
    Unchanged unchanged;
    rsm_memseg_id_t id = 1;
    EXPECT_EQ(rsm_memseg_export_publish(nullptr, nullptr, nullptr, 1), RSMERR_BAD_SEGID);
    EXPECT_EQ(rsm_memseg_export_publish(seg, nullptr, nullptr, 0), RSMERR_BAD_SEGID);
    EXPECT_EQ(rsm_memseg_export_publish(nullptr, &id, nullptr, 1), RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(rsm_memseg_export_publish(seg, &id, nullptr, 1), RSMERR_BAD_ACL);
    EXPECT_EQ(rsm_memseg_export_publish(seg, &id, nullptr, 0), RSMERR_RESERVED_SEGID);
}

TEST_F(ExportPublish, E5_id_in_use)
{
    ASSERT_EQ(seg.publish(0x600010), RSM_SUCCESS);
    ExportSegment other(ctl, memory);
    EXPECT_EQ(other.publish(0x600010), RSMERR_SEGID_IN_USE);
    EXPECT_EQ(other.id(), 0x600010u);
    EXPECT_EQ(other.publish(0x600011), RSM_SUCCESS);
    EXPECT_EQ(other.unpublish(), RSM_SUCCESS);
    EXPECT_EQ(seg.unpublish(), RSM_SUCCESS);
    EXPECT_EQ(other.publish(0x600010), RSM_SUCCESS);
    EXPECT_EQ(seg.publish(0x600010), RSMERR_SEGID_IN_USE);
}

TEST_F(ExportPublish, E5_id_in_use_by_another_process)
{
    ASSERT_EQ(seg.publish(0x600010), RSM_SUCCESS);
    in_child_as(alice(), [] {
        Controller controller;
        Pages pages(1);
        ExportSegment other(controller, pages);
        ASSERT_EQ(other.status(), RSM_SUCCESS);
        EXPECT_EQ(other.publish(0x600010), RSMERR_SEGID_IN_USE);
        EXPECT_EQ(other.publish(0x600011), RSM_SUCCESS);
    });
    EXPECT_EQ(connect(0x600010), RSM_SUCCESS);
    EXPECT_EQ(connect(0x600011), RSMERR_SEG_NOT_PUBLISHED);
}

TEST_F(ExportPublish, E6_publish_twice)
{
    ASSERT_EQ(seg.publish(0x600010), RSM_SUCCESS);
    EXPECT_EQ(seg.publish(0x600010), RSMERR_SEG_ALREADY_PUBLISHED);
    EXPECT_EQ(seg.publish(0x600011), RSMERR_SEG_ALREADY_PUBLISHED);
    EXPECT_EQ(seg.publish(1), RSMERR_SEG_ALREADY_PUBLISHED) << "the state is checked first";
    rsm_memseg_id_t id = 0;
    EXPECT_EQ(rsm_memseg_export_publish(seg, &id, nullptr, 1), RSMERR_BAD_ACL)
        << "but after the list pointer";
    EXPECT_EQ(id, 0u);
    EXPECT_EQ(connect(0x600010), RSM_SUCCESS);
    EXPECT_EQ(connect(0x600011), RSMERR_SEG_NOT_PUBLISHED);
}

TEST_F(ExportPublish, E7_bad_access_lists)
{
    Unchanged unchanged;
    std::vector<rsmapi_access_entry_t> many(65, {node, 0666});
    rsmapi_access_entry_t one[2] = {{node, 0666}, {node, 0666}};
    struct Case {
        const char *what;
        rsmapi_access_entry_t *list;
        uint_t length;
        int result;
    };
    rsmapi_access_entry_t foreign{node + 1, 0666};
    rsmapi_access_entry_t far_away{65, 0666};
    rsmapi_access_entry_t maximal{~0u, 0666};
    rsmapi_access_entry_t too_much{node, 0667};
    rsmapi_access_entry_t way_too_much{node, ~0u};
    const Pages hole(2);
    ASSERT_EQ(mprotect(hole.data() + page_size(), page_size(), PROT_NONE), 0);
    auto *unreadable = hole.pointer<rsmapi_access_entry_t>(page_size());
    auto *half_readable = hole.pointer<rsmapi_access_entry_t>(page_size() - 4);
    const Case cases[] = {
        {"NULL with a length", nullptr, 1, RSMERR_BAD_ACL},
        {"NULL with a huge length", nullptr, ~0u, RSMERR_BAD_ACL},
        {"two entries", one, 2, RSMERR_BAD_ACL},
        {"65 entries", many.data(), 65, RSMERR_BAD_ACL},
        {"a huge length", one, 0x80000000u, RSMERR_BAD_ACL},
        {"a foreign node", &foreign, 1, RSMERR_BAD_ACL},
        {"node 65", &far_away, 1, RSMERR_BAD_ACL},
        {"the largest node", &maximal, 1, RSMERR_BAD_ACL},
        {"permission 0667", &too_much, 1, RSMERR_BAD_ACL},
        {"the largest permission", &way_too_much, 1, RSMERR_BAD_ACL},
        {"unreadable", unreadable, 1, RSMERR_BAD_ADDR},
        {"half readable", half_readable, 1, RSMERR_BAD_ADDR},
        {"unreadable and too long", unreadable, 2, RSMERR_BAD_ACL},
    };
    for (const Case &c : cases) {
        rsm_memseg_id_t id = 0x600010;
        EXPECT_EQ(rsm_memseg_export_publish(seg, &id, c.list, c.length), c.result) << c.what;
        EXPECT_EQ(connect(0x600010), RSMERR_SEG_NOT_PUBLISHED) << c.what;
    }
    ASSERT_EQ(seg.publish(0x600010, {{node, 0600}}), RSM_SUCCESS) << "still publishable";
    for (const Case &c : cases) {
        EXPECT_EQ(rsm_memseg_export_republish(seg, c.list, c.length), c.result) << c.what;
        EXPECT_EQ(connect(0x600010), RSM_SUCCESS) << c.what;
    }
    EXPECT_EQ(seg.unpublish(), RSM_SUCCESS);
}

TEST_F(ExportPublish, E7_access_lists_that_are_fine)
{
    rsm_memseg_id_t id = 0x600010;
    rsmapi_access_entry_t ignored{65, 07777};
    EXPECT_EQ(rsm_memseg_export_publish(seg, &id, &ignored, 0), RSM_SUCCESS)
        << "length 0 is no list";
    EXPECT_EQ(connect(id), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_export_republish(seg, &ignored, 0), RSM_SUCCESS);
    for (const rsm_permission_t permission : {0u, 0111u, 0400u, 0624u, 0666u}) {
        rsmapi_access_entry_t entry{node, permission};
        EXPECT_EQ(rsm_memseg_export_republish(seg, &entry, 1), RSM_SUCCESS) << std::oct << permission;
    }
}

TEST_F(ExportPublish, E8_operations_on_a_bound_segment)
{
    rsmapi_access_entry_t entry{node, 0666};
    EXPECT_EQ(rsm_memseg_export_republish(seg, &entry, 1), RSMERR_SEG_NOT_PUBLISHED);
    EXPECT_EQ(rsm_memseg_export_republish(seg, nullptr, 1), RSMERR_SEG_NOT_PUBLISHED)
        << "the state is checked before the list";
    EXPECT_EQ(seg.unpublish(), RSMERR_SEG_NOT_PUBLISHED);
    ASSERT_EQ(seg.publish(), RSM_SUCCESS);
    ASSERT_EQ(seg.unpublish(), RSM_SUCCESS);
    EXPECT_EQ(seg.unpublish(), RSMERR_SEG_NOT_PUBLISHED);
    EXPECT_EQ(rsm_memseg_export_republish(seg, &entry, 1), RSMERR_SEG_NOT_PUBLISHED);
    EXPECT_EQ(rsm_memseg_export_republish(nullptr, &entry, 1), RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(rsm_memseg_export_unpublish(nullptr), RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(rsm_memseg_export_destroy(nullptr), RSMERR_BAD_SEG_HNDL);
}

TEST_F(ExportPublish, E9_republish)
{
    ASSERT_EQ(seg.publish(0x600010, {{node, 0666}}), RSM_SUCCESS);
    Child importer(alice(), [&](Link &link) {
        Controller controller;
        ImportSegment old(controller, 0x600010);
        ASSERT_EQ(old.status(), RSM_SUCCESS);
        ASSERT_EQ(old.init_barrier(), RSM_SUCCESS);
        link.send();
        link.receive();
        EXPECT_EQ(ImportSegment(controller, 0x600010, RSM_PERM_READ).status(), RSMERR_PERM_DENIED);
        EXPECT_EQ(ImportSegment(controller, 0x600010, RSM_PERM_NONE).status(), RSM_SUCCESS);
        EXPECT_EQ(old.put64(0, 1), RSM_SUCCESS) << "the old connection keeps its rights";
        ASSERT_EQ(old.map(page_size()), RSM_SUCCESS);
        old.at(8) = 2;
        link.send();
        link.receive();
        EXPECT_EQ(ImportSegment(controller, 0x600010, RSM_PERM_READ).status(), RSM_SUCCESS);
    });
    importer.receive();
    rsmapi_access_entry_t nothing{node, 0};
    EXPECT_EQ(rsm_memseg_export_republish(seg, &nothing, 1), RSM_SUCCESS);
    importer.send();
    importer.receive();
    EXPECT_EQ(memory.at(0), 1u);
    EXPECT_EQ(memory.at(8), 2u);
    rsmapi_access_entry_t readable{node, 0444};
    EXPECT_EQ(rsm_memseg_export_republish(seg, &readable, 1), RSM_SUCCESS);
    importer.send();
    importer.expect_success();
}

TEST_F(ExportPublish, E12_destroy_while_published_and_imported)
{
    ASSERT_EQ(seg.publish(0x600010), RSM_SUCCESS);
    ImportSegment imported(ctl, 0x600010);
    ASSERT_EQ(imported.init_barrier(), RSM_SUCCESS);
    ASSERT_EQ(imported.put64(0, 1), RSM_SUCCESS);
    EXPECT_EQ(seg.destroy(), RSM_SUCCESS);
    EXPECT_EQ(imported.put64(0, 2), RSMERR_CONN_ABORTED);
    EXPECT_EQ(memory.at(0), 1u);
    EXPECT_EQ(connect(0x600010), RSMERR_SEG_NOT_PUBLISHED);
    ExportSegment other(ctl, memory);
    EXPECT_EQ(other.publish(0x600010), RSM_SUCCESS) << "the id is not free";
    EXPECT_EQ(imported.put64(0, 2), RSMERR_CONN_ABORTED) << "not sticky";
    EXPECT_EQ(memory.at(0), 1u);
}

TEST_F(ExportPublish, E13_pollfd_references)
{
    pollfd entry{};
    ASSERT_EQ(seg.publish(0x600010), RSM_SUCCESS);
    ImportSegment imported(ctl, 0x600010);
    ASSERT_EQ(imported.status(), RSM_SUCCESS);
    ASSERT_EQ(rsm_memseg_get_pollfd(seg, &entry), RSM_SUCCESS);
    ASSERT_EQ(rsm_memseg_get_pollfd(seg, &entry), RSM_SUCCESS);
    for (int references = 2; references > 0; references--) {
        EXPECT_EQ(rsm_memseg_export_destroy(seg), RSMERR_POLLFD_IN_USE);
        EXPECT_EQ(seg.unpublish(), RSMERR_POLLFD_IN_USE);
        EXPECT_EQ(connect(0x600010), RSM_SUCCESS) << "something changed";
        EXPECT_EQ(rsm_memseg_release_pollfd(seg), RSM_SUCCESS);
    }
    EXPECT_EQ(seg.unpublish(), RSM_SUCCESS);

    ASSERT_EQ(seg.publish(0x600010), RSM_SUCCESS);
    ImportSegment second(ctl, 0x600010);
    ASSERT_EQ(second.init_barrier(), RSM_SUCCESS);
    ASSERT_EQ(second.put64(0, 3), RSM_SUCCESS);
    ASSERT_EQ(rsm_memseg_get_pollfd(static_cast<rsm_memseg_import_handle_t>(second), &entry),
              RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_disconnect(second), RSMERR_POLLFD_IN_USE);
    EXPECT_EQ(second.put64(0, 4), RSM_SUCCESS) << "something changed";
    EXPECT_EQ(second.unmap(), RSM_SUCCESS) << "unmap is not held up";
    EXPECT_EQ(rsm_memseg_release_pollfd(static_cast<rsm_memseg_import_handle_t>(second)),
              RSM_SUCCESS);
    EXPECT_EQ(second.disconnect(), RSM_SUCCESS);
    EXPECT_EQ(seg.destroy(), RSM_SUCCESS);
}
