// SPDX-License-Identifier: GPL-2.0
// What the fuzzer can do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <linux/types.h>
#include <random>
#include <vector>

namespace rsmtest::fuzz {

// One process' worth of handles, mappings and memory, and random calls on them.
class Fuzzer {
public:
    explicit Fuzzer(std::uint64_t seed);
    // Makes that many random calls.
    void run(std::uint64_t calls);

private:
    static constexpr std::size_t arena_size = std::size_t{64} << 12;

    std::uint64_t number() { return random_(); }
    std::uint64_t below(std::uint64_t end) { return random_() % end; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }

    std::uint64_t interesting();
    std::uint64_t address();
    std::uint64_t length();
    std::uint32_t id();
    void ticket(__u64 (&words)[2]);
    int descriptor();

    void open_handle();
    void close_handle();
    void duplicate();
    void command();
    void remember_ticket();
    void garbage_command();
    void map();
    void unmap_or_change();
    void touch();
    void change_arena();
    void wait_for_events();
    void fork_briefly();

    std::size_t prepare(unsigned command);

    std::mt19937_64 random_;
    std::vector<int> handles_;
    struct Mapping {
        void *base;
        std::size_t length;
        bool readable;
        bool writable;
    };
    std::vector<Mapping> mappings_;
    struct Ticket {
        std::uint64_t word[2];
    };
    // The last that were granted.
    std::vector<Ticket> tickets_;
    std::byte *arena_;
    // The argument structure, on a page of its own.
    std::byte *argument_;
};

} // namespace rsmtest::fuzz
