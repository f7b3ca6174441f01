// SPDX-License-Identifier: GPL-2.0
#include "message.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include <sys/socket.h>

namespace ivshmem {

namespace {

constexpr std::size_t message_size = 8;
using Encoded = std::array<std::uint8_t, message_size>;

Encoded encode(std::int64_t number) {
    auto rest = static_cast<std::uint64_t>(number);
    Encoded bytes;
    for (auto &byte : bytes) {
        byte = static_cast<std::uint8_t>(rest);
        rest >>= 8U;
    }
    return bytes;
}

// The control data of one descriptor, and room for it.
struct Rights {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};

    void attach(msghdr &header, int descriptor) {
        header.msg_control = room.data();
        header.msg_controllen = room.size();
        auto *control = CMSG_FIRSTHDR(&header);
        control->cmsg_level = SOL_SOCKET;
        control->cmsg_type = SCM_RIGHTS;
        control->cmsg_len = CMSG_LEN(sizeof(descriptor));
        std::memcpy(CMSG_DATA(control), &descriptor, sizeof(descriptor));
    }
};

// ETOOMANYREFS: too many descriptors of this user are on their way to processes that don't read.
Sent outcome_of(int error) {
    switch (error) {
    case EAGAIN:
        return Sent::full;
    case ETOOMANYREFS:
    case ENOMEM:
    case ENOBUFS:
        return Sent::exhausted;
    default:
        return Sent::broken;
    }
}

} // namespace

Sent send_message(int connection, const Message &message) {
    auto bytes = encode(message.number);
    iovec data{bytes.data(), bytes.size()};
    msghdr header{};
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    Rights rights;
    if (message.descriptor != no_descriptor) {
        rights.attach(header, message.descriptor);
    }
    const auto sent = sendmsg(connection, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
        return outcome_of(errno);
    }
    // So few bytes go into one buffer of the kernel's: all or none.
    return static_cast<std::size_t>(sent) == bytes.size() ? Sent::yes : Sent::broken;
}

} // namespace ivshmem
