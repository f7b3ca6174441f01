// SPDX-License-Identifier: GPL-2.0
// Registered memory that the program has unmapped, and put other memory in its place, while it was
// registered: a peer's request neither kills the program nor reaches the other memory.
#include "dat/support/attack.hpp"

#include <cstring>
#include <sys/mman.h>

using namespace rsmtest;
using namespace rsmtest::dat;
using rsmengine::MessageHeader;
using rsmengine::MessageKind;

namespace {

using Ring = RawPeer::Ring;

constexpr std::size_t bytes = 64;

MessageHeader header(MessageKind kind, std::uint64_t context, std::uint64_t address)
{
    MessageHeader result{};
    result.kind = kind;
    result.flags = rsmengine::message_flags::FIRST | rsmengine::message_flags::LAST;
    result.total = bytes;
    result.context = static_cast<std::uint32_t>(context);
    result.address = address;
    return result;
}

// Ways in which the program changes its registered memory.
enum class Loss { UNMAPPED, REPLACED, PROTECTED };

class RsmAttackGone : public RsmAttack, public testing::WithParamInterface<Loss> {
protected:
    // Until the kernel has taken note it is the memory that it was, which no one sees any more.
    static void wait_for_the_end_of(RawPeer &peer, std::uint32_t context)
    {
        raw::Outcome outcome = raw::success;
        while (outcome == raw::success) {
            const auto grant = peer.ask(context);
            if (!grant)
                return;
            const Fd handle = raw::open_segment();
            outcome = raw::redeem(handle.get(), ticket_of(*grant));
        }
    }
    void attack(const std::function<void(RawPeer &, std::uint32_t, std::uint64_t)> &request)
    {
        start([=](Link &link, std::uint64_t qualifier) {
            RawPeer peer(qualifier);
            ASSERT_TRUE(peer.connected());
            const auto context = static_cast<std::uint32_t>(link.receive());
            const std::uint64_t address = link.receive();
            wait_for_the_end_of(peer, context);
            request(peer, context, address);
            EXPECT_TRUE(peer.ended());
        });
        admit();
        memory = mmap(nullptr, page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                      -1, 0);
        ASSERT_NE(memory, MAP_FAILED);
        region.emplace(side().adapter, side().pz, memory, page_size());
    }
    void end_memory()
    {
        if (GetParam() == Loss::PROTECTED) {
            ASSERT_EQ(mprotect(memory, page_size(), PROT_NONE), 0);
        } else {
            ASSERT_EQ(munmap(memory, page_size()), 0);
        }
        if (GetParam() != Loss::REPLACED)
            return;
        ASSERT_EQ(mmap(memory, page_size(), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                  memory);
        std::memset(memory, 0x77, page_size());
    }
    void send_address()
    {
        attacker().send(region->rmr_context);
        attacker().send(reinterpret_cast<std::uintptr_t>(memory));
    }
    void expect_untouched()
    {
        attacker().expect_success();
        if (GetParam() != Loss::REPLACED)
            return;
        const auto *start = static_cast<const std::byte *>(memory);
        for (std::size_t at = 0; at < page_size(); at++)
            ASSERT_EQ(start[at], std::byte{0x77}) << at;
    }

    void *memory = nullptr;
    std::optional<Registered> region;
};

const std::vector<std::byte> payload(bytes, std::byte{0xbb});

} // namespace

TEST_P(RsmAttackGone, write)
{
    attack([](RawPeer &peer, std::uint32_t context, std::uint64_t address) {
        peer.send(Ring::REQUEST, header(MessageKind::WRITE, context, address), payload);
    });
    end_memory();
    send_address();
    expect_end();
    expect_untouched();
}

TEST_P(RsmAttackGone, read)
{
    attack([](RawPeer &peer, std::uint32_t context, std::uint64_t address) {
        peer.send(Ring::REQUEST, header(MessageKind::READ, context, address));
        const auto answer = peer.receive(Ring::RESPONSE);
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->header.kind, MessageKind::FAULT);
    });
    end_memory();
    send_address();
    expect_end();
    expect_untouched();
}

TEST_P(RsmAttackGone, receive_of_one_piece)
{
    attack([](RawPeer &peer, std::uint32_t, std::uint64_t) {
        peer.send(Ring::REQUEST, header(MessageKind::SEND, 0, 0), payload);
    });
    DAT_LMR_TRIPLET piece = region->piece(0, bytes);
    ASSERT_OK(dat_ep_post_recv(side().ep, 1, &piece, cookie(1), DAT_COMPLETION_DEFAULT_FLAG));
    end_memory();
    send_address();
    expect_completion(side().receives, 1, DAT_DTO_ERR_LOCAL_PROTECTION);
    expect_end();
    expect_untouched();
}

TEST_P(RsmAttackGone, receive_of_two_pieces)
{
    attack([](RawPeer &peer, std::uint32_t, std::uint64_t) {
        peer.send(Ring::REQUEST, header(MessageKind::SEND, 0, 0), payload);
    });
    DAT_LMR_TRIPLET pieces[] = {side().memory.piece(0, 8), region->piece(0, bytes)};
    ASSERT_OK(dat_ep_post_recv(side().ep, 2, pieces, cookie(1), DAT_COMPLETION_DEFAULT_FLAG));
    end_memory();
    send_address();
    expect_completion(side().receives, 1, DAT_DTO_ERR_LOCAL_PROTECTION);
    expect_end();
    expect_untouched();
}

INSTANTIATE_TEST_SUITE_P(RsmLoss, RsmAttackGone,
                         testing::Values(Loss::UNMAPPED, Loss::REPLACED, Loss::PROTECTED));
