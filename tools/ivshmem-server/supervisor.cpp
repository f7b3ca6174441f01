// SPDX-License-Identifier: GPL-2.0
#include "supervisor.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace ivshmem {

namespace {

constexpr int first_passed = 3;

std::string variable(const char *name) {
    const auto *value = std::getenv(name);
    return value == nullptr ? "" : value;
}

bool has_option(int socket, int option, int wanted) {
    int value = 0;
    socklen_t size = sizeof(value);
    return getsockopt(socket, SOL_SOCKET, option, &value, &size) == 0 && value == wanted;
}

bool listens_locally(int socket) {
    return has_option(socket, SO_DOMAIN, AF_UNIX) && has_option(socket, SO_TYPE, SOCK_STREAM) &&
           has_option(socket, SO_ACCEPTCONN, 1);
}

} // namespace

Descriptor passed_socket() {
    const auto count = variable("LISTEN_FDS");
    if (count.empty() || variable("LISTEN_PID") != std::to_string(getpid())) {
        return {};
    }
    if (count != "1") {
        throw std::runtime_error("the supervisor passed " + count + " sockets, not one");
    }
    if (!listens_locally(first_passed)) {
        throw std::runtime_error("what the supervisor passed is no listening local socket");
    }
    Descriptor passed(first_passed);
    const int flags = check_errno(fcntl(passed.get(), F_GETFL), "passed socket");
    check_errno(fcntl(passed.get(), F_SETFL, flags | O_NONBLOCK), "passed socket");
    check_errno(fcntl(passed.get(), F_SETFD, FD_CLOEXEC), "passed socket");
    return passed;
}

void notify_supervisor(const std::string &state) {
    const auto path = variable("NOTIFY_SOCKET");
    sockaddr_un address{};
    if (path.empty() || path.size() >= sizeof(address.sun_path)) {
        return;
    }
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size());
    // An abstract address begins with a zero byte, written as @.
    if (path.front() == '@') {
        address.sun_path[0] = '\0';
    }
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
    const Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    // A supervisor that does not listen is no reason not to serve.
    (void)sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr *>(&address), length);
}

} // namespace ivshmem
