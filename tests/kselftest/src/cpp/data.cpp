// SPDX-License-Identifier: GPL-2.0
// <rsm/rsm.hpp>: put, get, scatter-gather, mappings and barriers.
#include "cpp/cpp.hpp"

#include <array>
#include <numeric>
#include <vector>

using namespace rsmtest;

namespace {

using CppData = CppTest;

// An item of this width there and back; how the other side sees it is in the bytes of memory.
template <class T>
void expect_item(rsm::Import &connection, rsm::Pages &memory, T item)
{
    const std::size_t offset = 8 * sizeof(T);
    connection.store(offset, item);
    EXPECT_EQ(memory.as<T>()[8], item);
    EXPECT_EQ(connection.load<T>(offset), item);
}

// A get does not write to constant items.
template <class Items>
concept Receives = requires(rsm::Import &connection, Items items) {
    connection.get(0, static_cast<Items>(items));
    connection.try_get(0, static_cast<Items>(items));
};
using Words = std::array<std::uint32_t, 4>;
static_assert(Receives<Words &> && Receives<std::span<std::uint32_t>> && Receives<std::vector<int> &>);
static_assert(!Receives<const Words &> && !Receives<std::span<const std::uint32_t>> &&
              !Receives<const std::vector<int> &>);

} // namespace

TEST_F(CppData, items_of_each_width)
{
    expect_item<std::uint8_t>(connection, memory, 0xa5);
    expect_item<std::int16_t>(connection, memory, -1234);
    expect_item<std::uint32_t>(connection, memory, 0xdeadbeef);
    expect_item<std::int64_t>(connection, memory, -1);
    expect_item<double>(connection, memory, 3.5);
}

TEST_F(CppData, ranges_of_items)
{
    std::vector<std::uint32_t> sent(100);
    std::iota(sent.begin(), sent.end(), 7U);
    connection.put(page, sent);
    std::array<std::uint32_t, 100> received{};
    connection.get(page, received);
    EXPECT_TRUE(std::ranges::equal(sent, received));
    EXPECT_TRUE(std::ranges::equal(sent, memory.as<std::uint32_t>().subspan(page / 4, 100)));
}

TEST_F(CppData, bytes_need_no_alignment)
{
    const std::array sent{std::byte{1}, std::byte{2}, std::byte{3}};
    connection.put_bytes(4097, sent);
    EXPECT_EQ(memory.bytes()[4099], std::byte{3});
    std::array<std::byte, 3> received{};
    connection.get_bytes(4097, received);
    EXPECT_EQ(sent, received);
}

TEST_F(CppData, errors_of_put_and_get)
{
    const std::size_t end = 4 * page;
    std::uint64_t word = 0;
    EXPECT_EQ(thrown_by([&] { connection.store(end, word); }), RSMERR_BAD_OFFSET);
    EXPECT_EQ(thrown_by([&] { connection.store(4, word); }), RSMERR_BAD_MEM_ALIGNMENT);
    EXPECT_EQ(thrown_by([&] { connection.store(SIZE_MAX - 7, word); }), RSMERR_BAD_OFFSET);
    EXPECT_EQ(thrown_by([&] { word = connection.load<std::uint64_t>(end); }), RSMERR_BAD_OFFSET);
    EXPECT_EQ(connection.try_put(end, std::span(&word, 1)), rsm::Errc::bad_offset);
    EXPECT_EQ(connection.try_get(0, std::span(&word, 1)), std::error_code());
}

TEST_F(CppData, rights_of_the_connection)
{
    rsm::Import reader(loopback, rsm::local_node(), id, rsm::Access::read);
    words()[0] = 11;
    EXPECT_EQ(reader.load<std::uint64_t>(0), 11U);
    EXPECT_EQ(reader.try_put(0, std::array{1}), rsm::Errc::perm_denied);
    EXPECT_EQ(reader.try_put(0, std::array{1}), std::errc::permission_denied);
    EXPECT_EQ(thrown_by([&] { static_cast<void>(reader.map(page)); }), RSMERR_BAD_PERMS);
    EXPECT_EQ(reader.map_read(page).as<std::uint64_t>()[0], 11U);
}

TEST_F(CppData, pieces_by_address_and_by_handle)
{
    rsm::Pages local(2 * page);
    const rsm::LocalMemory prepared(loopback, local.bytes());
    local.as<std::uint64_t>()[0] = 1;
    local.as<std::uint64_t>()[page / 8] = 2;
    const std::array pieces{rsm::piece(local.bytes().first(8), 3 * page),
                            rsm::piece(prepared, page, 8, 16)};
    connection.putv(pieces);
    EXPECT_EQ(words()[3 * page / 8], 1U);
    EXPECT_EQ(words()[2], 2U);

    words()[2] = 20;
    connection.getv(pieces);
    EXPECT_EQ(local.as<std::uint64_t>()[page / 8], 20U);
}

