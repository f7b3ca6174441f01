// SPDX-License-Identifier: MIT
// How librsm uses /dev/rsm.
#pragma once

#include "api.h"
#include "device/export.h"
#include "device/import.h"
#include "device/mapping.h"
#include "device/table.h"

namespace rsm {

using rsmdev::address_of;
using rsmdev::Descriptor;
using rsmdev::Direction;
using rsmdev::Mapping;
using rsmdev::status_of_errno;
using rsmdev::Table;

extern const rsmdev::Policy device_policy;

std::size_t page_size() noexcept;

inline bool page_aligned(std::uint64_t value) noexcept {
    return value % page_size() == 0;
}

} // namespace rsm
