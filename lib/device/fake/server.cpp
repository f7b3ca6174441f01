// SPDX-License-Identifier: MIT
#include "device/fake/server.h"

#include "device/fake/sockets.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <fcntl.h>
#include <span>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <system_error>

namespace rsmfake {
namespace {

// The subject of an event of `events_`: a kind, and a descriptor or process.
enum class Kind : std::uint32_t { LISTENER, HANDLES, LINE, CHANGES, PROCESS };
constexpr unsigned KIND_SHIFT = 32;

std::uint64_t event_of(Kind kind, int number) {
    return std::uint64_t{static_cast<std::uint32_t>(kind)} << KIND_SHIFT |
           static_cast<std::uint32_t>(number);
}

rsmdev::Descriptor checked(int descriptor, const char *what) {
    if (descriptor < 0)
        throw std::system_error(errno, std::generic_category(), what);
    return rsmdev::Descriptor(descriptor);
}

rsmdev::Descriptor listen_at(const std::string &name) {
    auto listener = checked(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), "socket");
    const AbstractAddress address(name);
    if (::bind(listener.get(), address.get(), address.length) != 0 ||
        ::listen(listener.get(), SOMAXCONN) != 0)
        throw std::system_error(errno, std::generic_category(), "listen");
    return listener;
}

std::uint64_t cookie_of(int socket) {
    std::uint64_t cookie = 0;
    socklen_t size = sizeof(cookie);
    (void)::getsockopt(socket, SOL_SOCKET, SO_COOKIE, &cookie, &size);
    return cookie;
}

void mark(int socket) {
    const timeval time{HANDLE_MARK, 0};
    (void)::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
}

} // namespace

Server::Server(const std::string &socket, const char *stats)
    : listener_(listen_at(socket)), events_(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll")),
      handles_(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll")),
      agent_([this](int line, const Reply &reply) { answer(line, reply); }) {
    if (stats != nullptr)
        stats_ = checked(::open(stats, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), stats);
    (void)rsmdev::raise_descriptor_limit();
    watch(events_.get(), listener_.get(), event_of(Kind::LISTENER, 0));
    watch(events_.get(), handles_.get(), event_of(Kind::HANDLES, 0));
    write_statistics();
}

void Server::watch(int epoll, int descriptor, std::uint64_t what) const {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLRDHUP;
    event.data.u64 = what;
    if (::epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) != 0)
        throw std::system_error(errno, std::generic_category(), "epoll_ctl");
}

void Server::write_statistics() {
    const std::string text = stats_ ? agent_.statistics() : std::string();
    if (text == written_)
        return;
    written_ = text;
    (void)!::pwrite(stats_.get(), text.data(), text.size(), 0);
}

// A caller that has an answer reads counters to which its call has contributed.
void Server::answer(int line, const Reply &reply, int descriptor) {
    write_statistics();
    (void)send_message(line, reply, descriptor);
}

// Notices all handles that all processes have closed before the call.
void Server::close_handles() {
    std::array<epoll_event, 64> events{};
    int found = 0;
    do {
        found = ::epoll_wait(handles_.get(), events.data(), static_cast<int>(events.size()), 0);
        for (int i = 0; i < found; ++i)
            agent_.close_handle(events.at(static_cast<std::size_t>(i)).data.u64);
    } while (found > 0);
}

void Server::accept_line() {
    rsmdev::Descriptor line(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!line)
        return;
    const int number = line.get();
    watch(events_.get(), number, event_of(Kind::LINE, number));
    lines_[number] = std::move(line);
}

void Server::drop_line(int line) {
    agent_.line_ended(line);
    lines_.erase(line);
}

void Server::watch_process(std::int32_t process) {
    if (processes_.contains(process))
        return;
    rsmdev::Descriptor descriptor(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
    if (!descriptor)
        return;
    watch(events_.get(), descriptor.get(), event_of(Kind::PROCESS, process));
    processes_[process] = std::move(descriptor);
}

void Server::open_handle(int line, const Request &request) {
    Reply reply{};
    std::array<int, 2> ends{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        reply.error = EAGAIN;
        answer(line, reply);
        return;
    }
    rsmdev::Descriptor ours(ends[0]);
    const rsmdev::Descriptor theirs(ends[1]);
    const int descriptor = ours.get();
    const std::uint64_t cookie = cookie_of(theirs.get());
    mark(theirs.get());
    const bool opened = request.operation == Operation::OPEN_CONTROL
                            ? agent_.open_control(cookie, request.process, std::move(ours))
                            : agent_.open_segment(cookie, std::move(ours));
    reply.error = opened ? 0 : EAGAIN;
    if (opened)
        watch(handles_.get(), descriptor, cookie);
    answer(line, reply, opened ? theirs.get() : -1);
}

void Server::serve_line(int line) {
    Request request{};
    int descriptor = -1;
    if (!receive_message(line, request, descriptor)) {
        drop_line(line);
        return;
    }
    rsmdev::Descriptor attached(descriptor);
    watch_process(request.process);
    close_handles();
    switch (request.operation) {
    case Operation::OPEN_CONTROL:
    case Operation::OPEN_SEGMENT:
        open_handle(line, request);
        break;
    case Operation::SHARE_MEMORY:
        agent_.share_memory(request.process, std::move(attached));
        answer(line, Reply{});
        break;
    case Operation::SERVE_CHANGES: {
        answer(line, Reply{});
        (void)::epoll_ctl(events_.get(), EPOLL_CTL_DEL, line, nullptr);
        watch(events_.get(), line, event_of(Kind::CHANGES, request.process));
        agent_.serve_changes(request.process, std::move(lines_.at(line)));
        lines_.erase(line);
        break;
    }
    default:
        if (const auto found = agent_.handle(line, request))
            answer(line, found->reply, found->descriptor());
    }
}

void Server::serve(std::uint64_t what) {
    const int number = static_cast<int>(static_cast<std::uint32_t>(what));
    switch (static_cast<Kind>(what >> KIND_SHIFT)) {
    case Kind::LISTENER:
        accept_line();
        break;
    case Kind::HANDLES:
        close_handles();
        break;
    case Kind::LINE:
        if (lines_.contains(number))
            serve_line(number);
        break;
    case Kind::CHANGES:
        agent_.line_of_changes_stirs(number);
        break;
    case Kind::PROCESS:
        close_handles();
        agent_.process_ended(number);
        processes_.erase(number);
        break;
    }
}

// Milliseconds until a call is to be answered, for epoll_wait().
int Server::patience() const {
    constexpr std::int64_t MILLION = 1'000'000;
    constexpr std::int64_t LONGEST = 1'000'000;
    const std::int64_t deadline = agent_.next_deadline();
    if (deadline == INT64_MAX)
        return -1;
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    const std::int64_t left = deadline - (time.tv_sec * MILLION * 1000 + time.tv_nsec);
    return static_cast<int>(std::clamp<std::int64_t>((left + MILLION - 1) / MILLION, 0, LONGEST));
}

int Server::run_until_end_of(pid_t program) {
    watch_process(program);
    std::array<epoll_event, 64> events{};
    int status = 0;
    while (::waitpid(program, &status, WNOHANG) == 0) {
        const int found = ::epoll_wait(events_.get(), events.data(),
                                       static_cast<int>(events.size()), patience());
        for (int i = 0; i < found; ++i)
            serve(events.at(static_cast<std::size_t>(i)).data.u64);
        agent_.answer_late_calls();
        write_statistics();
    }
    return status;
}

} // namespace rsmfake
