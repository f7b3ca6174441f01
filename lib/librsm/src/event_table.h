// SPDX-License-Identifier: MIT
// The process's control handle, and the words that the kernel and the process
// share through it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <linux/rsm.h>

#include "unique_fd.h"

namespace rsm {

// Lives as long as the process: handles refer to the one they were made with.
struct EventTable {
    UniqueFd control;
    const std::byte *status = nullptr;
    // nullptr in a child of the process that made the table: the kernel doesn't
    // let two processes write these.
    std::atomic<std::byte *> consumed = nullptr;

    [[nodiscard]] const rsm_status_slot *status_slot(std::uint32_t slot) const noexcept {
        const auto offset = std::size_t{slot} * RSM_SLOT_SIZE;
        return reinterpret_cast<const rsm_status_slot *>(status + offset);
    }
    [[nodiscard]] rsm_consumed_slot *consumed_slot(std::uint32_t slot) const noexcept {
        auto *words = consumed.load(std::memory_order_relaxed);
        if (words == nullptr)
            return nullptr;
        return reinterpret_cast<rsm_consumed_slot *>(words + std::size_t{slot} * RSM_SLOT_SIZE);
    }
};

// The table for new handles, made at the first call. RSM_SUCCESS or an error.
int event_table(EventTable *&table) noexcept;

// In the child after fork(), with all locks held: new handles get a table of
// their own, events of inherited ones are consumed by the kernel.
void abandon_event_table() noexcept;

// A word that the kernel writes.
inline std::uint32_t load_word(const std::uint32_t &word, int order) noexcept {
    return order == __ATOMIC_ACQUIRE ? __atomic_load_n(&word, __ATOMIC_ACQUIRE)
                                     : __atomic_load_n(&word, __ATOMIC_RELAXED);
}

} // namespace rsm
