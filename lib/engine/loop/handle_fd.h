// SPDX-License-Identifier: MIT
// Descriptors of the library.
#pragma once

#include "device/closed_in_children.h"
#include "device/descriptor.h"

namespace rsmengine {

extern constinit rsmdev::ClosedInChildren closed_in_children;

// At 1024 or above where the limit allows it: descriptors below are the program's, for select().
// When the soft limit is reached it is raised to the hard one. A forked child closes all of them at
// once. A connection takes two descriptors, and the usual soft limit is for programs that use
// select().
inline constexpr rsmdev::DescriptorPolicy descriptor_policy = {
    .lowest = 1024, // FD_SETSIZE
    .raises_limit = true,
    .closed_in_children = &closed_in_children,
};

class HandleFd : public rsmdev::Descriptor {
  public:
    HandleFd() noexcept = default;
    // A new descriptor, or none (-1), that is to be kept by this policy.
    static HandleFd keep(int fd) noexcept {
        return HandleFd(rsmdev::Descriptor::keep(fd, descriptor_policy));
    }

  private:
    explicit HandleFd(rsmdev::Descriptor descriptor) noexcept
        : rsmdev::Descriptor(std::move(descriptor)) {}
};

// For descriptors that other libraries make: raises the soft limit when one comes near it.
void keep_room_above(int fd) noexcept;

// True if enough descriptors are left for the rest of the program when this one is the highest. For
// objects of which a program may have many.
bool leaves_descriptors(int fd) noexcept;

} // namespace rsmengine
