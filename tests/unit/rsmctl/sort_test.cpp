// SPDX-License-Identifier: GPL-2.0
// The order of lists, and their colours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "colour.hpp"
#include "schema.hpp"
#include "sort.hpp"
#include "table.hpp"

namespace rsmctl::test {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// The first field of the records once these are sorted.
std::vector<unsigned> order(const char *kind, const char *key, std::vector<Json> records,
                            Direction direction = Direction::ascending) {
    const auto fields = kind_of(kind).fields;
    sort_records(records, field_of(fields, key), direction);
    std::vector<unsigned> numbers;
    for (const auto &record : records) {
        numbers.push_back(record.value(fields.front().key, 0U));
    }
    return numbers;
}

} // namespace

TEST(RsmctlSort, KnowsColumnsByKeyAndByHeading) {
    const auto segments = kind_of("segment").fields;
    EXPECT_EQ(column_named(segments, "put_bytes"), "put_bytes");
    EXPECT_EQ(column_named(segments, "PINNED"), "pinned_bytes");
    EXPECT_EQ(column_named(segments, "remote"), "remote_importers");
    EXPECT_EQ(column_named(kind_of("node").fields, "Node"), "node_id");
    try {
        column_named(segments, "lenght");
        ADD_FAILURE();
    } catch (const std::invalid_argument &error) {
        EXPECT_STREQ(error.what(), "\"lenght\" is no column: did you mean length?");
    }
}

TEST(RsmctlSort, ShowsColumnsInTheOrderThatIsAskedFor) {
    const auto segments = kind_of("segment").fields;
    const auto columns = fields_named(segments, columns_named(segments, "put_bytes,ID"));
    const std::vector<Json> records = {{{"id", 7}, {"length", 8192}, {"put_bytes", 12}}};
    EXPECT_EQ(table_of(columns, records, false), "put_bytes   ID\n"
                                                 "       12  0x7\n")
        << "a column without a heading has its key";
}

TEST(RsmctlSort, SortsNumbersAsNumbers) {
    const std::vector<Json> segments = {{{"id", 1}, {"length", 8192}},
                                        {{"id", 2}, {"length", 65536}},
                                        {{"id", 3}, {"length", 8192}},
                                        {{"id", 4}, {"length", 900}}};
    EXPECT_THAT(order("segment", "length", segments), ElementsAre(4, 1, 3, 2));
    EXPECT_THAT(order("segment", "length", segments, Direction::descending),
                ElementsAre(2, 1, 3, 4))
        << "equal ones stay in their order";
}

TEST(RsmctlSort, SortsHexadecimalTextAsNumbers) {
    const std::vector<Json> nodes = {{{"node_id", 1}, {"hwaddr", "0x10"}},
                                     {{"node_id", 2}, {"hwaddr", "0xb"}},
                                     {{"node_id", 3}, {"hwaddr", "0xc0"}}};
    EXPECT_THAT(order("node", "hwaddr", nodes), ElementsAre(2, 1, 3));
}

TEST(RsmctlSort, HasTheUnlimitedAsTheMostAndTheUnknownLast) {
    const std::vector<Json> processes = {{{"pid", 1}, {"limit_bytes", nullptr}},
                                         {{"pid", 2}},
                                         {{"pid", 3}, {"limit_bytes", 5}},
                                         {{"pid", 4}, {"limit_bytes", 9}}};
    EXPECT_THAT(order("process", "limit_bytes", processes), ElementsAre(3, 4, 1, 2));
    EXPECT_THAT(order("process", "limit_bytes", processes, Direction::descending),
                ElementsAre(1, 4, 3, 2));
}

TEST(RsmctlColour, IsForTerminalsUnlessTheUserSaysElse) {
    const Sink terminal{.is_terminal = true, .no_color = "", .term = "xterm"};
    const Sink pipe{.is_terminal = false, .no_color = "", .term = "xterm"};
    const Sink plain{.is_terminal = true, .no_color = "1", .term = "xterm"};
    const Sink dumb{.is_terminal = true, .no_color = "", .term = "dumb"};
    EXPECT_EQ(colours_for(ColourWhen::automatic, terminal), Colours::on);
    for (const auto &sink : {pipe, plain, dumb}) {
        EXPECT_EQ(colours_for(ColourWhen::automatic, sink), Colours::off);
        EXPECT_EQ(colours_for(ColourWhen::always, sink), Colours::on);
    }
    EXPECT_EQ(colours_for(ColourWhen::never, terminal), Colours::off);
}

TEST(RsmctlColour, IsOfHeadingsAndStates) {
    const std::vector<Json> nodes = {
        {{"node_id", 2}, {"controller", "down"}, {"state", "active"}, {"secret", false}},
        {{"node_id", 3}, {"controller", "c"}, {"state", "down"}, {"secret", true}}};
    const auto fields = kind_of("node").fields;
    const auto text = table_of(fields, nodes, false, Colours::on);
    EXPECT_THAT(text, HasSubstr("\x1b[1mNODE\x1b[0m  \x1b[1mCONTROLLER\x1b[0m"));
    EXPECT_THAT(text, HasSubstr("   2  down        \x1b[32mactive\x1b[0m"))
        << "a name is no state, and columns keep their width";
    EXPECT_THAT(text, HasSubstr("\x1b[1;31mdown\x1b[0m  "));
    EXPECT_THAT(text, HasSubstr("\x1b[33mno\x1b[0m"));
    EXPECT_THAT(table_of(fields, nodes, false), Not(HasSubstr("\x1b")));
    EXPECT_THAT(lines_of(fields, nodes.front(), false, Colours::on),
                HasSubstr("state        \x1b[32mactive\x1b[0m\n"));
}

} // namespace rsmctl::test
