// SPDX-License-Identifier: GPL-2.0
// The grammar of dat.conf, rule by rule.
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "conf.h"
#include "tokenizer.h"

namespace {

using Fields = std::vector<std::string>;

// Marks a line that is no list of fields at all.
const Fields broken{"(broken)"};

Fields split(std::string_view line) {
    return dat::split_fields(line, 9).value_or(broken);
}

struct Case {
    std::string line;
    Fields fields;
};

TEST(DatTokenizer, Blanks) {
    for (const auto &[line, fields] : std::vector<Case>{
             {"", {}},
             {" \t \t", {}},
             {"a", {"a"}},
             {"a b\tc", {"a", "b", "c"}},
             {" \ta \t\t b\t ", {"a", "b"}},
             {"a\fb\vc", {"a\fb\vc"}},
             {"a\r", {"a"}},
             {"a \r", {"a"}},
             {"\r", {}},
             {"a\rb", {"a\rb"}},
             {"a\r\r", {"a\r"}},
             {"1 2 3 4 5 6 7 8 9 10 11", {"1", "2", "3", "4", "5", "6", "7", "8", "9"}},
         })
        EXPECT_EQ(split(line), fields) << line;
}

TEST(DatTokenizer, Comments) {
    for (const auto &[line, fields] : std::vector<Case>{
             {"#", {}},
             {"# a b", {}},
             {"  #a", {}},
             {"a #b c", {"a"}},
             {"a# b", {"a#", "b"}},
             {"a#b", {"a#b"}},
             {"\"#a\" b", {"#a", "b"}},
             {"\"a\"#b", {"a"}},
             {"a\"#b", {"a\""}},
             {"a # \"never closed", {"a"}},
         })
        EXPECT_EQ(split(line), fields) << line;
}

TEST(DatTokenizer, Quotes) {
    for (const auto &[line, fields] : std::vector<Case>{
             {R"("")", {""}},
             {R"("" "")", {"", ""}},
             {R"("a b	c")", {"a b\tc"}},
             {R"("a\"b")", {"a\"b"}},
             {R"("a\\b")", {"a\\b"}},
             {R"("a\\")", {"a\\"}},
             {R"("a\\\"b")", {"a\\\"b"}},
             {R"("\a\ ")", {"a "}},
             {R"("a""b")", {"a", "b"}},
             {R"("a"b)", {"a", "b"}},
             {"\"a\"\r", {"a"}},
             {"\"a", broken},
             {"\"", broken},
             {"a b \"", broken},
             {R"("a\")", broken},
             {R"("a\)", broken},
             {"\"a\r", broken},
         })
        EXPECT_EQ(split(line), fields) << line;
}

TEST(DatTokenizer, QuotesInPlainFields) {
    for (const auto &[line, fields] : std::vector<Case>{
             {R"(a"b)", {"a\"", "b"}},
             {R"(a" b)", {"a\"", "b"}},
             {R"(a""b")", {"a\"", "b"}},
             {R"(a\"b)", {"a\\\"b"}},
             {R"(a\\"b)", {"a\\\\\"", "b"}},
             {R"(a\b)", {"a\\b"}},
             {R"(a\)", {"a\\"}},
             {R"(a\ b)", {"a\\", "b"}},
             {R"(\"a)", {"\\\"a"}},
             {R"(a"")", broken},
         })
        EXPECT_EQ(split(line), fields) << line;
}

TEST(DatTokenizer, ZeroBytes) {
    using namespace std::string_view_literals;
    EXPECT_EQ(split("a\0b c"sv), broken);
    EXPECT_EQ(split("a #\0"sv), broken);
}

const std::string good = R"(shm0 u1.2 threadsafe default libshm.so.1 acme.1.2 "dev=0" "")";

// A line in which one field (counted from 1) is another.
std::string with(std::size_t number, const std::string &other) {
    Fields fields{"shm0",        "u1.2",     "threadsafe", "default",
                  "libshm.so.1", "acme.1.2", "\"dev=0\"",  "\"\""};
    fields.at(number - 1) = other;
    std::string line;
    for (const auto &field : fields)
        line += field + " ";
    return line;
}

