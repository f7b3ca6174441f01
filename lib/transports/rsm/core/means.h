// SPDX-License-Identifier: MIT
// The means of an Ia of this provider.
#pragma once

#include "core/options.h"

#include <memory>
#include <string_view>
#include <sys/socket.h>

namespace rsmdat {

class Contexts;
class Device;
class NodeTable;

constexpr std::string_view PROVIDER_NAME = "rsm";

struct Means {
    explicit Means(const Options &options); // throws std::bad_alloc, and Unavailable (device.h)
    ~Means();
    Means(const Means &) = delete;
    Means &operator=(const Means &) = delete;

    [[nodiscard]] const sockaddr_storage &address() const noexcept; // the IA's

    const std::unique_ptr<Device> device;     // wire/device.h
    const std::unique_ptr<Contexts> contexts; // memory/contexts.h
    const std::unique_ptr<NodeTable> nodes;   // connect/nodes.h
};

} // namespace rsmdat
