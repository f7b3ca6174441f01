// SPDX-License-Identifier: MIT
#include "engine/loop/handle_fd.h"

#include <algorithm>
#include <pthread.h>
#include <sys/resource.h>

namespace rsmengine {

constinit rsmdev::ClosedInChildren closed_in_children;

namespace {

// A forked child does not use the descriptors, but would keep open the files that the parent
// closes.
[[gnu::constructor]] void close_them_in_children() {
    (void)::pthread_atfork(nullptr, nullptr, [] { closed_in_children.close_all(); });
}

} // namespace

bool leaves_descriptors(int fd) noexcept {
    constexpr rlim_t ENOUGH = 64;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return true;
    return static_cast<rlim_t>(fd) + std::min(ENOUGH, limit.rlim_max / 8) < limit.rlim_max;
}

void keep_room_above(int fd) noexcept {
    constexpr rlim_t ROOM = 64;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && static_cast<rlim_t>(fd) + ROOM >= limit.rlim_cur)
        (void)rsmdev::raise_descriptor_limit();
}

} // namespace rsmengine
