// SPDX-License-Identifier: GPL-2.0
// Memory that goes away in the ways of the table of lifetimes.
#pragma once

#include "lifetime/table.hpp"
#include "support/system.hpp"

namespace rsmtest::lifetime {

// Two pages that can go away: of a file that can be truncated, or private.
class Losable {
public:
    explicit Losable(Way way);
    ~Losable();
    Losable(const Losable &) = delete;
    Losable &operator=(const Losable &) = delete;

    static std::size_t size() { return 2 * page_size(); }
    std::byte *start() const { return start_; }
    // UNMAPPED, TRUNCATED or PROTECTED.
    void lose(Way way) const;

private:
    Fd file_;
    std::byte *start_;
};

} // namespace rsmtest::lifetime
