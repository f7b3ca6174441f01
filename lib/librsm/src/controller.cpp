// SPDX-License-Identifier: MIT
#include "controller.h"

#include <mutex>

#include "device.h"
#include "event_table.h"
#include "locks.h"

namespace rsm {
namespace {

constinit Controller *opened = nullptr; // guarded by locks.controllers

// One more reference to an opened controller, nullptr if it is not opened.
Controller *share(const ControllerName &name) noexcept {
    for (auto *controller = opened; controller != nullptr; controller = controller->next)
        if (controller->name == name) {
            ++controller->references;
            return controller;
        }
    return nullptr;
}

rsmapi_controller_attr_t attributes_of(const rsm_attr &attr) noexcept {
    return {
        .attr_direct_access_sizes = attr.direct_access_sizes,
        .attr_atomic_sizes = attr.atomic_sizes,
        .attr_page_size = attr.page_size,
        .attr_max_export_segment_size = attr.max_export_size,
        .attr_tot_export_segment_size = attr.total_export_size,
        .attr_max_export_segments = attr.max_exports,
        .attr_max_import_map_size = attr.max_map_size,
        .attr_tot_import_map_size = attr.total_map_size,
        .attr_max_import_segments = attr.max_imports,
    };
}

// Asks the kernel, which may load a module for it: no lock is held.
int query(const ControllerName &name, rsmapi_controller_attr_t &attributes) noexcept {
    Table *table = nullptr;
    rsm_attr attr{};
    int status = event_table(table);
    if (status == RSM_SUCCESS)
        status = table->ask_attributes(name.data(), attr);
    if (status == RSM_SUCCESS)
        attributes = attributes_of(attr);
    // The caller learns of all other errors as a missing controller.
    return status == RSM_SUCCESS || status == RSMERR_INSUFFICIENT_MEM ? status
                                                                      : RSMERR_CTLR_NOT_PRESENT;
}

// Another thread may have opened it meanwhile.
Controller *open_or_share(const ControllerName &name,
                          const rsmapi_controller_attr_t &attributes) noexcept {
    const std::lock_guard guard(locks.controllers);
    if (auto *controller = share(name))
        return controller;
    auto *controller = create<Controller>(Controller{name, attributes, 1, opened});
    if (controller != nullptr)
        opened = controller;
    return controller;
}

Controller *share_locked(const ControllerName &name) noexcept {
    const std::lock_guard guard(locks.controllers);
    return share(name);
}

int get_controller(const char *name, rsmapi_controller_handle_t *result) noexcept {
    ControllerName canonical;
    if (!canonical_controller_name(name, canonical))
        return RSMERR_CTLR_NOT_PRESENT;
    auto *controller = share_locked(canonical);
    if (controller == nullptr) {
        rsmapi_controller_attr_t attributes{};
        if (const int status = query(canonical, attributes); status != RSM_SUCCESS)
            return status;
        controller = open_or_share(canonical, attributes);
    }
    if (controller == nullptr)
        return RSMERR_INSUFFICIENT_MEM;
    *result = handle_of<rsmapi_controller_handle_t>(controller);
    return RSM_SUCCESS;
}

void unlink(const Controller *controller) noexcept {
    auto **link = &opened;
    while (*link != controller)
        link = &(*link)->next;
    *link = controller->next;
}

} // namespace
} // namespace rsm

using rsm::find;

int rsm_get_controller(char *name, rsmapi_controller_handle_t *controller) {
    if (controller == nullptr)
        return RSMERR_BAD_CTLR_HNDL;
    return rsm::guarded([&] { return rsm::get_controller(name, controller); });
}

int rsm_release_controller(rsmapi_controller_handle_t chdl) {
    return rsm::guarded([&] {
        const std::lock_guard guard(rsm::locks.controllers);
        auto *controller = find<rsm::Controller>(chdl);
        if (controller == nullptr)
            return RSMERR_BAD_CTLR_HNDL;
        if (--controller->references == 0) {
            rsm::unlink(controller);
            rsm::destroy(controller);
        }
        return RSM_SUCCESS;
    });
}

int rsm_get_controller_attr(rsmapi_controller_handle_t chdl, rsmapi_controller_attr_t *attr) {
    const auto *controller = find<rsm::Controller>(chdl);
    if (controller == nullptr)
        return RSMERR_BAD_CTLR_HNDL;
    if (attr == nullptr)
        return RSMERR_BAD_ADDR;
    *attr = controller->attributes;
    return RSM_SUCCESS;
}
