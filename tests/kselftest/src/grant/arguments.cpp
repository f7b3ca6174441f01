// SPDX-License-Identifier: GPL-2.0
// Every status of GRANT, REVOKE and REDEEM, and what they answer when all is well.
#include "grant/grant.hpp"

using namespace rsmtest;
using raw::error;
using raw::status;
using raw::success;
using raw::Ticket;

namespace {

class GrantArguments : public GrantTest {};

} // namespace

TEST_F(GrantArguments, ranges)
{
    Unchanged unchanged;
    struct Case {
        std::uint64_t offset, length;
        std::uint32_t result;
    };
    const Case cases[] = {
        {0, 0, RSMERR_BAD_LENGTH},
        {size, 0, RSMERR_BAD_LENGTH},
        {0, size + 1, RSMERR_BAD_LENGTH},
        {1, size, RSMERR_BAD_LENGTH},
        {size - 1, 2, RSMERR_BAD_LENGTH},
        {size, 1, RSMERR_BAD_LENGTH},
        {0, ~0ull, RSMERR_BAD_LENGTH},
        {8, ~0ull - 7, RSMERR_BAD_LENGTH},
        {size, ~0ull - size + 1, RSMERR_BAD_LENGTH},
        {size + 1, 1, RSMERR_BAD_OFFSET},
        {~0ull, 1, RSMERR_BAD_OFFSET},
        {1ull << 63, 1ull << 63, RSMERR_BAD_OFFSET},
    };
    for (const Case &c : cases) {
        Ticket ticket;
        EXPECT_EQ(raw::grant(exported.get(), ticket, c.offset, c.length), status(c.result))
            << c.offset << " " << c.length;
    }
    for (const auto &[offset, length] :
         {std::pair{std::size_t{0}, std::size_t{1}}, {size - 1, std::size_t{1}}, {0, size}}) {
        const Ticket ticket = grant(offset, length);
        EXPECT_EQ(raw::revoke(exported.get(), ticket), success);
    }
}

TEST_F(GrantArguments, permissions)
{
    Unchanged unchanged;
    Ticket ticket;
    for (const std::uint32_t wrong : {0u, 1u, 4u, 0400u | 1u, 0700u, 0606u, 01000u, ~0u})
        EXPECT_EQ(raw::grant(exported.get(), ticket, 0, 8, wrong), status(RSMERR_PERM_DENIED))
            << wrong;
    for (const std::uint32_t right : {RSM_PERM_READ, RSM_PERM_WRITE, RSM_PERM_RDWR}) {
        ticket = grant(0, 8, right);
        EXPECT_EQ(raw::revoke(exported.get(), ticket), success);
    }
}

TEST_F(GrantArguments, exports_that_can_not_be_granted)
{
    const raw::Published published(1);
    ASSERT_TRUE(published.ok);
    Ticket ticket;
    EXPECT_EQ(raw::grant(published.handle.get(), ticket, 0, 8), status(RSMERR_BAD_SEG_HNDL));
    EXPECT_EQ(raw::revoke(published.handle.get(), ticket), status(RSMERR_SEG_NOT_PUBLISHED));
    std::uint32_t id = 0;
    const Ticket live = grant_all();
    EXPECT_EQ(raw::publish(exported.get(), id), status(RSMERR_BAD_SEG_HNDL));
    EXPECT_EQ(raw::revoke(exported.get(), live), success);
    // dead ones
    ASSERT_EQ(raw::destroy(exported.get()), success);
    EXPECT_EQ(raw::grant(exported.get(), ticket, 0, 8), status(RSMERR_BAD_SEG_HNDL));
    EXPECT_EQ(raw::revoke(exported.get(), live), status(RSMERR_SEG_NOT_PUBLISHED));
    memory.release();
}

