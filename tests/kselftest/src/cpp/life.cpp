// SPDX-License-Identifier: GPL-2.0
// <rsm/rsm.hpp>: what objects hold, how they end, and what they throw.
#include "cpp/cpp.hpp"
#include "support/child.hpp"
#include "support/system.hpp"

#include <optional>
#include <thread>

using namespace rsmtest;

namespace {

using CppLife = CppTest;

rsm::Export make(const rsm::Controller &controller, const rsm::Pages &memory)
{
    return rsm::Export(controller, memory.bytes());
}

// Objects that the kernel holds for this test, which is all that runs.
std::int64_t handles()
{
    return kernel_counters().at("handles");
}

} // namespace

// Whichever call comes last decides on the segment and on what id() says.
TEST_F(CppLife, the_id_is_that_of_the_segment_when_threads_publish_and_unpublish)
{
    for (int round = 0; round < 300; round++) {
        static_cast<void>(segment.try_unpublish());
        std::thread other([&] { static_cast<void>(segment.try_unpublish()); });
        segment.publish();
        other.join();
        const bool published = segment.id() != 0;
        EXPECT_EQ(segment.try_unpublish(), published ? std::error_code() : rsm::make_error_code(rsm::Errc::seg_not_published))
            << round;
    }
}

TEST_F(CppLife, objects_move_and_are_never_copied)
{
    static_assert(!std::is_copy_constructible_v<rsm::Export>);
    static_assert(!std::is_copy_assignable_v<rsm::Import>);
    static_assert(!std::is_copy_constructible_v<rsm::Mapping>);
    static_assert(std::is_nothrow_move_constructible_v<rsm::Export>);
    static_assert(std::is_nothrow_move_assignable_v<rsm::Import>);
    static_assert(std::is_nothrow_destructible_v<rsm::BarrierScope>);

    rsm::Import moved = std::move(connection);
    moved.store<std::uint64_t>(0, 5);
    EXPECT_EQ(words()[0], 5U);
    EXPECT_EQ(connection.handle(), nullptr); // NOLINT(bugprone-use-after-move)
    const rsm::SegmentId id = segment.id();
    EXPECT_NE(id, 0U);
    rsm::Export other = std::move(segment);
    EXPECT_EQ(other.id(), id);
    EXPECT_EQ(segment.id(), 0U); // NOLINT(bugprone-use-after-move)
    segment = std::move(other);
    EXPECT_EQ(segment.id(), id);
    EXPECT_EQ(other.id(), 0U); // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(connection.try_post(), rsm::Errc::bad_seg_hndl);
    EXPECT_EQ(thrown_by([&] { static_cast<void>(connection.map(page)); }), RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(thrown_by([&] { static_cast<void>(connection.barrier()); }), RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(thrown_by([&] { connection.disconnect(); }), RSMERR_BAD_SEG_HNDL);
}

TEST_F(CppLife, everything_goes_with_its_object)
{
    const auto before = handles();
    {
        const rsm::Pages other(page);
        const rsm::Pages scratch(page);
        rsm::Export published = make(loopback, other);
        rsm::Import importer(loopback, rsm::local_node(), published.publish());
        const rsm::LocalMemory local(loopback, scratch.bytes());
        EXPECT_EQ(handles(), before + 3);
    }
    EXPECT_EQ(handles(), before);
}

TEST_F(CppLife, descriptors_and_mappings_may_outlive_their_segment)
{
    const auto before = handles();
    std::optional<rsm::EventDescriptor> descriptor;
    std::optional<rsm::Mapping> mapping;
    {
        rsm::Import importer(loopback, rsm::local_node(), id);
        descriptor = importer.event_descriptor();
        mapping = importer.map(page);
        EXPECT_EQ(thrown_by([&] { importer.disconnect(); }), RSMERR_SEG_STILL_MAPPED);
    }
    EXPECT_EQ(handles(), before + 1);
    mapping->as<std::uint64_t>()[0] = 8;
    EXPECT_EQ(words()[0], 8U);
    mapping.reset();
    EXPECT_EQ(handles(), before + 1);
    descriptor.reset();
    EXPECT_EQ(handles(), before);
}

TEST_F(CppLife, an_end_that_tells_errors)
{
    {
        const auto descriptor = segment.event_descriptor();
        EXPECT_EQ(segment.try_unpublish(), rsm::Errc::pollfd_in_use);
        EXPECT_EQ(thrown_by([&] { segment.destroy(); }), RSMERR_POLLFD_IN_USE);
        EXPECT_EQ(segment.id(), id);
    }
    connection.disconnect();
    segment.unpublish();
    EXPECT_EQ(segment.id(), 0U);
    EXPECT_EQ(thrown_by([&] { segment.unpublish(); }), RSMERR_SEG_NOT_PUBLISHED);
    segment.destroy();
    EXPECT_EQ(thrown_by([&] { segment.destroy(); }), RSMERR_BAD_SEG_HNDL);
}

TEST_F(CppLife, pages_that_were_moved_from_are_empty)
{
    rsm::Pages first(page);
    const rsm::Pages second = std::move(first);
    EXPECT_EQ(second.bytes().size(), page);
    EXPECT_TRUE(first.bytes().empty());
    EXPECT_TRUE(first.as<int>().empty());
}

TEST_F(CppLife, access_lists)
{
    rsm::Pages other(page);
    rsm::Export guarded = make(loopback, other);
    EXPECT_EQ(thrown_by([&] { guarded.publish(0, {}); }), RSMERR_BAD_ACL) << "not everybody";
    const rsm::AccessEntry readers{rsm::local_node(), 0444};
    const auto published = guarded.publish(RSM_HPC_ID_BASE + 77, {&readers, 1});
    EXPECT_EQ(published, static_cast<rsm::SegmentId>(RSM_HPC_ID_BASE + 77));

    // Nobody asks root.
    const auto connect = [&] {
        rsm::Controller controller;
        return rsm::Import::try_connect(controller, rsm::local_node(), published).error();
    };
    in_child_as(bob(), [&] { EXPECT_EQ(connect(), rsm::Errc::perm_denied); });
    const rsm::AccessEntry all{rsm::local_node(), 0666};
    guarded.republish({&all, 1});
    in_child_as(bob(), [&] { EXPECT_EQ(connect(), std::error_code()); });
}

TEST_F(CppLife, other_memory_behind_a_segment)
{
    rsm::Pages other(4 * page);
    other.as<std::uint64_t>()[0] = 123;
    segment.rebind(other.bytes());
    EXPECT_EQ(connection.load<std::uint64_t>(0), 123U);
    segment.rebind(memory.bytes());
}

TEST_F(CppLife, errors_say_what_and_where)
{
    try {
        rsm::Import nobody(loopback, rsm::local_node(), RSM_HPC_ID_BASE + 1);
        FAIL() << "connected to nothing";
    } catch (const std::system_error &error) {
        EXPECT_EQ(error.code(), rsm::Errc::seg_not_published);
        EXPECT_STREQ(error.code().category().name(), "rsm");
        EXPECT_NE(std::string(error.what()).find("segment is not published"), std::string::npos);
    }
    auto absent = rsm::Controller::try_open("nosuch9");
    ASSERT_FALSE(absent);
    EXPECT_EQ(absent.error(), std::errc::no_such_device);
    EXPECT_EQ(thrown_by([&] { static_cast<void>(absent.value()); }), RSMERR_CTLR_NOT_PRESENT);
    EXPECT_EQ(thrown_by([&] { rsm::Export(loopback, memory.bytes().subspan(1)); }),
              RSMERR_BAD_MEM_ALIGNMENT);
    EXPECT_EQ(rsm::Export::try_create(loopback, {}).error(), rsm::Errc::bad_addr);
}

TEST_F(CppLife, topology_and_attributes)
{
    const rsm::Topology topology;
    EXPECT_EQ(topology.local_node(), rsm::local_node());
    for (const auto *controller : topology.controllers()) {
        EXPECT_NE(controller->hdr.cntlr_name[0], '\0');
        EXPECT_EQ(rsm::Topology::paths(*controller).size(),
                  static_cast<std::size_t>(controller->hdr.remote_cntlr_count));
    }
    EXPECT_EQ(loopback.attributes().attr_page_size, page);
}