std::size_t count(const std::string &text) {
    return dat::parse_conf(text).size();
}

TEST(DatConf, AllFields) {
    const auto records = dat::parse_conf(
        R"(ib0 u1.10 nonthreadsafe default /usr/lib/x.so SUNW.1.0 "a=1 b=\"c\"" "driver_name=d")");
    ASSERT_EQ(records.size(), 1U);
    EXPECT_EQ(records[0].key, (dat::Key{"ib0", 1, 10, false}));
    EXPECT_EQ(records[0].library, "/usr/lib/x.so");
    EXPECT_EQ(records[0].parameters, "a=1 b=\"c\"");
    EXPECT_EQ(dat::parse_conf(good).at(0).key, (dat::Key{"shm0", 1, 2, true}));
}

TEST(DatConf, Name) {
    EXPECT_EQ(count(with(1, std::string(255, 'n'))), 1U);
    EXPECT_EQ(count(with(1, std::string(256, 'n'))), 0U);
    EXPECT_EQ(count(with(1, "\"" + std::string(255, ' ') + "\"")), 1U);
    EXPECT_EQ(count(with(1, "\"" + std::string(256, ' ') + "\"")), 0U);
    EXPECT_EQ(dat::parse_conf(with(1, "\"two words\"")).at(0).key.name, "two words");
}

TEST(DatConf, ApiVersion) {
    for (const auto *version : {"u1.2", "u0.0", "u2.0", "u01.02", "u4294967295.4294967295"})
        EXPECT_EQ(count(with(2, version)), 1U) << version;
    // The kernel's is right, and none of ours.
    for (const auto *version : {"k1.2",
                                "u",
                                "u1",
                                "u1.",
                                "u.2",
                                "u.",
                                "1.2",
                                "U1.2",
                                "v1.2",
                                "u1.2.3",
                                "u1.2x",
                                "ux.2",
                                "u-1.2",
                                "u+1.2",
                                "u1.-2",
                                "u 1.2",
                                "u4294967296.0",
                                "u1.4294967296",
                                "u99999999999999999999.1",
                                "\"\""})
        EXPECT_EQ(count(with(2, version)), 0U) << version;
}

TEST(DatConf, ThreadSafety) {
    EXPECT_TRUE(dat::parse_conf(with(3, "threadsafe")).at(0).key.thread_safe);
    EXPECT_FALSE(dat::parse_conf(with(3, "nonthreadsafe")).at(0).key.thread_safe);
    for (const auto *word :
         {"threadsafeXYZ", "thread", "nonthreadsafeX", "Threadsafe", "yes", "\"\""})
        EXPECT_EQ(count(with(3, word)), 0U) << word;
}

TEST(DatConf, OnlyTheDefaultIsLoaded) {
    EXPECT_EQ(count(with(4, "default")), 1U);
    for (const auto *word : {"nondefault", "defaultX", "Default", "def", "\"\""})
        EXPECT_EQ(count(with(4, word)), 0U) << word;
}

TEST(DatConf, Library) {
    EXPECT_EQ(dat::parse_conf(with(5, "\"/a b/c.so\"")).at(0).library, "/a b/c.so");
    EXPECT_EQ(dat::parse_conf(with(5, "a\\b.so")).at(0).library, "a\\b.so");
    EXPECT_EQ(count(with(5, "\"\"")), 0U);
}

TEST(DatConf, ProviderVersion) {
    for (const auto *version : {"rsm.1.0", "a.0.0", "\"a b.1.2\""})
        EXPECT_EQ(count(with(6, version)), 1U) << version;
    for (const auto *version : {"SUNW1.0", "1.0", ".1.0", "a.1", "a.1.", "a..1", "a", "a.b.1.0",
                                "a.x.0", "a.1.x", "a.1.0.0", "..", ".", "\"\""})
        EXPECT_EQ(count(with(6, version)), 0U) << version;
}

