// SPDX-License-Identifier: MIT
#include "engine/core/async_evds.h"

#include <algorithm>
#include <mutex>
#include <sys/mman.h>

namespace rsmengine {

// The list fills a page that the kernel zeroes in a forked child, because the IAs of the parent are
// invalid there.
struct alignas(4096) AsyncListeners {
    std::mutex mutex;
    AsyncListener *first = nullptr;

    void add(AsyncListener &one) noexcept {
        one.next_ = first;
        if (first != nullptr)
            first->previous_ = &one;
        first = &one;
    }
    void remove(const AsyncListener &one) noexcept {
        (one.previous_ != nullptr ? one.previous_->next_ : first) = one.next_;
        if (one.next_ != nullptr)
            one.next_->previous_ = one.previous_;
    }
};

namespace {

constinit AsyncListeners listeners;

[[gnu::constructor]] void wipe_list_in_children() {
    (void)::madvise(&listeners, sizeof(listeners), MADV_WIPEONFORK);
}

} // namespace

AsyncListener::AsyncListener(std::string_view adapter) noexcept : adapter_(adapter) {
    const std::scoped_lock guard(listeners.mutex);
    listeners.add(*this);
}

AsyncListener::~AsyncListener() {
    const std::scoped_lock guard(listeners.mutex);
    listeners.remove(*this);
}

void AsyncListener::use(const AsyncEvd &evd) noexcept {
    const std::scoped_lock guard(listeners.mutex);
    evd_ = evd;
}

std::vector<AsyncEvd> AsyncListener::others(const AsyncEvd &but) const {
    std::vector<AsyncEvd> found;
    const std::scoped_lock guard(listeners.mutex);
    for (const AsyncListener *one = listeners.first; one != nullptr; one = one->next_)
        if (one->evd_.handle != nullptr && one->adapter_ == adapter_ && one->evd_ != but &&
            std::ranges::find(found, one->evd_) == found.end())
            found.push_back(one->evd_);
    return found;
}

} // namespace rsmengine
