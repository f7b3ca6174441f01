// SPDX-License-Identifier: MIT
// rsm_create_localmemory_handle and rsm_free_localmemory_handle.
#include "local_memory.h"

#include "controller.h"
#include "device.h"

namespace rsm {
namespace {

int create_local_memory(const Controller &controller, void *address, std::size_t length,
                        rsm_localmemory_handle_t *result) noexcept {
    const auto mask = page_size() - 1;
    if (length > SIZE_MAX - mask)
        return RSMERR_BAD_ADDR;
    const auto rounded = (length + mask) & ~mask;
    rsmdev::Export binding;
    if (const int status = rsmdev::Export::bind(device_policy, nullptr, controller.name_text(),
                                                address, rounded, RSM_BIND_LOCAL, binding);
        status != RSM_SUCCESS)
        return status;
    const auto *memory = create<LocalMemory>(LocalMemory{std::move(binding), rounded});
    if (memory == nullptr)
        return RSMERR_INSUFFICIENT_MEM;
    *result = handle_of<rsm_localmemory_handle_t>(memory);
    return RSM_SUCCESS;
}

} // namespace
} // namespace rsm

using rsm::find;

int rsm_create_localmemory_handle(rsmapi_controller_handle_t cntrl_handle,
                                  rsm_localmemory_handle_t *local_handle, caddr_t local_vaddr,
                                  size_t length) {
    if (!rsm::page_aligned(rsm::address_of(local_vaddr)))
        return RSMERR_BAD_ADDR;
    const auto *controller = find<rsm::Controller>(cntrl_handle);
    if (controller == nullptr)
        return RSMERR_BAD_CTLR_HNDL;
    if (local_handle == nullptr)
        return RSMERR_BAD_LOCALMEM_HNDL;
    if (length == 0)
        return RSMERR_BAD_LENGTH;
    if (local_vaddr == nullptr)
        return RSMERR_BAD_ADDR;
    return rsm::guarded(
        [&] { return rsm::create_local_memory(*controller, local_vaddr, length, local_handle); });
}

int rsm_free_localmemory_handle(rsmapi_controller_handle_t cntrl_handle,
                                rsm_localmemory_handle_t handle) {
    if (find<rsm::Controller>(cntrl_handle) == nullptr)
        return RSMERR_BAD_CTLR_HNDL;
    auto *memory = find<rsm::LocalMemory>(handle);
    if (memory == nullptr)
        return RSMERR_BAD_LOCALMEM_HNDL;
    return rsm::guarded([&] {
        memory->pinned.destroy(); // while the handle lives, as in rsm_memseg_export_destroy()
        rsm::destroy(memory);
        return RSM_SUCCESS;
    });
}
