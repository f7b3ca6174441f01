// SPDX-License-Identifier: GPL-2.0
// Chance that can be repeated, and the values that hurt.
#pragma once

#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <type_traits>

namespace hostile {

class Chance {
  public:
    explicit Chance(std::uint64_t seed) : engine_(seed) {}

    std::uint64_t bits() { return engine_(); }
    // 0 to below - 1
    std::uint64_t below(std::uint64_t limit) { return engine_() % limit; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }
    template <class Range>
    auto &pick(Range &&range) {
        return range[below(std::size(range))];
    }

    // Another value for a field that holds this one.
    template <class T>
    T instead_of(T value) {
        switch (below(8)) {
        case 0:
            return 0;
        case 1:
            return std::numeric_limits<T>::max();
        case 2:
            return static_cast<T>(value + 1);
        case 3:
            return static_cast<T>(value - 1);
        case 4:
            return static_cast<T>(value ^ (T{1} << below(8 * sizeof(T))));
        case 5:
            return static_cast<T>(T{1} << below(8 * sizeof(T)));
        case 6:
            return static_cast<T>(value + below(128));
        default:
            return static_cast<T>(bits());
        }
    }

  private:
    std::mt19937_64 engine_;
};

} // namespace hostile
