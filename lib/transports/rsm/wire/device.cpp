// SPDX-License-Identifier: MIT
#include "wire/device.h"

#include "engine/loop/blocking.h"
#include "engine/loop/handle_fd.h"

#include <new>

namespace rsmengine {
namespace {

// A program sees handles of uDAPL only, so forked children inherit nothing, and signals do not end
// commands.
constinit const rsmdev::Policy device_policy = {
    .segments = descriptor_policy,
    .control = descriptor_policy,
    .status_of_absence = RSMERR_CTLR_NOT_PRESENT,
    .repeats_interrupted = true,
    .children_inherit_mappings = false,
    .before_wait = about_to_block,
};

} // namespace

Device::Device() : Table(device_policy) {
    switch (open()) {
    case RSM_SUCCESS:
        break;
    case RSMERR_INSUFFICIENT_MEM:
    case RSMERR_INSUFFICIENT_RESOURCES:
        throw std::bad_alloc();
    default:
        throw Unavailable("/dev/rsm can't be opened");
    }
    rsm_info info{};
    if (ask_info(info) != RSM_SUCCESS)
        throw Unavailable("/dev/rsm does not answer");
    node_ = info.node_id;
}

Device::~Device() = default;

bool Device::has_controller(std::string_view name) const noexcept {
    rsm_attr attributes{};
    return ask_attributes(name, attributes) == RSM_SUCCESS;
}

} // namespace rsmengine
