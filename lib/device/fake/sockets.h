// SPDX-License-Identifier: MIT
// Messages with at most one descriptor. None of these functions is a cancellation point.
#pragma once

#include "device/descriptor.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

namespace rsmfake {

using rsmdev::Descriptor;

union ControlSpace {
    cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

inline void attach(msghdr &message, ControlSpace &space, int descriptor) noexcept {
    std::memset(&space, 0, sizeof(space));
    message.msg_control = &space;
    message.msg_controllen = sizeof(space);
    cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
}

// False if the other side is gone.
template <class Message>
bool send_message(int line, const Message &content, int descriptor = -1) noexcept {
    iovec part{const_cast<Message *>(&content), sizeof(Message)};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    ControlSpace space{};
    if (descriptor >= 0)
        attach(message, space, descriptor);
    long sent = -1;
    do
        sent = ::syscall(SYS_sendmsg, line, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == static_cast<long>(sizeof(Message));
}

inline int attached(msghdr &message) noexcept {
    const cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS)
        return -1;
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof(int));
    return descriptor;
}

enum class OnExec { CLOSE, KEEP };

// False if the other side is gone. A descriptor that comes along is stored, or -1.
template <class Message>
bool receive_message(int line, Message &content, int &descriptor,
                     OnExec on_exec = OnExec::CLOSE) noexcept {
    iovec part{&content, sizeof(Message)};
    ControlSpace space{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = &space;
    message.msg_controllen = sizeof(space);
    const int flags = on_exec == OnExec::CLOSE ? MSG_CMSG_CLOEXEC : 0;
    long received = -1;
    do
        received = ::syscall(SYS_recvmsg, line, &message, flags);
    while (received < 0 && errno == EINTR);
    descriptor = received < 0 ? -1 : attached(message);
    return received == static_cast<long>(sizeof(Message));
}

// An address in the abstract namespace, and its length.
struct AbstractAddress {
    explicit AbstractAddress(std::string_view name) noexcept {
        address.sun_family = AF_UNIX;
        const std::size_t count = std::min(name.size(), sizeof(address.sun_path) - 1);
        std::memcpy(address.sun_path + 1, name.data(), count);
        length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + count);
    }
    [[nodiscard]] const sockaddr *get() const noexcept {
        return reinterpret_cast<const sockaddr *>(&address);
    }

    sockaddr_un address{};
    socklen_t length = 0;
};

} // namespace rsmfake
