// SPDX-License-Identifier: MIT
// The calling thread's line to the agent.
#pragma once

#include "device/fake/protocol.h"
#include "device/fake/sockets.h"

#include <cstdint>
#include <ctime>
#include <optional>
#include <sys/socket.h>
#include <sys/time.h>

namespace rsmfake {

// A request with the calling process's number.
Request request_for(Operation operation);

// One request and its reply; a descriptor that comes along is stored, or -1. The error of the reply
// is ENXIO without an agent. Safe in signal handlers and in forked children, and no cancellation
// point.
Reply ask(const Request &request, int &descriptor, OnExec on_exec = OnExec::CLOSE,
          int attached = -1) noexcept;
Reply ask(const Request &request) noexcept;
// The same for a WAIT, which a handler of a signal ends with EINTR. The thread may be unwound.
Reply ask_and_wait(const Request &request);
// A line for a thread that makes changes, or -1.
int new_line() noexcept;
// This process has spoken to the agent.
bool is_client() noexcept;

// The number by which the agent knows the handle behind a descriptor; nothing for another file.
inline std::optional<std::uint64_t> handle_of(int descriptor) noexcept {
    timeval mark{};
    socklen_t size = sizeof(mark);
    if (::getsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &mark, &size) != 0 ||
        mark.tv_sec != HANDLE_MARK)
        return std::nullopt;
    std::uint64_t cookie = 0;
    size = sizeof(cookie);
    if (::getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &cookie, &size) != 0)
        return std::nullopt;
    return cookie;
}

// Leaves errno as it was.
class KeptErrno {
  public:
    KeptErrno() noexcept = default;
    ~KeptErrno() { errno = before_; }
    KeptErrno(const KeptErrno &) = delete;
    KeptErrno &operator=(const KeptErrno &) = delete;

  private:
    int before_ = errno;
};

} // namespace rsmfake
