// SPDX-License-Identifier: MIT
// Is memory shared with other processes?
#pragma once

#include <cstdint>
#include <istream>

namespace rsmengine {

enum class Sharing { SHARED, PRIVATE, ABSENT };

// The kind of all bytes of a range by `maps`, which has the form of /proc/PID/maps: PRIVATE if some
// of them are not shared, ABSENT if some are not mapped.
Sharing sharing_of(std::istream &maps, std::uint64_t address, std::uint64_t length);

// The same for this process. PRIVATE if nobody can tell (no /proc).
Sharing sharing_of(std::uint64_t address, std::uint64_t length);

} // namespace rsmengine
