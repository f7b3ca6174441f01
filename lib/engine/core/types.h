// SPDX-License-Identifier: MIT
// The words that all parts of the engine use. They are no interface's: a face translates its own
// types to these and back (Documentation/engine.md).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace rsmengine {

// A number of objects, segments or events, or of bytes where they are few.
using Count = int;
constexpr Count UNLIMITED = -1; // as a watermark: there is none

// An object of the engine in the hands of a program (object.h).
using Handle = void *;

// A value of the program, kept with an object or a transfer.
enum class Cookie : std::uint64_t {};

// Registered memory, as its own process and as a peer names it; 0: none.
using LocalKey = std::uint32_t;
using RemoteKey = std::uint32_t;

// A part of registered memory, of this process and of a peer. Length 0: the rest does not matter.
struct Segment {
    LocalKey key;
    std::uint32_t unused;
    std::uint64_t address;
    std::uint64_t length;
};
struct RemoteSegment {
    RemoteKey key;
    std::uint32_t unused;
    std::uint64_t address;
    std::uint64_t length;
};

// Rights to memory: bits.
namespace rights {
constexpr unsigned NONE = 0x00;
constexpr unsigned LOCAL_READ = 0x01;
constexpr unsigned REMOTE_READ = 0x02;
constexpr unsigned LOCAL_WRITE = 0x10;
constexpr unsigned REMOTE_WRITE = 0x20;
constexpr unsigned STRICT_ORDER = 0x100; // of writes; without effect: writes are always ordered
constexpr unsigned READ = LOCAL_READ | REMOTE_READ;
constexpr unsigned WRITE = LOCAL_WRITE | REMOTE_WRITE;
constexpr unsigned ALL = READ | WRITE;
} // namespace rights

// The subject of a service point and of a request for a connection; never 0.
using Qualifier = std::uint64_t;

enum class ObjectKind : std::uint8_t { CR, EP, EVD, IA, LMR, PSP, PZ, RMR, RSP, CNO, SRQ };
constexpr std::size_t OBJECT_KINDS = 11;

enum class EpState : std::uint8_t {
    UNCONNECTED,
    RESERVED,          // for a service point
    PASSIVE_PENDING,   // with a request, to be accepted; the program's endpoint
    ACTIVE_PENDING,    // has sent a request
    TENTATIVE_PENDING, // as PASSIVE_PENDING; the engine has made the endpoint
    CONNECTED,
    DISCONNECT_PENDING, // requests complete before the end
    DISCONNECTED,
    COMPLETION_PENDING, // has accepted
};

// How the completions of a post, or of a direction of an endpoint, are reported: bits.
enum class CompletionFlags : std::uint32_t {
    DEFAULT = 0x00,
    SUPPRESS = 0x01,    // no event if it succeeds
    SOLICITED = 0x02,   // of a send: the peer's event notifies; of an endpoint: only such do
    UNSIGNALLED = 0x04, // the event does not notify
    FENCE = 0x08,       // starts when all earlier reads are done
    THRESHOLD = 0x10,   // of an endpoint: as DEFAULT
};
constexpr bool has_flag(CompletionFlags flags, CompletionFlags flag) noexcept {
    return (static_cast<std::uint32_t>(flags) & static_cast<std::uint32_t>(flag)) != 0;
}
constexpr CompletionFlags operator|(CompletionFlags one, CompletionFlags other) noexcept {
    return static_cast<CompletionFlags>(static_cast<std::uint32_t>(one) |
                                        static_cast<std::uint32_t>(other));
}
constexpr CompletionFlags without(CompletionFlags flags, CompletionFlags taken) noexcept {
    return static_cast<CompletionFlags>(static_cast<std::uint32_t>(flags) &
                                        ~static_cast<std::uint32_t>(taken));
}

// The origin of events: bits of a StreamSet, which says what may feed an EVD.
enum class Stream : std::uint32_t {
    SOFTWARE = 0x001,
    REQUESTS = 0x010,
    TRANSFERS = 0x020,
    CONNECTIONS = 0x040,
    BINDS = 0x080,
    ASYNC = 0x100,
};
using StreamSet = std::uint32_t;
constexpr StreamSet set_of(Stream stream) noexcept {
    return static_cast<StreamSet>(stream);
}

enum class Close : std::uint8_t { ABRUPT, GRACEFUL };

// Whether a service point makes an endpoint for each request.
enum class EndpointsBy : std::uint8_t { PROGRAM, ENGINE };

// The cause of an asynchronous event.
enum class Reason : Count { FAILURE = 0, WATERMARK = 2 };

// The time from now on; without a value: no limit.
using Timeout = std::optional<std::chrono::microseconds>;

// A function of the program, and its argument. The engine calls it with the handle of an EVD, or
// with null when none will come any more.
struct Agent {
    void *data = nullptr;
    void (*call)(void *data, Handle evd) = nullptr;
};

} // namespace rsmengine
