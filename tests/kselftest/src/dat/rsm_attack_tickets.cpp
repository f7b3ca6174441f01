// SPDX-License-Identifier: GPL-2.0
// Tickets and contexts in the hands of a peer without libdat: what it guesses opens nothing, and
// what it was given ends when the consumer says so.
#include "dat/support/attack.hpp"

#include <algorithm>
#include <cstring>
#include <random>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

const raw::Outcome no_such_ticket = raw::status(RSMERR_SEG_NOT_PUBLISHED);

raw::Outcome redeem(const raw::Ticket &ticket)
{
    const Fd handle = raw::open_segment();
    return raw::redeem(handle.get(), ticket);
}

// All the ways into a page that were open once.
class Foothold {
public:
    void enter(RawPeer &peer, std::uint32_t context)
    {
        const auto grant = peer.ask(context);
        ASSERT_TRUE(grant);
        ticket_ = ticket_of(*grant);
        ASSERT_EQ(raw::redeem(handle_.get(), ticket_), raw::success);
        base_ = raw::map(handle_.get(), page_size());
        ASSERT_NE(base_, nullptr);
        EXPECT_EQ(*static_cast<std::byte *>(base_), pattern(0));
        EXPECT_EQ(copy(RSM_IOC_PUTV), raw::success);
        EXPECT_EQ(copy(RSM_IOC_GETV), raw::success);
    }
    // The mapping stays; it shows nothing, and what is written there goes nowhere.
    void expect_shut()
    {
        EXPECT_EQ(redeem(ticket_), no_such_ticket);
        EXPECT_NE(copy(RSM_IOC_PUTV), raw::success);
        EXPECT_NE(copy(RSM_IOC_GETV), raw::success);
        EXPECT_EQ(raw::map(handle_.get(), page_size()), nullptr);
        const auto *bytes = static_cast<std::byte *>(base_);
        EXPECT_EQ(std::count(bytes, bytes + page_size(), std::byte{0}),
                  static_cast<std::ptrdiff_t>(page_size()));
        std::memset(base_, 0xdd, page_size());
        EXPECT_EQ(mremap(base_, page_size(), 2 * page_size(), MREMAP_MAYMOVE), MAP_FAILED);
        munmap(base_, page_size());
    }

private:
    raw::Outcome copy(unsigned long command)
    {
        const rsm_transfer_entry entry = raw::entry(local_.data(), 100, 8);
        return raw::transfer(handle_.get(), command, {&entry, 1});
    }

    raw::Ticket ticket_;
    Fd handle_ = raw::open_segment();
    void *base_ = nullptr;
    Pages local_{1};
};

class RsmAttackTickets : public RsmAttack {
protected:
    // The attacker is let into a page, loses it by `take_away`, and tries all ways again.
    void let_in_and_out(const std::function<DAT_RMR_CONTEXT()> &let_in,
                        const std::function<void()> &take_away)
    {
        start([](Link &link, std::uint64_t qualifier) {
            RawPeer peer(qualifier);
            ASSERT_TRUE(peer.connected());
            Foothold foothold;
            foothold.enter(peer, static_cast<std::uint32_t>(link.receive()));
            link.send();
            link.receive();
            foothold.expect_shut();
        });
        admit();
        attacker().send(let_in());
        attacker().receive();
        fill(memory);
        take_away();
        attacker().send();
        attacker().expect_success();
        EXPECT_TRUE(untouched_but(memory, 0, 0));
    }
    DAT_RMR_CONTEXT let_into_region()
    {
        fill(memory);
        region.emplace(side().adapter, side().pz, memory.data(), memory.size());
        return region->rmr_context;
    }
    DAT_RMR_CONTEXT let_into_window()
    {
        let_into_region();
        EXPECT_OK(dat_rmr_create(side().pz, &rmr));
        return bind(region->piece(0, page_size()));
    }
    DAT_RMR_CONTEXT bind(const DAT_LMR_TRIPLET &part)
    {
        DAT_RMR_CONTEXT context = 0;
        EXPECT_OK(dat_rmr_bind(rmr, &part, DAT_MEM_PRIV_ALL_FLAG, side().ep, cookie(1),
                               DAT_COMPLETION_DEFAULT_FLAG, &context));
        expect_event(side().requests, DAT_RMR_BIND_COMPLETION_EVENT);
        return context;
    }
    void TearDown() override
    {
        if (rmr) {
            EXPECT_OK(dat_rmr_free(rmr));
        }
    }

    const Pages memory{3};
    std::optional<Registered> region;
    DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
};

} // namespace

