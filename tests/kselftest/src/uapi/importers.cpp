// SPDX-License-Identifier: GPL-2.0
// Segments with many importers, and what importers that were aborted keep.
#include "support/raw.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <vector>

using namespace rsmtest;
using raw::status;
using raw::success;

namespace {

// More than the kernel looks at in one go, and no multiple of that.
constexpr std::size_t many = 200;

std::vector<Fd> open_many()
{
    std::vector<Fd> handles;
    for (std::size_t i = 0; i < many; i++)
        handles.push_back(raw::open_segment());
    return handles;
}

std::vector<Fd> connect_many(std::uint32_t id)
{
    auto handles = open_many();
    for (const auto &handle : handles)
        EXPECT_EQ(raw::connect(handle.get(), id), success);
    return handles;
}

bool is_aborted(const Fd &handle)
{
    pollfd entry{handle.get(), POLLRDHUP, 0};
    return poll(&entry, 1, 0) == 1;
}

// An export whose words are in the table of a control handle; its slot there.
std::uint32_t bind_in_table(const Fd &handle, const Fd &control, const Pages &pages,
                            std::uint32_t flags)
{
    auto argument = raw::bind_argument(pages.data(), pages.size(), flags, control.get());
    EXPECT_EQ(raw::call(handle.get(), RSM_IOC_BIND, argument), success);
    return argument.slot;
}

} // namespace

TEST(UapiImporters, a_post_reaches_each_of_many_once)
{
    const raw::Published segment;
    const auto importers = connect_many(segment.id);
    ASSERT_EQ(raw::post(segment.handle.get()), success);
    for (const auto &importer : importers) {
        EXPECT_EQ(raw::wait(importer.get()), success);
        EXPECT_EQ(raw::wait(importer.get()), status(RSMERR_TIMEOUT));
    }
}

TEST(UapiImporters, unpublish_aborts_each_of_many)
{
    const raw::Published segment;
    const auto importers = connect_many(segment.id);
    ASSERT_EQ(raw::unpublish(segment.handle.get()), success);
    for (const auto &importer : importers)
        EXPECT_TRUE(is_aborted(importer));
    std::uint32_t id = 0;
    ASSERT_EQ(raw::publish(segment.handle.get(), id), success) << "and is usable afterwards";
    const auto others = connect_many(id);
    ASSERT_EQ(raw::post(segment.handle.get()), success);
    EXPECT_EQ(raw::wait(others.back().get()), success);
    EXPECT_EQ(raw::wait(importers.back().get()), status(RSMERR_TIMEOUT));
}

TEST(UapiImporters, rebind_moves_each_of_many)
{
    const raw::Published segment(1, RSM_ALLOW_REBIND);
    const auto importers = connect_many(segment.id);
    const Pages other(1);
    other.at() = 5;
    ASSERT_EQ(raw::rebind(segment.handle.get(), other.data(), other.size()), success);
    for (const auto &importer : importers) {
        std::uint64_t value = 0;
        const auto entry = raw::entry(&value, 0, sizeof(value));
        ASSERT_EQ(raw::transfer(importer.get(), RSM_IOC_GETV, {&entry, 1}), success);
        EXPECT_EQ(value, 5U);
    }
}

TEST(UapiImporters, revoke_aborts_those_of_one_ticket)
{
    const Pages pages(1);
    const Fd exporter = raw::open_segment();
    ASSERT_EQ(raw::bind(exporter.get(), pages.data(), pages.size(), RSM_BIND_LOCAL), success);
    raw::Ticket tickets[2];
    for (auto &ticket : tickets)
        ASSERT_EQ(raw::grant(exporter.get(), ticket, 0, 8), success);
    const auto importers = open_many();
    for (std::size_t i = 0; i < many; i++)
        ASSERT_EQ(raw::redeem(importers[i].get(), tickets[i % 2]), success);
    ASSERT_EQ(raw::revoke(exporter.get(), tickets[1]), success);
    for (std::size_t i = 0; i < many; i++)
        EXPECT_EQ(is_aborted(importers[i]), i % 2 == 1) << i;
    ASSERT_EQ(raw::destroy(exporter.get()), success);
    for (const auto &importer : importers)
        EXPECT_TRUE(is_aborted(importer));
}

TEST(UapiImporters, an_aborted_import_does_not_keep_the_exporters_slot)
{
    const Pages pages(1);
    const Fd control = raw::open_control();
    const Fd importer = raw::open_segment();
    Fd exporter = raw::open_segment();
    const auto slot = bind_in_table(exporter, control, pages, 0);
    std::uint32_t id = 0;
    ASSERT_EQ(raw::publish(exporter.get(), id), success);
    ASSERT_EQ(raw::connect(importer.get(), id), success);
    exporter = raw::open_segment();
    EXPECT_EQ(bind_in_table(exporter, control, pages, 0), slot);
    EXPECT_EQ(raw::post(importer.get()), status(RSMERR_CONN_ABORTED));
}

TEST(UapiImporters, a_revoked_import_does_not_keep_the_exporters_slot)
{
    const Pages pages(1);
    const Fd control = raw::open_control();
    const Fd importer = raw::open_segment();
    Fd exporter = raw::open_segment();
    const auto slot = bind_in_table(exporter, control, pages, RSM_BIND_LOCAL);
    raw::Ticket ticket;
    ASSERT_EQ(raw::grant(exporter.get(), ticket, 0, 8), success);
    ASSERT_EQ(raw::redeem(importer.get(), ticket), success);
    exporter = raw::open_segment();
    EXPECT_EQ(bind_in_table(exporter, control, pages, RSM_BIND_LOCAL), slot);
    EXPECT_EQ(raw::map(importer.get(), page_size()), nullptr) << "nor has it become another kind";
}
