// SPDX-License-Identifier: GPL-2.0
#include "attributes.hpp"

#include <algorithm>
#include <cstring>

#include <linux/genetlink.h>

namespace rsmctl {

Bytes payload_of(const nlmsghdr &message) {
    const auto *bytes = reinterpret_cast<const std::byte *>(&message);
    return message.nlmsg_len < NLMSG_HDRLEN ? Bytes()
                                            : Bytes(bytes, message.nlmsg_len).subspan(NLMSG_HDRLEN);
}

Bytes attributes_of(const nlmsghdr &message) {
    const auto payload = payload_of(message);
    return payload.size() < GENL_HDRLEN ? Bytes() : payload.subspan(GENL_HDRLEN);
}

std::optional<std::uint8_t> command_of(const nlmsghdr &message) {
    const auto payload = payload_of(message);
    genlmsghdr header{};
    if (payload.size() < GENL_HDRLEN) {
        return std::nullopt;
    }
    std::memcpy(&header, payload.data(), sizeof(header));
    return header.cmd;
}

void for_each_attribute(Bytes attributes, const std::function<void(int type, Bytes)> &visit) {
    nlattr header{};
    while (attributes.size() >= sizeof(header)) {
        std::memcpy(&header, attributes.data(), sizeof(header));
        if (header.nla_len < sizeof(header) || header.nla_len > attributes.size()) {
            return;
        }
        visit(header.nla_type & NLA_TYPE_MASK,
              attributes.first(header.nla_len).subspan(sizeof(header)));
        const std::size_t padded = NLA_ALIGN(header.nla_len);
        attributes = attributes.subspan(std::min(attributes.size(), padded));
    }
}

std::string text_in(Bytes payload) {
    const auto end = std::ranges::find(payload, std::byte{0});
    return {reinterpret_cast<const char *>(payload.data()),
            static_cast<std::size_t>(end - payload.begin())};
}

} // namespace rsmctl
