# SPDX-License-Identifier: MIT
"""The results of RSMAPI as exceptions: a class for each kind of failure, codes and texts for all."""

from __future__ import annotations

SUCCESS = 0
CONN_ABORTED = 40
INTERRUPTED = 41
TIMEOUT = 42


class Error(Exception):
    """An RSMAPI function failed: code is its RSMERR_*, name that code's name, call the function."""

    def __init__(self, code: int, call: str):
        self.code = code
        self.name, text = TEXTS.get(code, (f"RSMERR_{code}", "unknown error"))
        self.call = call
        super().__init__(f"{call}: {text} ({self.name})")

    def __reduce__(self):
        return error_of, (self.code, self.call)


class BadArgument(Error, ValueError):
    """An offset, a length, an id, an access list or an alignment is no good, or an object is dead."""


class BadAddress(Error, ValueError):
    """The memory can't be used: not mapped, shared, or a mapping of a file."""


class PermissionDenied(Error, PermissionError):
    """The exporter's access list, the connection's rights or the caller's do not allow it."""


class ControllerAbsent(Error, LookupError):
    """No such controller, or no access to /dev/rsm."""


class NotPublished(Error, LookupError):
    """Nobody has published the segment, or not to this node."""


class InUse(Error):
    """The segment id is taken, or reserved; or the segment is published already."""


class Busy(Error, BufferError):
    """Something is still mapped or waited for."""


class OutOfMemory(Error, MemoryError):
    """No memory, or a limit on locked or exported memory: see "ulimit -l"."""


class OutOfResources(Error):
    """No descriptors or segments left."""


class ConnectionAborted(Error, ConnectionAbortedError):
    """The segment went away: its exporter unpublished it or died."""


class NodeUnreachable(Error, ConnectionError):
    """The node can't be reached."""


class BarrierError(Error):
    """A barrier failed, or was not open."""


# Code: name and text. tests/unit/python_texts compares them with <rsm/error.hpp>.
TEXTS: dict[int, tuple[str, str]] = {
    1: ("RSMERR_BAD_LIBRARY_VERSION", "wrong version of the library"),
    2: ("RSMERR_BAD_TOPOLOGY_PTR", "no place for the topology"),
    3: ("RSMERR_BAD_CTLR_HNDL", "not an open controller"),
    4: ("RSMERR_CTLR_NOT_PRESENT", "no such controller, or no access to /dev/rsm"),
    5: ("RSMERR_BAD_SEG_HNDL", "not a live segment or connection"),
    6: ("RSMERR_SEG_ALREADY_PUBLISHED", "segment is already published"),
    7: ("RSMERR_SEG_NOT_PUBLISHED", "segment is not published"),
    8: ("RSMERR_SEG_NOT_PUBLISHED_TO_NODE", "segment is not published to this node"),
    9: ("RSMERR_SEG_ALREADY_MAPPED", "segment is already mapped"),
    10: ("RSMERR_SEG_STILL_MAPPED", "segment is still mapped"),
    11: ("RSMERR_SEG_NOT_MAPPED", "segment is not mapped"),
    12: ("RSMERR_NOT_CREATOR", "not the creator of the segment"),
    13: ("RSMERR_BAD_BARRIER_PTR", "not a barrier"),
    14: ("RSMERR_BAD_SGIO", "bad scatter-gather request"),
    15: ("RSMERR_BAD_LOCALMEM_HNDL", "not a live handle of local memory"),
    16: ("RSMERR_BAD_ADDR", "bad address or memory that can't be used"),
    17: ("RSMERR_BAD_MEM_ALIGNMENT", "address, length or offset is not aligned"),
    18: ("RSMERR_BAD_OFFSET", "offset is beyond the segment"),
    19: ("RSMERR_MISALIGNED_OFFSET", "offset is not aligned"),
    20: ("RSMERR_BAD_LENGTH", "bad length"),
    21: ("RSMERR_BAD_ACL", "bad access list"),
    22: ("RSMERR_BAD_SEGID", "bad segment id"),
    23: ("RSMERR_RESERVED_SEGID", "segment id is reserved"),
    24: ("RSMERR_SEGID_IN_USE", "segment id is in use"),
    25: ("RSMERR_BAD_MODE", "bad barrier mode"),
    26: ("RSMERR_BAD_PERMS", "bad permissions"),
    27: ("RSMERR_PERM_DENIED", "permission denied"),
    28: ("RSMERR_LOCKS_NOT_SUPPORTED", "locks are not supported"),
    29: ("RSMERR_LOCKS_NOT_ENABLED", "locks are not enabled"),
    30: ("RSMERR_REBIND_NOT_ALLOWED", "segment was made without the right to rebind"),
    31: ("RSMERR_INSUFFICIENT_RESOURCES", "not enough descriptors or segments"),
    32: ("RSMERR_INSUFFICIENT_MEM",
         "not enough memory, or a limit on locked or exported memory"),
    33: ("RSMERR_MAP_FAILED", "segment can't be mapped"),
    34: ("RSMERR_POLLFD_IN_USE", "descriptor for poll is still in use"),
    35: ("RSMERR_BARRIER_UNINITIALIZED", "barrier is not initialised"),
    36: ("RSMERR_BARRIER_OPEN_FAILED", "barrier can't be opened"),
    37: ("RSMERR_BARRIER_NOT_OPENED", "barrier is not open"),
    38: ("RSMERR_BARRIER_FAILURE", "barrier failed"),
    39: ("RSMERR_REMOTE_NODE_UNREACHABLE", "remote node can't be reached"),
    40: ("RSMERR_CONN_ABORTED", "connection is broken"),
    41: ("RSMERR_INTERRUPTED", "interrupted by a signal"),
    42: ("RSMERR_TIMEOUT", "timed out"),
    43: ("RSMERR_BAD_APPID", "application is not in rsm.segmentid"),
    44: ("RSMERR_BAD_CONF", "rsm.segmentid is missing or malformed"),
    45: ("RSMERR_SEG_NOT_CONNECTED", "segment is not connected"),
    100: ("RSMERR_INTERNAL_ERROR", "internal error"),
    101: ("RSMERR_BAD_DRIVER_VERSION", "nodes or library and kernel agent differ in version"),
    117: ("RSMERR_BAD_ARGS_ERRORS", "bad arguments"),
}

# What is not here is an Error and no more.
_CODES: dict[type[Error], tuple[int, ...]] = {
    BadArgument: (3, 5, 13, 14, 15, 17, 18, 19, 20, 21, 22, 25, 26, 43, 117),
    BadAddress: (16,),
    PermissionDenied: (12, 27, 30),
    ControllerAbsent: (4,),
    NotPublished: (7, 8),
    InUse: (6, 23, 24),
    Busy: (9, 10, 34),
    OutOfMemory: (32,),
    OutOfResources: (31,),
    ConnectionAborted: (40,),
    NodeUnreachable: (39,),
    BarrierError: (35, 36, 37, 38),
}
_CLASSES = {code: kind for kind, codes in _CODES.items() for code in codes}


def error_of(code: int, call: str) -> Error:
    """The exception that says this."""
    return _CLASSES.get(code, Error)(code, call)


def check(code: int, call: str) -> None:
    """Raises what the result of a function says."""
    if code != SUCCESS:
        raise error_of(code, call)
