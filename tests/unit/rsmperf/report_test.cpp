// SPDX-License-Identifier: GPL-2.0
// Reports for programs, and an earlier report beside a new one.
#include "compare.hpp"
#include "report.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

namespace {

using namespace rsmperf;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

Row row(const std::string &name, std::optional<double> at_most = std::nullopt) {
    return {name, "a \"quoted\" figure", "floor, with a comma", at_most, nullptr, {}};
}

Result measured(const std::string &name, double figure, double floor,
                std::optional<double> at_most = std::nullopt) {
    Result result{row(name, at_most), {}, {}, {}};
    result.times.figure.add(figure);
    result.times.floor.add(floor);
    return result;
}

Result failed(const std::string &name) {
    return {row(name), {}, {}, "it broke"};
}

json report_of(const std::vector<Result> &results) {
    std::stringstream text;
    print_json(text, {}, results);
    return json::parse(text);
}

TEST(RsmperfJson, SaysWhatItWasTakenOn) {
    const auto report = report_of({});
    EXPECT_EQ(report["format"], 2);
    for (const char *name : {"date", "host", "machine", "kernel", "processor"}) {
        EXPECT_TRUE(report[name].is_string()) << name;
    }
    for (const char *name : {"processors", "processes", "rounds", "batch_ms"}) {
        EXPECT_TRUE(report[name].is_number_unsigned() || report[name].is_number_integer()) << name;
    }
    EXPECT_TRUE(report["versions"]["rsmperf"].is_string());
    EXPECT_THAT(report["date"].get<std::string>(), testing::MatchesRegex("....-..-..T..:..:..Z"));
}

TEST(RsmperfJson, HasAllSamples) {
    auto result = measured("f", 20, 10, 3);
    result.point = {.size = 65536, .window = 16};
    result.times.figure.add(30);
    const auto figure = report_of({result})["figures"][0];
    EXPECT_EQ(figure["name"], "f/64K/w16");
    EXPECT_EQ(figure["parameters"], json({{"size", 65536}, {"window", 16}}));
    EXPECT_EQ(figure["figure_ns"], 20);
    EXPECT_EQ(figure["floor_ns"], 10);
    EXPECT_EQ(figure["ratio"], 2);
    EXPECT_EQ(figure["at_most"], 3);
    EXPECT_EQ(figure["verdict"], "pass");
    EXPECT_EQ(figure["figure_times"]["samples_ns"], json({20, 30}));
    EXPECT_EQ(figure["figure_times"]["median_ns"], 20);
    EXPECT_EQ(figure["figure_times"]["operations_per_sample"], 1);
    EXPECT_FALSE(figure["figure_times"].contains("p99_ns"));
    EXPECT_EQ(figure["floor_times"]["samples_ns"], json::array({10}));
}

TEST(RsmperfJson, NamesErrorsInsteadOfFigures) {
    const auto figure = report_of({failed("f")})["figures"][0];
    EXPECT_EQ(figure["verdict"], "error");
    EXPECT_EQ(figure["error"], "it broke");
    EXPECT_FALSE(figure.contains("ratio"));
    EXPECT_FALSE(figure.contains("figure_times"));
}

TEST(RsmperfVerdict, FollowsTheLimit) {
    EXPECT_STREQ(measured("f", 2, 1, 2).verdict(), "pass");
    EXPECT_STREQ(measured("f", 2.1, 1, 2).verdict(), "miss");
    EXPECT_STREQ(measured("f", 2, 1).verdict(), "reported");
}

// Fields of a line of CSV without quotation.
std::size_t fields(const std::string &line) {
    bool quoted = false;
    std::size_t count = 1;
    for (const char character : line) {
        quoted ^= character == '"';
        count += !quoted && character == ',' ? 1 : 0;
    }
    return count;
}

TEST(RsmperfCsv, HasAsManyFieldsInEachLine) {
    std::stringstream text;
    print_csv(text, {measured("f", 2, 1, 3), failed("g")});
    std::string heads;
    std::string line;
    ASSERT_TRUE(std::getline(text, heads));
    for (const char *name : {"f", "g"}) {
        ASSERT_TRUE(std::getline(text, line));
        EXPECT_TRUE(line.starts_with(name)) << line;
        EXPECT_EQ(fields(line), fields(heads)) << line;
        EXPECT_THAT(line, HasSubstr("\"a \"\"quoted\"\" figure\",\"floor, with a comma\""));
    }
    EXPECT_FALSE(std::getline(text, line));
}

std::map<std::string, double> earlier(const std::string &text) {
    std::stringstream report(text);
    return earlier_ratios(report);
}

TEST(RsmperfCompare, ReadsWhatJsonWrites) {
    const auto ratios = earlier(report_of({measured("f", 3, 2), failed("g")}).dump());
    EXPECT_EQ(ratios, (std::map<std::string, double>{{"f", 1.5}}));
}

TEST(RsmperfCompare, RefusesWhatIsNoReport) {
    for (const char *text :
         {"", "nonsense", "[]", "{}", R"({"figures": 1})", R"({"figures": [{"ratio": 1}]})",
          R"({"figures": [{"name": "f", "ratio": "1"}]})"}) {
        EXPECT_THROW(earlier(text), std::runtime_error) << text;
    }
}

TEST(RsmperfCompare, NamesWhatGotWorse) {
    std::stringstream text;
    const bool as_before = print_comparison(text, {{"f", 1}, {"g", 1}, {"h", 1}},
                                            {measured("f", 1.2, 1), measured("g", 1.05, 1),
                                             measured("h", 0.5, 1), measured("new", 9, 1)});
    EXPECT_FALSE(as_before);
    EXPECT_THAT(text.str(), HasSubstr("worse by more than a tenth: f\n"));
    EXPECT_THAT(text.str(), HasSubstr("-50 %"));
    EXPECT_THAT(text.str(), HasSubstr("is not in the earlier report"));
}

TEST(RsmperfCompare, IsSilentAboutWhatStayed) {
    std::stringstream text;
    EXPECT_TRUE(print_comparison(text, {{"f", 1}}, {measured("f", 1.05, 1), failed("g")}));
    EXPECT_THAT(text.str(), Not(HasSubstr("worse")));
}

} // namespace
