// SPDX-License-Identifier: MIT
#include "wire/channel.h"

#include <utility>

namespace rsmdat {

Channel::~Channel() {
    close();
}

bool Channel::open(const Device &device, int capacity) noexcept {
    close();
    queue_ = ::ibv_create_cq(&device.context(), capacity, this, &device.completions(), 0);
    return queue_ != nullptr;
}

void Channel::close() noexcept {
    armed_ = false;
    if (queue_ != nullptr)
        (void)::ibv_destroy_cq(std::exchange(queue_, nullptr));
}

// A queue that can't be read any more is the device's end, of which the Ia hears otherwise.
std::span<const ibv_wc> Channel::take(std::span<ibv_wc> room) noexcept {
    const int count = ::ibv_poll_cq(queue_, static_cast<int>(room.size()), room.data());
    return room.first(count > 0 ? static_cast<std::size_t>(count) : 0);
}

void Channel::arm() noexcept {
    if (queue_ != nullptr && !armed_)
        armed_ = ::ibv_req_notify_cq(queue_, 0) == 0;
}

// The event may be one from before it was disarmed: it stays so.
void Channel::woken() noexcept {
    if (std::exchange(armed_, false))
        arm();
    owner_.completed();
}

} // namespace rsmdat
