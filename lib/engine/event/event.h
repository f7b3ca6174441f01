// SPDX-License-Identifier: MIT
// Events, as the engine queues them and a face delivers them.
#pragma once

#include "engine/core/types.h"

#include <sys/socket.h>

namespace rsmengine {

// How a request or a receive has ended. All but OK and BIND_FAILED break the connection. The
// numbers travel between peers.
enum class CompletionStatus : std::uint32_t {
    OK = 0,
    FLUSHED = 1,
    LOCAL_LENGTH = 2,     // the receive is too short
    LOCAL_ENDPOINT = 3,   // the endpoint can't do that
    LOCAL_PROTECTION = 4, // the memory is not registered any more
    BAD_RESPONSE = 5,
    REMOTE_ACCESS = 6,    // the peer's memory may not be reached
    REMOTE_RESPONDER = 7, // the peer could not carry the request out
    TRANSPORT = 8,
    RECEIVER_NOT_READY = 9,
    BIND_FAILED = 11,
};

enum class EventKind : std::uint32_t {
    TRANSFER = 0x00001,
    BIND = 0x01001,
    REQUEST = 0x02001,
    ESTABLISHED = 0x04001,
    PEER_REJECTED = 0x04002,
    NON_PEER_REJECTED = 0x04003,
    ACCEPT_FAILED = 0x04004,
    DISCONNECTED = 0x04005,
    BROKEN = 0x04006,
    TIMED_OUT = 0x04007,
    UNREACHABLE = 0x04008,
    EVD_OVERFLOW = 0x08001,
    IA_FAILED = 0x08002,
    EP_WARNING = 0x08003,
    INTERNAL_ERROR = 0x08005,
    SOFTWARE = 0x10001,
};

// TRANSFER
struct TransferEnd {
    Handle ep;
    Cookie cookie;
    CompletionStatus status;
    std::uint64_t length; // if it succeeded
};

// BIND
struct BindEnd {
    Handle rmr;
    Cookie cookie;
    CompletionStatus status;
};

// REQUEST: for a connection
struct RequestArrival {
    Handle service_point;
    sockaddr *local_address;
    Qualifier qualifier;
    Handle request;
};

// ESTABLISHED to UNREACHABLE
struct ConnectionChange {
    Handle ep;
    Count size; // of the peer's private data, which belongs to the endpoint
    void *private_data;
};

// EVD_OVERFLOW to INTERNAL_ERROR
struct AsyncError {
    Handle about;
    Reason reason;
};

// `kind` tells which member of the union is valid. The structure has no initializers, so that an
// empty queue does not touch the memory of its entries.
struct Event {
    EventKind kind;
    Handle evd; // the EVD that the event was queued on
    union {
        TransferEnd transfer;
        BindEnd bind;
        RequestArrival request;
        ConnectionChange connection;
        AsyncError error;
        void *software; // what the program has posted
    };
};

} // namespace rsmengine
