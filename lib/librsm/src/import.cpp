// SPDX-License-Identifier: MIT
// rsm_memseg_import_connect, get_length, disconnect, map, unmap, set_mode and get_mode.
#include <cstring>

#include "controller.h"
#include "device.h"
#include "event_table.h"
#include "import_segment.h"

namespace rsm {
namespace {

// The number behind an enumeration. A C program may pass any number, and C++ does not allow
// to read a number that the enumeration does not have.
template <class Enumeration>
unsigned number_of(const Enumeration &value) noexcept {
    unsigned number = 0;
    static_assert(sizeof(number) == sizeof(value));
    std::memcpy(&number, &value, sizeof(number));
    return number;
}

struct Target {
    rsm_node_id_t node;
    rsm_memseg_id_t id;
    rsm_permission_t permission;
};

int import_connect(const Controller &controller, const Target &target,
                   rsm_memseg_import_handle_t *result) noexcept {
    if ((target.permission & ~std::uint32_t{RSM_PERM_RDWR}) != 0)
        return RSMERR_PERM_DENIED;
    Table *table = nullptr;
    if (const int status = event_table(table); status != RSM_SUCCESS)
        return status;
    rsmdev::Import connection;
    if (const int status = rsmdev::Import::connect(*table, controller.name_text(), target.node,
                                                   target.id, target.permission, connection);
        status != RSM_SUCCESS)
        return status;
    const auto *segment = create<ImportSegment>(std::move(connection));
    if (segment == nullptr)
        return RSMERR_INSUFFICIENT_MEM;
    *result = handle_of<rsm_memseg_import_handle_t>(segment);
    return RSM_SUCCESS;
}

int import_disconnect(ImportSegment &segment) {
    if (segment.explicitly_mapped())
        return RSMERR_SEG_STILL_MAPPED;
    if (pollfd_in_use(segment))
        return RSMERR_POLLFD_IN_USE;
    destroy(&segment);
    return RSM_SUCCESS;
}

// Errors that need no call of the kernel.
int check_map(const ImportSegment &segment, const MapRequest &request, off_t offset) noexcept {
    if (request.permission > RSM_PERM_RDWR)
        return RSMERR_BAD_PERMS;
    if (request.length == 0)
        return RSMERR_BAD_LENGTH;
    if (offset < 0)
        return RSMERR_BAD_OFFSET;
    if (request.offset > segment.size() || request.length > segment.size() - request.offset)
        return RSMERR_BAD_LENGTH;
    if (!page_aligned(request.offset))
        return RSMERR_BAD_MEM_ALIGNMENT;
    if (request.fixed && !page_aligned(address_of(request.address)))
        return RSMERR_BAD_MEM_ALIGNMENT;
    return RSM_SUCCESS;
}

int import_map(ImportSegment &segment, const MapRequest &request, off_t offset, void **address) {
    if (segment.explicitly_mapped())
        return RSMERR_SEG_ALREADY_MAPPED;
    if (const int status = check_map(segment, request, offset); status != RSM_SUCCESS)
        return status;
    return segment.map(request, address);
}

} // namespace
} // namespace rsm

using rsm::find;
using rsm::ImportSegment;

int rsm_memseg_import_connect(rsmapi_controller_handle_t controller, rsm_node_id_t node_id,
                              rsm_memseg_id_t segment_id, rsm_permission_t perm,
                              rsm_memseg_import_handle_t *im_memseg) {
    const auto *found = find<rsm::Controller>(controller);
    if (found == nullptr)
        return RSMERR_BAD_CTLR_HNDL;
    if (im_memseg == nullptr)
        return RSMERR_BAD_SEG_HNDL;
    *im_memseg = nullptr;
    return rsm::guarded([&] {
        return rsm::import_connect(*found, {node_id, segment_id, perm}, im_memseg);
    });
}

int rsm_memseg_import_get_length(rsm_memseg_import_handle_t im_memseg, size_t *length) {
    const auto *segment = find<ImportSegment>(im_memseg);
    if (segment == nullptr)
        return RSMERR_BAD_SEG_HNDL;
    if (length == nullptr)
        return RSMERR_BAD_ADDR;
    *length = segment->size();
    return RSM_SUCCESS;
}

int rsm_memseg_import_disconnect(rsm_memseg_import_handle_t im_memseg) {
    return rsm::guarded([&] {
        auto *segment = find<ImportSegment>(im_memseg);
        return segment == nullptr ? RSMERR_BAD_SEG_HNDL : rsm::import_disconnect(*segment);
    });
}

int rsm_memseg_import_map(rsm_memseg_import_handle_t im_memseg, void **address,
                          rsm_attribute_t attr, rsm_permission_t perm, off_t offset,
                          size_t length) {
    return rsm::guarded([&] {
        auto *segment = find<ImportSegment>(im_memseg);
        if (segment == nullptr)
            return RSMERR_BAD_SEG_HNDL;
        if (address == nullptr)
            return RSMERR_BAD_ADDR;
        const bool fixed = (rsm::number_of(attr) & RSM_MAP_FIXED) != 0;
        const rsm::MapRequest request{fixed ? *address : nullptr, fixed, perm,
                                      static_cast<std::uint64_t>(offset), length};
        return rsm::import_map(*segment, request, offset, address);
    });
}

int rsm_memseg_import_unmap(rsm_memseg_import_handle_t im_memseg) {
    return rsm::guarded([&] {
        auto *segment = find<ImportSegment>(im_memseg);
        return segment == nullptr ? RSMERR_BAD_SEG_HNDL : segment->unmap();
    });
}

int rsm_memseg_import_set_mode(rsm_memseg_import_handle_t im_memseg, rsm_barrier_mode_t mode) {
    return rsm::guarded([&] {
        auto *segment = find<ImportSegment>(im_memseg);
        if (segment == nullptr)
            return RSMERR_BAD_SEG_HNDL;
        const auto number = rsm::number_of(mode);
        if (number != RSM_BARRIER_MODE_EXPLICIT && number != RSM_BARRIER_MODE_IMPLICIT)
            return RSMERR_BAD_MODE;
        segment->set_mode(mode);
        return RSM_SUCCESS;
    });
}

int rsm_memseg_import_get_mode(rsm_memseg_import_handle_t im_memseg, rsm_barrier_mode_t *mode) {
    const auto *segment = find<ImportSegment>(im_memseg);
    if (segment == nullptr)
        return RSMERR_BAD_SEG_HNDL;
    if (mode == nullptr)
        return RSMERR_BAD_ADDR;
    *mode = segment->mode();
    return RSM_SUCCESS;
}
