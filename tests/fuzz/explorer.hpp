// SPDX-License-Identifier: GPL-2.0
// Finds of all processes of a run: inputs, and places of the kernel modules.
#pragma once

#include "corpus.hpp"
#include "source.hpp"

#include <array>
#include <atomic>
#include <span>

namespace rsmtest::fuzz {

// Lies in memory that processes share, so that the end of one of them loses nothing.
class Explorer {
public:
    // In shared memory, for good.
    static Explorer &create();

    // An input that was chosen and changed by chance.
    Bytes next_input(Chance &chance) const;
    void add(std::span<const std::uint8_t> input);
    // Notes places; whether one of them is new.
    bool note(std::span<const std::uint64_t> places);

    std::size_t inputs() const { return std::min<std::size_t>(input_count_, most_inputs); }
    std::span<const std::uint8_t> input(std::size_t index) const;
    std::size_t places() const { return place_count_; }
    std::vector<std::uint64_t> all_places() const;
    // Forgets places, not inputs, for the choice of the inputs that are worth it.
    void forget_places();

    std::atomic<std::uint64_t> calls{0};
    std::atomic<std::uint64_t> runs{0};
    std::atomic<std::uint64_t> deaths{0};
    std::atomic<bool> stopped{false};

private:
    static constexpr std::size_t most_inputs = 8192;
    static constexpr std::size_t most_places = std::size_t{1} << 18;
    struct Slot {
        std::uint16_t size;
        std::array<std::uint8_t, longest_input> bytes;
    };

    Bytes pick(Chance &chance) const;

    std::atomic<std::size_t> input_count_{0};
    std::atomic<std::size_t> place_count_{0};
    std::array<Slot, most_inputs> inputs_;
    // A hash table of places.
    std::array<std::atomic<std::uint64_t>, most_places> places_;
};

} // namespace rsmtest::fuzz
