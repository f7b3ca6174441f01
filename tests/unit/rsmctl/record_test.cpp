// SPDX-License-Identifier: GPL-2.0
#include <random>

#include <gtest/gtest.h>
#include <linux/rsm.h>
#include <linux/rsm_netlink.h>

#include "record.hpp"
#include "message.hpp"
#include "schema.hpp"

namespace rsmctl::test {

namespace {

Json read_as(const char *kind, const Message &message) {
    return read_record(kind_of(kind).fields, message.attributes());
}

Message whole_segment() {
    Message message(RSM_CMD_SEGMENT_GET);
    message.u32(RSM_A_SEGMENT_NUMBER, 7).u32(RSM_A_SEGMENT_ID, 0x600000);
    message.text(RSM_A_SEGMENT_CONTROLLER, "loopback");
    message.u32(RSM_A_SEGMENT_STATE, RSM_SEGMENT_STATE_PUBLISHED);
    message.u64(RSM_A_SEGMENT_LENGTH, 1ULL << 40U).u32(RSM_A_SEGMENT_MODE, 0640);
    for (std::uint32_t node = 1; node <= 2; node++) {
        message.nest(RSM_A_SEGMENT_ACL, [&](Message &entry) {
            entry.u32(RSM_A_ACL_ENTRY_NODE_ID, node).u32(RSM_A_ACL_ENTRY_MODE, 0600 + node);
        });
    }
    message.u32(RSM_A_SEGMENT_FLAGS, RSM_ALLOW_REBIND | RSM_CREATE_SEG_DONTWAIT | RSM_BIND_LOCAL |
                                         RSM_BIND_READ | 0x80000000U);
    return message;
}

} // namespace

TEST(RsmctlRecord, HasWhatTheMessageSays) {
    const auto record = read_as("segment", whole_segment());
    const Json expected = {
        {"id", 0x600000},
        {"number", 7},
        {"controller", "loopback"},
        {"state", "published"},
        {"length", 1ULL << 40U},
        {"mode", "0640"},
        {"acl",
         Json::array({{{"node_id", 1}, {"mode", "0601"}}, {{"node_id", 2}, {"mode", "0602"}}})},
        {"flags", {"allow-rebind", "dont-wait", "local", "read", "0x80000000"}},
    };
    EXPECT_EQ(record.dump(), expected.dump());
}

TEST(RsmctlRecord, KnowsNoLimitAndLargeNumbers) {
    const auto process = read_as("process", Message().u64(RSM_A_PROCESS_LIMIT_BYTES, ~0ULL));
    EXPECT_EQ(process.dump(), R"({"limit_bytes":null})");
    const auto node = read_as("node", Message().u64(RSM_A_NODE_INCARNATION, ~0ULL - 1));
    EXPECT_EQ(node.dump(), R"({"incarnation":"0xfffffffffffffffe"})");
    const auto import = read_as("import", Message().u8(RSM_A_IMPORT_ABORTED, 1));
    EXPECT_EQ(import.dump(), R"({"aborted":true})");
}

TEST(RsmctlRecord, NamesRights) {
    const auto rights = [](std::uint32_t bits) {
        return read_as("import", Message().u32(RSM_A_IMPORT_RIGHTS, bits))["rights"];
    };
    EXPECT_EQ(rights(RSM_PERM_READ), "r");
    EXPECT_EQ(rights(RSM_PERM_WRITE), "w");
    EXPECT_EQ(rights(RSM_PERM_RDWR), "rw");
    EXPECT_EQ(rights(0), "");
}

TEST(RsmctlRecord, PassesOverWhatItDoesNotKnow) {
    auto message = Message();
    message.u32(4000, 1).text(RSM_A_SEGMENT_MAX + 1, "new").u32(0, 5);
    message.u32(RSM_A_SEGMENT_STATE, 17).u32(RSM_A_SEGMENT_NUMBER, 7);
    EXPECT_EQ(read_as("segment", message).dump(), R"({"number":7,"state":"17"})");
}

TEST(RsmctlRecord, PassesOverWhatHasAnotherSize) {
    auto message = Message();
    message.add(RSM_A_SEGMENT_ID, "abc", 3).add(RSM_A_SEGMENT_LENGTH, "", 0);
    message.add(RSM_A_SEGMENT_ACL, "ab", 2);
    message.add(RSM_A_SEGMENT_CONTROLLER, "no end", 6);
    EXPECT_EQ(read_as("segment", message).dump(), R"({"controller":"no end","acl":[{}]})");
}

TEST(RsmctlRecord, EndsAtAnAttributeThatIsNotAllThere) {
    for (const std::uint16_t length : {0, 3, 5, 4000}) {
        auto message = Message();
        message.u32(RSM_A_SEGMENT_NUMBER, 7);
        const nlattr broken{length, RSM_A_SEGMENT_ID};
        message.raw(&broken, sizeof(broken));
        EXPECT_EQ(read_as("segment", message).dump(), R"({"number":7})") << length;
    }
}

TEST(RsmctlRecord, NeedsTheHeaders) {
    Message message(3);
    EXPECT_EQ(command_of(message.header()), 3);
    message.header().nlmsg_len = NLMSG_HDRLEN + 3;
    EXPECT_EQ(command_of(message.header()), std::nullopt);
    EXPECT_TRUE(attributes_of(message.header()).empty());
    message.header().nlmsg_len = 5;
    EXPECT_EQ(command_of(message.header()), std::nullopt);
    EXPECT_TRUE(attributes_of(message.header()).empty());
}

// Bytes of which each is in a place of its own, so that tools that look at memory can tell.
TEST(RsmctlRecord, SurvivesAnything) {
    std::mt19937 random(7);
    for (int round = 0; round < 20000; round++) {
        std::vector<std::byte> bytes(random() % 64);
        for (auto &byte : bytes) {
            byte = static_cast<std::byte>(random() % (round % 2 != 0 ? 24 : 256));
        }
        for (const auto &kind : kinds()) {
            const auto record = read_record(kind.fields, bytes);
            for (const auto &field : kind.fields) {
                EXPECT_FALSE(shown(field, record, true).empty());
            }
            EXPECT_FALSE(record.dump(-1, ' ', false, Json::error_handler_t::replace).empty());
        }
    }
}

TEST(RsmctlRecord, ShowsSizesWithASuffix) {
    EXPECT_EQ(human_size(0), "0");
    EXPECT_EQ(human_size(1023), "1023");
    EXPECT_EQ(human_size(1024), "1K");
    EXPECT_EQ(human_size(1536), "1.5K");
    EXPECT_EQ(human_size(64ULL << 20U), "64M");
    EXPECT_EQ(human_size((1ULL << 30U) - 1), "1G");
    EXPECT_EQ(human_size(5ULL << 40U), "5T");
    EXPECT_EQ(human_size(~0ULL), "16E");
}

TEST(RsmctlRecord, LetsNobodyMoveTheCursor) {
    EXPECT_EQ(printable("a\x1b[2Jb\n\x7f"), "a?[2Jb??");
    EXPECT_EQ(printable("Zürich"), "Zürich");
}

// The kernel's words with a refusal.
TEST(RsmctlWords, AreFoundBehindTheError) {
    Message message;
    message.header().nlmsg_len = NLMSG_HDRLEN;
    const int error = -22;
    message.raw(&error, sizeof(error)).text(NLMSGERR_ATTR_MSG, "no such thing");
    EXPECT_EQ(words_of(message.header(), sizeof(error)), "");
    message.header().nlmsg_flags |= NLM_F_ACK_TLVS;
    EXPECT_EQ(words_of(message.header(), sizeof(error)), "no such thing");
    EXPECT_EQ(words_of(message.header(), 4000), "");
}

TEST(RsmctlWords, ComeWithTheMeaningOfTheError) {
    EXPECT_EQ(refusal_text(ENOENT, ""), "No such file or directory");
    EXPECT_EQ(refusal_text(EEXIST, "that node is there already"),
              "that node is there already (File exists)");
}

} // namespace rsmctl::test
