// SPDX-License-Identifier: GPL-2.0
// Sizes, lists, times and rates as people write them, and the points that lists make.
#include "point.hpp"
#include "units.hpp"

#include <gmock/gmock.h>
#include <stdexcept>

namespace {

using namespace rsmperf;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(RsmperfSize, TakesUnitsInAnyCase) {
    EXPECT_EQ(parse_size("8"), 8U);
    EXPECT_EQ(parse_size("64K"), 65536U);
    EXPECT_EQ(parse_size("64k"), 65536U);
    EXPECT_EQ(parse_size("1MiB"), 1048576U);
    EXPECT_EQ(parse_size("2GB"), 2147483648U);
    EXPECT_EQ(parse_size("0"), 0U);
}

TEST(RsmperfSize, RefusesWhatIsNone) {
    for (const char *text : {"", "K", "-8", "+8", " 8", "8 K", "8.5K", "8T", "8KiBs", "0x10"}) {
        EXPECT_THROW(parse_size(text), std::invalid_argument) << "'" << text << "'";
    }
}

TEST(RsmperfSize, RefusesWhatDoesNotFit) {
    EXPECT_EQ(parse_size("17179869183G"), 17179869183U << 30);
    EXPECT_THROW(parse_size("17179869184G"), std::invalid_argument);
    EXPECT_THROW(parse_size("18446744073709551616"), std::invalid_argument);
}

TEST(RsmperfList, DoublesARange) {
    EXPECT_THAT(parse_list("8:64"), ElementsAre(8, 16, 32, 64));
    EXPECT_EQ(parse_list("8:64M").size(), 24U);
}

TEST(RsmperfList, TakesAFactor) {
    EXPECT_THAT(parse_list("8:4K:8"), ElementsAre(8, 64, 512, 4096));
}

TEST(RsmperfList, EndsWithTheLastOfARange) {
    EXPECT_THAT(parse_list("8:100"), ElementsAre(8, 16, 32, 64, 100));
    EXPECT_THAT(parse_list("5:5"), ElementsAre(5));
    EXPECT_EQ(parse_list("1:18446744073709551615").back(), 18446744073709551615U);
}

TEST(RsmperfList, SortsAndDropsRepetitions) {
    EXPECT_THAT(parse_list("64K,8,1K:4K,8"), ElementsAre(8, 1024, 2048, 4096, 65536));
}

TEST(RsmperfList, RefusesWhatIsNone) {
    for (const char *text : {"", "8,", ",8", "64:8", "0:8", "0", "8:64:1", "8:64:2:2", "8:"}) {
        EXPECT_THROW(parse_list(text), std::invalid_argument) << "'" << text << "'";
    }
}

TEST(RsmperfText, WritesSizesShort) {
    EXPECT_EQ(size_text(8), "8");
    EXPECT_EQ(size_text(1000), "1000");
    EXPECT_EQ(size_text(1536), "1536");
    EXPECT_EQ(size_text(65536), "64K");
    EXPECT_EQ(size_text(64U << 20), "64M");
    EXPECT_EQ(size_text(1U << 30), "1G");
}

TEST(RsmperfText, WritesTimesWithThreeDigits) {
    EXPECT_EQ(time_text(9.9949), "9.99 ns");
    EXPECT_EQ(time_text(9.996), "10.0 ns");
    EXPECT_EQ(time_text(38.21), "38.2 ns");
    EXPECT_EQ(time_text(999.6), "1.00 µs");
    EXPECT_EQ(time_text(2350000), "2.35 ms");
    EXPECT_EQ(time_text(7.2e12), "7200 s");
}

TEST(RsmperfText, WritesRatesInPowersOfTen) {
    EXPECT_EQ(rate_text(1U << 20, 100000), "10.5 GB/s");
    EXPECT_EQ(rate_text(8, 100), "80.0 MB/s");
}

TEST(RsmperfText, PadsByCharacters) {
    EXPECT_EQ(padded_left("1 µs", 6), "  1 µs");
    EXPECT_EQ(padded_right("1 µs", 6), "1 µs  ");
    EXPECT_EQ(padded_left("long", 2), "long");
}

std::vector<std::string> labels(const Axes &axes) {
    std::vector<std::string> names;
    for (const auto &point : all_points(axes)) {
        names.push_back(label("f", point));
    }
    return names;
}

TEST(RsmperfPoint, WithoutListsIsOne) {
    EXPECT_THAT(labels({}), ElementsAre("f"));
}

TEST(RsmperfPoint, CombinesLists) {
    EXPECT_THAT(labels({.sizes = {8, 65536}, .windows = {1, 16}}),
                ElementsAre("f/8", "f/64K", "f/8/w16", "f/64K/w16"));
    EXPECT_THAT(labels({.endpoints = {1, 1000}, .contexts = {17}, .threads = {2}}),
                ElementsAre("f/c17/t2", "f/e1000/c17/t2"));
}

TEST(RsmperfPoint, TakesListsThatAFigureKnows) {
    const Axes known{.sizes = {8}, .windows = {1}};
    const auto chosen = chosen_axes(known, {.sizes = {16, 32}, .threads = {4}});
    EXPECT_THAT(chosen.sizes, ElementsAre(16, 32));
    EXPECT_THAT(chosen.windows, ElementsAre(1));
    EXPECT_THAT(chosen.threads, IsEmpty());
}

TEST(RsmperfPoint, KnowsOnlyItsLists) {
    const Axes known{.sizes = {8}, .windows = {1}};
    EXPECT_TRUE(knows(known, {}));
    EXPECT_TRUE(knows(known, {.windows = {16}}));
    EXPECT_FALSE(knows(known, {.sizes = {8}, .threads = {2}}));
}

} // namespace
