// SPDX-License-Identifier: MIT
// The policies in which the clients of /dev/rsm differ. Documentation/device.md explains each
// field.
#pragma once

namespace rsmdev {

class ClosedInChildren;

struct DescriptorPolicy {
    // A new descriptor is moved to this number or above, if there is room.
    int lowest;
    // The soft limit on descriptors is raised to the hard limit when it is in the way.
    bool raises_limit;
    // The descriptors that a forked child closes at once; nullptr: a child inherits them.
    ClosedInChildren *closed_in_children;
};

struct Policy {
    DescriptorPolicy segments;
    DescriptorPolicy control;
    // The status of a process that finds no /dev/rsm.
    int status_of_absence;
    // A command that a signal interrupts is given again; otherwise its status is
    // RSMERR_INTERRUPTED.
    bool repeats_interrupted;
    // A forked child inherits the mappings of the tables, of exports and of imports.
    bool children_inherit_mappings;
    // Called before a command, or a close, that may wait for another node; nullptr: nothing is
    // called.
    void (*before_wait)(const char *command) noexcept;
};

// That of a handle that was never opened, whose commands fail like those of a closed descriptor.
inline constexpr Policy no_policy{};

} // namespace rsmdev