TEST_F(CppData, what_is_left_of_a_bad_request)
{
    const std::array pieces{rsm::piece(memory.bytes().first(8), 0),
                            rsm::piece(memory.bytes().first(8), 4 * page + 8)};
    const auto result = connection.try_putv(pieces);
    EXPECT_EQ(result.error, rsm::Errc::bad_offset);
    EXPECT_EQ(result.residual, 2U);
    EXPECT_EQ(connection.try_getv({}).error, rsm::Errc::bad_sgio);
    EXPECT_EQ(thrown_by([&] { connection.putv({}); }), RSMERR_BAD_SGIO);
}

TEST_F(CppData, a_mapping_is_the_segment)
{
    const auto mapping = connection.map(2 * page, page);
    ASSERT_EQ(mapping.bytes().size(), 2 * page);
    mapping.as<std::uint64_t>()[0] = 77;
    EXPECT_EQ(words()[page / 8], 77U);
    EXPECT_EQ(thrown_by([&] { static_cast<void>(connection.map(page)); }),
              RSMERR_SEG_ALREADY_MAPPED);
    EXPECT_EQ(connection.try_put(0, std::array{1}), rsm::Errc::bad_offset) << "outside the part";
}

TEST_F(CppData, a_mapping_ends_with_its_object)
{
    {
        auto first = connection.map(page);
        auto second = std::move(first);
        EXPECT_EQ(second.bytes().size(), page);
        EXPECT_TRUE(first.bytes().empty()); // NOLINT(bugprone-use-after-move)
        EXPECT_EQ(thrown_by([&] { connection.disconnect(); }), RSMERR_SEG_STILL_MAPPED);
    }
    auto mapping = connection.map_read(page);
    mapping = rsm::Import(loopback, rsm::local_node(), id).map_read(2 * page);
    EXPECT_EQ(mapping.bytes().size(), 2 * page) << "a mapping keeps its connection";
    words()[5] = 55;
    EXPECT_EQ(mapping.as<std::uint64_t>()[5], 55U);
    EXPECT_EQ(connection.map(page).bytes().size(), page) << "the first one is free again";
}

TEST_F(CppData, a_scope_orders_and_confirms)
{
    rsm_barrier_mode_t mode{};
    {
        auto scope = connection.barrier();
        connection.store<std::uint64_t>(0, 1);
        scope.order();
        connection.store<std::uint64_t>(8, 2);
        EXPECT_EQ(rsm_memseg_import_get_mode(connection.handle(), &mode), RSM_SUCCESS);
        EXPECT_EQ(mode, RSM_BARRIER_MODE_EXPLICIT);
        scope.close();
        EXPECT_EQ(scope.try_close(), rsm::Errc::bad_barrier_ptr) << "closed twice";
    }
    EXPECT_EQ(words()[0] + words()[1], 3U);
    EXPECT_EQ(rsm_memseg_import_get_mode(connection.handle(), &mode), RSM_SUCCESS);
    EXPECT_EQ(mode, RSM_BARRIER_MODE_IMPLICIT);
    connection.store<std::uint64_t>(0, 9);
}

TEST_F(CppData, scopes_overlap)
{
    const auto open = [&] { return std::unique_ptr<rsm::BarrierScope>(new rsm::BarrierScope(connection.barrier())); };
    auto first = open();
    auto second = open();
    connection.store<std::uint64_t>(0, 1);
    first->close();
    rsm_barrier_mode_t mode{};
    EXPECT_EQ(rsm_memseg_import_get_mode(connection.handle(), &mode), RSM_SUCCESS);
    EXPECT_EQ(mode, RSM_BARRIER_MODE_EXPLICIT) << "the second one is still open";
    second->order();
    second.reset();
    EXPECT_EQ(rsm_memseg_import_get_mode(connection.handle(), &mode), RSM_SUCCESS);
    EXPECT_EQ(mode, RSM_BARRIER_MODE_IMPLICIT);
    connection.store<std::uint64_t>(0, 9);
    segment.unpublish();
    EXPECT_EQ(thrown_by([&] { connection.store<std::uint64_t>(0, 5); }), RSMERR_CONN_ABORTED);
}

TEST_F(CppData, a_scope_that_was_left_gives_the_mode_back)
{
    EXPECT_THROW(
        {
            auto scope = connection.barrier();
            throw std::runtime_error("on the way");
        },
        std::runtime_error);
    rsm_barrier_mode_t mode{};
    EXPECT_EQ(rsm_memseg_import_get_mode(connection.handle(), &mode), RSM_SUCCESS);
    EXPECT_EQ(mode, RSM_BARRIER_MODE_IMPLICIT);
}

TEST_F(CppData, a_scope_tells_that_the_connection_broke)
{
    auto scope = connection.barrier();
    connection.store<std::uint64_t>(0, 1);
    segment.unpublish();
    EXPECT_EQ(thrown_by([&] { scope.close(); }), RSMERR_CONN_ABORTED);
    EXPECT_TRUE(connection.aborted());
}
