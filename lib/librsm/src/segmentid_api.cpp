// SPDX-License-Identifier: MIT
// rsm_get_segmentid_range.
#include "api.h"
#include "segmentid.h"
#include "support/regular_file.h"

namespace {

constexpr const char *segment_id_file = "/etc/rsm/rsm.segmentid";

} // namespace

int rsm_get_segmentid_range(const char *appid, rsm_memseg_id_t *baseid, uint32_t *length) {
    if (appid == nullptr || baseid == nullptr || length == nullptr)
        return RSMERR_BAD_ADDR;
    return rsm::guarded([&] {
        const auto file = rsm::open_regular_file(segment_id_file);
        if (!file)
            return RSMERR_BAD_CONF;
        const auto range = rsm::find_segment_id_range(file.get(), appid);
        if (range.status == RSM_SUCCESS) {
            *baseid = range.base;
            *length = range.length;
        }
        return range.status;
    });
}
