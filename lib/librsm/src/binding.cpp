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
    binding.in_window = bind.window != 0;
    return RSM_SUCCESS;
}

int rebind_device(int device, const void *address, std::size_t length) noexcept {
    rsm_rebind argument{};
    argument.vaddr = address_of(address);
    argument.length = length;
    return command(device, RSM_IOC_REBIND, argument);
}

void end_binding(const UniqueFd &device) noexcept {
    rsm_destroy argument{};
    (void)persistent_command(device.get(), RSM_IOC_DESTROY, argument);
}

std::size_t page_size() noexcept {
    return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace rsm
