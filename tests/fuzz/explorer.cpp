// SPDX-License-Identifier: GPL-2.0
#include "explorer.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <sys/mman.h>

namespace rsmtest::fuzz {

Explorer &Explorer::create()
{
    void *memory = mmap(nullptr, sizeof(Explorer), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        std::abort();
    return *new (memory) Explorer;
}

std::span<const std::uint8_t> Explorer::input(std::size_t index) const
{
    const Slot &slot = inputs_[index];
    return {slot.bytes.data(), std::min<std::size_t>(slot.size, longest_input)};
}

void Explorer::add(std::span<const std::uint8_t> input)
{
    const std::size_t index = input_count_++;
    if (index >= most_inputs || input.size() > longest_input)
        return;
    std::copy(input.begin(), input.end(), inputs_[index].bytes.begin());
    inputs_[index].size = static_cast<std::uint16_t>(input.size());
}

bool Explorer::note(std::span<const std::uint64_t> places)
{
    bool any = false;
    for (const std::uint64_t place : places) {
        std::size_t at = (place ^ place >> 18) % most_places;
        std::uint64_t there = 0;
        while (!places_[at].compare_exchange_strong(there, place) && there != place) {
            at = (at + 1) % most_places;
            there = 0;
        }
        if (there != place) {
            place_count_++;
            any = true;
        }
    }
    return any;
}

std::vector<std::uint64_t> Explorer::all_places() const
{
    std::vector<std::uint64_t> all;
    for (const auto &place : places_) {
        if (place != 0)
            all.push_back(place);
    }
    return all;
}

void Explorer::forget_places()
{
    for (auto &place : places_)
        place = 0;
    place_count_ = 0;
}

// One of the last found half of the time: they lead farther.
Bytes Explorer::pick(Chance &chance) const
{
    const std::size_t count = inputs();
    if (count == 0 || chance.below(16) == 0) {
        Bytes fresh(64 + chance.below(longest_input - 64));
        for (auto &byte : fresh)
            byte = static_cast<std::uint8_t>(chance.number());
        return fresh;
    }
    const std::size_t recent = std::min<std::size_t>(count, 32);
    const auto chosen = input(chance.below(2) == 0 ? count - 1 - chance.below(recent)
                                                   : chance.below(count));
    return {chosen.begin(), chosen.end()};
}

Bytes Explorer::next_input(Chance &chance) const
{
    Bytes bytes = pick(chance);
    for (std::uint64_t changes = 1 + chance.below(6); changes > 0 && !bytes.empty(); changes--) {
        const auto at = static_cast<std::ptrdiff_t>(chance.below(bytes.size()));
        switch (chance.below(5)) {
        case 0:
            bytes[static_cast<std::size_t>(at)] ^= static_cast<std::uint8_t>(1u << chance.below(8));
            break;
        case 1:
            bytes[static_cast<std::size_t>(at)] = static_cast<std::uint8_t>(chance.number());
            break;
        case 2:
            bytes.insert(bytes.begin() + at, static_cast<std::uint8_t>(chance.number()));
            break;
        case 3:
            bytes.erase(bytes.begin() + at);
            break;
        default: {
            const Bytes other = pick(chance);
            const auto from = static_cast<std::ptrdiff_t>(chance.below(other.size() + 1));
            bytes.resize(static_cast<std::size_t>(at));
            bytes.insert(bytes.end(), other.begin() + from, other.end());
        }
        }
    }
    bytes.resize(std::min(bytes.size(), longest_input));
    return bytes;
}

} // namespace rsmtest::fuzz
