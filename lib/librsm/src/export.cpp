// SPDX-License-Identifier: MIT
// The rsm_memseg_export_* functions.
#include "controller.h"
#include "device.h"
#include "event_table.h"
#include "export_segment.h"
#include "window_range.h"

namespace rsm {
namespace {

// More entries than any list may have.
constexpr std::uint32_t impossible_acl_count = UINT32_MAX;

int check_size(const Controller &controller, const void *address, std::size_t size) noexcept {
    if (address == nullptr)
        return RSMERR_BAD_ADDR;
    if (size == 0)
        return RSMERR_BAD_LENGTH;
    if (!page_aligned(address_of(address)) || !page_aligned(size))
        return RSMERR_BAD_MEM_ALIGNMENT;
    const auto limit = controller.attributes.attr_max_export_segment_size;
    const bool limited = limit != 0 && controller.name_text() != loopback_name;
    return limited && size > limit ? RSMERR_BAD_LENGTH : RSM_SUCCESS;
}

int show(const ExportSegment &segment, void *address, std::size_t size) noexcept {
    return segment.memory.in_window() ? show_segment(segment.memory, address, size) : RSM_SUCCESS;
}

int export_create(const Controller &controller, void *address, std::size_t size,
                  std::uint32_t flags, rsm_memseg_export_handle_t *result) noexcept {
    if (const int status = check_size(controller, address, size); status != RSM_SUCCESS)
        return status;
    Table *table = nullptr;
    if (const int status = event_table(table); status != RSM_SUCCESS)
        return status;
    rsmdev::Export binding;
    if (const int status =
            rsmdev::Export::bind(*table, controller.name_text(), address, size,
                                 flags & (RSM_ALLOW_REBIND | RSM_CREATE_SEG_DONTWAIT), binding);
        status != RSM_SUCCESS)
        return status;
    auto *segment = create<ExportSegment>(std::move(binding));
    if (segment == nullptr)
        return RSMERR_INSUFFICIENT_MEM;
    if (const int status = show(*segment, address, size); status != RSM_SUCCESS) {
        destroy(segment);
        return status;
    }
    *result = handle_of<rsm_memseg_export_handle_t>(segment);
    return RSM_SUCCESS;
}

rsmdev::AccessList list_of(const rsmapi_access_entry_t *list, std::uint32_t length) noexcept {
    // The kernel reads the list in the caller's memory.
    static_assert(sizeof(rsmapi_access_entry_t) == sizeof(rsm_acl_entry));
    static_assert(offsetof(rsmapi_access_entry_t, ae_node) == offsetof(rsm_acl_entry, node));
    return rsmdev::AccessList::at(list, length);
}

// RSMERR_SEG_NOT_PUBLISHED if the segment is not published, else another error:
// asks for something that a published segment must be refused.
int probe_published(const ExportSegment &segment) noexcept {
    return segment.memory.republish(rsmdev::AccessList::at(nullptr, impossible_acl_count));
}

int republish_without_list(const ExportSegment &segment) noexcept {
    const int status = probe_published(segment);
    // A missing list is reported before other errors.
    return status == RSMERR_NOT_CREATOR ? RSMERR_BAD_ACL : status;
}

int unpublish(const ExportSegment &segment) {
    if (pollfd_in_use(segment)) {
        const int status = probe_published(segment);
        return status == RSMERR_SEG_NOT_PUBLISHED ? status : RSMERR_POLLFD_IN_USE;
    }
    return segment.memory.unpublish();
}

int rebind(const ExportSegment &segment, void *address, std::size_t size) {
    if (segment.memory.in_window())
        return rebind_in_window(segment.memory, address, size);
    return segment.memory.rebind(address, size);
}

} // namespace
} // namespace rsm

using rsm::ExportSegment;
using rsm::find;

int rsm_memseg_export_create(rsmapi_controller_handle_t controller,
                             rsm_memseg_export_handle_t *memseg, void *vaddr, size_t size,
                             uint_t flags) {
    const auto *found = find<rsm::Controller>(controller);
    if (found == nullptr)
        return RSMERR_BAD_CTLR_HNDL;
    if (memseg == nullptr)
        return RSMERR_BAD_SEG_HNDL;
    *memseg = nullptr;
    return rsm::guarded([&] { return rsm::export_create(*found, vaddr, size, flags, memseg); });
}

int rsm_memseg_export_destroy(rsm_memseg_export_handle_t memseg) {
    return rsm::guarded([&] {
        auto *segment = find<ExportSegment>(memseg);
        if (segment == nullptr)
            return RSMERR_BAD_SEG_HNDL;
        if (rsm::pollfd_in_use(*segment))
            return RSMERR_POLLFD_IN_USE;
        if (segment->memory.in_window())
            rsm::bring_contents_home(segment->memory);
        // End the export while the handle is live: a child that is forked meanwhile then has both.
        segment->memory.destroy();
        rsm::destroy(segment);
        return RSM_SUCCESS;
    });
}

int rsm_memseg_export_publish(rsm_memseg_export_handle_t memseg, rsm_memseg_id_t *segment_id,
                              rsmapi_access_entry_t access_list[], uint_t access_list_length) {
    if (segment_id == nullptr)
        return RSMERR_BAD_SEGID;
    const auto *segment = find<ExportSegment>(memseg);
    if (segment == nullptr)
        return RSMERR_BAD_SEG_HNDL;
    if (access_list == nullptr && access_list_length != 0)
        return RSMERR_BAD_ACL;
    return segment->memory.publish(*segment_id, rsm::list_of(access_list, access_list_length));
}

int rsm_memseg_export_republish(rsm_memseg_export_handle_t memseg,
                                rsmapi_access_entry_t access_list[], uint_t access_list_length) {
    const auto *segment = find<ExportSegment>(memseg);
    if (segment == nullptr)
        return RSMERR_BAD_SEG_HNDL;
    if (access_list == nullptr && access_list_length != 0)
        return rsm::republish_without_list(*segment);
    return segment->memory.republish(rsm::list_of(access_list, access_list_length));
}

int rsm_memseg_export_unpublish(rsm_memseg_export_handle_t memseg) {
    return rsm::guarded([&] {
        const auto *segment = find<ExportSegment>(memseg);
        return segment == nullptr ? RSMERR_BAD_SEG_HNDL : rsm::unpublish(*segment);
    });
}

int rsm_memseg_export_rebind(rsm_memseg_export_handle_t memseg, void *vaddr, offset_t /*off*/,
                             size_t size) {
    const auto *segment = find<ExportSegment>(memseg);
    if (segment == nullptr)
        return RSMERR_BAD_SEG_HNDL;
    if (vaddr == nullptr)
        return RSMERR_BAD_ADDR;
    return rsm::guarded([&] { return rsm::rebind(*segment, vaddr, size); });
}
