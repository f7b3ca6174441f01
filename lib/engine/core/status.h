// SPDX-License-Identifier: MIT
// The results of the engine's functions. A face translates them to its own (lib/libdat/api/error.h
// is the example).
#pragma once

#include <cstdint>

namespace rsmengine {

enum class [[nodiscard]] Status : std::uint8_t{
    OK,

    // Something has run out, or there is none of it.
    NO_MEMORY, // also: a queue is full
    NO_DEVICE,
    NO_CONNECTIONS, // endpoints, or what a connection needs
    NO_REGIONS, NO_SRQS,
    NO_QUALIFIER, // this program may not listen there
    QUALIFIER_IN_USE,

    // An argument is wrong.
    BAD_QUALIFIER, BAD_SEGMENT_COUNT, BAD_SEGMENT, BAD_REMOTE_SEGMENT,
    BAD_MESSAGE_FLAGS, // of a send or a receive
    BAD_RDMA_FLAGS,    // of a read, a write or a bind
    BAD_WINDOW,        // the segment of a bind
    BAD_WINDOW_RIGHTS, // the rights of a bind
    BAD_ADDRESS,       // memory that is not there
    BAD_LENGTH,
    BAD_RIGHTS, // to memory that does not have them
    BAD_WATERMARK, BAD_THRESHOLD,
    LENGTH_MISMATCH, // of the two sides of an RDMA request

    // Registered memory may not be used like this.
    RIGHT_TO_READ_MISSING, RIGHT_TO_WRITE_MISSING,
    ZONES_DIFFER, // of an RMR, its endpoint, its region
    ZONE_OF_READ_DIFFERS, ZONE_OF_WRITE_DIFFERS,

    // The state of the object forbids the call.
    WRONG_STATE, EP_UNCONNECTED, EP_RESERVED, EP_PASSIVE_PENDING, EP_ACTIVE_PENDING,
    EP_TENTATIVE_PENDING, EP_CONNECTED, EP_DISCONNECT_PENDING, EP_DISCONNECTED,
    EP_COMPLETION_PENDING, EVD_HAS_WAITER, EVD_UNWAITABLE,
    EVD_NOTIFIES_EACH, // it has an UNSIGNALLED stream: a wait with a threshold makes no sense
    EVD_NOTIFIES_SOLICITED,

    // The ends of waiting.
    QUEUE_EMPTY, QUEUE_FULL, TIMED_OUT, INTERRUPTED, ABORTED,

    INTERNAL_ERROR, // the last
};

} // namespace rsmengine