TEST(DatConf, FreeText) {
    EXPECT_EQ(dat::parse_conf(with(7, "\"\"")).at(0).parameters, "");
    EXPECT_EQ(dat::parse_conf(with(7, "plain")).at(0).parameters, "plain");
    EXPECT_EQ(count(with(8, "driver_name=x")), 1U);
}

TEST(DatConf, NumberOfFields) {
    EXPECT_EQ(count(R"(shm0 u1.2 threadsafe default libshm.so.1 acme.1.2 "dev=0")"), 0U);
    EXPECT_EQ(count(good + " x"), 0U);
    EXPECT_EQ(count(good + " \"\""), 0U);
    EXPECT_EQ(count(good + "# comment"), 1U);
    EXPECT_EQ(count(good + " # comment"), 1U);
    EXPECT_EQ(count(R"(shm0 u1.2 threadsafe # default libshm.so.1 acme.1.2 "dev=0" "")"), 0U);
}

TEST(DatConf, Duplicates) {
    const auto first = with(7, "first");
    const auto second = with(7, "second");
    const auto records = dat::parse_conf(first + "\n" + second + "\n");
    ASSERT_EQ(records.size(), 1U);
    EXPECT_EQ(records[0].parameters, "first");
    // Not loaded, so not the first of its key.
    for (const auto &other : {with(4, "nondefault"), with(2, "k1.2"), with(6, "x"), with(2, "u1.3"),
                              with(2, "u2.2"), with(3, "nonthreadsafe"), with(1, "SHM0")}) {
        const auto both = dat::parse_conf(other + "\n" + second + "\n");
        ASSERT_FALSE(both.empty()) << other;
        EXPECT_EQ(both.back().parameters, "second") << other;
    }
}

TEST(DatConf, Order) {
    const auto records = dat::parse_conf(with(1, "c") + "\n" + with(1, "a") + "\n" + with(1, "b"));
    ASSERT_EQ(records.size(), 3U);
    EXPECT_EQ(records[0].key.name, "c");
    EXPECT_EQ(records[1].key.name, "a");
    EXPECT_EQ(records[2].key.name, "b");
}

TEST(DatConf, BadLinesLeaveTheOthersAlone) {
    using namespace std::string_literals;
    for (const auto &bad : {"x"s, "\"never closed"s, "a \\"s, "\0\0"s, std::string(1 << 20, 'x'),
                            "\""s + std::string(1 << 20, ' '), "\xff\xfe\x80"s, with(2, "u1")})
        EXPECT_EQ(count(bad + "\n" + good + "\n" + bad + "\n"), 1U);
    // A backslash does not continue a line, nor does a quote.
    EXPECT_EQ(count("shm0 u1.2 threadsafe default \\\n libshm.so.1 acme.1.2 \"\" \"\"\n" + good),
              1U);
    EXPECT_EQ(count("a \"open\n" + good + "\n\"\n"), 1U);
}

TEST(DatConf, LineEnds) {
    EXPECT_EQ(count(good), 1U);
    EXPECT_EQ(count(good + "\n"), 1U);
    EXPECT_EQ(count(good + "\r\n" + with(1, "b") + "\r\n"), 2U);
    EXPECT_EQ(count("\r\n\r\n" + good + "\r"), 1U);
    EXPECT_EQ(count("\n\n \n\t\n" + good + "\n\n"), 1U);
    EXPECT_EQ(count(good + "\n# last line, no newline"), 1U);
    EXPECT_EQ(count(good + "\n\""), 1U);
    EXPECT_EQ(count(""), 0U);
    EXPECT_EQ(count("\n"), 0U);
}

TEST(DatConf, LongLines) {
    const std::string blanks(1 << 20, ' ');
    const std::string parameters(1 << 20, 'p');
    const auto records =
        dat::parse_conf("#" + blanks + "\n" + blanks + with(7, parameters) + blanks);
    ASSERT_EQ(records.size(), 1U);
    EXPECT_EQ(records[0].parameters, parameters);
}

TEST(DatConf, ManyRecords) {
    std::string text;
    for (int i = 0; i < 20000; ++i)
        text += with(1, "ia" + std::to_string(i)) + "\n";
    EXPECT_EQ(count(text + text), 20000U);
}

} // namespace
