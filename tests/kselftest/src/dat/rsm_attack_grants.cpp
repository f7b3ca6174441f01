// SPDX-License-Identifier: GPL-2.0
// The victim is the one that writes and reads: what the peer says about its own memory is false. No
// signal, and nothing changes but the buffer that is read into.
#include "dat/support/attack.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

using namespace rsmtest;
using namespace rsmtest::dat;
using rsmengine::Grant;
using rsmengine::MessageHeader;
using rsmengine::MessageKind;

namespace {

using Ring = RawPeer::Ring;

constexpr std::uint64_t far_away = 0x700000000000;
constexpr std::uint32_t any_context = 77;
constexpr std::size_t bytes = 3000;

// Memory of the attacker's that was granted rightly.
struct Bait {
    Bait()
    {
        EXPECT_EQ(raw::bind(handle.get(), pages.data(), pages.size(), RSM_BIND_LOCAL),
                  raw::success);
    }
    Grant honest(std::uint64_t offset, std::uint64_t length, std::uint32_t permission) const
    {
        raw::Ticket ticket;
        EXPECT_EQ(raw::grant(handle.get(), ticket, offset, length, permission), raw::success);
        return {{ticket.word[0], ticket.word[1]}, far_away, length, offset, permission, 0};
    }

    const Pages pages{4};
    Fd handle = raw::open_segment();
};

// How a grant becomes a lie; it was for two pages in the middle.
struct Lie {
    std::uint32_t permission; // that was really given
    std::function<void(Grant &, Bait &)> falsify;
};

const std::vector<Lie> lies = {
    {RSM_PERM_RDWR, [](Grant &, Bait &) {}}, // none
    {RSM_PERM_RDWR, [](Grant &grant, Bait &) { grant.ticket[0] ^= 1; }},
    {RSM_PERM_RDWR, [](Grant &grant, Bait &) { grant.address = ~std::uint64_t{0} - 5; }},
    {RSM_PERM_RDWR, [](Grant &grant, Bait &) { grant.offset = std::uint64_t{1} << 40; }},
    {RSM_PERM_RDWR, [](Grant &grant, Bait &) { grant.offset = ~std::uint64_t{0} - 4095; }},
    {RSM_PERM_RDWR, [](Grant &grant, Bait &) { grant.offset = 0; }},
    {RSM_PERM_RDWR, [](Grant &grant, Bait &) { grant.offset += 1; }},
    {RSM_PERM_RDWR, [](Grant &grant, Bait &) { grant.length = std::uint64_t{1} << 40; }},
    {RSM_PERM_RDWR, [](Grant &grant, Bait &) { grant.length = ~std::uint64_t{0} - far_away; }},
    {RSM_PERM_RDWR, [](Grant &grant, Bait &) { grant.length = 0; }},
    {RSM_PERM_RDWR, [](Grant &grant, Bait &) { grant.length *= 2; }},
    {RSM_PERM_RDWR, [](Grant &grant, Bait &) { grant.permission = ~0U; }},
    {RSM_PERM_RDWR, [](Grant &grant, Bait &) { grant.permission = 0; }},
    {RSM_PERM_READ, [](Grant &grant, Bait &) { grant.permission = RSM_PERM_RDWR; }},
    {RSM_PERM_WRITE, [](Grant &grant, Bait &) { grant.permission = RSM_PERM_RDWR; }},
    {RSM_PERM_RDWR,
     [](Grant &, Bait &bait) { EXPECT_EQ(raw::destroy(bait.handle.get()), raw::success); }},
};

// Answers what is asked for with one lie, and leaves soon.
void lie(RawPeer &peer, const Lie &what)
{
    Bait bait;
    const auto question = peer.receive(Ring::RESPONSE);
    ASSERT_TRUE(question);
    EXPECT_EQ(question->header.kind, MessageKind::ASK);
    EXPECT_EQ(question->header.context, any_context);
    Grant grant = bait.honest(page_size(), 2 * page_size(), what.permission);
    what.falsify(grant, bait);
    MessageHeader answer{};
    answer.kind = MessageKind::GRANT;
    answer.context = any_context;
    peer.send(Ring::RESPONSE, answer, std::as_bytes(std::span(&grant, 1)));
    peer.linger();
}

class RsmAttackGrants : public RsmAttack {
protected:
    // A write and a read, which may succeed or not.
    void reach_out()
    {
        const Registered region(side().adapter, side().pz, memory.data(), memory.size());
        const DAT_RMR_TRIPLET there{any_context, 0, far_away, bytes};
        DAT_LMR_TRIPLET from = region.piece(0, bytes), to = region.piece(page_size(), bytes);
        EXPECT_OK(dat_ep_post_rdma_write(side().ep, 1, &from, cookie(1), &there,
                                         DAT_COMPLETION_DEFAULT_FLAG));
        EXPECT_OK(dat_ep_post_rdma_read(side().ep, 1, &to, cookie(2), &there,
                                        DAT_COMPLETION_DEFAULT_FLAG));
        for (const DAT_UINT64 id : {1, 2}) {
            const DAT_EVENT event = expect_event(side().requests, DAT_DTO_COMPLETION_EVENT);
            EXPECT_EQ(event.event_data.dto_completion_event_data.user_cookie.as_64, id);
        }
        expect_end();
    }

    const Pages memory{3};
};

} // namespace

TEST_F(RsmAttackGrants, lies)
{
    start([](Link &, std::uint64_t qualifier) {
        for (const Lie &what : lies) {
            SCOPED_TRACE(&what - lies.data());
            RawPeer peer(qualifier);
            ASSERT_TRUE(peer.connected());
            lie(peer, what);
        }
    });
    for (std::size_t i = 0; i < lies.size(); i++) {
        SCOPED_TRACE(i);
        fill(memory);
        admit();
        reach_out();
        EXPECT_TRUE(untouched_but(memory, page_size(), bytes));
        ASSERT_FALSE(HasFailure());
    }
    attacker().expect_success();
    expect_service();
}

TEST_F(RsmAttackGrants, of_a_wrong_size)
{
    static constexpr std::size_t sizes[] = {0, 1, sizeof(Grant) - 1, sizeof(Grant) + 1};
    start([](Link &, std::uint64_t qualifier) {
        const std::vector<std::byte> payload(2 * sizeof(Grant), std::byte{1});
        for (const std::size_t size : sizes) {
            RawPeer peer(qualifier);
            ASSERT_TRUE(peer.connected());
            ASSERT_TRUE(peer.receive(Ring::RESPONSE));
            MessageHeader answer{};
            answer.kind = MessageKind::GRANT;
            answer.context = any_context;
            peer.send(Ring::RESPONSE, answer, std::span(payload).first(size));
            EXPECT_TRUE(peer.ended()) << size;
        }
    });
    for ([[maybe_unused]] const std::size_t size : sizes) {
        fill(memory);
        admit();
        reach_out();
        EXPECT_TRUE(untouched_but(memory, 0, 0));
    }
    attacker().expect_success();
}
