// SPDX-License-Identifier: GPL-2.0
// The memory of one side of a program.
#pragma once

#include "order/model.hpp"

#include <span>

namespace order {

class Arena {
  public:
    Arena(const Program &program, int side, std::span<std::byte> bytes);

    // Writes what the buffers hold at first, and guard bytes between them.
    void fill() const;
    Snapshot snapshot(int buffer) const;
    std::vector<Snapshot> all() const;
    // Offsets of guard bytes that have changed, the first few.
    std::vector<std::uint32_t> damage() const;

  private:
    const Program &program_;
    int side_;
    std::span<std::byte> bytes_;
    // Parts that are no guard bytes, by offset, and up to where the program uses both regions.
    std::vector<Piece> pieces_;
    std::vector<Piece> guards_;
};

} // namespace order