TEST_F(GrantArguments, what_redeem_tells)
{
    const Ticket ticket = grant(5, 77, RSM_PERM_READ);
    const Fd control = raw::open_control();
    const Fd handle = raw::open_segment();
    rsm_redeem with_slot = raw::redeem_argument(ticket, control.get());
    ASSERT_EQ(raw::call(handle.get(), RSM_IOC_REDEEM, with_slot), success);
    EXPECT_EQ(with_slot.length, size);
    EXPECT_EQ(with_slot.offset, 5u);
    EXPECT_EQ(with_slot.bytes, 77u);
    EXPECT_EQ(with_slot.permission, static_cast<std::uint32_t>(RSM_PERM_READ));
    EXPECT_LT(with_slot.slot, static_cast<std::uint32_t>(RSM_TABLE_SLOTS));
    void *words = raw::map(control.get(), page, PROT_READ, RSM_MMAP_STATUS);
    ASSERT_NE(words, nullptr);
    const auto *slot = reinterpret_cast<volatile rsm_status_slot *>(
        static_cast<std::byte *>(words) + with_slot.slot * RSM_SLOT_SIZE);
    EXPECT_EQ(slot->generation, with_slot.generation);
    const Fd other = raw::open_segment();
    rsm_redeem without = raw::redeem_argument(ticket);
    ASSERT_EQ(raw::call(other.get(), RSM_IOC_REDEEM, without), success);
    EXPECT_EQ(without.slot, RSM_NO_SLOT);
    EXPECT_NE(without.number, with_slot.number);
    EXPECT_EQ(raw::revoke(exported.get(), ticket), success);
    EXPECT_NE(slot->generation, with_slot.generation);
    munmap(words, page);
}

TEST_F(GrantArguments, a_failed_redeem_leaves_the_handle_blank)
{
    const Fd handle = raw::open_segment();
    EXPECT_EQ(raw::redeem(handle.get(), {}), status(RSMERR_SEG_NOT_PUBLISHED));
    EXPECT_EQ(raw::map(handle.get(), page), nullptr);
    EXPECT_EQ(raw::post(handle.get()), status(RSMERR_BAD_SEG_HNDL));
    const Ticket ticket = grant_all();
    EXPECT_EQ(raw::redeem(handle.get(), ticket), success);
    EXPECT_EQ(raw::redeem(handle.get(), ticket), status(RSMERR_BAD_SEG_HNDL)) << "not blank";
    EXPECT_EQ(raw::connect(handle.get(), 0x600999), status(RSMERR_BAD_SEG_HNDL));
    EXPECT_EQ(raw::bind(handle.get(), local.data(), page), status(RSMERR_BAD_SEG_HNDL));
}

TEST_F(GrantArguments, redeemed_handles_grant_nothing)
{
    const Fd handle = redeemed(grant_all());
    Ticket ticket;
    EXPECT_EQ(raw::grant(handle.get(), ticket, 0, 8), status(RSMERR_BAD_SEG_HNDL));
    EXPECT_EQ(raw::revoke(handle.get(), ticket), status(RSMERR_BAD_SEG_HNDL));
    EXPECT_EQ(raw::destroy(handle.get()), status(RSMERR_BAD_SEG_HNDL));
    EXPECT_EQ(raw::rebind(handle.get(), local.data(), size), status(RSMERR_BAD_SEG_HNDL));
}

TEST_F(GrantArguments, events_both_ways)
{
    const Ticket ticket = grant_all(RSM_PERM_READ);
    const Fd first = redeemed(ticket);
    const Fd second = redeemed(ticket);
    EXPECT_EQ(raw::post(first.get()), success);
    EXPECT_EQ(raw::wait(exported.get()), success);
    EXPECT_EQ(raw::wait(exported.get()), status(RSMERR_TIMEOUT));
    EXPECT_EQ(raw::post(exported.get()), success);
    for (const Fd *handle : {&first, &second}) {
        pollfd entry{handle->get(), POLLIN, 0};
        EXPECT_EQ(poll(&entry, 1, 0), 1);
        EXPECT_EQ(raw::wait(handle->get()), success);
        EXPECT_EQ(raw::wait(handle->get()), status(RSMERR_TIMEOUT));
    }
    for (const std::uint32_t op : {RSM_BARRIER_OPEN, RSM_BARRIER_ORDER, RSM_BARRIER_CLOSE})
        EXPECT_EQ(raw::barrier(first.get(), op), success);
    const rsm_transfer_entry entry = raw::entry(local.data(), 0, 8);
    EXPECT_EQ(raw::transfer(second.get(), RSM_IOC_GETV, {&entry, 1}, RSM_IMPLICIT_SIGPOST), success);
    EXPECT_EQ(raw::wait(exported.get()), success);
}
