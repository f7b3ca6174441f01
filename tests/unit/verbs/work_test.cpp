// SPDX-License-Identifier: GPL-2.0
// Words of libibverbs, and of a line in dat.conf, in the terms of libdat's provider `verbs`.
#include "core/verbs_options.h"
#include "memory/access.h"
#include "transfer/work.h"

#include <array>
#include <gtest/gtest.h>
#include <utility>

using namespace rsmengine;

TEST(DaplVerbsWork, numbers_carry_kind_and_slot) {
    for (const Work kind : {Work::REQUEST, Work::RECEIVE, Work::PING})
        for (const std::uint32_t slot : {0U, 1U, 65535U, UINT32_MAX}) {
            const std::uint64_t number = number_of(kind, slot);
            EXPECT_EQ(kind_of(number), kind);
            EXPECT_EQ(slot_of(number), slot);
        }
}

// The table of udapl-functions.md section 7.
TEST(DaplVerbsWork, statuses_are_the_customary_ones) {
    using Pair = std::pair<ibv_wc_status, CompletionStatus>;
    constexpr std::array PAIRS{
        Pair{IBV_WC_SUCCESS, CompletionStatus::OK},
        Pair{IBV_WC_LOC_LEN_ERR, CompletionStatus::LOCAL_LENGTH},
        Pair{IBV_WC_LOC_QP_OP_ERR, CompletionStatus::LOCAL_ENDPOINT},
        Pair{IBV_WC_LOC_PROT_ERR, CompletionStatus::LOCAL_PROTECTION},
        Pair{IBV_WC_LOC_ACCESS_ERR, CompletionStatus::LOCAL_PROTECTION},
        Pair{IBV_WC_LOC_RDD_VIOL_ERR, CompletionStatus::LOCAL_PROTECTION},
        Pair{IBV_WC_WR_FLUSH_ERR, CompletionStatus::FLUSHED},
        Pair{IBV_WC_MW_BIND_ERR, CompletionStatus::BIND_FAILED},
        Pair{IBV_WC_BAD_RESP_ERR, CompletionStatus::BAD_RESPONSE},
        Pair{IBV_WC_REM_INV_REQ_ERR, CompletionStatus::REMOTE_RESPONDER},
        Pair{IBV_WC_REM_OP_ERR, CompletionStatus::REMOTE_RESPONDER},
        Pair{IBV_WC_REM_INV_RD_REQ_ERR, CompletionStatus::REMOTE_RESPONDER},
        Pair{IBV_WC_REM_ABORT_ERR, CompletionStatus::REMOTE_RESPONDER},
        Pair{IBV_WC_REM_ACCESS_ERR, CompletionStatus::REMOTE_ACCESS},
        Pair{IBV_WC_RETRY_EXC_ERR, CompletionStatus::TRANSPORT},
        Pair{IBV_WC_FATAL_ERR, CompletionStatus::TRANSPORT},
        Pair{IBV_WC_GENERAL_ERR, CompletionStatus::TRANSPORT},
        Pair{IBV_WC_RNR_RETRY_EXC_ERR, CompletionStatus::RECEIVER_NOT_READY},
        Pair{IBV_WC_RESP_TIMEOUT_ERR, CompletionStatus::RECEIVER_NOT_READY},
    };
    for (const auto &[theirs, ours] : PAIRS)
        EXPECT_EQ(status_of(theirs), ours) << ::ibv_wc_status_str(theirs);
}

TEST(DaplVerbsWork, pieces_are_gathered_in_order) {
    const std::array<Segment, 2> pieces{{{7, 0, 0x1000, 10}, {8, 0, 0x2000, 0xffffffff}}};
    Gathered gathered(pieces, 0xffffffff + 10ULL);
    ASSERT_EQ(gathered.count(), 2);
    EXPECT_EQ(gathered.list()[0].addr, 0x1000U);
    EXPECT_EQ(gathered.list()[0].lkey, 7U);
    EXPECT_EQ(gathered.list()[1].length, 0xffffffffU);
}

// A device moves what its list holds: a read of 16 bytes into 4096 moved 4096.
TEST(DaplVerbsWork, list_ends_where_the_request_does) {
    const std::array<Segment, 3> pieces{
        {{7, 0, 0x1000, 10}, {8, 0, 0x2000, 4096}, {9, 0, 0x9000, 4096}}};
    Gathered gathered(pieces, 16);
    ASSERT_EQ(gathered.count(), 2);
    EXPECT_EQ(gathered.list()[0].length, 10U);
    EXPECT_EQ(gathered.list()[1].addr, 0x2000U);
    EXPECT_EQ(gathered.list()[1].length, 6U);
    EXPECT_EQ(Gathered(pieces, 0).count(), 0);
}

// A piece of 4 GiB and 16 bytes is not one of 16 bytes.
TEST(DaplVerbsWork, long_pieces_are_cut_at_the_longest_message) {
    constexpr std::uint64_t LONGEST = 1ULL << 31;
    const std::array<Segment, 1> pieces{{{7, 0, 0x1000, (1ULL << 32) + 16}}};
    Gathered gathered(pieces, LONGEST);
    ASSERT_EQ(gathered.count(), 1);
    EXPECT_EQ(gathered.list()[0].length, LONGEST);
}

// A device has to be able to write what peers may write; reads of its own need no right.
TEST(DaplVerbsAccess, follows_from_privileges) {
    EXPECT_EQ(access_of(rights::NONE), 0U);
    EXPECT_EQ(access_of(rights::LOCAL_READ), 0U);
    EXPECT_EQ(access_of(rights::LOCAL_WRITE), unsigned{IBV_ACCESS_LOCAL_WRITE});
    EXPECT_EQ(access_of(rights::REMOTE_READ), unsigned{IBV_ACCESS_REMOTE_READ});
    EXPECT_EQ(access_of(rights::REMOTE_WRITE),
              unsigned{IBV_ACCESS_REMOTE_WRITE} | unsigned{IBV_ACCESS_LOCAL_WRITE});
    EXPECT_EQ(access_of(rights::STRICT_ORDER), 0U);
}

TEST(DaplVerbsOptions, all_are_optional) {
    const auto none = parse_verbs_options("");
    ASSERT_TRUE(none);
    EXPECT_EQ(none->device, "");
    EXPECT_EQ(none->port, 0);
    EXPECT_EQ(none->inline_limit, 0U);
    const auto all = parse_verbs_options(" port=2\tdevice=mlx5_0 inline=220");
    ASSERT_TRUE(all);
    EXPECT_EQ(all->device, "mlx5_0");
    EXPECT_EQ(all->port, 2);
    EXPECT_EQ(all->inline_limit, 220U);
}

TEST(DaplVerbsOptions, nonsense_is_none) {
    for (const char *text :
         {"device", "device=", "port=0", "port=256", "port=-1", "port=1x",
          "port=", "inline=", "inline=-1", "inline=1k", "name=rxe0", "=rxe0", "device=rxe0 port"})
        EXPECT_FALSE(parse_verbs_options(text)) << text;
}
