// SPDX-License-Identifier: MIT
#include "device/fake/line.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/poll.h>

namespace rsmfake {
namespace {

constexpr int LOWEST = 700; // out of the program's way, below the usual limit

// A thread's connection. A call in a signal handler that has interrupted another call of the thread
// has a connection of its own; a forked child does not use its parent's.
struct ThreadLine {
    int descriptor = -1;
    int process = 0;
    bool is_busy = false;

    ThreadLine() noexcept = default;
    ~ThreadLine() { drop(); }
    ThreadLine(const ThreadLine &) = delete;
    ThreadLine &operator=(const ThreadLine &) = delete;
    void drop() noexcept {
        if (descriptor >= 0)
            (void)::syscall(SYS_close, descriptor);
        descriptor = -1;
    }
};

thread_local ThreadLine thread_line;
std::atomic<int> client_process = 0;

int current_process() noexcept {
    return static_cast<int>(::syscall(SYS_getpid));
}

bool is_shortage(int error) noexcept {
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

// Takes the thread's line for one call.
class UsedLine {
  public:
    UsedLine() noexcept : line_(thread_line.is_busy ? own_ : thread_line) {
        const int process = current_process();
        if (line_.process != process)
            line_.drop();
        line_.process = process;
        line_.is_busy = true;
        if (line_.descriptor < 0)
            line_.descriptor = new_line();
        client_process.store(process, std::memory_order_relaxed);
    }
    ~UsedLine() { line_.is_busy = false; }
    UsedLine(const UsedLine &) = delete;
    UsedLine &operator=(const UsedLine &) = delete;

    [[nodiscard]] int get() const noexcept { return line_.descriptor; }
    // The kernel that was there is gone, unless this process has no room for a line to it.
    [[nodiscard]] Reply lost() const noexcept {
        Reply reply{};
        reply.error = line_.descriptor < 0 && is_shortage(errno) ? errno : ENXIO;
        line_.drop();
        return reply;
    }

  private:
    ThreadLine own_;
    ThreadLine &line_;
};

} // namespace

int new_line() noexcept {
    const char *name = ::secure_getenv(SOCKET_VARIABLE);
    if (name == nullptr) {
        errno = ENXIO;
        return -1;
    }
    const int low = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (low < 0)
        return -1;
    const int high = ::fcntl(low, F_DUPFD_CLOEXEC, LOWEST);
    const int line = high < 0 ? low : high;
    if (high >= 0)
        (void)::syscall(SYS_close, low);
    const AbstractAddress address(name);
    if (::syscall(SYS_connect, line, address.get(), address.length) == 0)
        return line;
    (void)::syscall(SYS_close, line);
    return -1;
}

bool is_client() noexcept {
    return client_process.load(std::memory_order_relaxed) == current_process();
}

Request request_for(Operation operation) {
    Request request{};
    request.operation = operation;
    request.process = current_process();
    return request;
}

Reply ask(const Request &request, int &descriptor, OnExec on_exec, int attached) noexcept {
    const UsedLine line;
    Reply reply{};
    descriptor = -1;
    if (line.get() < 0 || !send_message(line.get(), request, attached) ||
        !receive_message(line.get(), reply, descriptor, on_exec))
        return line.lost();
    return reply;
}

Reply ask(const Request &request) noexcept {
    int none = -1;
    return ask(request, none);
}

// After CANCEL_WAIT one reply comes: to the WAIT if it had one already, else to the cancellation.
Reply ask_and_wait(const Request &request) {
    const UsedLine line;
    Reply reply{};
    int none = -1;
    if (line.get() < 0 || !send_message(line.get(), request))
        return line.lost();
    pollfd answer{line.get(), POLLIN, 0};
    if (::syscall(SYS_ppoll, &answer, 1, nullptr, nullptr, 0) < 0 &&
        !send_message(line.get(), request_for(Operation::CANCEL_WAIT)))
        return line.lost();
    return receive_message(line.get(), reply, none) ? reply : line.lost();
}

} // namespace rsmfake
