// SPDX-License-Identifier: MIT
// Pages in which registered providers have taken an object for theirs. The first word of an object may
// be read there without asking the kernel first whether anything is mapped.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "api.h"

namespace dat {

// A table of fixed size without a lock: a page that another one displaces costs its next caller a
// system call. A provider that unmaps its objects is trusted with handles that are still in use.
class KnownPages {
  public:
    // Whether the first word of a handle, aligned to eight bytes, lies in the page.
    bool contains(DAT_HANDLE handle) const noexcept {
        const auto address = reinterpret_cast<std::uintptr_t>(handle);
        return address % sizeof(void *) == 0 &&
               slots_[place_of(address)].load(std::memory_order_relaxed) == key_of(address);
    }
    void add(DAT_HANDLE handle) noexcept {
        const auto address = reinterpret_cast<std::uintptr_t>(handle);
        slots_[place_of(address)].store(key_of(address), std::memory_order_relaxed);
    }

  private:
    static constexpr std::uintptr_t PAGE = 4096; // the least that a kernel has
    static constexpr std::size_t SLOTS = 1024;

    // The page's last byte, so that page 0 is not what an empty slot holds.
    static constexpr std::uintptr_t key_of(std::uintptr_t address) noexcept {
        return address | (PAGE - 1);
    }
    static constexpr std::size_t place_of(std::uintptr_t address) noexcept {
        return address / PAGE % SLOTS;
    }

    std::array<std::atomic<std::uintptr_t>, SLOTS> slots_{};
};

extern constinit KnownPages known_pages;

// Whether a first word is mapped there and may be read: the kernel's answer, for any address.
bool is_readable(DAT_HANDLE handle) noexcept;

} // namespace dat
