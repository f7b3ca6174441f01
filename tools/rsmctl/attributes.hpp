// SPDX-License-Identifier: GPL-2.0
// The attributes of a message. Each length in the message is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include <linux/netlink.h>

namespace rsmctl {

using Bytes = std::span<const std::byte>;

// All attributes behind the header of a complete message.
Bytes payload_of(const nlmsghdr &message);
// The attributes behind the header of generic netlink, and the command in it; nothing if the
// message is too short to have one.
Bytes attributes_of(const nlmsghdr &message);
std::optional<std::uint8_t> command_of(const nlmsghdr &message);

// Up to the first attribute that is incomplete.
void for_each_attribute(Bytes attributes, const std::function<void(int type, Bytes)> &visit);

// Up to a zero, or to the end.
std::string text_in(Bytes payload);

} // namespace rsmctl
