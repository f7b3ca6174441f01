// SPDX-License-Identifier: GPL-2.0
// The permission matrix: I2.
#include "support/loopback.hpp"
#include "support/raw.hpp"

#include <grp.h>
#include <unistd.h>

using namespace rsmtest;

namespace {

constexpr gid_t project = 4711;

// The exporter's snapshot: alice with the group "project".
const User exporter{1001, project, {}};

enum class Class { owner, group, other };

struct Importer {
    const char *what;
    User user;
    Class which;
};

const Importer importers[] = {
    {"the owner", {1001, 1001, {}}, Class::owner},
    {"the owner, also in the group", {1001, project, {project}}, Class::owner},
    {"effective group", {1002, project, {}}, Class::group},
    {"supplementary group", {1002, 1002, {5000, project}}, Class::group},
    {"somebody else", {1002, 1002, {5000}}, Class::other},
    {"nobody", {65534, 65534, {}}, Class::other},
};

bool allowed(rsm_permission_t mode, Class which, rsm_permission_t wanted)
{
    const unsigned shift = which == Class::owner ? 0 : which == Class::group ? 3 : 6;
    return (wanted & ~(mode << shift) & 0600) == 0;
}

// The uses that a connection with these rights allows a user who may read the segment, or may not.
void check_connection(ImportSegment &imported, rsm_permission_t rights, bool may_read)
{
    std::uint64_t value = 7;
    ASSERT_EQ(imported.init_barrier(), RSM_SUCCESS);
    EXPECT_EQ(imported.put64(0, 1), rights & 0200 ? RSM_SUCCESS : RSMERR_PERM_DENIED);
    EXPECT_EQ(imported.get64(0, &value), rights & 0400 ? RSM_SUCCESS : RSMERR_PERM_DENIED);
    for (const rsm_permission_t wanted : {0400u, 0200u, 0600u}) {
        const bool fine = (wanted & ~rights) == 0 && may_read;
        EXPECT_EQ(imported.map(page_size(), 0, wanted), fine ? RSM_SUCCESS : RSMERR_BAD_PERMS)
            << std::oct << wanted;
        if (fine) {
            EXPECT_EQ(imported.unmap(), RSM_SUCCESS);
        }
    }
}

class ImportPermissions : public testing::Test {
protected:
    void SetUp() override
    {
        if (geteuid() != 0)
            GTEST_SKIP() << "needs root to become other users";
    }
};

} // namespace

TEST_F(ImportPermissions, I2_matrix)
{
    for (const rsm_permission_t mode : {0600u, 0060u, 0006u, 0624u, 0400u, 0200u, 0666u, 0u}) {
        Child owner(exporter, [&](Link &link) {
            Controller controller;
            Pages pages(1);
            ExportSegment seg(controller, pages);
            ASSERT_EQ(seg.publish(0, {{local_node(), mode}}), RSM_SUCCESS);
            link.send(seg.id());
            link.receive();
        });
        const auto id = static_cast<rsm_memseg_id_t>(owner.receive());
        for (const Importer &importer : importers) {
            SCOPED_TRACE(testing::Message() << "mode " << std::oct << mode << ", " << importer.what);
            in_child_as(importer.user, [&] {
                Controller controller;
                for (const rsm_permission_t wanted : {0400u, 0200u, 0600u}) {
                    ImportSegment imported(controller, id, wanted);
                    const bool fine = allowed(mode, importer.which, wanted);
                    EXPECT_EQ(imported.status(), fine ? RSM_SUCCESS : RSMERR_PERM_DENIED)
                        << "asked for " << std::oct << wanted;
                    if (imported.status() == RSM_SUCCESS)
                        check_connection(imported, wanted,
                                         allowed(mode, importer.which, RSM_PERM_READ));
                }
                EXPECT_EQ(ImportSegment(controller, id, 0).status(), RSM_SUCCESS);
            });
        }
        // Root is not held up by the user check, and gets what it asked for.
        Controller controller;
        ImportSegment privileged(controller, id, RSM_PERM_RDWR);
        ASSERT_EQ(privileged.status(), RSM_SUCCESS);
        check_connection(privileged, RSM_PERM_RDWR, true);
        owner.send();
        owner.expect_success();
    }
}

