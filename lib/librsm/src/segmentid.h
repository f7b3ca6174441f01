// SPDX-License-Identifier: MIT
// Reader of /etc/rsm/rsm.segmentid.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string_view>

namespace rsm {

struct SegmentIdRange {
    int status; // RSM_SUCCESS, RSMERR_BAD_APPID or RSMERR_BAD_CONF
    std::uint32_t base;
    std::uint32_t length;
};

// The range that the first line for this application reserves. Lines behind it
// are not looked at.
SegmentIdRange find_segment_id_range(std::FILE *file, std::string_view application);

} // namespace rsm
