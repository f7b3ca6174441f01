// SPDX-License-Identifier: MIT
// The reader of rsm.segmentid: S1 to S8 of the specification.
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "api.h"
#include "segmentid.h"

namespace {

using rsm::SegmentIdRange;

struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
};

SegmentIdRange look_up(std::string text, std::string_view application) {
    if (text.empty()) {
        const std::unique_ptr<std::FILE, Close> empty(std::fopen("/dev/null", "re"));
        return rsm::find_segment_id_range(empty.get(), application);
    }
    const std::unique_ptr<std::FILE, Close> file(::fmemopen(text.data(), text.size(), "r"));
    return rsm::find_segment_id_range(file.get(), application);
}

void expect_range(const std::string &text, std::string_view application, std::uint32_t base,
                  std::uint32_t length) {
    const auto range = look_up(text, application);
    EXPECT_EQ(range.status, RSM_SUCCESS) << text;
    EXPECT_EQ(range.base, base) << text;
    EXPECT_EQ(range.length, length) << text;
}

void expect_status(const std::string &text, std::string_view application, int status) {
    EXPECT_EQ(look_up(text, application).status, status) << text;
}

TEST(SegmentId, S1_NullArguments) {
    rsm_memseg_id_t base = 0;
    uint32_t length = 0;
    EXPECT_EQ(rsm_get_segmentid_range(nullptr, &base, &length), RSMERR_BAD_ADDR);
    EXPECT_EQ(rsm_get_segmentid_range("app", nullptr, &length), RSMERR_BAD_ADDR);
    EXPECT_EQ(rsm_get_segmentid_range("app", &base, nullptr), RSMERR_BAD_ADDR);
}

TEST(SegmentId, S2_UnreadableFile) {
    const std::unique_ptr<std::FILE, Close> directory(std::fopen("/", "re"));
    ASSERT_TRUE(directory);
    EXPECT_EQ(rsm::find_segment_id_range(directory.get(), "app").status, RSMERR_BAD_CONF);
}

TEST(SegmentId, S3_ManySpellings) {
    expect_range("reserve app 0x600000 100\n", "app", 0x600000, 100);
    expect_range("reserved app 0X600000 100\n", "app", 0x600000, 100);
    expect_range("RESERVED App 6aBc00 1000\n", "aPP", 0x6abc00, 1000);
    expect_range(" \treserve\tapp  \t 600000 \t 1 \n", "app", 0x600000, 1);
    expect_range("reserve app ffffffff 4294967295\n", "app", 0xffffffff, 0xffffffff);
    expect_range("reserve app 600000 1\r\n", "app", 0x600000, 1);
}

TEST(SegmentId, S4_UnknownApplication) {
    expect_status("reserve other 600000 1\n", "app", RSMERR_BAD_APPID);
    expect_status("reserve apps 600000 1\n", "app", RSMERR_BAD_APPID);
    expect_status("# nothing\n", "app", RSMERR_BAD_APPID);
    expect_status("", "app", RSMERR_BAD_APPID);
    expect_status("reserve app 600000 1\n", "", RSMERR_BAD_APPID);
}

TEST(SegmentId, S5_BlankLines) {
    expect_status("\nreserve app 600000 1\n", "app", RSMERR_BAD_CONF);
    expect_status(" \t\nreserve app 600000 1\n", "app", RSMERR_BAD_CONF);
    expect_range("reserve app 600000 1\n\n", "app", 0x600000, 1);
}

TEST(SegmentId, S6_FieldCount) {
    expect_status("reserve app 600000\n", "app", RSMERR_BAD_CONF);
    expect_status("reserve other 600000\nreserve app 600000 1\n", "app", RSMERR_BAD_CONF);
    expect_range("reserve app 600000 1 and more text\n", "app", 0x600000, 1);
}

TEST(SegmentId, S7_Keyword) {
    expect_status("keep app 600000 1\n", "app", RSMERR_BAD_CONF);
    expect_status("reserves app 600000 1\n", "app", RSMERR_BAD_CONF);
    expect_range("keep other 600000 1\nreserve app 700000 2\n", "app", 0x700000, 2);
}

TEST(SegmentId, S8_CommentsAndLastLine) {
    expect_range("# reserve app 1 1\n  # more\n#\nreserve app 600000 1", "app", 0x600000, 1);
    expect_range("#reserve app 1 1\nreserve app 600000 1\n", "app", 0x600000, 1);
}

TEST(SegmentId, Numbers) {
    for (const auto *line : {"reserve app 100000000 1", "reserve app 600000 4294967296",
                             "reserve app xyz 1", "reserve app 600000 many", "reserve app 0x 1",
                             "reserve app -1 1", "reserve app 1 -1", "reserve app 600000 0x10",
                             "reserve app 60000g 1", "reserve app 99999999999999999999999999 1"})
        expect_status(line, "app", RSMERR_BAD_CONF);
}

TEST(SegmentId, FirstMatchDecides) {
    expect_range("reserve app 600000 1\nreserve app 700000 2\n", "app", 0x600000, 1);
    expect_range("reserve app 600000 1\nbroken\n", "app", 0x600000, 1);
}

TEST(SegmentId, LongLines) {
    const std::string blanks(5000, ' ');
    const std::string comment = "#" + std::string(100000, 'x') + "\n";
    expect_range(comment + "reserve" + blanks + "app 600000 1" + blanks + "\n", "app", 0x600000, 1);
}

TEST(SegmentId, FailureLeavesTheOutputsAlone) {
    rsm_memseg_id_t base = 1;
    uint32_t length = 2;
    EXPECT_NE(rsm_get_segmentid_range("no such application", &base, &length), RSM_SUCCESS);
    EXPECT_EQ(base, 1U);
    EXPECT_EQ(length, 2U);
}

} // namespace
