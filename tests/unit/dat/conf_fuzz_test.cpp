// SPDX-License-Identifier: GPL-2.0
// dat.conf with random damage: whatever is in it, what is loaded keeps the rules
// and good lines stay good. The seed is printed and can be given in DAT_FUZZ_SEED.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <string>

#include "conf.h"

namespace {

const std::string untouched = R"(good0 u1.2 threadsafe default lib.so a.1.2 "p" "")";

const std::string sample = R"(# sample
shm0 u1.2 threadsafe default libshm.so.1 acme.1.2 "dev=0 numa=\"any\"" "" # comment
shm0	u1.1 nonthreadsafe default /usr/lib/libshm.so acme.1.2 "" "driver_name=x"
net0 k1.2 nonthreadsafe nondefault lib\"x\\y.so SUNW.1.0 a\b "\\"
)";

class Mutator {
  public:
    explicit Mutator(std::uint64_t seed) : random_(seed) {}

    std::string next() {
        std::string text = sample;
        for (auto changes = below(12); changes > 0; --changes)
            change(text);
        return text;
    }

  private:
    std::size_t below(std::size_t limit) { return random_() % limit; }

    // Characters of the grammar, more often than other bytes.
    char byte() {
        static const std::string special = "\"\"\\\\#\n\r\t u.0129k";
        return below(4) == 0 ? static_cast<char>(below(256)) : special[below(special.size())];
    }

    void change(std::string &text) {
        const auto at = below(text.size() + 1);
        const auto length = std::min(below(40), text.size() - at);
        switch (below(5)) {
        case 0:
            text.insert(at, 1, byte());
            break;
        case 1:
            text.erase(at, length);
            break;
        case 2:
            text.insert(below(text.size() + 1), text.substr(at, length));
            break;
        case 3:
            text.insert(at, below(400), byte());
            break;
        default:
            if (at < text.size())
                text[at] = byte();
        }
    }

    std::mt19937_64 random_;
};

std::uint64_t seed() {
    const char *given = std::getenv("DAT_FUZZ_SEED");
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    const auto chosen =
        given != nullptr ? std::strtoull(given, nullptr, 0) : static_cast<std::uint64_t>(now);
    std::printf("note: DAT_FUZZ_SEED=%llu\n", static_cast<unsigned long long>(chosen));
    return chosen;
}

void expect_rules(const std::vector<dat::ConfRecord> &records) {
    std::set<dat::Key> keys;
    for (const auto &record : records) {
        EXPECT_LE(record.key.name.size(), 255U);
        EXPECT_FALSE(record.library.empty());
        EXPECT_TRUE(keys.insert(record.key).second) << record.key.name;
        for (const auto &text : {record.key.name, record.library, record.parameters})
            EXPECT_EQ(text.find_first_of(std::string("\0\n", 2)), text.npos);
    }
}

TEST(DatConfFuzz, DamagedFiles) {
    Mutator mutator(seed());
    for (int i = 0; i < 20000 && !testing::Test::HasFailure(); ++i) {
        const auto text = mutator.next();
        expect_rules(dat::parse_conf(text));
        // The damage ends with its line; only a line of the same key is in the way.
        const auto records = dat::parse_conf(untouched + "\n" + text + "\n");
        expect_rules(records);
        ASSERT_FALSE(records.empty());
        EXPECT_EQ(records.front().parameters, "p");
        const auto last = dat::parse_conf(text + "\n" + untouched);
        EXPECT_TRUE(std::ranges::any_of(
            last, [](const auto &record) { return record.key.name == "good0"; }));
    }
}

} // namespace
