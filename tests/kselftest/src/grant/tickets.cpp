// SPDX-License-Identifier: GPL-2.0
// Tickets can't be guessed, and there can be many of them.
#include "grant/grant.hpp"

#include <algorithm>
#include <set>

using namespace rsmtest;
using raw::status;
using raw::success;
using raw::Ticket;

namespace {

const auto no_such_ticket = status(RSMERR_SEG_NOT_PUBLISHED);

class GrantTickets : public GrantTest {
protected:
    // REDEEM and REVOKE give the same answer, whatever is wrong.
    void expect_nothing(const Ticket &ticket)
    {
        EXPECT_EQ(raw::redeem(blank.get(), ticket), no_such_ticket);
        EXPECT_EQ(raw::revoke(exported.get(), ticket), no_such_ticket);
    }
    Fd blank = raw::open_segment();
};

} // namespace

TEST_F(GrantTickets, guesses)
{
    const Ticket ticket = grant_all();
    const Ticket same_range = grant_all();
    EXPECT_NE(ticket, same_range);
    expect_nothing({});
    expect_nothing({{~0ull, ~0ull}});
    expect_nothing({{ticket.word[0], 0}});
    expect_nothing({{0, ticket.word[1]}});
    expect_nothing({{ticket.word[1], ticket.word[0]}});
    expect_nothing({{same_range.word[0], ticket.word[1]}});
    expect_nothing({{ticket.word[0], same_range.word[1]}});
    for (unsigned bit = 0; bit < 128; bit++) {
        Ticket guess = ticket;
        guess.word[bit / 64] ^= 1ull << bit % 64;
        expect_nothing(guess);
    }
    for (std::uint64_t number = 0; number < 64; number++)
        expect_nothing({{number, 0}});
    EXPECT_EQ(raw::redeem(blank.get(), ticket), success) << "the right one is still good";
}

TEST_F(GrantTickets, only_the_export_that_granted_it_revokes)
{
    Pages other_memory(1);
    const Fd other = raw::open_segment();
    ASSERT_EQ(raw::bind(other.get(), other_memory.data(), page, RSM_BIND_LOCAL), success);
    Ticket foreign;
    ASSERT_EQ(raw::grant(other.get(), foreign, 0, 8), success);
    EXPECT_EQ(raw::revoke(exported.get(), foreign), no_such_ticket);
    const Fd handle = redeemed(foreign);
    EXPECT_EQ(copy(handle.get(), RSM_IOC_GETV, local.data(), 0, 8), success);
    EXPECT_EQ(raw::revoke(other.get(), foreign), success);
    EXPECT_EQ(raw::revoke(other.get(), foreign), no_such_ticket) << "twice";
}

TEST_F(GrantTickets, what_was_revoked_stays_so)
{
    std::vector<Ticket> dead;
    for (int i = 0; i < 16; i++) {
        dead.push_back(grant_all());
        ASSERT_EQ(raw::revoke(exported.get(), dead.back()), success);
    }
    // Numbers in the kernel's table are used again.
    const Ticket live = grant_all();
    for (const Ticket &ticket : dead) {
        EXPECT_NE(ticket, live);
        expect_nothing(ticket);
    }
}

TEST_F(GrantTickets, a_thousand)
{
    const std::int64_t pins = kernel_counters()["pinned_pages"];
    constexpr std::size_t many = 1000;
    std::vector<Ticket> tickets;
    std::vector<Fd> handles;
    std::set<std::uint64_t> different;
    for (std::size_t i = 0; i < many; i++) {
        tickets.push_back(grant(i, 1 + i % 7));
        different.insert(tickets.back().word[1]);
        if (i % 4 == 0)
            handles.push_back(redeemed(tickets.back()));
    }
    EXPECT_EQ(different.size(), many);
    Counters counters = kernel_counters();
    EXPECT_EQ(counters["grants"], static_cast<std::int64_t>(many));
    EXPECT_EQ(counters["pinned_pages"], pins) << "memory is charged once, when it is bound";
    for (std::size_t i = 0; i < handles.size(); i++) {
        ASSERT_EQ(copy(handles[i].get(), RSM_IOC_GETV, local.data(), 4 * i, 1), success);
        EXPECT_EQ(local.data()[0], pattern(4 * i));
    }
    // Each revocation ends what it is about, and nothing else.
    for (std::size_t i = 0; i < many; i += 8)
        ASSERT_EQ(raw::revoke(exported.get(), tickets[i]), success);
    for (std::size_t i = 0; i < handles.size(); i++)
        EXPECT_EQ(hung_up(handles[i].get()), i % 2 == 0) << i;
    EXPECT_EQ(raw::destroy(exported.get()), success);
    EXPECT_TRUE(std::all_of(handles.begin(), handles.end(),
                            [](const Fd &handle) { return hung_up(handle.get()); }));
    EXPECT_EQ(kernel_counters()["grants"], 0);
}

TEST_F(GrantTickets, as_many_as_an_export_can_have)
{
    Ticket ticket;
    for (std::uint32_t i = 0; i < RSM_GRANTS_MAX; i++)
        ASSERT_EQ(raw::grant(exported.get(), ticket, 0, 1), success) << i;
    Ticket one_more;
    EXPECT_EQ(raw::grant(exported.get(), one_more, 0, 1), status(RSMERR_INSUFFICIENT_RESOURCES));
    EXPECT_EQ(raw::revoke(exported.get(), ticket), success);
    EXPECT_EQ(raw::grant(exported.get(), one_more, 0, 1), success);
    const Fd handle = redeemed(one_more);
    // The end of the export ends them all.
    exported.reset();
    EXPECT_TRUE(hung_up(handle.get()));
    EXPECT_TRUE(eventually([] { return kernel_counters()["grants"] == 0; }));
}

TEST_F(GrantTickets, anybody_may_hold_one)
{
    const Ticket ticket = grant(8, 8);
    in_child_as(bob(), [&] {
        const Fd handle = redeemed(ticket);
        Pages own(1);
        own.at() = 4711;
        EXPECT_EQ(copy(handle.get(), RSM_IOC_PUTV, own.data(), 8, 8), success);
        EXPECT_EQ(copy(handle.get(), RSM_IOC_PUTV, own.data(), 7, 8), status(RSMERR_BAD_OFFSET));
        EXPECT_EQ(refused(handle.get(), page, PROT_READ, 0), ENXIO);
    });
    EXPECT_EQ(memory.at(8), 4711u);
}

TEST_F(GrantTickets, slots_are_given_back)
{
    const Ticket ticket = grant_all();
    const Fd control = raw::open_control();
    std::set<std::uint32_t> slots;
    std::vector<Fd> handles;
    for (int i = 0; i < 100; i++) {
        rsm_redeem argument = raw::redeem_argument(ticket, control.get());
        handles.push_back(raw::open_segment());
        ASSERT_EQ(raw::call(handles.back().get(), RSM_IOC_REDEEM, argument), success);
        EXPECT_TRUE(slots.insert(argument.slot).second) << "a slot twice";
    }
    handles.clear();
    rsm_redeem again = raw::redeem_argument(ticket, control.get());
    EXPECT_EQ(raw::call(blank.get(), RSM_IOC_REDEEM, again), success);
    EXPECT_TRUE(slots.contains(again.slot)) << "slots are not given back";
}
