// SPDX-License-Identifier: MIT
#include "binding.h"

#include "device.h"

namespace rsm {

int bind_memory(const BindRequest &request, Binding &binding) noexcept {
    UniqueFd device;
    if (const int status = open_segment_device(device); status != RSM_SUCCESS)
        return status;
    rsm_bind bind{};
    store_name(bind.controller, request.controller);
    bind.vaddr = address_of(request.address);
    bind.length = request.length;
    bind.flags = request.flags;
    bind.control_fd = request.table == nullptr ? -1 : request.table->control.get();
    if (const int status = command(device.get(), RSM_IOC_BIND, bind); status != RSM_SUCCESS)
        return status;
    binding.device = std::move(device);
    binding.slot = bind.slot;
    return RSM_SUCCESS;
}

void end_binding(const UniqueFd &device) noexcept {
    int status = RSMERR_INTERRUPTED;
    while (status == RSMERR_INTERRUPTED) {
        rsm_destroy argument{};
        status = command(device.get(), RSM_IOC_DESTROY, argument);
    }
}

std::size_t page_size() noexcept {
    return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace rsm
