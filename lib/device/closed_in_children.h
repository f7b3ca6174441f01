// SPDX-License-Identifier: MIT
// The descriptors of a library that a forked child closes.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <unistd.h>

namespace rsmdev {

// A bit for each descriptor. The library that has such a set calls close_all() in its child handler
// of pthread_atfork().
class ClosedInChildren {
  public:
    void add(int fd) noexcept {
        if (const auto place = place_of(fd); place < words_.size())
            words_[place].fetch_or(bit_of(fd), std::memory_order_relaxed);
    }
    // Before the descriptor is closed: another thread may get its number afterwards.
    void remove(int fd) noexcept {
        if (const auto place = place_of(fd); place < words_.size())
            words_[place].fetch_and(~bit_of(fd), std::memory_order_relaxed);
    }
    void close_all() noexcept {
        for (std::size_t place = 0; place < words_.size(); ++place)
            close_all(place, words_[place].exchange(0, std::memory_order_relaxed));
    }

  private:
    static constexpr std::size_t most = std::size_t{1} << 20; // usual hard limit
    static constexpr std::size_t bits = 64;

    static std::size_t place_of(int fd) noexcept { return static_cast<std::size_t>(fd) / bits; }
    static std::uint64_t bit_of(int fd) noexcept {
        return std::uint64_t{1} << static_cast<std::size_t>(fd) % bits;
    }
    static void close_all(std::size_t place, std::uint64_t word) noexcept {
        for (; word != 0; word &= word - 1)
            ::close(static_cast<int>(place * bits) + std::countr_zero(word));
    }
    std::array<std::atomic<std::uint64_t>, most / bits> words_{};
};

} // namespace rsmdev
