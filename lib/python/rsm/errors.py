# SPDX-License-Identifier: MIT
"""The results of RSMAPI as exceptions: a class for each kind of failure, and librsm's texts for all."""

from __future__ import annotations

import errno
from collections.abc import Callable

from .native import name_of, text_of

SUCCESS = 0
BAD_OFFSET = 18
BAD_LENGTH = 20
BAD_ACL = 21
BAD_SEGID = 22
BAD_PERMS = 26
INSUFFICIENT_RESOURCES = 31
INSUFFICIENT_MEM = 32
BARRIER_NOT_OPENED = 37
REMOTE_NODE_UNREACHABLE = 39
CONN_ABORTED = 40
INTERRUPTED = 41
TIMEOUT = 42


class Error(Exception):
    """An RSMAPI function failed.

    code is its RSMERR_*, name that code's name, call the function, strerror what librsm says of the code,
    and errno the number of module errno that comes closest, EIO if none does.
    """

    errno: int
    strerror: str

    def __init__(self, code: int, call: str):
        self.code = code
        self.call = call
        self.name = name_of(code)
        text = text_of(code)
        super().__init__(f"{call}: {text} ({self.name})")
        self.errno = _ERRNO.get(code, errno.EIO)
        self.strerror = text

    def __str__(self) -> str:
        # Python would show only errno and strerror of such an OSError.
        return str(self.args[0])

    def __reduce__(self) -> tuple[Callable[[int, str], Error], tuple[int, str]]:
        return error_of, (self.code, self.call)


class BadArgument(Error, ValueError):
    """An offset, a length, an id, an access list or an alignment is no good, or an object is dead."""


class BadAddress(Error, ValueError):
    """The memory can't be used: not mapped, shared, or a mapping of a file."""


class PermissionDenied(Error, PermissionError):
    """The exporter's access list, the connection's rights or the caller's do not allow it."""


class ControllerAbsent(Error, LookupError):
    """No such controller, loopback with the id of another node, or /dev/rsm cannot be opened: run "rsmctl doctor"."""


class NotPublished(Error, LookupError):
    """Nobody has published the segment, or not to this node."""


class InUse(Error):
    """The segment id is taken, or reserved; or the segment is published already."""


class Busy(Error, BufferError):
    """Something is still mapped or waited for."""


class OutOfMemory(Error, MemoryError):
    """No memory, or a limit on locked or exported memory: run "rsmctl doctor"."""


class OutOfResources(Error):
    """No descriptors or segments left."""


class ConnectionAborted(Error, ConnectionAbortedError):
    """The segment went away: its exporter unpublished it or died."""


class NodeUnreachable(Error, ConnectionError):
    """The node can't be reached."""


class BarrierError(Error):
    """A barrier failed, or was not open."""


# The errno that comes closest; EIO if none does.
_ERRNO = {
    4: errno.ENODEV, 7: errno.ENOENT, 8: errno.ENOENT, 9: errno.EBUSY, 10: errno.EBUSY, 12: errno.EPERM,
    16: errno.EFAULT, 24: errno.EADDRINUSE, 27: errno.EACCES, 30: errno.EPERM, 31: errno.EMFILE,
    32: errno.ENOMEM, 34: errno.EBUSY, 43: errno.ENOENT, 101: errno.EPROTO, 39: errno.EHOSTUNREACH, 40: errno.ECONNABORTED, 41: errno.EINTR,
    42: errno.ETIMEDOUT,
    **dict.fromkeys((3, 5, 13, 14, 15, 17, 18, 19, 20, 21, 22, 23, 25, 26, 117),
                                         errno.EINVAL),
}

# A code that is not here is an Error and no more.
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
