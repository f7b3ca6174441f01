// SPDX-License-Identifier: MIT
#include "device/fake/readiness.h"

#include "device/fake/immortal.h"
#include "device/fake/line.h"
#include "device/fake/user_memory.h"
#include "device/fake/views.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <dlfcn.h>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace rsmfake {
namespace {

constexpr std::int64_t SECOND = 1'000'000'000;
constexpr std::int64_t MILLISECOND = 1'000'000;
constexpr nfds_t MOST_POLLED = 4096;

std::int64_t now() noexcept {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

// The time until which a call waits, or none.
class Deadline {
  public:
    explicit Deadline(const timespec *timeout) noexcept {
        if (timeout != nullptr)
            end_ = now() + timeout->tv_sec * SECOND + timeout->tv_nsec;
    }
    explicit Deadline(int milliseconds) noexcept {
        if (milliseconds >= 0)
            end_ = now() + milliseconds * MILLISECOND;
    }
    [[nodiscard]] timespec *left(timespec &space) const noexcept {
        if (!end_)
            return nullptr;
        const std::int64_t rest = std::max<std::int64_t>(*end_ - now(), 0);
        space = {rest / SECOND, rest % SECOND};
        return &space;
    }
    [[nodiscard]] int milliseconds_left() const noexcept {
        if (!end_)
            return -1;
        const std::int64_t rest = std::max<std::int64_t>(*end_ - now(), 0);
        return static_cast<int>((rest + MILLISECOND - 1) / MILLISECOND);
    }

  private:
    std::optional<std::int64_t> end_;
};

// The state of a handle, after its socket was emptied.
Reply state_of(int descriptor, std::uint64_t handle) noexcept {
    std::array<char, 64> bytes{};
    (void)::syscall(SYS_recvfrom, descriptor, bytes.data(), bytes.size(), MSG_DONTWAIT, nullptr,
                    nullptr);
    Request request = request_for(Operation::REFRESH);
    request.handle = handle;
    const Reply reply = ask(request);
    make_changes(reply);
    return reply;
}

void watch_end(std::uint64_t handle) noexcept {
    Request request = request_for(Operation::WATCH_END);
    request.handle = handle;
    make_changes(ask(request));
}

std::uint32_t events_of(const Reply &state, std::uint32_t asked) noexcept {
    const std::uint32_t possible =
        (state.pending != 0 ? EPOLLIN | EPOLLRDNORM : 0U) | (state.ended != 0 ? EPOLLRDHUP : 0U);
    return possible & asked;
}

// A handle that has ended is always readable: it is left out by those who do not ask for its end.
void correct(pollfd &seen, pollfd &polled) noexcept {
    const auto handle = seen.revents == 0 ? std::nullopt : handle_of(seen.fd);
    if (!handle)
        return;
    const Reply state = state_of(seen.fd, *handle);
    seen.revents =
        static_cast<short>(events_of(state, static_cast<std::uint16_t>(seen.events)));
    if (seen.revents == 0 && state.ended != 0)
        polled.fd = -1;
}

void watch_ends(std::span<const pollfd> descriptors) noexcept {
    for (const pollfd &entry : descriptors)
        if ((entry.events & POLLRDHUP) != 0)
            if (const auto handle = handle_of(entry.fd))
                watch_end(*handle);
}

// The C library's: a cancellation point.
int poll_now(pollfd *descriptors, nfds_t count, const timespec *timeout, const sigset_t *signals) {
    using Poll = int(pollfd *, nfds_t, const timespec *, const sigset_t *);
    static auto *const real = reinterpret_cast<Poll *>(::dlsym(RTLD_NEXT, "ppoll"));
    return real(descriptors, count, timeout, signals);
}

int wait_now(int epoll, epoll_event *events, int most, int timeout, const sigset_t *signals) {
    using Wait = int(int, epoll_event *, int, int, const sigset_t *);
    static auto *const real = reinterpret_cast<Wait *>(::dlsym(RTLD_NEXT, "epoll_pwait"));
    return real(epoll, events, most, timeout, signals);
}

// A handle in an epoll set.
struct Watched {
    int epoll;
    int descriptor;
    std::uint64_t data;
    std::uint32_t events;
};

std::mutex lock;
Immortal<std::vector<Watched>> immortal_watched;
std::vector<Watched> &watched = immortal_watched.value;
std::atomic<std::size_t> watched_count = 0;

std::optional<Watched> find_watched(int epoll, std::uint64_t data) noexcept {
    const std::scoped_lock guard(lock);
    const auto found = std::ranges::find_if(watched, [&](const Watched &entry) {
        return entry.epoll == epoll && entry.data == data;
    });
    return found == watched.end() ? std::nullopt : std::optional(*found);
}

// An epoll set that was closed, as after fork(), leaves entries here, and another set gets its number: what is
// added now, a handle or not, replaces the entry of its data, too.
void forget_watched(int epoll, int descriptor, const epoll_event *added) noexcept {
    const std::scoped_lock guard(lock);
    std::erase_if(watched, [&](const Watched &entry) {
        const bool replaced = added != nullptr && entry.data == added->data.u64;
        return entry.epoll == epoll && (entry.descriptor == descriptor || replaced);
    });
    watched_count = watched.size();
}

// Takes a handle that has ended, and that is watched for events only, out of the way.
void silence(const Watched &entry) noexcept {
    epoll_event event{};
    event.data.u64 = entry.data;
    (void)::syscall(SYS_epoll_ctl, entry.epoll, EPOLL_CTL_MOD, entry.descriptor, &event);
}

// False if the program is to see nothing of the event.
bool correct(int epoll, epoll_event &event) noexcept {
    const auto entry = find_watched(epoll, event.data.u64);
    const auto handle = entry ? handle_of(entry->descriptor) : std::nullopt;
    if (!handle)
        return true;
    const Reply state = state_of(entry->descriptor, *handle);
    event.events = events_of(state, entry->events);
    if (event.events == 0 && state.ended != 0)
        silence(*entry);
    return event.events != 0;
}

// Keeps signals from the calls of the agent, which repeat what a signal interrupts: it ends the
// system call that waits, or comes when the program has its answer.
class BlockedSignals {
  public:
    BlockedSignals() noexcept {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    BlockedSignals(const BlockedSignals &) = delete;
    BlockedSignals &operator=(const BlockedSignals &) = delete;
    [[nodiscard]] const sigset_t *before() const noexcept { return &before_; }

  private:
    sigset_t before_{};
};

} // namespace

int poll_handles(pollfd *descriptors, nfds_t count, const timespec *timeout,
                 const sigset_t *signals) {
    std::vector<pollfd> polled(is_client() && count <= MOST_POLLED ? count : 0);
    if (polled.empty() || !copy_in(polled.data(), reinterpret_cast<std::uintptr_t>(descriptors),
                                   count * sizeof(pollfd)))
        return poll_now(descriptors, count, timeout, signals);
    const Deadline deadline(timeout);
    const std::span<pollfd> seen(descriptors, count);
    const BlockedSignals blocked;
    const sigset_t *mask = signals != nullptr ? signals : blocked.before();
    watch_ends(seen);
    for (;;) {
        timespec space{};
        const timespec *left = deadline.left(space);
        const bool is_last = left != nullptr && left->tv_sec == 0 && left->tv_nsec == 0;
        const int found = poll_now(polled.data(), count, left, mask);
        if (found < 0)
            return -1;
        int ready = 0;
        for (std::size_t i = 0; i < seen.size(); ++i) {
            seen[i].revents = polled[i].fd < 0 ? short{0} : polled[i].revents;
            correct(seen[i], polled[i]);
            ready += seen[i].revents != 0 ? 1 : 0;
        }
        if (ready != 0 || found == 0 || is_last)
            return ready;
    }
}

void note_epoll(int epoll, int operation, int descriptor, const epoll_event *event) noexcept {
    const auto handle = handle_of(descriptor);
    forget_watched(epoll, descriptor, operation == EPOLL_CTL_DEL ? nullptr : event);
    if (!handle)
        return;
    if (operation != EPOLL_CTL_DEL) {
        const std::scoped_lock guard(lock);
        watched.push_back({epoll, descriptor, event->data.u64, event->events});
        watched_count = watched.size();
    }
    if (operation != EPOLL_CTL_DEL && (event->events & EPOLLRDHUP) != 0)
        watch_end(*handle);
}

int wait_epoll(int epoll, epoll_event *events, int most, int timeout,
               const sigset_t *signals) {
    const Deadline deadline(timeout);
    for (;;) {
        const int left = deadline.milliseconds_left();
        const int found = wait_now(epoll, events, most, left, signals);
        if (found <= 0 || watched_count.load(std::memory_order_relaxed) == 0)
            return found;
        const std::span<epoll_event> all(events, static_cast<std::size_t>(found));
        const auto rest = std::remove_if(all.begin(), all.end(), [&](epoll_event &event) {
            return !correct(epoll, event);
        });
        if (rest != all.begin() || left == 0)
            return static_cast<int>(rest - all.begin());
    }
}

} // namespace rsmfake
