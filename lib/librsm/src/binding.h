// SPDX-License-Identifier: MIT
// Memory of the process that the kernel holds for a descriptor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "event_table.h"
#include "unique_fd.h"

namespace rsm {

struct Binding {
    UniqueFd device;
    std::uint32_t slot = RSM_NO_SLOT; // if a table was given
    bool in_window = false;           // the segment has memory of the interconnect
};

struct BindRequest {
    std::string_view controller;
    const void *address;
    std::size_t length;
    std::uint32_t flags;
    const EventTable *table; // nullptr: the handle gets no slot
};

// RSM_SUCCESS or an error of RSM_IOC_BIND.
int bind_memory(const BindRequest &request, Binding &binding) noexcept;

// RSM_SUCCESS or an error of RSM_IOC_REBIND.
int rebind_device(int device, const void *address, std::size_t length) noexcept;

// Ends the export now and for everybody. Closing the descriptor alone would wait
// for children that have inherited it. In such a child it does nothing.
void end_binding(const UniqueFd &device) noexcept;

std::size_t page_size() noexcept;

inline bool page_aligned(std::uint64_t value) noexcept {
    return value % page_size() == 0;
}

} // namespace rsm
