// SPDX-License-Identifier: GPL-2.0
// Which places of the kernel modules a thread has reached, by KCOV.
#pragma once

#include "support/system.hpp"

#include <cstdint>
#include <span>

namespace rsmtest::fuzz {

class Coverage {
public:
    // The source of coverage: this thread itself, or others on behalf of a common handle.
    Coverage();
    explicit Coverage(std::uint32_t common_handle);
    ~Coverage();
    Coverage(const Coverage &) = delete;
    Coverage &operator=(const Coverage &) = delete;

    bool valid() const { return area_ != nullptr; }
    void clear();
    // Places since then, again and again, as they were come to.
    std::span<const std::uint64_t> places() const;

private:
    static constexpr std::size_t words = std::size_t{1} << 16;

    bool open_area();

    Fd fd_;
    std::uint64_t *area_ = nullptr;
};

} // namespace rsmtest::fuzz
