// SPDX-License-Identifier: GPL-2.0
// Children of fork() that live on: one that never touches RSM, one that opens its own, and one that
// uses what it has inherited.
#include "support/loopback.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <optional>

using namespace rsmtest;

namespace {

constexpr rsm_memseg_id_t the_id = 0x600060;

// An exporter of its own, which serves until the test ends.
void serve_segment(Link &link)
{
    Controller controller;
    Pages pages(1);
    ExportSegment segment(controller, pages);
    ASSERT_EQ(segment.publish(), RSM_SUCCESS);
    link.send(segment.id());
    link.receive();
}

void wait_only(Link &link)
{
    link.receive();
}

class Children : public LoopbackTest {
protected:
    static void exchange(ImportSegment &connection, std::uint64_t value)
    {
        std::uint64_t got = 0;
        EXPECT_EQ(connection.put64(0, value), RSM_SUCCESS);
        EXPECT_EQ(connection.get64(0, &got), RSM_SUCCESS);
        EXPECT_EQ(got, value);
    }
    // A connection that can put and get.
    std::unique_ptr<ImportSegment> connect(rsm_memseg_id_t id)
    {
        auto connection = std::make_unique<ImportSegment>(ctl, id);
        EXPECT_EQ(connection->status(), RSM_SUCCESS);
        EXPECT_EQ(connection->init_barrier(), RSM_SUCCESS);
        return connection;
    }
};

} // namespace

TEST_F(Children, one_that_never_touches_rsm_keeps_no_export_alive)
{
    const Counters before = kernel_counters();
    ASSERT_FALSE(before.empty());
    Pages pages(1);
    std::optional<ExportSegment> segment(std::in_place, ctl, pages);
    ASSERT_EQ(segment->publish(the_id), RSM_SUCCESS);
    rsm_localmemory_handle_t local = nullptr;
    ASSERT_EQ(rsm_create_localmemory_handle(ctl, &local, reinterpret_cast<caddr_t>(pages.data()),
                                            pages.size()),
              RSM_SUCCESS);
    Child idle(wait_only);
    EXPECT_EQ(segment->destroy(), RSM_SUCCESS);
    EXPECT_EQ(rsm_free_localmemory_handle(ctl, local), RSM_SUCCESS);
    EXPECT_TRUE(eventually(
        [&] { return kernel_counters()["pinned_pages"] == before.at("pinned_pages"); }));
    // The id is free for others, and the parent goes on.
    segment.emplace(ctl, pages);
    EXPECT_EQ(segment->publish(the_id), RSM_SUCCESS);
    exchange(*connect(the_id), 5);
    idle.send();
    idle.expect_success();
    exchange(*connect(the_id), 6);
}

TEST_F(Children, one_that_never_touches_rsm_holds_the_connections_that_it_has_inherited)
{
    Child exporter(serve_segment);
    const auto id = static_cast<rsm_memseg_id_t>(exporter.receive());
    auto connection = connect(id);
    exchange(*connection, 3);
    const Counters connected = kernel_counters();
    Child idle(wait_only);
    EXPECT_EQ(connection->disconnect(), RSM_SUCCESS);
    EXPECT_EQ(kernel_counters(), connected) << "the child has the connection";
    exchange(*connect(id), 4);
    idle.send();
    idle.expect_success();
    EXPECT_TRUE(eventually([&] { return kernel_counters() != connected; }));
    exporter.send();
    exporter.expect_success();
}

TEST_F(Children, one_that_opens_its_own_is_a_process_like_any_other)
{
    Pages pages(1);
    std::optional<ExportSegment> segment(std::in_place, ctl, pages);
    ASSERT_EQ(segment->publish(), RSM_SUCCESS);
    auto inherited = connect(segment->id());
    exchange(*inherited, 1);
    Child child([&](Link &link) {
        Controller own;
        Pages its_pages(1);
        ExportSegment its_segment(own, its_pages);
        ASSERT_EQ(its_segment.publish(), RSM_SUCCESS);
        link.send(its_segment.id());
        ImportSegment to_parent(own, segment->id());
        ASSERT_EQ(to_parent.init_barrier(), RSM_SUCCESS);
        exchange(to_parent, 2);
        link.send();
        link.receive(); // the parent's segment has ended
        EXPECT_EQ(to_parent.put64(0, 7), RSMERR_CONN_ABORTED);
        EXPECT_EQ(its_pages.at(), 8u) << "what the parent has put";
        link.send();
        link.receive();
    });
    const auto its_id = static_cast<rsm_memseg_id_t>(child.receive());
    child.receive();
    EXPECT_EQ(pages.at(), 2u);
    auto to_child = connect(its_id);
    exchange(*to_child, 8);
    EXPECT_EQ(segment->destroy(), RSM_SUCCESS);
    child.send();
    child.receive();
    exchange(*to_child, 9);
    EXPECT_EQ(inherited->put64(0, 1), RSMERR_CONN_ABORTED);
    child.send();
    child.expect_success();
}

TEST_F(Children, one_that_uses_inherited_connections_goes_on_without_its_parent)
{
    Child exporter(serve_segment);
    const auto id = static_cast<rsm_memseg_id_t>(exporter.receive());
    auto connection = connect(id);
    exchange(*connection, 3);
    ASSERT_EQ(connection->map(page_size()), RSM_SUCCESS);
    Child child([&](Link &link) {
        link.receive(); // the parent has disconnected
        exchange(*connection, 4);
        EXPECT_EQ(connection->at(), 4u);
        EXPECT_EQ(rsm_intr_signal_post(static_cast<rsm_memseg_import_handle_t>(*connection), 0),
                  RSM_SUCCESS);
        EXPECT_EQ(connection->disconnect(), RSM_SUCCESS);
        link.send();
        link.receive();
    });
    EXPECT_EQ(connection->disconnect(), RSM_SUCCESS);
    child.send();
    child.receive();
    auto again = connect(id);
    std::uint64_t got = 0;
    EXPECT_EQ(again->get64(0, &got), RSM_SUCCESS);
    EXPECT_EQ(got, 4u);
    child.send();
    child.expect_success();
    exporter.send();
    exporter.expect_success();
}
