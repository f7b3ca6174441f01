// SPDX-License-Identifier: GPL-2.0
#include "listener.hpp"

#include <cerrno>
#include <utility>

#include <sys/eventfd.h>
#include <sys/socket.h>

namespace ivshmem {

namespace {

Descriptor placeholder() {
    return Descriptor(eventfd(0, EFD_CLOEXEC));
}

Descriptor accept_from(int socket) {
    return Descriptor(accept4(socket, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

} // namespace

Listener::Listener(int socket) : socket_(socket), reserve_(placeholder()) {
    check_errno(reserve_.get(), "eventfd");
}

Listener::Accepted Listener::accept() {
    if (auto connection = accept_from(socket_)) {
        return {Outcome::connected, std::move(connection)};
    }
    const int error = errno;
    if (error == EAGAIN || error == ECONNABORTED || error == EINTR) {
        return {Outcome::nobody, {}};
    }
    const bool taken = error == EMFILE && turn_away();
    return {taken ? Outcome::turned_away : Outcome::failed, {}, error};
}

bool Listener::turn_away() {
    reserve_.reset();
    const bool taken = static_cast<bool>(accept_from(socket_));
    reserve_ = placeholder();
    return taken;
}

} // namespace ivshmem
