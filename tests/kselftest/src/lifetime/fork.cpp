// SPDX-License-Identifier: GPL-2.0
// fork and the exported pages; descriptors closed behind the library's back;
// private pages after the end.
#include "support/loopback.hpp"
#include "support/unchanged.hpp"

#include <fcntl.h>
#include <unistd.h>

using namespace rsmtest;

namespace {

using Fork = PublishedTest;

} // namespace

TEST_F(Fork, exported_pages_stay_with_the_creator)
{
    ImportSegment h(ctl, seg.id());
    ASSERT_EQ(h.map(memory.size()), RSM_SUCCESS);
    for (std::size_t at = 0; at < memory.size(); at += page_size())
        memory.at(at) = 1;
    Child child([&](Link &link) {
        memory.at(0) = 500; // the child's copy
        link.send();
        link.receive();
        EXPECT_EQ(memory.at(page_size()), 1u) << "the child's copy is not a copy";
    });
    child.receive();
    for (std::size_t at = 0; at < memory.size(); at += page_size()) {
        EXPECT_EQ(h.at(at), 1u);
        memory.at(at) = 2;
        EXPECT_EQ(h.at(at), 2u) << "a write after fork left the exported page";
        h.at(at) = 3;
        EXPECT_EQ(memory.at(at), 3u);
    }
    child.send();
    child.expect_success();
    memory.at(8) = 4;
    EXPECT_EQ(h.at(8), 4u);
}

TEST_F(Fork, importers_do_not_share_their_stray_stores)
{
    // Two processes with a connection each: after the abort, what one stores
    // is nothing the other sees.
    const auto importer = [&](Link &link) {
        Controller own;
        ImportSegment h(own, seg.id());
        ASSERT_EQ(h.map(memory.size()), RSM_SUCCESS);
        h.at(64) = 1;
        link.send();
        link.receive();
        EXPECT_EQ(h.at(64), 0u);
        h.at(64) = static_cast<std::uint64_t>(getpid());
        link.send();
        link.receive();
        EXPECT_EQ(h.at(64), static_cast<std::uint64_t>(getpid()));
        EXPECT_EQ(h.at(72), 0u);
    };
    Child first(importer);
    Child second(importer);
    first.receive();
    second.receive();
    ASSERT_EQ(seg.unpublish(), RSM_SUCCESS);
    for (Child *child : {&first, &second}) {
        child->send();
        child->receive();
    }
    for (Child *child : {&first, &second}) {
        child->send();
        child->expect_success();
    }
    EXPECT_EQ(memory.at(64), 1u);
}

TEST_F(Fork, importer_killed_while_mapped)
{
    Child importer([&](Link &link) {
        Controller own;
        ImportSegment h(own, seg.id());
        ASSERT_EQ(h.map(memory.size()), RSM_SUCCESS);
        link.send();
        for (;;)
            h.at(0) = h.at(0) + 1;
    });
    importer.receive();
    EXPECT_TRUE(eventually([&] { return memory.at(0) > 1000; }));
    importer.kill();
    EXPECT_EQ(seg.unpublish(), RSM_SUCCESS);
}

TEST_F(Fork, child_uses_the_library_afresh)
{
    in_child([&] {
        Controller own;
        Pages pages(1);
        ExportSegment other(own, pages);
        ASSERT_EQ(other.publish(), RSM_SUCCESS);
        ImportSegment h(own, other.id());
        ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
        EXPECT_EQ(h.put64(0, 4), RSM_SUCCESS);
        EXPECT_EQ(pages.at(), 4u);
        EXPECT_EQ(rsm_intr_signal_post(static_cast<rsm_memseg_import_handle_t>(h), 0), RSM_SUCCESS);
        EXPECT_EQ(rsm_intr_signal_wait(static_cast<rsm_memseg_export_handle_t>(other), 0),
                  RSM_SUCCESS);
        in_child([&] { EXPECT_EQ(h.put64(8, 5), RSM_SUCCESS) << "a grandchild"; });
        EXPECT_EQ(pages.at(8), 5u);
    });
}

