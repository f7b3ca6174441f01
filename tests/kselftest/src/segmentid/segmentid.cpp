// SPDX-License-Identifier: GPL-2.0
// The segment-id file: S1 to S8.
#include "support/loopback.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

using namespace rsmtest;

namespace {

constexpr const char *path = "/etc/rsm/rsm.segmentid";
constexpr const char *aside = "/etc/rsm/rsm.segmentid.kselftest";

// Puts the machine's own file aside while a test runs.
class SegmentId : public testing::Test {
protected:
    void SetUp() override
    {
        if (geteuid() != 0)
            GTEST_SKIP() << "needs root to write /etc/rsm";
        mkdir("/etc/rsm", 0755);
        std::rename(path, aside);
    }
    void TearDown() override
    {
        if (geteuid() != 0)
            return;
        unlink(path);
        std::rename(aside, path);
    }

    static void write(const std::string &text)
    {
        std::ofstream file(path, std::ios::trunc);
        file << text;
        ASSERT_TRUE(file.flush().good());
    }
    static int lookup(const char *application)
    {
        return rsm_get_segmentid_range(application, &base, &length);
    }
    static void expect(const char *application, rsm_memseg_id_t want_base, std::uint32_t want_length)
    {
        base = 1;
        length = 1;
        EXPECT_EQ(lookup(application), RSM_SUCCESS) << application;
        EXPECT_EQ(base, want_base) << application;
        EXPECT_EQ(length, want_length) << application;
    }
    static void expect_in(const std::string &text, int result)
    {
        write(text);
        EXPECT_EQ(lookup("app"), result) << "file:\n" << text;
    }

    static inline rsm_memseg_id_t base;
    static inline std::uint32_t length;
};

} // namespace

TEST_F(SegmentId, S1_null_arguments)
{
    write("reserve app 0x600000 100\n");
    EXPECT_EQ(rsm_get_segmentid_range(nullptr, &base, &length), RSMERR_BAD_ADDR);
    EXPECT_EQ(rsm_get_segmentid_range("app", nullptr, &length), RSMERR_BAD_ADDR);
    EXPECT_EQ(rsm_get_segmentid_range("app", &base, nullptr), RSMERR_BAD_ADDR);
}

TEST_F(SegmentId, S2_no_file)
{
    EXPECT_EQ(lookup("app"), RSMERR_BAD_CONF);
    // NULL is noticed first.
    EXPECT_EQ(rsm_get_segmentid_range(nullptr, &base, &length), RSMERR_BAD_ADDR);
}

TEST_F(SegmentId, S2_unreadable_file)
{
    write("reserve app 0x600000 100\n");
    ASSERT_EQ(chmod(path, 0), 0);
    in_child_as(alice(), [] { EXPECT_EQ(lookup("app"), RSMERR_BAD_CONF); });
}

TEST_F(SegmentId, S2_directory_instead_of_a_file)
{
    ASSERT_EQ(mkdir(path, 0755), 0);
    EXPECT_EQ(lookup("app"), RSMERR_BAD_CONF);
    EXPECT_EQ(rmdir(path), 0);
}

TEST_F(SegmentId, S3_spellings)
{
    write("reserve one 0x600000 100\n"
          "reserved two 700000 1000\n"
          "RESERVE Three\t0X7fFfFfF0\t15\n"
          "\t ReServed \t four   600100 \t 1 \t trailing words\n"
          "reserve five 0xFFFFFFFF 4294967295\n");
    expect("one", 0x600000, 100);
    expect("two", 0x700000, 1000);
    expect("three", 0x7FFFFFF0, 15);
    expect("THREE", 0x7FFFFFF0, 15);
    expect("four", 0x600100, 1);
    expect("five", 0xFFFFFFFF, 0xFFFFFFFF);
}

TEST_F(SegmentId, S3_the_first_match_decides)
{
    write("reserve app 0x600000 1\nreserve APP 0x700000 2\n");
    expect("app", 0x600000, 1);
}

TEST_F(SegmentId, S4_unknown_application)
{
    expect_in("reserve other 0x600000 100\n", RSMERR_BAD_APPID);
    expect_in("reserve apple 0x600000 100\n", RSMERR_BAD_APPID);
    expect_in("reserve ap 0x600000 100\n", RSMERR_BAD_APPID);
    expect_in("", RSMERR_BAD_APPID);
    expect_in("# app\n#reserve app 0x600000 100\n", RSMERR_BAD_APPID);
}

TEST_F(SegmentId, S5_blank_lines)
{
    expect_in("\nreserve app 0x600000 100\n", RSMERR_BAD_CONF);
    expect_in("reserve other 0x600000 100\n \t \nreserve app 0x600000 100\n", RSMERR_BAD_CONF);
    expect_in("reserve app 0x600000 100\n\n", RSM_SUCCESS);
}

TEST_F(SegmentId, S6_too_few_fields)
{
    expect_in("reserve app 0x600000\n", RSMERR_BAD_CONF);
    expect_in("reserve app\n", RSMERR_BAD_CONF);
    expect_in("reserve\n", RSMERR_BAD_CONF);
    expect_in("reserve other 0x600000\nreserve app 0x600000 100\n", RSMERR_BAD_CONF);
    expect_in("reserve app 0x600000 100\nreserve other\n", RSM_SUCCESS);
}

TEST_F(SegmentId, S7_wrong_keyword)
{
    expect_in("keep app 0x600000 100\n", RSMERR_BAD_CONF);
    expect_in("reserves app 0x600000 100\n", RSMERR_BAD_CONF);
    expect_in("reserv app 0x600000 100\n", RSMERR_BAD_CONF);
    expect_in("keep other 0x600000 100\nreserve app 0x600000 100\n", RSM_SUCCESS);
}

TEST_F(SegmentId, S7_bad_numbers)
{
    expect_in("reserve app 0x100000000 100\n", RSMERR_BAD_CONF);
    expect_in("reserve app 0x600000 4294967296\n", RSMERR_BAD_CONF);
    expect_in("reserve app 0x600000 99999999999999999999999\n", RSMERR_BAD_CONF);
    expect_in("reserve app base 100\n", RSMERR_BAD_CONF);
    expect_in("reserve app 0x600000 many\n", RSMERR_BAD_CONF);
    expect_in("reserve app 0x 100\n", RSMERR_BAD_CONF);
}

TEST_F(SegmentId, S8_comments_and_missing_newline)
{
    write("# comment\n"
          "   # comment behind blanks\n"
          "#\n"
          "reserve other 0x600000 100\n"
          "# between\n"
          "reserve app 0x700000 200");
    expect("app", 0x700000, 200);
}

TEST_F(SegmentId, S8_long_lines)
{
    write("# " + std::string(240, 'c') + "\nreserve app 0x700000 200\n");
    expect("app", 0x700000, 200);
    const std::string name(200, 'n');
    write("reserve " + name + " 0x700000 200\n");
    expect(name.c_str(), 0x700000, 200);
    // Longer ones are understood or refused, never taken for something else.
    write("# " + std::string(300, 'c') + " reserve app 0x600000 1\nreserve app 0x700000 200\n");
    base = 0;
    const int result = lookup("app");
    EXPECT_TRUE(result == RSMERR_BAD_CONF || (result == RSM_SUCCESS && base == 0x700000))
        << result;
}

TEST_F(SegmentId, S8_read_afresh_each_time)
{
    write("reserve app 0x600000 1\n");
    expect("app", 0x600000, 1);
    write("reserve app 0x700000 2\n");
    expect("app", 0x700000, 2);
    write("");
    EXPECT_EQ(lookup("app"), RSMERR_BAD_APPID);
}
