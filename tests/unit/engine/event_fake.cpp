// SPDX-License-Identifier: MIT
// The part of /dev/rsm that an IA needs to exist.
#include "wire/device.h"

namespace rsmengine {

Device::Device() : Table(rsmdev::no_policy) {}
Device::~Device() = default;
bool Device::has_controller(std::string_view name) const noexcept {
    return name == "fake";
}

} // namespace rsmengine
