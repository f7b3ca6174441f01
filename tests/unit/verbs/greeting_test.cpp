// SPDX-License-Identifier: GPL-2.0
// The private data of rdma_cm that libdat's provider `verbs` makes.
#include "connect/greeting.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

using namespace rsmengine;

namespace {

std::vector<std::byte> some(std::size_t size) {
    std::vector<std::byte> data(size);
    for (std::size_t i = 0; i < size; ++i)
        data[i] = static_cast<std::byte>(i + 1);
    return data;
}

// As IB delivers it: with zeros behind it.
std::vector<std::byte> padded(std::span<const std::byte> bytes) {
    std::vector<std::byte> result(bytes.begin(), bytes.end());
    result.resize(196);
    return result;
}

} // namespace

TEST(DaplVerbsGreeting, data_arrives_with_its_exact_size) {
    for (std::size_t size = 0; size <= GREETING_ROOM; ++size) {
        const auto data = some(size);
        const Greeting greeting(data);
        EXPECT_EQ(greeting.bytes().size(), size + GREETING_HEAD);
        const auto arrived = padded(greeting.bytes());
        const auto read = Greeting::data_of(arrived);
        ASSERT_TRUE(read);
        EXPECT_TRUE(std::ranges::equal(*read, data));
    }
}

TEST(DaplVerbsGreeting, fits_into_a_request) {
    EXPECT_EQ(Greeting(some(GREETING_ROOM)).bytes().size(), REQUEST_ROOM);
}

TEST(DaplVerbsGreeting, strangers_are_not_understood) {
    EXPECT_FALSE(Greeting::data_of({}));
    EXPECT_FALSE(Greeting::data_of(std::vector<std::byte>(56)));
    const Greeting greeting(some(1));
    auto first_only = padded(greeting.bytes());
    first_only.resize(1);
    EXPECT_FALSE(Greeting::data_of(first_only));
}

TEST(DaplVerbsGreeting, a_size_beyond_the_data_is_a_lie) {
    const Greeting greeting(some(8));
    auto arrived = padded(greeting.bytes());
    arrived[1] = static_cast<std::byte>(GREETING_ROOM + 1);
    EXPECT_FALSE(Greeting::data_of(arrived));
    arrived[1] = std::byte{9};
    arrived.resize(GREETING_HEAD + 8);
    EXPECT_FALSE(Greeting::data_of(arrived));
    arrived[1] = std::byte{8};
    EXPECT_TRUE(Greeting::data_of(arrived));
}

TEST(DaplVerbsRejection, consumers_and_providers_are_told_apart) {
    EXPECT_EQ(refusal_of(padded(rejection(Refusal::BY_CONSUMER))), Refusal::BY_CONSUMER);
    EXPECT_EQ(refusal_of(padded(rejection(Refusal::BY_PROVIDER))), Refusal::BY_PROVIDER);
}

TEST(DaplVerbsRejection, what_is_not_ours_is_nobodys_decision) {
    EXPECT_EQ(refusal_of({}), Refusal::BY_PROVIDER);
    EXPECT_EQ(refusal_of(std::vector<std::byte>(148)), Refusal::BY_PROVIDER);
    const Greeting greeting(some(1));
    EXPECT_EQ(refusal_of(greeting.bytes()), Refusal::BY_PROVIDER);
}
