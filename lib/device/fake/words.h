// SPDX-License-Identifier: MIT
// The words of handles, as the agent writes them: see "status words" in <linux/rsm.h>.
#pragma once

#include "device/descriptor.h"
#include "device/mapping.h"

#include <cstdint>
#include <linux/rsm.h>
#include <memory>
#include <optional>
#include <set>

namespace rsmfake {

// The two files behind a control handle: one word of each slot is the process's, two are ours.
class WordTable {
  public:
    // Returns nullptr if memory is short.
    static std::shared_ptr<WordTable> make();

    // The lowest slot that is free, or nothing.
    std::optional<std::uint32_t> take_slot();
    void give_back(std::uint32_t slot) { taken_.erase(slot); }
    [[nodiscard]] rsm_status_slot &status(std::uint32_t slot) const noexcept;
    [[nodiscard]] rsm_consumed_slot &consumed(std::uint32_t slot) const noexcept;
    [[nodiscard]] int consumed_file() const noexcept { return consumed_file_.get(); }
    // A descriptor of the status words that can't be mapped to write.
    [[nodiscard]] rsmdev::Descriptor readable_status_file() const;

  private:
    rsmdev::Descriptor status_file_;
    rsmdev::Descriptor consumed_file_;
    rsmdev::Mapping status_words_;
    rsmdev::Mapping consumed_words_;
    std::set<std::uint32_t> taken_;
};

class Words {
  public:
    Words() = default;
    ~Words() { release(); }
    Words(const Words &) = delete;
    Words &operator=(const Words &) = delete;

    // Takes a slot of the table; nullptr: the words are the agent's only. False: the table is full.
    bool init(std::shared_ptr<WordTable> table);
    void release();

    [[nodiscard]] std::uint32_t slot() const noexcept { return slot_; }
    std::uint32_t next_generation() const noexcept;
    // False if the agent has to drop the event.
    bool count_event(std::uint32_t flags) const noexcept;
    bool consume_event() const noexcept;
    [[nodiscard]] bool is_pending() const noexcept;

  private:
    std::shared_ptr<WordTable> table_;
    std::uint32_t slot_ = RSM_NO_SLOT;
    rsm_status_slot own_status_{};
    rsm_consumed_slot own_consumed_{};
    rsm_status_slot *status_ = &own_status_;
    rsm_consumed_slot *consumed_ = &own_consumed_;
};

} // namespace rsmfake