TEST_F(RsmAttackTickets, guessed)
{
    start([](Link &link, std::uint64_t qualifier) {
        RawPeer peer(qualifier);
        ASSERT_TRUE(peer.connected());
        const auto grant = peer.ask(static_cast<std::uint32_t>(link.receive()));
        ASSERT_TRUE(grant);
        const raw::Ticket real = ticket_of(*grant);
        ASSERT_EQ(redeem(real), raw::success);
        for (unsigned bit = 0; bit < 128; bit++) {
            raw::Ticket near = real;
            near.word[bit / 64] ^= std::uint64_t{1} << bit % 64;
            ASSERT_EQ(redeem(near), no_such_ticket) << bit;
        }
        std::mt19937_64 random(4711);
        for (int i = 0; i < 5000; i++)
            ASSERT_EQ(redeem({{random(), random()}}), no_such_ticket);
        for (const raw::Ticket &likely :
             {raw::Ticket{}, raw::Ticket{{~0ULL, ~0ULL}}, raw::Ticket{{real.word[1], real.word[0]}},
              raw::Ticket{{real.word[0] + 1, real.word[1] - 1}}})
            EXPECT_EQ(redeem(likely), no_such_ticket);
        link.send();
        link.receive();
    });
    admit();
    attacker().send(side().memory.rmr_context);
    attacker().receive();
    attacker().send();
    attacker().expect_success();
}

// Whatever it asks for, it is told of what its endpoint's zone lets peers reach, and nothing else.
TEST_F(RsmAttackTickets, contexts_that_are_not_for_the_peer)
{
    start([](Link &link, std::uint64_t qualifier) {
        RawPeer peer(qualifier);
        ASSERT_TRUE(peer.connected());
        const auto open = static_cast<std::uint32_t>(link.receive());
        EXPECT_TRUE(peer.ask(open));
        for (std::uint64_t shut = link.receive(); shut != 0; shut = link.receive())
            EXPECT_FALSE(peer.ask(static_cast<std::uint32_t>(shut))) << shut;
        for (unsigned bit = 0; bit < 32; bit++)
            EXPECT_FALSE(peer.ask(open ^ (1U << bit))) << bit;
        for (std::uint32_t near = 1; near < 200; near++) {
            EXPECT_FALSE(peer.ask(open + near)) << near;
            EXPECT_FALSE(peer.ask(open - near)) << near;
        }
        for (const std::uint32_t odd : {0U, ~0U, 1U << 31})
            EXPECT_FALSE(peer.ask(odd)) << odd;
        link.send();
    });
    admit();
    const Pages pages(3);
    const DAT_PZ_HANDLE zone = side().adapter.make_pz();
    const Registered elsewhere(side().adapter, zone, pages.data(), page_size());
    const Registered local(side().adapter, side().pz, pages.data() + page_size(), page_size(),
                           DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG);
    DAT_RMR_CONTEXT freed = 0;
    {
        const Registered gone(side().adapter, side().pz, pages.data(), page_size());
        freed = gone.rmr_context;
    }
    attacker().send(side().memory.rmr_context);
    for (const DAT_UINT64 context : {DAT_UINT64{elsewhere.rmr_context},
                                     DAT_UINT64{local.lmr_context}, DAT_UINT64{freed}})
        attacker().send(context);
    attacker().send(0);
    attacker().receive();
    attacker().expect_success();
    expect_end();
}

TEST_F(RsmAttackTickets, region_freed)
{
    let_in_and_out([&] { return let_into_region(); }, [&] { region.reset(); });
}

TEST_F(RsmAttackTickets, window_unbound)
{
    let_in_and_out([&] { return let_into_window(); },
                   [&] { bind(region->piece(0, 0)); });
    region.reset();
}

TEST_F(RsmAttackTickets, window_bound_elsewhere)
{
    let_in_and_out([&] { return let_into_window(); },
                   [&] { bind(region->piece(page_size(), page_size())); });
    EXPECT_OK(dat_rmr_free(std::exchange(rmr, DAT_HANDLE_NULL)));
    region.reset();
}

TEST_F(RsmAttackTickets, window_freed)
{
    let_in_and_out([&] { return let_into_window(); },
                   [&] { EXPECT_OK(dat_rmr_free(std::exchange(rmr, DAT_HANDLE_NULL))); });
    region.reset();
}

TEST_F(RsmAttackTickets, disconnected)
{
    let_in_and_out([&] { return let_into_region(); },
                   [&] {
                       EXPECT_OK(dat_ep_disconnect(side().ep, DAT_CLOSE_ABRUPT_FLAG));
                       expect_end(DAT_CONNECTION_EVENT_DISCONNECTED);
                   });
    region.reset();
}

TEST_F(RsmAttackTickets, endpoint_freed)
{
    let_in_and_out([&] { return let_into_region(); },
                   [&] { EXPECT_OK(dat_ep_free(side().ep)); });
    region.reset();
}

TEST_F(RsmAttackTickets, adapter_closed)
{
    let_in_and_out([&] { return let_into_region(); },
                   [&] {
                       EXPECT_OK(dat_ia_close(side().adapter.ia, DAT_CLOSE_ABRUPT_FLAG));
                       side().adapter.ia = DAT_HANDLE_NULL;
                       side().memory.lmr = region->lmr = DAT_HANDLE_NULL;
                   });
}
