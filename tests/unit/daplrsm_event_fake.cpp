// SPDX-License-Identifier: MIT
// The part of /dev/rsm that an IA needs to exist.
#include "wire/channel.h"
#include "wire/device.h"

#include <cstdlib>

namespace rsmdat {

namespace {

constexpr rsmdev::Policy no_policy{};

} // namespace

Device::Device() : Table(no_policy) {}
Device::~Device() = default;
bool Device::has_controller(std::string_view name) const noexcept {
    return name == "fake";
}

// No channel is ever disarmed here, so the engine has none to arm.
void Channel::arm() noexcept {
    std::abort();
}

} // namespace rsmdat
