# SPDX-License-Identifier: MIT
"""Segments of this process's memory."""

from __future__ import annotations

import ctypes
import mmap
import weakref
from collections.abc import Mapping as Dict
from ctypes import byref, c_char, c_uint32, c_void_p
from typing import Any

from .controller import Controller, opened
from .errors import INSUFFICIENT_MEM, error_of
from .events import EventSource
from .library import (ALLOW_REBIND, PAGE, AccessEntry, Listed, SegmentId, address_of, call, number,
                      writable)
from .native import lib


def allocate(size: int) -> mmap.mmap:
    """Zeroed memory as exports want it: private, page aligned, size rounded up to whole pages.

    ValueError: size is not positive. OutOfMemory: there is not so much.
    """
    if size <= 0:
        raise ValueError(f"a size of {size} bytes is not positive")
    length = -(-size // PAGE) * PAGE
    try:
        return mmap.mmap(-1, length, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, OverflowError) as error:
        raise error_of(INSUFFICIENT_MEM, f"rsm.allocate of {size} bytes") from error


class Export(EventSource):
    """A segment of memory, resident and locked until close().

    memory: a number of bytes, to have them allocated; or an object whose memory is shared in place,
        such as an mmap. It must be writable, page aligned, whole pages, and private:
        rsm.allocate() makes such. Storage of a bytearray never is page aligned: copy_of() moves it.
    controller: a Controller or its name; loopback, for processes of this node, if there is none
    rebind: whether rebind() will be allowed
    """

    def __init__(self, memory: Any, controller: Controller | str | None = None,
                 rebind: bool = False):
        pages = _pages(allocate(memory) if isinstance(memory, int) else memory)
        self._pages: ctypes.Array[c_char] | None = pages
        self.size = len(pages)
        self.id = 0
        through = opened(controller)
        handle = c_void_p()
        call("rsm_memseg_export_create", through.handle, byref(handle), address_of(pages), self.size,
             ALLOW_REBIND if rebind else 0)
        super().__init__(handle.value or 0)
        self._end = self._hold(pages)

    @classmethod
    def copy_of(cls, data: Any, controller: Controller | str | None = None,
                rebind: bool = False) -> Export:
        """A segment of memory of its own, which begins with the bytes of a bytearray or the like."""
        source = memoryview(data).cast("B")
        memory = allocate(max(1, source.nbytes))
        memory[:source.nbytes] = source
        return cls(memory, controller, rebind)

    @property
    def memory(self) -> memoryview:
        """The segment's memory as it is now."""
        if self._pages is None:
            raise ValueError("the segment is closed")
        return memoryview(self._pages).cast("B")

    def publish(self, id: int = 0, access: Dict[int, int] | None = None) -> int:
        """Lets others connect; the id that they need is returned.

        id: from 0x400000 to 0x7fffffff, or 0 to have one assigned
        access: {node: octal digits as for a file}; without it everybody may, with 0o666 less the
            umask of the moment when the segment was made
        """
        name = "rsm_memseg_export_publish"
        given = c_uint32(number(SegmentId, id, name))
        call(name, self.handle, byref(given), *_access_list(access, name))
        self.id = given.value
        return self.id

    def republish(self, access: Dict[int, int]) -> None:
        """Replaces the access list; connections that exist keep their rights."""
        name = "rsm_memseg_export_republish"
        call(name, self.handle, *_access_list(access, name))

    def unpublish(self) -> None:
        """Breaks all connections and frees the id; tasks that await an event get an exception."""
        with self._lock:
            self._end_by("rsm_memseg_export_unpublish", self.handle, "the segment was unpublished")
            self.id = 0

    def rebind(self, memory: Any) -> None:
        """Puts other memory of the same size behind the segment; connections reach that."""
        pages = _pages(memory)
        call("rsm_memseg_export_rebind", self.handle, address_of(pages), 0, len(pages))
        self._end.detach()
        self._pages = pages
        self._end = self._hold(pages)

    def _hold(self, pages: ctypes.Array[c_char]) -> weakref.finalize:
        """Keeps memory until nobody needs the segment. When Python exits the kernel ends both."""
        end = weakref.finalize(self, _destroy, self.handle, [pages])
        end.atexit = False
        return end

    def close(self) -> None:
        """Ends the segment; the memory stays. Calling it again has no effect."""
        if self._close_by("rsm_memseg_export_destroy", "the segment was closed"):
            self._end.detach()
            self.id = 0
            self._pages = None

    def __enter__(self) -> Export:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if not self.handle else f"id {self.id:#x}" if self.id else "not published"
        return f"<rsm.Export of {self.size} bytes, {state}>"


def _destroy(handle: int, _pages_until_then: list[ctypes.Array[c_char]]) -> None:
    """What becomes of a segment that nobody closed."""
    lib.rsm_memseg_release_pollfd(handle)
    lib.rsm_memseg_export_destroy(handle)


def _pages(memory: Any) -> ctypes.Array[c_char]:
    """Memory that can be exported, as an array."""
    pages = writable(memory)
    if not len(pages) or len(pages) % PAGE or ctypes.addressof(pages) % PAGE:
        raise ValueError(
            f"memory of {len(pages)} bytes at {ctypes.addressof(pages):#x} is not whole pages of "
            f"{PAGE} bytes: use rsm.allocate(), or rsm.Export.copy_of() for a copy")
    return pages


def _access_list(access: Dict[int, int] | None, name: str) -> tuple[ctypes.Array[AccessEntry] | None, int]:
    if access is None:
        return None, 0
    if not access:
        raise ValueError("an empty access list would admit everybody: name who may connect")
    entries = (AccessEntry * len(access))(*(
        AccessEntry(number(Listed, node, name), number(Listed, permission, name))
        for node, permission in access.items()))
    return entries, len(access)
