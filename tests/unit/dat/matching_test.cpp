// SPDX-License-Identifier: GPL-2.0
// Which entry serves which request, and what the one who gets none is told.
#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

#include "matching.h"

namespace {

using dat::Key;

constexpr bool safe = true;
constexpr bool unsafe = false;

// Matches in each order of the entries: it must not matter.
void expect(const Key &wanted, std::vector<Key> entries, const std::optional<Key> &best,
            DAT_RETURN_SUBTYPE reason = DAT_NO_SUBTYPE) {
    std::ranges::sort(entries);
    do {
        dat::Matcher matcher(wanted);
        for (const auto &entry : entries)
            matcher.consider(entry);
        EXPECT_EQ(matcher.best(), best);
        if (!best) {
            EXPECT_EQ(matcher.reason(), reason);
        }
    } while (std::ranges::next_permutation(entries).found);
}

TEST(DatMatching, Exact) {
    for (const bool kind : {safe, unsafe})
        expect({"a", 1, 2, kind},
               {{"a", 1, 2, safe},
                {"a", 1, 2, unsafe},
                {"a", 1, 3, safe},
                {"a", 1, 3, unsafe},
                {"b", 1, 2, kind}},
               Key{"a", 1, 2, kind});
}

TEST(DatMatching, SmallestLargerMinorVersion) {
    expect({"a", 1, 2, safe}, {{"a", 1, 5, safe}, {"a", 1, 3, safe}, {"a", 1, 1, safe}},
           Key{"a", 1, 3, safe});
    expect({"a", 1, 0, unsafe}, {{"a", 1, 5, unsafe}, {"a", 1, 3, unsafe}, {"a", 2, 0, unsafe}},
           Key{"a", 1, 3, unsafe});
    expect({"a", 1, 0, safe}, {{"a", 1, 0xffffffff, safe}}, Key{"a", 1, 0xffffffff, safe});
}

TEST(DatMatching, ThreadSafeServesBoth) {
    expect({"a", 1, 2, unsafe}, {{"a", 1, 2, safe}}, Key{"a", 1, 2, safe});
    expect({"a", 1, 2, unsafe}, {{"a", 1, 4, safe}, {"a", 1, 3, safe}}, Key{"a", 1, 3, safe});
    // No more than was asked for is better, even with another minor version.
    expect({"a", 1, 2, unsafe}, {{"a", 1, 2, safe}, {"a", 1, 3, unsafe}}, Key{"a", 1, 3, unsafe});
}

TEST(DatMatching, NeverLessThanAskedFor) {
    expect({"a", 1, 2, safe}, {{"a", 1, 2, unsafe}, {"a", 1, 3, unsafe}}, std::nullopt,
           DAT_THREAD_SAFETY_NOT_FOUND);
    expect({"a", 1, 2, safe}, {{"a", 1, 2, unsafe}, {"a", 1, 3, safe}}, Key{"a", 1, 3, safe});
}

TEST(DatMatching, Reasons) {
    expect({"a", 1, 2, safe}, {}, std::nullopt, DAT_NAME_NOT_REGISTERED);
    expect({"a", 1, 2, safe}, {{"b", 1, 2, safe}, {"A", 1, 2, safe}, {"aa", 1, 2, safe}},
           std::nullopt, DAT_NAME_NOT_REGISTERED);
    expect({"a", 1, 2, safe}, {{"a", 2, 0, safe}, {"a", 0, 9, safe}, {"b", 1, 2, safe}},
           std::nullopt, DAT_MAJOR_NOT_FOUND);
    expect({"a", 1, 2, unsafe}, {{"a", 1, 1, safe}, {"a", 1, 0, unsafe}, {"a", 2, 2, unsafe}},
           std::nullopt, DAT_MINOR_NOT_FOUND);
    expect({"a", 1, 2, safe}, {{"a", 1, 1, safe}, {"a", 1, 2, unsafe}}, std::nullopt,
           DAT_THREAD_SAFETY_NOT_FOUND);
}

} // namespace
