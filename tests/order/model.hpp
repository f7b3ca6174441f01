// SPDX-License-Identifier: GPL-2.0
// Programs of posts on several connections, and records of their execution. The checker (check.hpp)
// judges a record; it knows nothing of the library that executed the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace order {

// Each byte of a buffer carries the token of the buffer that it was copied from; see encode().
using Token = std::uint8_t;
constexpr Token untouched = 0;

// The byte that stands for a token at this index of a buffer. All tokens of one index have
// different bytes, so a byte tells its token, and a byte in a wrong place tells a wrong one.
constexpr std::uint8_t encode(Token token, std::size_t index) {
    return static_cast<std::uint8_t>(token * 167U + index * 59U + (index >> 8U) * 13U + 0x35U);
}
constexpr Token decode(std::uint8_t byte, std::size_t index) {
    return static_cast<Token>((byte - encode(0, index)) * 23U); // 167 * 23 = 1 modulo 256
}

constexpr int sides = 2; // the active side of all connections is 0

struct Piece {
    std::uint32_t offset; // in the side's arena
    std::uint32_t length;
};

// Memory of one side, in one piece or several, each between guard bytes.
struct Buffer {
    int side;
    int endpoint; // nobody else uses it
    Token token;  // what it holds at first
    bool doomed;  // in the region that the program frees
    std::vector<Piece> pieces;

    std::uint32_t length() const;
};

enum class Work : std::uint8_t { SEND, RECEIVE, WRITE, READ };
constexpr bool is_request(Work work) {
    return work != Work::RECEIVE;
}

struct Post {
    int side;
    int endpoint;
    Work work;
    int buffer = -1; // of this side; -1: no bytes
    int target = -1; // RDMA: of the other side
    bool suppressed = false;
    bool unsignalled = false;
    bool fenced = false;
    bool solicited = false;
    bool refused = false; // names a context that does not exist
    bool marker = false;  // posted when the connection has ended: completes FLUSHED
};

enum class Act : std::uint8_t {
    POST,       // index: post
    AWAIT,      // index: post, of the same side; waits for its event
    DISCONNECT, // index: endpoint
    GRACEFUL,   // index: endpoint; disconnects when the requests have completed
    FREE,       // index: endpoint
    FREE_LMR,   // frees the doomed region
    NOTIFY,     // sends the other side a notice apart from the connections
    AWAIT_NOTICE, // waits for the notice
    AWAIT_END,  // index: endpoint; waits for the end of the connection
};

// In an order in which one thread could do the steps of both sides: no wait is for a later step.
struct Step {
    int side;
    Act act;
    int index = 0;
};

// Which EVD an endpoint's streams have at one side; equal numbers are one EVD.
struct Streams {
    int requests;
    int receives;
    int connections;
};

struct Program {
    std::uint64_t seed = 0;
    int endpoints = 0;
    bool polls = false;                  // waits by dat_evd_dequeue
    bool unsignalled = false;            // requests of all endpoints may be UNSIGNALLED
    std::vector<Streams> streams[sides]; // by endpoint
    int evds[sides] = {0, 0};
    std::uint32_t arena = 0; // bytes, of each side
    std::vector<Buffer> buffers;
    std::vector<Post> posts;
    std::vector<Step> steps;
};

enum class Status : std::uint8_t {
    SUCCESS,
    FLUSHED,
    REMOTE_ACCESS,
    REMOTE_RESPONDER,
    LOCAL_LENGTH,
    OTHER,
};

// The contents of a buffer at a moment: a token for each byte.
struct Snapshot {
    int buffer;
    std::vector<Token> tokens;
};

enum class What : std::uint8_t {
    POSTED,       // index: post; the call succeeded
    REJECTED,     // index: post; the call failed
    COMPLETED,    // index: post
    DISCONNECTED, // index: endpoint; the event
    BROKEN,       // index: endpoint; the event
    ENDS,         // index: endpoint; this side called dat_ep_disconnect, abruptly
    ENDS_GRACEFULLY,
    FREES, // index: endpoint
    FREES_LMR,
    NOTIFIES,
    AWAITS_NOTICE,
    STRANGE, // index: number of an event that no post and no connection has
};

struct Entry {
    What what;
    int index = 0;
    Status status = Status::SUCCESS;
    std::uint32_t length = 0;
    int evd = -1;
    std::vector<Snapshot> snapshots{}; // taken when the event was dequeued
};

// The acts and sights of one side, in that order.
struct Record {
    std::vector<Entry> log;
    std::vector<Snapshot> end;         // all its buffers
    std::vector<std::uint32_t> damage; // guard bytes that changed
};

const char *name_of(Work work);
const char *name_of(Status status);
std::string describe(const Program &program, int post);

} // namespace order
