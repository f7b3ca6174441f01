// SPDX-License-Identifier: MIT
#include <array>
#include <gtest/gtest.h>
#include <set>
#include <thread>
#include <vector>

#include "handle_pool.h"

namespace {

struct Cat {
    static constexpr rsm::Kind kind = rsm::Kind::controller;
    int lives = 9;
};
struct Dog {
    static constexpr rsm::Kind kind = rsm::Kind::local_memory;
};

void *handle(const void *object) {
    return rsm::handle_of<void *>(object);
}

// An address that the compiler knows nothing about.
void *address(std::uintptr_t value) {
    volatile std::uintptr_t hidden = value;
    return reinterpret_cast<void *>(hidden);
}

TEST(HandlePool, FindsWhatItMade) {
    auto *cat = rsm::create<Cat>();
    ASSERT_NE(cat, nullptr);
    EXPECT_EQ(rsm::find<Cat>(handle(cat)), cat);
    EXPECT_EQ(rsm::find<Cat>(handle(cat))->lives, 9);
    rsm::destroy(cat);
}

TEST(HandlePool, KnowsAStranger) {
    auto *cat = rsm::create<Cat>();
    int local = 0;
    EXPECT_EQ(rsm::find<Cat>(address(0)), nullptr);
    EXPECT_EQ(rsm::find<Cat>(address(reinterpret_cast<std::uintptr_t>(&local))), nullptr);
    EXPECT_EQ(rsm::find<Cat>(address(1)), nullptr);
    EXPECT_EQ(rsm::find<Cat>(address(UINTPTR_MAX)), nullptr);
    EXPECT_EQ(rsm::find<Dog>(handle(cat)), nullptr);
    rsm::destroy(cat);
}

// Every address of the pool but the handle itself is no handle.
TEST(HandlePool, KnowsAWrongAddress) {
    auto *cat = rsm::create<Cat>();
    const auto right = reinterpret_cast<std::uintptr_t>(handle(cat));
    for (auto wrong = right - 600; wrong != right + 600; ++wrong) {
        if (wrong == right)
            continue;
        EXPECT_EQ(rsm::find<Cat>(address(wrong)), nullptr);
    }
    rsm::destroy(cat);
}

TEST(HandlePool, KnowsTheDead) {
    auto *cat = rsm::create<Cat>();
    auto *dead = handle(cat);
    rsm::destroy(cat);
    EXPECT_EQ(rsm::find<Cat>(dead), nullptr);
    // Also when the slot is in use again.
    for (int use = 0; use < 200; ++use) {
        auto *next = rsm::create<Cat>();
        EXPECT_EQ(rsm::find<Cat>(dead), nullptr);
        rsm::destroy(next);
    }
}

TEST(HandlePool, CountsIncarnations) {
    auto *cat = rsm::create<Cat>();
    const auto *slot = rsm::slot_of(cat);
    const auto before = slot->incarnation.load();
    rsm::destroy(cat);
    std::vector<Cat *> cats;
    do
        cats.push_back(rsm::create<Cat>());
    while (cats.back() != nullptr && rsm::slot_of(cats.back()) != slot);
    ASSERT_NE(cats.back(), nullptr) << "the slot is lost";
    EXPECT_EQ(slot->incarnation.load(), before + 1);
    for (auto *one : cats)
        rsm::destroy(one);
}

TEST(HandlePool, GrowsAndReportsItsEnd) {
    std::vector<Cat *> cats;
    std::set<void *> handles;
    while (auto *cat = rsm::create<Cat>()) {
        cats.push_back(cat);
        handles.insert(handle(cat));
    }
    EXPECT_GE(cats.size(), 65536U);
    EXPECT_EQ(handles.size(), cats.size());
    for (auto *cat : cats)
        rsm::destroy(cat);
    auto *again = rsm::create<Cat>();
    EXPECT_NE(again, nullptr);
    rsm::destroy(again);
}

TEST(HandlePool, ServesThreads) {
    const auto work = [] {
        for (int round = 0; round < 20000; ++round) {
            auto *cat = rsm::create<Cat>();
            ASSERT_EQ(rsm::find<Cat>(handle(cat)), cat);
            rsm::destroy(cat);
        }
    };
    std::array<std::thread, 4> threads;
    for (auto &thread : threads)
        thread = std::thread(work);
    for (auto &thread : threads)
        thread.join();
}

} // namespace
