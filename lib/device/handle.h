// SPDX-License-Identifier: MIT
// The common part of exports and imports: a handle of /dev/rsm, its slot in a table, and its
// events. Statuses are RSM_SUCCESS and RSMERR_*.
#pragma once

#include "device/command.h"
#include "device/descriptor.h"
#include "device/table.h"

#include <array>
#include <cstdint>

namespace rsmdev {

using Ticket = std::array<std::uint64_t, 2>; // of RSM_IOC_GRANT
using Letter = std::array<std::uint64_t, RSM_MESSAGE_WORDS>;

class Handle {
  public:
    Handle(Handle &&other) noexcept
        : policy_(other.policy_), table_(other.table_), descriptor_(std::move(other.descriptor_)),
          slot_(other.slot_) {}
    Handle(const Handle &) = delete;
    Handle &operator=(const Handle &) = delete;
    Handle &operator=(Handle &&) = delete;

    [[nodiscard]] int fd() const noexcept { return descriptor_.get(); }
    explicit operator bool() const noexcept { return static_cast<bool>(descriptor_); }

    // Delivers an event to the segment's other side.
    int post(std::uint32_t flags = RSM_SIGPOST_NO_ACCUMULATE) const noexcept;
    // Without a system call; only of a handle that has a slot.
    [[nodiscard]] Table::Attempt take_event() const noexcept { return table_->take_event(slot_); }
    std::uint32_t take_events() const noexcept { return table_->take_events(slot_); }
    // Consumes an event by a system call, and waits for it: nanoseconds, 0: not at all, negative:
    // without a limit. A cancellation point unless the timeout is 0. A signal ends the wait,
    // whatever the policy.
    [[nodiscard]] int wait(std::int64_t timeout_ns) const;

  protected:
    Handle() noexcept = default;
    ~Handle() = default;

    void swap(Handle &other) noexcept {
        std::swap(policy_, other.policy_);
        std::swap(table_, other.table_);
        std::swap(descriptor_, other.descriptor_);
        std::swap(slot_, other.slot_);
    }
    // A blank handle. `table` may be nullptr: the handle gets no slot.
    int open(const Policy &policy, const Table *table) noexcept;
    [[nodiscard]] int control_fd() const noexcept {
        return table_ == nullptr ? -1 : table_->control_fd();
    }
    // One command, by the policy.
    template <class Argument>
    int give(unsigned long request, Argument &argument) const noexcept {
        return command_by(*policy_, fd(), request, argument);
    }

    const Policy *policy_ = &no_policy;
    const Table *table_ = nullptr;
    Descriptor descriptor_;
    std::uint32_t slot_ = RSM_NO_SLOT;
};

} // namespace rsmdev
