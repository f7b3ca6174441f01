// SPDX-License-Identifier: GPL-2.0
// Memory that goes away in the ways of the table of lifetimes.
#pragma once

#include "lifetime/table.hpp"
#include "support/system.hpp"

namespace rsmtest::lifetime {

// Two pages that can go away: of a file that can be truncated, or private.
class EndingMemory {
public:
    explicit EndingMemory(Way way);
    ~EndingMemory();
    EndingMemory(const EndingMemory &) = delete;
    EndingMemory &operator=(const EndingMemory &) = delete;

    static std::size_t size() { return 2 * page_size(); }
    std::byte *start() const { return start_; }
    // UNMAPPED, TRUNCATED or PROTECTED.
    void end(Way way) const;

private:
    Fd file_;
    std::byte *start_;
};

} // namespace rsmtest::lifetime
