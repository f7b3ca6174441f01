// SPDX-License-Identifier: GPL-2.0
// rsmctl knows what the specification says, all of it, and the manual page names it.
#include <fstream>
#include <linux/rsm_netlink.h>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schema.hpp"

namespace rsmctl::test {

namespace {

using Names = std::vector<std::string>;
using Lists = std::map<std::string, Names>;

// The names in each list of a part of rsm.yaml: the part's members are indented by six,
// what these have inside by eight or more.
Lists lists_of(const std::string &part) {
    std::ifstream file(RSM_SOURCE "/Documentation/netlink/specs/rsm.yaml");
    Lists lists;
    std::string line;
    std::string current;
    std::string list;
    const std::string member = "    name: ";
    const std::string item = "        name: ";
    while (std::getline(file, line)) {
        if (!line.empty() && line[0] != ' ') {
            current = line;
        } else if (current == part + ":" && line.starts_with(member)) {
            list = line.substr(member.size());
        } else if (current == part + ":" && line.starts_with(item)) {
            lists[list].push_back(line.substr(item.size()));
        }
    }
    return lists;
}

// As a key of JSON has it.
std::string key_of(std::string name) {
    std::ranges::replace(name, '-', '_');
    return name;
}

const Field &field_of(const char *kind, std::string_view key) {
    const auto fields = kind_of(kind).fields;
    return *std::ranges::find(fields, key, &Field::key);
}

std::map<std::string, std::span<const Field>> all_sets() {
    std::map<std::string, std::span<const Field>> sets;
    for (const auto &kind : kinds()) {
        sets[kind.name] = kind.fields;
    }
    sets["acl-entry"] = field_of("segment", "acl").nested;
    sets["limit"] = field_of("stats", "limit").nested;
    sets["denial"] = std::ranges::find(events(), RSM_EVENT_DENIED, &Event::command)->fields;
    return sets;
}

Names names_of(std::span<const char *const> names) {
    return {names.begin(), names.end()};
}

std::string manual_page() {
    std::ifstream file(RSM_SOURCE "/tools/rsmctl/rsmctl.8");
    return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

TEST(RsmctlSchema, HasEachAttributeOfTheSpecification) {
    const auto sets = all_sets();
    auto lists = lists_of("attribute-sets");
    // The kernel takes secrets, and shows none.
    ASSERT_EQ(lists.erase("secret"), 1U);
    ASSERT_EQ(lists.size(), sets.size());
    for (const auto &[set, names] : lists) {
        ASSERT_TRUE(sets.contains(set)) << set;
        std::map<int, std::string> specified;
        std::map<int, std::string> known;
        for (std::size_t place = 0; place < names.size(); place++) {
            if (names[place] != "pad") {
                specified[static_cast<int>(place) + 1] = key_of(names[place]);
            }
        }
        for (const auto &field : sets.at(set)) {
            known[field.attribute] = field.key;
        }
        EXPECT_EQ(known, specified) << set;
    }
}

TEST(RsmctlSchema, HasEachChoiceOfTheSpecification) {
    const auto lists = lists_of("definitions");
    EXPECT_EQ(names_of(field_of("node", "state").names), lists.at("node-state"));
    EXPECT_EQ(names_of(field_of("segment", "state").names), lists.at("segment-state"));
    EXPECT_EQ(names_of(field_of("segment", "reason").names), lists.at("reason"));
    EXPECT_EQ(names_of(field_of("import", "reason").names), lists.at("reason"));
    EXPECT_EQ(names_of(field_of("stats", "limit").nested.front().names), lists.at("limit"));
}

TEST(RsmctlSchema, IsInTheManualPage) {
    const auto page = manual_page();
    for (const auto &[set, fields] : all_sets()) {
        for (const auto &field : fields) {
            const auto word = std::string("[ \n(]") + field.key + "[ ,\n)]";
            EXPECT_THAT(page, testing::ContainsRegex(word)) << set;
        }
    }
    for (const auto &event : events()) {
        EXPECT_THAT(page, testing::HasSubstr(event.name));
    }
}

TEST(RsmctlSchema, NamesEachThingOnce) {
    for (const auto &[set, fields] : all_sets()) {
        std::set<std::string> keys;
        for (const auto &field : fields) {
            EXPECT_TRUE(keys.insert(field.key).second) << set << " " << field.key;
            EXPECT_FALSE(std::string(field.key) == "event" || std::string(field.key) == "time");
        }
    }
    EXPECT_THROW(kind_of("nothing"), std::invalid_argument);
}

} // namespace rsmctl::test
