// SPDX-License-Identifier: GPL-2.0
// The table of rsmctl top, made of two snapshots.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "top.hpp"

namespace rsmctl::test {

using namespace std::chrono_literals;

using testing::ElementsAre;
using testing::HasSubstr;

namespace {

Json segment(unsigned number, std::uint64_t pinned, std::uint64_t put, std::uint64_t events) {
    return {{"id", 0x600000U + number}, {"number", number}, {"controller", "loopback"},
            {"pid", 345U}, {"importers", 1U}, {"remote_importers", number},
            {"pinned_bytes", pinned}, {"events", events}, {"put_bytes", put}, {"get_bytes", 0U}};
}

Json import(unsigned number, std::uint64_t put, std::uint64_t get) {
    return {{"number", number}, {"controller", "rdma0"}, {"pid", 77U},
            {"events", 0U}, {"put_bytes", put}, {"get_bytes", get}};
}

const TopSnapshot older{WatchTime{10s},
                        {segment(1, 4096, 100, 5), segment(2, 8192, 0, 0)},
                        {import(9, 1000, 0)}};
const TopSnapshot newer{WatchTime{12s},
                        {segment(1, 4096, 100, 25), segment(2, 8192, 4096, 0),
                         segment(3, 65536, 1 << 20, 7)},
                        {import(9, 1000, 2 << 20)}};

std::vector<std::string> lines(const std::string &text) {
    std::istringstream stream(text);
    std::vector<std::string> found;
    for (std::string line; std::getline(stream, line);)
        found.push_back(line);
    return found;
}

// The column NUM of the rows.
std::vector<std::string> numbers(TopOrder order) {
    auto found = lines(top_text(older, newer, order, Colours::off));
    found.erase(found.begin(), found.begin() + 4);
    for (auto &line : found) {
        std::istringstream words(line);
        words >> line >> line;
    }
    return found;
}

} // namespace

TEST(RsmctlTop, HasRatesBetweenTwoSnapshots) {
    EXPECT_THAT(lines(top_text(older, newer, TopOrder::traffic, Colours::off)),
                ElementsAre("3 exports, 76K pinned; 1 imports, put 0/s, get 1M/s",
                            "sort: t traffic, p pinned, i importers, e events; q quits", "",
                            "KIND  NUM        ID  CTRL      PID  IMP  PINNED  PUT/S  GET/S  EV/S",
                            "imp     9         -  rdma0      77    -       -      0     1M     0",
                            "exp     2  0x600002  loopback  345    3      8K     2K      0     0",
                            "exp     1  0x600001  loopback  345    2      4K      0      0    10",
                            "exp     3  0x600003  loopback  345    4     64K      -      -     -"));
}

TEST(RsmctlTop, SortsAsTheKeySays) {
    EXPECT_THAT(numbers(TopOrder::traffic), ElementsAre("9", "2", "1", "3"));
    EXPECT_THAT(numbers(TopOrder::pinned), ElementsAre("3", "2", "1", "9"));
    EXPECT_THAT(numbers(TopOrder::importers), ElementsAre("3", "2", "1", "9"));
    EXPECT_THAT(numbers(TopOrder::events), ElementsAre("1", "2", "9", "3"));
    EXPECT_EQ(order_of_key('t'), TopOrder::traffic);
    EXPECT_EQ(order_of_key('p'), TopOrder::pinned);
    EXPECT_EQ(order_of_key('i'), TopOrder::importers);
    EXPECT_EQ(order_of_key('e'), TopOrder::events);
    EXPECT_EQ(order_of_key('x'), std::nullopt);
}

TEST(RsmctlTop, MarksTheOrderThatThereIs) {
    EXPECT_THAT(top_text(older, newer, TopOrder::pinned, Colours::on),
                HasSubstr("t traffic, \x1b[1mp pinned\x1b[0m, i importers"));
}

TEST(RsmctlTop, HasNoRatesWithoutASecondSnapshot) {
    for (const auto &before : {std::optional<TopSnapshot>(), std::optional(newer)}) {
        const auto text = lines(top_text(before, newer, TopOrder::traffic, Colours::off));
        ASSERT_EQ(text.size(), 8U);
        for (std::size_t row = 4; row < text.size(); row++)
            EXPECT_THAT(text[row], HasSubstr("      -      -     -"));
    }
}

// A number is free again when its handle is closed.
TEST(RsmctlTop, HasNoRateOfACountThatHasGoneDown) {
    auto again = newer;
    again.segments = {segment(1, 4096, 50, 0)};
    EXPECT_THAT(top_text(older, again, TopOrder::traffic, Colours::off),
                HasSubstr("4K      -      0     -\n"));
}

TEST(RsmctlTop, FitsInto80Columns) {
    TopSnapshot before{WatchTime{10s}, {segment(54321, 0, 0, 0)}, {}};
    TopSnapshot after{WatchTime{11s},
                      {segment(54321, 1023ULL << 30U, 1234ULL << 20U, 4294967U)}, {}};
    after.segments.front()["pid"] = 4194304U;
    after.segments.front()["id"] = 0x7fffffffU;
    after.segments.front()["remote_importers"] = 63U;
    for (const auto &line : lines(top_text(before, after, TopOrder::traffic, Colours::off)))
        EXPECT_LE(line.size(), 80U) << line;
}

} // namespace rsmctl::test
