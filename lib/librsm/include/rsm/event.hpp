// SPDX-License-Identifier: MIT
// Events of segments and connections. Programs include <rsm/rsm.hpp>.
#ifndef _RSM_EVENT_HPP
#define _RSM_EVENT_HPP

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstddef>
#include <memory>
#include <poll.h>
#include <ratio>
#include <span>
#include <utility>

#include <rsm/error.hpp>

namespace rsm {
inline namespace v2 {

/** The handles that a post reaches. */
enum class Post : uint_t {
    always = 0,
    unless_pending = RSM_SIGPOST_NO_ACCUMULATE, /**< not to handles with a pending event */
};

namespace detail {

/** Whole milliseconds as the C functions take them: never less than asked for, never negative. */
template <class Rep, class Period>
int milliseconds(std::chrono::duration<Rep, Period> time) noexcept {
    if (time <= time.zero())
        return 0;
    // No integer of milliseconds holds the largest number of hours.
    const std::chrono::duration<double, std::milli> about(time);
    if (!(about.count() < INT_MAX))
        return INT_MAX;
    return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(time).count());
}

/** POLLRDHUP, which <poll.h> has only where GNU extensions are asked for. */
constexpr short hangup = 0x2000;

/**
 * Waits as rsm_intr_signal_wait() does, but not for an event that can't come any more.
 *
 * @entry: of the segment's pollfd
 *
 * Return: the status of rsm_intr_signal_wait(); RSMERR_CONN_ABORTED if no event is pending, and
 * the connection is broken, or an administrator has revoked the export.
 */
inline int wait_for_event(pollfd entry, int milliseconds) {
    entry.events = static_cast<short>(entry.events | hangup);
    int ready = 0;
    const int status = rsm_intr_signal_wait_pollfd(&entry, 1, milliseconds, &ready);
    if (status != RSM_SUCCESS)
        return status;
    return (entry.revents & POLLRDNORM) != 0 ? RSM_SUCCESS : RSMERR_CONN_ABORTED;
}

} // namespace detail

/**
 * A descriptor that polls readable while an event is pending.
 *
 * It can be used with poll(), select() and epoll, which do not consume the event: wait does.
 * It keeps its segment alive, and the segment can't be unpublished or disconnected meanwhile.
 */
class EventDescriptor {
  public:
    EventDescriptor(EventDescriptor &&other) noexcept = default;
    EventDescriptor &operator=(EventDescriptor &&other) noexcept {
        if (this != &other) {
            release();
            segment_ = std::move(other.segment_);
            handle_ = other.handle_;
            entry_ = other.entry_;
        }
        return *this;
    }
    EventDescriptor(const EventDescriptor &) = delete;
    EventDescriptor &operator=(const EventDescriptor &) = delete;
    ~EventDescriptor() { release(); }

    /** Not to be read, written or closed. */
    [[nodiscard]] int fd() const noexcept { return entry_.fd; }
    /** An entry for poll() and rsm::wait_any(), its events filled in. */
    [[nodiscard]] pollfd entry() const noexcept { return entry_; }

  private:
    template <class>
    friend class EventSource;

    EventDescriptor(std::shared_ptr<void> segment, void *handle)
        : segment_(std::move(segment)), handle_(handle) {
        detail::check(rsm_memseg_get_pollfd(handle_, &entry_), "rsm_memseg_get_pollfd");
    }
    void release() noexcept {
        if (segment_)
            rsm_memseg_release_pollfd(handle_);
        segment_.reset();
    }

    std::shared_ptr<void> segment_;
    void *handle_ = nullptr;
    pollfd entry_{-1, 0, 0};
};

/**
 * The common part of Export and Import: events come in and go out.
 *
 * All of it may be called by several threads at once; each event wakes one waiting thread.
 */
template <class Segment>
class EventSource {
  public:
    /**
     * Delivers an event: to the exporter, or to each importer.
     *
     * An Import: Errc::conn_aborted, Errc::remote_node_unreachable.
     */
    void post(Post how = Post::always) { detail::check(try_post(how), "rsm_intr_signal_post"); }
    [[nodiscard]] std::error_code try_post(Post how = Post::always) noexcept {
        return detail::code(rsm_intr_signal_post(handle(), static_cast<uint_t>(how)));
    }

    /**
     * Waits for an event, without limit, and consumes it.
     *
     * Errc::conn_aborted: no event is pending, and there will be none, since the connection of an
     * Import is broken, or an administrator has revoked an Export. Errc::interrupted: by a signal.
     */
    void wait() { detail::check(wait(-1), "rsm_intr_signal_wait"); }

    /** The same for @limit at most, in whole milliseconds; whether there was an event. */
    template <class Rep, class Period>
    [[nodiscard]] bool wait_for(std::chrono::duration<Rep, Period> limit) {
        const std::error_code error = try_wait_for(limit);
        if (error == make_error_code(Errc::timeout))
            return false;
        detail::check(error, "rsm_intr_signal_wait");
        return true;
    }
    /** Errc::timeout where wait_for() is false. */
    template <class Rep, class Period>
    [[nodiscard]] std::error_code try_wait_for(std::chrono::duration<Rep, Period> limit) {
        return detail::code(wait(detail::milliseconds(limit)));
    }

    /** For loops that wait for other things, too. */
    [[nodiscard]] EventDescriptor event_descriptor() const {
        const auto &segment = static_cast<const Segment &>(*this);
        return {segment.state_, segment.handle()};
    }

  protected:
    EventSource() = default;

  private:
    // An event that is there already needs no descriptor. A thread that is cancelled leaves from
    // here, so this must be able to throw.
    [[nodiscard]] int wait(int milliseconds) {
        const int status = rsm_intr_signal_wait(handle(), 0);
        if (status != RSMERR_TIMEOUT)
            return status;
        try {
            return detail::wait_for_event(event_descriptor().entry(), milliseconds);
        } catch (const Error &error) {
            return error.status();
        }
    }
    [[nodiscard]] void *handle() const noexcept {
        return static_cast<const Segment *>(this)->handle();
    }
};

/**
 * poll(), and consumes one event of each segment that it finds ready.
 *
 * @entries: of EventDescriptor::entry() and others; revents is filled in
 * @limit: as for wait_for()
 *
 * Return: the number of ready entries; 0 when the time-out has expired.
 * Errc::interrupted: by a signal.
 */
template <class Rep, class Period>
[[nodiscard]] std::size_t wait_any(std::span<pollfd> entries,
                                   std::chrono::duration<Rep, Period> limit) {
    int ready = 0;
    const int status = rsm_intr_signal_wait_pollfd(entries.data(), entries.size(),
                                                   detail::milliseconds(limit), &ready);
    if (status != RSMERR_TIMEOUT)
        detail::check(status, "rsm_intr_signal_wait_pollfd");
    return static_cast<std::size_t>(ready);
}

/** The same without limit. */
inline std::size_t wait_any(std::span<pollfd> entries) {
    int ready = 0;
    detail::check(rsm_intr_signal_wait_pollfd(entries.data(), entries.size(), -1, &ready),
                  "rsm_intr_signal_wait_pollfd");
    return static_cast<std::size_t>(ready);
}

} // namespace v2
} // namespace rsm

#endif // _RSM_EVENT_HPP
