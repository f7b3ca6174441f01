// SPDX-License-Identifier: MIT
// rsm_get_segmentid_range.
#include <memory>

#include "api.h"
#include "segmentid.h"

namespace {

constexpr const char *segment_id_file = "/etc/rsm/rsm.segmentid";

struct Close {
    void operator()(std::FILE *file) const noexcept {
        // It was only read: nothing can be lost.
        static_cast<void>(std::fclose(file));
    }
};

} // namespace

int rsm_get_segmentid_range(const char *appid, rsm_memseg_id_t *baseid, uint32_t *length) {
    if (appid == nullptr || baseid == nullptr || length == nullptr)
        return RSMERR_BAD_ADDR;
    return rsm::guarded([&] {
        const std::unique_ptr<std::FILE, Close> file(std::fopen(segment_id_file, "re"));
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
