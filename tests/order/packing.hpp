// SPDX-License-Identifier: GPL-2.0
// Records as bytes, for the other process.
#pragma once

#include "order/model.hpp"

#include <span>

namespace order {

std::vector<std::byte> pack(const Record &record);
Record unpack(std::span<const std::byte> bytes);

} // namespace order
