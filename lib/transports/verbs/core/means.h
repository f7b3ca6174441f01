// SPDX-License-Identifier: MIT
// The means of an Ia of this provider.
#pragma once

#include "core/options.h"

#include <memory>
#include <string_view>
#include <sys/socket.h>

namespace rsmdat {

class Channels;
class Contexts;
class Device;
class Ia;
class Manager;
class News;

constexpr std::string_view PROVIDER_NAME = "verbs";

struct Means {
    explicit Means(const Options &options); // throws std::bad_alloc, and Unavailable (device.h)
    ~Means();
    Means(const Means &) = delete;
    Means &operator=(const Means &) = delete;

    [[nodiscard]] const sockaddr_storage &address() const noexcept; // the IA's

    const std::unique_ptr<Device> device;     // wire/device.h
    const std::unique_ptr<Channels> channels; // wire/channel.h
    const std::unique_ptr<Contexts> contexts; // memory/contexts.h
    const std::unique_ptr<Manager> manager;   // connect/manager.h
    const std::unique_ptr<News> news;         // wire/news.h
};

} // namespace rsmdat
