// SPDX-License-Identifier: GPL-2.0
// Operations of the fuzzer.
#pragma once

#include "nodes.hpp"
#include "source.hpp"

#include "support/system.hpp"

#include <cstddef>
#include <cstdint>
#include <linux/types.h>
#include <vector>

namespace rsmtest::fuzz {

// One process' worth of handles, mappings and memory, and the calls on them that a source decides.
class Fuzzer {
public:
    static constexpr std::uint64_t long_bursts = 192;
    // The same calls, but only the first of them.
    static constexpr std::uint64_t short_bursts = 24;

    // With nodes the controllers of rsm_testctl.ko take part.
    explicit Fuzzer(Nodes *nodes = nullptr, std::uint64_t burst_calls = long_bursts);
    // Takes that many steps, or fewer if the source is exhausted before; returns how many system calls
    // that was.
    std::uint64_t run(Source &source, std::uint64_t steps);
    // Gives up all handles and mappings.
    void reset();

private:
    static constexpr std::size_t arena_size = std::size_t{64} << 12;
    static constexpr unsigned last_command = 0x15;

    std::uint64_t number() { return source_->number(); }
    std::uint64_t below(std::uint64_t end) { return source_->below(end); }
    bool one_in(std::uint64_t n) { return below(n) == 0; }

    std::uint64_t interesting();
    std::uint64_t address();
    std::uint64_t length();
    std::uint32_t id();
    void ticket(__u64 (&words)[2]);
    int descriptor();

    void step();
    void burst();
    void act_as_node();
    void export_and_import();
    void clear_arena();
    void controller(char *name);
    void netlink();
    void open_handle();
    void close_handle();
    void duplicate();
    unsigned cheap_command();
    void command(unsigned which);
    void remember_ticket();
    void garbage_command();
    void map();
    void unmap_or_change();
    void touch();
    void change_arena();
    void wait_for_events();
    void fork_briefly();

    std::size_t prepare(unsigned command);

    Nodes *nodes_;
    std::uint64_t burst_calls_;
    Source *source_ = nullptr;
    std::uint64_t calls_ = 0;
    bool arena_changed_ = false;
    std::vector<int> handles_;
    // Descriptors of other files, which commands refuse.
    std::vector<Fd> strangers_;
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