// A child has the right to write, and no mapping that could be read; the kernel puts for it.
TEST_F(ImportPermissions, I2_a_child_of_a_writer_puts)
{
    Controller controller;
    Pages pages(1);
    ExportSegment seg(controller, pages);
    ASSERT_EQ(seg.publish(0, {{local_node(), 0666}}), RSM_SUCCESS);
    ImportSegment imported(controller, seg.id(), RSM_PERM_WRITE);
    ASSERT_EQ(imported.init_barrier(), RSM_SUCCESS);
    in_child([&] {
        std::uint64_t value = 0;
        EXPECT_EQ(imported.put64(0, 5), RSM_SUCCESS);
        EXPECT_EQ(imported.get64(0, &value), RSMERR_PERM_DENIED);
        EXPECT_EQ(imported.map(page_size(), 0, RSM_PERM_WRITE), RSMERR_BAD_PERMS);
        EXPECT_EQ(imported.put64(8, 6), RSM_SUCCESS);
    });
    EXPECT_EQ(pages.at(0), 5u);
    EXPECT_EQ(pages.at(8), 6u);
    EXPECT_EQ(imported.map(page_size(), 0, RSM_PERM_WRITE), RSM_SUCCESS);
}

TEST_F(ImportPermissions, I2_snapshot_is_taken_at_creation)
{
    // An exporter that changes its group after creation, before publication.
    Child owner([](Link &link) {
        ASSERT_EQ(setegid(project), 0);
        Controller controller;
        Pages pages(1);
        ExportSegment seg(controller, pages);
        ASSERT_EQ(setegid(0), 0);
        ASSERT_EQ(seg.publish(0, {{local_node(), 0060}}), RSM_SUCCESS);
        link.send(seg.id());
        link.receive();
    });
    const auto id = static_cast<rsm_memseg_id_t>(owner.receive());
    in_child_as({1002, project, {}}, [&] {
        Controller controller;
        EXPECT_EQ(ImportSegment(controller, id).status(), RSM_SUCCESS);
    });
    in_child_as({1002, 0, {}}, [&] {
        Controller controller;
        EXPECT_EQ(ImportSegment(controller, id).status(), RSMERR_PERM_DENIED);
    });
    owner.send();
    owner.expect_success();
}

TEST_F(ImportPermissions, I2_effective_not_real_ids_count)
{
    Child owner(exporter, [&](Link &link) {
        Controller controller;
        Pages pages(1);
        ExportSegment seg(controller, pages);
        ASSERT_EQ(seg.publish(0, {{local_node(), 0600}}), RSM_SUCCESS);
        link.send(seg.id());
        link.receive();
    });
    const auto id = static_cast<rsm_memseg_id_t>(owner.receive());
    in_child([&] {
        const gid_t groups[] = {rsm_group};
        ASSERT_EQ(setgroups(1, groups), 0);
        ASSERT_EQ(setresuid(1001, 1002, 1002), 0);
        Controller controller;
        EXPECT_EQ(ImportSegment(controller, id).status(), RSMERR_PERM_DENIED);
    });
    in_child([&] {
        const gid_t groups[] = {rsm_group};
        ASSERT_EQ(setgroups(1, groups), 0);
        ASSERT_EQ(setresuid(1002, 1001, 1002), 0);
        Controller controller;
        EXPECT_EQ(ImportSegment(controller, id).status(), RSM_SUCCESS);
    });
    owner.send();
    owner.expect_success();
}

TEST_F(ImportPermissions, I2_rights_stay_when_the_importer_drops_privileges)
{
    Controller controller;
    Pages pages(1);
    ExportSegment seg(controller, pages);
    ASSERT_EQ(seg.publish(0, {{local_node(), 0600}}), RSM_SUCCESS);
    in_child([&] {
        Controller own;
        ImportSegment imported(own, seg.id());
        ASSERT_EQ(imported.init_barrier(), RSM_SUCCESS);
        ASSERT_TRUE(become(alice()));
        EXPECT_EQ(imported.put64(0, 5), RSM_SUCCESS) << "rights are fixed at connect time";
        EXPECT_EQ(ImportSegment(own, seg.id()).status(), RSMERR_PERM_DENIED);
    });
}

TEST_F(ImportPermissions, I2_device_node_is_for_the_group_only)
{
    in_child([] {
        ASSERT_EQ(setgroups(0, nullptr), 0);
        ASSERT_EQ(setresgid(65534, 65534, 65534), 0);
        ASSERT_EQ(setresuid(65534, 65534, 65534), 0);
        const Fd handle = raw::open_segment();
        if (handle.valid())
            GTEST_SKIP() << "the device node is open to everybody here";
        Controller controller;
        EXPECT_EQ(controller.status(), RSMERR_CTLR_NOT_PRESENT);
    });
}
