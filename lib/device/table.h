// SPDX-License-Identifier: MIT
// A control handle, and the table of words that the kernel and the process share through it.
#pragma once

#include "device/descriptor.h"
#include "device/mapping.h"
#include "device/policy.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <linux/rsm.h>
#include <string_view>

namespace rsmdev {

class Table {
  public:
    // A table without words and control handle, until it is opened.
    explicit Table(const Policy &policy) noexcept : policy_(&policy) {}
    ~Table() = default;
    Table(const Table &) = delete;
    Table &operator=(const Table &) = delete;

    // RSM_SUCCESS or an RSMERR status.
    int open() noexcept;
    // Takes words of somebody else, for tests: at least those of one slot.
    void adopt(const std::byte *status, std::byte *consumed) noexcept {
        status_ = status;
        consumed_.store(consumed, std::memory_order_relaxed);
    }

    [[nodiscard]] const Policy &policy() const noexcept { return *policy_; }
    [[nodiscard]] int control_fd() const noexcept { return control_.get(); }

    // Questions to the kernel agent: RSM_SUCCESS or an RSMERR status.
    int ask_info(rsm_info &info) const noexcept;
    int ask_attributes(std::string_view controller, rsm_attr &attributes) const noexcept;
    int ask_topology(rsm_topology_query &query) const noexcept;

    [[nodiscard]] const rsm_status_slot *status_slot(std::uint32_t slot) const noexcept {
        const auto offset = std::size_t{slot} * RSM_SLOT_SIZE;
        return reinterpret_cast<const rsm_status_slot *>(status_ + offset);
    }
    [[nodiscard]] std::uint32_t generation(std::uint32_t slot) const noexcept {
        return __atomic_load_n(&status_slot(slot)->generation, __ATOMIC_RELAXED);
    }

    enum class Attempt { consumed, none_pending, not_possible };
    // Consumes one event. not_possible: this process may not write the words, the kernel must do
    // it.
    Attempt take_event(std::uint32_t slot) const noexcept;
    // Consumes all events that are pending and returns how many there were.
    std::uint32_t take_events(std::uint32_t slot) const noexcept;

    // In a forked child: the kernel does not let a child write the words of its parent's table.
    void be_inherited() noexcept { consumed_.store(nullptr, std::memory_order_relaxed); }

  private:
    [[nodiscard]] rsm_consumed_slot *consumed_slot(std::uint32_t slot) const noexcept {
        std::byte *words = consumed_.load(std::memory_order_relaxed);
        if (words == nullptr)
            return nullptr;
        return reinterpret_cast<rsm_consumed_slot *>(words + std::size_t{slot} * RSM_SLOT_SIZE);
    }
    int map_words() noexcept;

    const Policy *policy_;
    Descriptor control_;
    Mapping status_words_; // of the whole tables: pages appear when they are touched
    Mapping consumed_words_;
    const std::byte *status_ = nullptr;
    std::atomic<std::byte *> consumed_ = nullptr;
};

} // namespace rsmdev
