// SPDX-License-Identifier: MIT
// rsm_strerror and rsm_strerrorname.
#include <algorithm>
#include <array>

#include "api.h"

namespace {

struct Text {
    int status;
    const char *name;
    const char *meaning;
};

// Sorted by status: texts name the cause, and the remedy where a program's user has one.
#define TEXT(status, meaning)                                                                      \
    Text {                                                                                         \
        status, #status, meaning                                                                   \
    }
constexpr std::array texts{
    TEXT(RSM_SUCCESS, "success"),
    TEXT(RSMERR_BAD_LIBRARY_VERSION, "wrong version of the library"),
    TEXT(RSMERR_BAD_TOPOLOGY_PTR, "the pointer for the topology is NULL"),
    TEXT(RSMERR_BAD_CTLR_HNDL, "not an open controller"),
    TEXT(RSMERR_CTLR_NOT_PRESENT,
         "no such controller, loopback with the id of another node, or /dev/rsm cannot be opened: "
         "run \"rsmctl doctor\""),
    TEXT(RSMERR_BAD_SEG_HNDL, "not a live segment or connection"),
    TEXT(RSMERR_SEG_ALREADY_PUBLISHED, "segment is already published"),
    TEXT(RSMERR_SEG_NOT_PUBLISHED, "segment is not published"),
    TEXT(RSMERR_SEG_NOT_PUBLISHED_TO_NODE, "segment is not published to this node"),
    TEXT(RSMERR_SEG_ALREADY_MAPPED, "segment is already mapped"),
    TEXT(RSMERR_SEG_STILL_MAPPED, "segment is still mapped"),
    TEXT(RSMERR_SEG_NOT_MAPPED, "segment is not mapped"),
    TEXT(RSMERR_NOT_CREATOR, "the calling process did not create the segment"),
    TEXT(RSMERR_BAD_BARRIER_PTR, "not a barrier"),
    TEXT(RSMERR_BAD_SGIO, "bad scatter-gather request"),
    TEXT(RSMERR_BAD_LOCALMEM_HNDL, "not a live handle of local memory"),
    TEXT(RSMERR_BAD_ADDR, "bad address, or memory that cannot be used"),
    TEXT(RSMERR_BAD_MEM_ALIGNMENT, "address, length or offset is not aligned"),
    TEXT(RSMERR_BAD_OFFSET, "offset, or the end of the access, is beyond the segment or its mapped part"),
    TEXT(RSMERR_MISALIGNED_OFFSET, "offset is not aligned"),
    TEXT(RSMERR_BAD_LENGTH, "length is 0, or beyond the segment or a limit"),
    TEXT(RSMERR_BAD_ACL, "bad access list"),
    TEXT(RSMERR_BAD_SEGID, "bad segment id"),
    TEXT(RSMERR_RESERVED_SEGID, "programs may not ask for this segment id"),
    TEXT(RSMERR_SEGID_IN_USE, "segment id is in use"),
    TEXT(RSMERR_BAD_MODE, "bad barrier mode"),
    TEXT(RSMERR_BAD_PERMS, "bad permissions, or permissions that the connection lacks"),
    TEXT(RSMERR_PERM_DENIED, "permission denied"),
    TEXT(RSMERR_LOCKS_NOT_SUPPORTED, "locks are not supported"),
    TEXT(RSMERR_LOCKS_NOT_ENABLED, "locks are not enabled"),
    TEXT(RSMERR_REBIND_NOT_ALLOWED, "segment was created without RSM_ALLOW_REBIND"),
    TEXT(RSMERR_INSUFFICIENT_RESOURCES,
         "/dev/rsm cannot be opened, or descriptors or segments have run out: run \"rsmctl "
         "doctor\""),
    TEXT(RSMERR_INSUFFICIENT_MEM,
         "no memory, or a limit on locked or exported memory: run \"rsmctl doctor\""),
    TEXT(RSMERR_MAP_FAILED, "segment cannot be mapped"),
    TEXT(RSMERR_POLLFD_IN_USE, "descriptor for poll is still in use"),
    TEXT(RSMERR_BARRIER_UNINITIALIZED, "barrier is not initialised"),
    TEXT(RSMERR_BARRIER_OPEN_FAILED, "barrier cannot be opened"),
    TEXT(RSMERR_BARRIER_NOT_OPENED, "barrier is not open"),
    TEXT(RSMERR_BARRIER_FAILURE, "an access since the barrier was opened has failed"),
    TEXT(RSMERR_REMOTE_NODE_UNREACHABLE,
         "remote node cannot be reached: see \"rsmctl node\" on both nodes"),
    TEXT(RSMERR_CONN_ABORTED, "connection is broken: connect again"),
    TEXT(RSMERR_INTERRUPTED, "interrupted by a signal"),
    TEXT(RSMERR_TIMEOUT, "timed out"),
    TEXT(RSMERR_BAD_APPID, "application is not in /etc/rsm/rsm.segmentid"),
    TEXT(RSMERR_BAD_CONF, "/etc/rsm/rsm.segmentid is missing or malformed"),
    TEXT(RSMERR_SEG_NOT_CONNECTED, "segment is not connected"),
    TEXT(RSMERR_INTERNAL_ERROR, "internal error"),
    TEXT(RSMERR_BAD_DRIVER_VERSION,
         "versions differ: install the same version of RSM on both nodes, and of library and "
         "module"),
    TEXT(RSMERR_BAD_ARGS_ERRORS, "bad arguments"),
};
#undef TEXT

static_assert(std::ranges::is_sorted(texts, {}, &Text::status));

const Text *text_of(int status) noexcept {
    const auto *found = std::ranges::lower_bound(texts, status, {}, &Text::status);
    return found != texts.end() && found->status == status ? &*found : nullptr;
}

} // namespace

const char *rsm_strerror(int status) {
    const Text *text = text_of(status);
    return text == nullptr ? "unknown RSMAPI status" : text->meaning;
}

const char *rsm_strerrorname(int status) {
    const Text *text = text_of(status);
    return text == nullptr ? "unknown" : text->name;
}
