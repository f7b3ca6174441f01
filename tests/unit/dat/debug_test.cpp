// SPDX-License-Identifier: GPL-2.0
// DAT_DBG_TYPE, DAT_DBG_DEST and the messages.
#include <cerrno>
#include <functional>
#include <gtest/gtest.h>
#include <string>

#include "debug.h"

namespace {

TEST(DatDebug, Classes) {
    const auto classes = [](const char *type) {
        return dat::parse_debug_settings(type, nullptr).classes;
    };
    EXPECT_EQ(classes(nullptr), 0x01U);
    EXPECT_EQ(classes("0"), 0x01U);
    EXPECT_EQ(classes("4"), 0x05U);
    EXPECT_EQ(classes("0x30"), 0x31U);
    EXPECT_EQ(classes("0xff"), 0xffU);
    EXPECT_EQ(classes("255"), 0xffU);
    for (const auto *bad : {"", "x", "4x", "0x", "four"})
        EXPECT_EQ(classes(bad), 0x01U) << bad;
}

TEST(DatDebug, Destinations) {
    const auto to_stderr = [](const char *destination) {
        return dat::parse_debug_settings(nullptr, destination).to_stderr;
    };
    const auto to_syslog = [](const char *destination) {
        return dat::parse_debug_settings(nullptr, destination).to_syslog;
    };
    for (const auto *usual : {"1", "0", "4", "", "x", "0x10"}) {
        EXPECT_TRUE(to_stderr(usual)) << usual;
        EXPECT_FALSE(to_syslog(usual)) << usual;
    }
    EXPECT_TRUE(to_stderr(nullptr));
    EXPECT_FALSE(to_syslog(nullptr));
    EXPECT_FALSE(to_stderr("2"));
    EXPECT_TRUE(to_syslog("2"));
    EXPECT_TRUE(to_stderr("3"));
    EXPECT_TRUE(to_syslog("3"));
}

std::string output_of(const std::function<void()> &body) {
    testing::internal::CaptureStderr();
    body();
    return testing::internal::GetCapturedStderr();
}

TEST(DatDebug, Lines) {
    EXPECT_EQ(output_of([] { dat::debug(dat::Debug::error, {"a ", "", "b"}); }), "DAT: a b\n");
    EXPECT_EQ(output_of([] { dat::debug(dat::Debug::generic, {"off"}); }), "");
}

TEST(DatDebug, LongLinesAreCut) {
    const std::string text(100000, 'x');
    const auto line = output_of([&] { dat::debug(dat::Debug::error, {text, text}); });
    EXPECT_EQ(line.size(), 1023U);
    EXPECT_EQ(line.back(), '\n');
}

TEST(DatDebug, ErrnoStays) {
    errno = ENOTTY;
    output_of([] { dat::debug(dat::Debug::error, {"text"}); });
    EXPECT_EQ(errno, ENOTTY);
}

} // namespace