TEST_F(Fork, one_event_is_consumed_once_by_parent_and_child)
{
    ImportSegment h(ctl, seg.id());
    auto *exported = static_cast<rsm_memseg_export_handle_t>(seg);
    auto *handle = static_cast<rsm_memseg_import_handle_t>(h);
    EXPECT_EQ(rsm_intr_signal_wait(exported, 0), RSMERR_TIMEOUT);
    Child child([&](Link &link) {
        link.receive();
        EXPECT_EQ(rsm_intr_signal_wait(exported, 0), RSM_SUCCESS);
        EXPECT_EQ(rsm_intr_signal_wait(exported, 0), RSMERR_TIMEOUT);
        link.send();
        link.receive();
        EXPECT_EQ(rsm_intr_signal_wait(exported, 0), RSMERR_TIMEOUT) << "the parent had it";
    });
    EXPECT_EQ(rsm_intr_signal_post(handle, 0), RSM_SUCCESS);
    child.send();
    child.receive();
    EXPECT_EQ(rsm_intr_signal_wait(exported, 0), RSMERR_TIMEOUT) << "the child had it";
    EXPECT_EQ(rsm_intr_signal_post(handle, 0), RSM_SUCCESS);
    EXPECT_EQ(rsm_intr_signal_wait(exported, 0), RSM_SUCCESS);
    child.send();
    child.expect_success();
}

TEST_F(Fork, descriptors_are_close_on_exec)
{
    ImportSegment h(ctl, seg.id());
    const int imported = descriptor_of(static_cast<rsm_memseg_import_handle_t>(h));
    const int exported = descriptor_of(static_cast<rsm_memseg_export_handle_t>(seg));
    for (const int fd : {imported, exported})
        EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
}

TEST_F(Fork, descriptors_closed_behind_the_library)
{
    Unchanged unchanged;
    in_child([] {
        Controller own;
        Pages pages(2);
        ExportSegment other(own, pages, RSM_ALLOW_REBIND);
        ASSERT_EQ(other.publish(), RSM_SUCCESS);
        ImportSegment h(own, other.id());
        ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
        ASSERT_EQ(h.put64(0, 1), RSM_SUCCESS);
        auto *handle = static_cast<rsm_memseg_import_handle_t>(h);
        auto *exported = static_cast<rsm_memseg_export_handle_t>(other);
        for (int fd = 3; fd < 1024; fd++)
            close(fd);
        // Anything but a crash, a hang or a raw errno.
        const auto sane = [](int result) {
            EXPECT_TRUE((result >= 0 && result <= 45) || result == RSMERR_INTERNAL_ERROR ||
                        result == RSMERR_BAD_ARGS_ERRORS)
                << result;
            EXPECT_NE(result, 9) << "EBADF itself";
        };
        std::uint64_t value = 0;
        rsm_memseg_id_t id = 0;
        sane(h.put64(0, 2));
        sane(h.get64(0, &value));
        sane(rsm_intr_signal_post(handle, 0));
        sane(rsm_intr_signal_post(exported, 0));
        sane(rsm_intr_signal_wait(exported, 10));
        sane(rsm_memseg_import_order_barrier(h.barrier()));
        sane(rsm_memseg_export_unpublish(exported));
        sane(rsm_memseg_export_publish(exported, &id, nullptr, 0));
        sane(rsm_memseg_export_rebind(exported, pages.data(), 0, pages.size()));
        sane(rsm_memseg_import_unmap(handle));
        void *address = nullptr;
        sane(rsm_memseg_import_map(handle, &address, RSM_MAP_NONE, RSM_PERM_READ, 0, 8));
        ExportSegment more(own, pages);
        sane(more.status());
    });
}

TEST_F(Fork, descriptors_replaced_behind_the_library)
{
    Unchanged unchanged;
    in_child([] {
        Controller own;
        Pages pages(2);
        ExportSegment other(own, pages);
        ASSERT_EQ(other.publish(), RSM_SUCCESS);
        ImportSegment h(own, other.id());
        auto *handle = static_cast<rsm_memseg_import_handle_t>(h);
        auto *exported = static_cast<rsm_memseg_export_handle_t>(other);
        const Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
        // The two swap their meaning, then become something else altogether.
        dup2(descriptor_of(handle), descriptor_of(exported));
        EXPECT_NE(rsm_memseg_export_unpublish(exported), RSM_SUCCESS);
        dup2(null.get(), descriptor_of(exported));
        dup2(null.get(), descriptor_of(handle));
        EXPECT_NE(rsm_memseg_export_unpublish(exported), RSM_SUCCESS);
        EXPECT_NE(rsm_intr_signal_wait(handle, 10), RSM_SUCCESS);
        std::byte data[8] = {};
        h.init_barrier();
        EXPECT_NE(rsm_memseg_import_put(handle, 0, data, sizeof(data)), RSM_SUCCESS);
    });
}
