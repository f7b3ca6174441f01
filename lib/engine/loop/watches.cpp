// SPDX-License-Identifier: MIT
#include "engine/loop/watches.h"

#include "device/uncancelled.h"

#include <cerrno>
#include <new>
#include <sys/eventfd.h>

namespace rsmengine {

Watches::Watches()
    : epoll_(HandleFd::keep(::epoll_create1(EPOLL_CLOEXEC))),
      bell_(HandleFd::keep(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {
    if (!epoll_ || !bell_)
        throw std::bad_alloc();
    control(EPOLL_CTL_ADD, bell_.get(), EPOLLIN | EPOLLET, 0);
}

void Watches::control(int operation, int fd, std::uint32_t events, std::uint64_t number) const {
    epoll_event event{};
    event.events = events;
    event.data.u64 = number;
    if (::epoll_ctl(epoll_.get(), operation, fd, &event) != 0)
        throw std::bad_alloc();
}

void Watches::add(int fd, std::uint32_t events, Source &source) {
    remove(fd);
    const std::uint64_t number = ++last_;
    try {
        numbers_.emplace(fd, number);
        sources_.emplace(number, &source);
        control(EPOLL_CTL_ADD, fd, events, number);
    } catch (...) {
        numbers_.erase(fd);
        sources_.erase(number);
        throw;
    }
}

// Remove the descriptor explicitly: closing it does not, if a forked child keeps the file open.
void Watches::remove(int fd) noexcept {
    const auto number = numbers_.find(fd);
    if (number == numbers_.end())
        return;
    (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
    sources_.erase(number->second);
    numbers_.erase(number);
}

// An epoll_event is packed: no reference to its number may be bound.
Source *Watches::source_of(const epoll_event &event) const noexcept {
    const std::uint64_t number = event.data.u64;
    const auto found = sources_.find(number);
    return found == sources_.end() ? nullptr : found->second;
}

int Watches::wait(std::span<epoll_event> events, int timeout) const noexcept {
    const int found =
        ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout);
    return found < 0 && errno == EINTR ? 0 : found;
}

// Edge-triggered: nobody reads it. Its counter can't be full in this world's time.
void Watches::wake() const noexcept {
    const rsmdev::Uncancelled uncancelled;
    (void)::eventfd_write(bell_.get(), 1);
}

} // namespace rsmengine
