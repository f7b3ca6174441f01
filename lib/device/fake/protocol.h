// SPDX-License-Identifier: MIT
// The messages between the interposer in a process (a client) and the agent, which is a process of
// its own. Each thread of a client has a line, a SOCK_SEQPACKET connection: one request, one reply.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <linux/rsm.h>
#include <span>
#include <type_traits>

namespace rsmfake {

// The name of the agent's socket, in the abstract namespace: set by rsm-fake for its program.
inline constexpr const char *SOCKET_VARIABLE = "RSM_FAKE_SOCKET";

// A handle is one end of a pair of stream sockets, whose other end the agent has. This receive
// time-out, in seconds, tells it from other sockets; nobody waits for its data.
inline constexpr long HANDLE_MARK = 5'395'277;

inline constexpr std::size_t ARGUMENT_SIZE = 128;
inline constexpr std::size_t MAX_GROUPS = 64;

enum class Operation : std::uint32_t {
    OPEN_CONTROL,
    OPEN_SEGMENT,
    COMMAND,      // an ioctl() whose argument has the right form
    CANCEL_WAIT,  // a signal has come while the thread's WAIT was under way
    MAP,          // mmap() of a handle
    REFRESH,      // what poll() has to say of a handle whose socket was emptied
    WATCH_END,    // the same, and somebody polls for POLLRDHUP
    SYNCHRONIZE,  // the agent has noticed all that has been closed before the reply
    RANGE_GONE,   // the process has unmapped memory
    SHARE_MEMORY, // with a descriptor: the file that has the process's exported memory
    NEXT_CHANGE,  // a change of the process's mappings that it has to make itself
    SERVE_CHANGES // makes the line one on which the agent sends such changes, each to be answered
};

// The credentials of a caller; filled in for BIND, CONNECT and SEND.
struct Caller {
    std::uint32_t uid;
    std::uint32_t euid;
    std::uint32_t egid;
    std::uint32_t umask;
    std::uint32_t is_ipc_owner; // CAP_IPC_OWNER
    std::uint32_t group_count;
    std::uint64_t memory_limit; // of locked memory, in bytes
    std::array<std::uint32_t, MAX_GROUPS> groups;
};

struct AddressRange {
    std::uint64_t start;
    std::uint64_t length;
};

struct MapRequest {
    std::uint64_t offset;
    std::uint64_t length;
    std::int32_t protection;
    std::uint32_t is_shared;
};

using Argument = std::array<std::byte, ARGUMENT_SIZE>;

template <class Type>
Type argument_as(const Argument &argument) noexcept {
    static_assert(std::is_trivially_copyable_v<Type> && sizeof(Type) <= ARGUMENT_SIZE);
    Type result;
    std::memcpy(&result, argument.data(), sizeof(Type));
    return result;
}

template <class Type>
void store_argument(Argument &argument, const Type &value) noexcept {
    static_assert(std::is_trivially_copyable_v<Type> && sizeof(Type) <= ARGUMENT_SIZE);
    std::memcpy(argument.data(), &value, sizeof(Type));
}

struct Request {
    Operation operation;
    std::uint32_t command; // its number
    std::int32_t process;
    std::uint32_t range_status;  // of BIND and REBIND: RSM_SUCCESS if the memory can be exported
    std::uint32_t list_readable; // the entries of a transfer or an access list could be read
    std::uint32_t is_shared;     // of BIND and REBIND: all of the memory is in the process's file
    std::uint32_t control_given; // BIND, CONNECT, REDEEM: control_fd is not -1
    std::uint64_t handle;
    std::uint64_t control;
    Caller caller;
    Argument argument;
    MapRequest map;
    AddressRange range;
    std::array<rsm_transfer_entry, RSM_MAX_SGIOREQS> entries;
    std::array<std::uint64_t, RSM_MAX_SGIOREQS> local_handles; // of the entries' descriptors
    std::array<rsm_acl_entry, RSM_ACL_MAX> acl;
};

// How a process has to change its mappings of a handle.
enum class Change : std::uint32_t {
    NONE,
    SHOW_NOTHING, // the connection is gone: a page of zeros
    SHOW_OTHER    // the export has other memory, of the file that comes with the reply
};

struct Reply {
    std::int32_t error; // errno, 0 when the status counts
    std::uint32_t status;
    std::uint32_t has_changes; // the process has to ask for NEXT_CHANGE
    std::uint32_t pending;     // REFRESH
    std::uint32_t ended;       // REFRESH
    std::uint32_t number;      // of the handle: MAP, UNMAP, changes
    Change change;
    std::uint32_t is_foreign; // MAP: the memory is that of another process
    std::uint64_t file_offset;
    Argument argument;
};

} // namespace rsmfake
