// SPDX-License-Identifier: MIT
// Descriptors of segments for poll(), and rsm_intr_signal_wait_pollfd.
#include <cerrno>
#include <chrono>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "api.h"
#include "locks.h"
#include "segment.h"

namespace rsm {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

// Segments whose descriptors the program holds. Made at first need and never
// destroyed, so that it works in the program's own destructors as well.
using Registry = std::unordered_map<int, Segment *>;

Registry &registry() {
    static constinit Registry *segments = nullptr; // guarded by locks.pollfds
    if (segments == nullptr)
        segments = new Registry;
    return *segments;
}

// The time at which the wait ends.
class Deadline {
  public:
    explicit Deadline(int timeout) noexcept {
        if (timeout >= 0)
            end_ = Clock::now() + Milliseconds(timeout);
    }
    // The remaining time for poll(): rounded up, so that it never ends early.
    [[nodiscard]] int remaining() const noexcept {
        if (!end_)
            return -1;
        const auto left = std::chrono::ceil<Milliseconds>(*end_ - Clock::now()).count();
        return left > 0 ? static_cast<int>(left) : 0;
    }

  private:
    std::optional<Clock::time_point> end_;
};

// Consumes an event of each segment that poll() found ready. If another waiter has consumed
// the event, the entry is no longer ready. Returns the number of ready entries.
int consume_ready(std::span<pollfd> entries) {
    const std::lock_guard guard(locks.pollfds);
    const auto &segments = registry();
    int ready = 0;
    for (auto &entry : entries) {
        if ((entry.revents & POLLRDNORM) != 0) {
            const auto found = segments.find(entry.fd);
            if (found != segments.end() && found->second->consume_event(0) != RSM_SUCCESS)
                entry.revents = static_cast<short>(entry.revents & ~(POLLRDNORM | POLLIN));
        }
        if (entry.revents != 0)
            ++ready;
    }
    return ready;
}

int status_of_poll_error(int error) noexcept {
    switch (error) {
    case EFAULT:
        return RSMERR_BAD_ADDR;
    case EINTR:
        return RSMERR_INTERRUPTED;
    case EAGAIN:
        return RSMERR_INSUFFICIENT_RESOURCES;
    case ENOMEM:
        return RSMERR_INSUFFICIENT_MEM;
    default:
        return RSMERR_BAD_ARGS_ERRORS;
    }
}

int wait_pollfd(pollfd *fds, nfds_t nfds, int timeout, int *numfdsp) {
    // The system call takes the low 32 bits.
    if (!std::in_range<unsigned>(nfds))
        return RSMERR_BAD_ARGS_ERRORS;
    const Deadline deadline(timeout);
    int remaining = timeout;
    for (;;) {
        const int found = ::poll(fds, nfds, remaining);
        if (found < 0)
            return status_of_poll_error(errno);
        const int ready = found == 0 ? 0 : consume_ready({fds, nfds});
        if (ready > 0) {
            if (numfdsp != nullptr)
                *numfdsp = ready;
            return RSM_SUCCESS;
        }
        remaining = deadline.remaining();
        if (remaining == 0)
            return RSMERR_TIMEOUT;
    }
}

} // namespace

bool pollfd_in_use(const Segment &segment) {
    const std::lock_guard guard(locks.pollfds);
    return segment.pollfd_references != 0;
}

} // namespace rsm

int rsm_memseg_get_pollfd(void *memseg, struct pollfd *pollfd) {
    return rsm::guarded([&] {
        auto *segment = rsm::find_segment(memseg);
        if (segment == nullptr)
            return RSMERR_BAD_SEG_HNDL;
        if (pollfd == nullptr)
            return RSMERR_BAD_ADDR;
        const std::lock_guard guard(rsm::locks.pollfds);
        if (segment->pollfd_references == 0)
            rsm::registry().insert_or_assign(segment->fd(), segment);
        ++segment->pollfd_references;
        pollfd->fd = segment->fd();
        pollfd->events = POLLRDNORM;
        return RSM_SUCCESS;
    });
}

int rsm_memseg_release_pollfd(void *memseg) {
    return rsm::guarded([&] {
        auto *segment = rsm::find_segment(memseg);
        if (segment == nullptr)
            return RSMERR_BAD_SEG_HNDL;
        const std::lock_guard guard(rsm::locks.pollfds);
        if (segment->pollfd_references != 0 && --segment->pollfd_references == 0)
            rsm::registry().erase(segment->fd());
        return RSM_SUCCESS;
    });
}

int rsm_intr_signal_wait_pollfd(struct pollfd fds[], nfds_t nfds, int timeout, int *numfdsp) {
    if (numfdsp != nullptr)
        *numfdsp = 0;
    return rsm::guarded_wait([&] { return rsm::wait_pollfd(fds, nfds, timeout, numfdsp); });
}
