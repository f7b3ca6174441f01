# SPDX-License-Identifier: MIT
"""Connections to segments of other processes, their mappings and barriers."""

from __future__ import annotations

import ctypes
import operator
import select
import weakref
from collections.abc import Sequence
from ctypes import byref, c_char, c_size_t, c_void_p
from typing import Any

from .controller import Controller, local_node, opened
from .errors import BARRIER_NOT_OPENED, check, error_of
from .events import EventSource
from .library import (BARRIER_SEGMENT, IMPLICIT_SIGPOST, MODE_EXPLICIT, MODE_IMPLICIT, SG_MAX,
                      VA_TYPE, BarrierObject, Iovec, Length, Offset, ScatterGather, address_of, call,
                      made_by, number, readable, writable)
from .native import lib

NONE = 0
READ = 0o400
WRITE = 0o200
READ_WRITE = READ | WRITE


class Import(EventSource):
    """A connection to a published segment.

    id: what publish() returned to the exporter
    node: the node that exports it; this one if there is none
    controller: a Controller or its name, loopback if there is none
    access: READ, WRITE, READ_WRITE or NONE

    Offsets and lengths are bytes from the start of the segment. Outside a barrier() a put or get
    that returns has arrived.
    """

    def __init__(self, id: int, node: int | None = None,
                 controller: Controller | str | None = None, access: int = READ_WRITE):
        self.id = id
        self.access = access
        through = opened(controller)
        super().__init__(made_by("rsm_memseg_import_connect", through.handle,
                                 local_node() if node is None else node, id, access))
        self._link: _Link | None = _Link(self.handle)
        self._mapping: weakref.ref[Mapping] | None = None
        self._scopes = 0
        # Puts and gets outside of scopes need one.
        self._barrier = BarrierObject()
        call("rsm_memseg_import_init_barrier", self.handle, BARRIER_SEGMENT, byref(self._barrier))

    def put(self, offset: int, data: Any, width: int | None = None) -> None:
        """Writes bytes, an array or the like to the segment.

        width: 8, 16, 32 or 64, to have items of so many bits written by one access each; offset
            and length are then multiples of it
        """
        memory = readable(data)
        self._transfer("put", offset, memory, _count(len(memory), width), width)

    def get(self, offset: int, length: int, width: int | None = None) -> bytes:
        """Reads bytes from the segment."""
        memory = bytearray(number(Length, length, "rsm_memseg_import_get"))
        self.get_into(offset, memory, width)
        return bytes(memory)

    def get_into(self, offset: int, buffer: Any, width: int | None = None) -> None:
        """Reads as many bytes as a writable object has from the segment into it."""
        memory = writable(buffer)
        self._transfer("get", offset, memory, _count(len(memory), width), width)

    def put_pieces(self, pieces: Sequence[tuple[int, Any]], post: bool = False) -> None:
        """Writes (offset, data) pairs in order, in as few requests as there can be.

        post: whether the exporter gets an event when all are written
        """
        self._scatter_gather("rsm_memseg_import_putv",
                             [(offset, readable(data)) for offset, data in pieces], post)

    def get_pieces(self, pieces: Sequence[tuple[int, Any]]) -> None:
        """Reads into the writable objects of (offset, buffer) pairs in order."""
        self._scatter_gather("rsm_memseg_import_getv",
                             [(offset, writable(buffer)) for offset, buffer in pieces], False)

    def map(self, length: int | None = None, offset: int = 0, writable: bool | None = None) -> Mapping:
        """Maps part of the segment, from a page boundary on, for loads and stores.

        length: bytes; up to the end of the segment if there is none

        A connection takes one mapping at a time; put and get then reach that part only.

        writable: as the rights of the connection say if there is none
        """
        if self._link is None:
            raise ValueError("the connection is closed")
        if length is None:
            length = max(0, self.size - offset)
        if writable is None:
            writable = self.access == READ_WRITE
        address = c_void_p()
        call("rsm_memseg_import_map", self.handle, byref(address), 0,
             READ_WRITE if writable else READ, offset, length)
        try:
            mapping = Mapping(self._link, address.value or 0, length, writable)
        except BaseException:
            lib.rsm_memseg_import_unmap(self.handle)
            raise
        self._mapping = weakref.ref(mapping)
        return mapping

    def barrier(self) -> Barrier:
        """An interval, as a context manager, in which a put may return before it has arrived."""
        return Barrier(self)

    @property
    def size(self) -> int:
        """Bytes of the whole segment, as its exporter made it."""
        length = c_size_t()
        call("rsm_memseg_import_get_length", self.handle, byref(length))
        return length.value

    @property
    def aborted(self) -> bool:
        """Whether the connection is broken; it never becomes whole again."""
        poll = select.poll()
        poll.register(self.fileno(), select.POLLRDHUP)
        return bool(poll.poll(0))

    def close(self) -> None:
        """Ends the connection, and its mapping: BufferError while memoryviews of that are in use.

        Tasks that await an event get an exception. Calling it again has no effect.
        """
        with self._lock:
            link = self._link
            if not self.handle or link is None:
                return
            mapping = self._mapping() if self._mapping else None
            if mapping is not None:
                mapping.close()
            if self._close_by("rsm_memseg_import_disconnect", "the connection was closed"):
                link.end.detach()
                self._link = None

    def _transfer(self, way: str, offset: int, memory: ctypes.Array[c_char] | bytes, count: int,
                  width: int | None) -> None:
        call(f"rsm_memseg_import_{way}{'' if width is None else operator.index(width)}", self.handle, offset, address_of(memory), count)

    def _scatter_gather(self, function: str, pieces: list[tuple[int, Any]], post: bool) -> None:
        for first in range(0, len(pieces), SG_MAX):
            some = pieces[first:first + SG_MAX]
            entries = (Iovec * len(some))(*(
                Iovec(VA_TYPE, address_of(memory), 0, number(Offset, offset, function), len(memory))
                for offset, memory in some))
            last = first + SG_MAX >= len(pieces)
            call(function, byref(ScatterGather(
                0, len(some), len(some), IMPLICIT_SIGPOST if post and last else 0, self.handle,
                entries)))

    def _begin_scope(self, barrier: BarrierObject) -> None:
        """Opens a barrier. While there is one the mode of the connection is explicit.

        A signal handler may come anywhere, use the connection, and raise: the count is right before the mode is.
        """
        with self._lock:
            self._scopes += 1
            try:
                call("rsm_memseg_import_init_barrier", self.handle, BARRIER_SEGMENT, byref(barrier))
                call("rsm_memseg_import_open_barrier", byref(barrier))
                call("rsm_memseg_import_set_mode", self.handle, MODE_EXPLICIT)
            except BaseException:
                self._end_scope(barrier)
                raise

    def _end_scope(self, barrier: BarrierObject) -> int:
        """The status of the barrier's end."""
        with self._lock:
            try:
                status: int = lib.rsm_memseg_import_close_barrier(byref(barrier))
            finally:
                self._scopes -= 1
                if not self._scopes:
                    lib.rsm_memseg_import_set_mode(self.handle, MODE_IMPLICIT)
                # The other barrier first: there is never none.
                lib.rsm_memseg_import_init_barrier(self.handle, BARRIER_SEGMENT, byref(self._barrier))
                lib.rsm_memseg_import_destroy_barrier(byref(barrier))
        return status

    def __enter__(self) -> Import:
        return self

    def __exit__(self, *_: object) -> None:
        """As close(), but memoryviews that are in use stay good: the last one ends the connection."""
        try:
            self.close()
        except BufferError:
            with self._lock:
                self._release_descriptor(self.handle)
                self._link = None
                self.handle = 0
                self._end_waits("the connection was closed")

    def __repr__(self) -> str:
        return f"<rsm.Import of segment {self.id:#x}{'' if self.handle else ', closed'}>"


class _Link:
    """The handle that a connection shares with the memory it has mapped: it ends with the last of them."""

    def __init__(self, handle: int):
        self.handle = handle
        self.end = weakref.finalize(self, _disconnect, handle)
        self.end.atexit = False


class Mapping:
    """Part of a segment in this process's memory; as a context manager it is its memoryview.

    If the connection breaks it shows zeroes and swallows stores. The memory stays mapped, and the
    connection open, as long as there is a memoryview of it, or an array of numpy on one.
    """

    def __init__(self, link: _Link, address: int, length: int, writable: bool):
        self.writable = writable
        array = (c_char * length).from_address(address)
        # Views refer to the array, so it is there exactly as long as one of them may be used.
        weakref.finalize(array, _unmap, link).atexit = False
        self._array = weakref.ref(array)
        self._view: memoryview | None = self._view_of(array)

    @property
    def view(self) -> memoryview:
        """The memory; for loads only where the mapping is."""
        if self._view is None:
            raise ValueError("the mapping is closed")
        return self._view

    def close(self) -> None:
        """Unmaps the memory. BufferError while other memoryviews or arrays of it are in use.

        Calling it again has no effect.
        """
        if self._view is None:
            return
        array = self._release()
        if array is not None:
            self._view = self._view_of(array)
            raise BufferError("memoryviews of the mapping are in use")

    def _release(self) -> ctypes.Array[c_char] | None:
        """Gives up the view; the memory, if others still use it."""
        if self._view is not None:
            self._view.release()
        self._view = None
        return self._array()

    def _view_of(self, array: ctypes.Array[c_char]) -> memoryview:
        view = memoryview(array).cast("B")
        return view if self.writable else view.toreadonly()

    def __enter__(self) -> memoryview:
        return self.view

    def __exit__(self, *_: object) -> None:
        """Unmaps the memory, at once or when the last of what still uses it is gone, such as an array."""
        try:
            self._release()
        except BufferError:
            self._view = None

    def __len__(self) -> int:
        return len(self.view)


class Barrier:
    """An interval in which puts may be under way; at its end all have arrived, or it raises.

    Intervals of a connection may overlap: each reports on its own. While one is open, a put of any
    thread may return before it has arrived.
    """

    def __init__(self, connection: Import):
        self._connection = connection
        self._open: list[BarrierObject] = []

    def order(self) -> None:
        """What was put before arrives before what is put after."""
        if not self._open:
            raise error_of(BARRIER_NOT_OPENED, "rsm_memseg_import_order_barrier")
        call("rsm_memseg_import_order_barrier", byref(self._open[-1]))

    def __enter__(self) -> Barrier:
        barrier = BarrierObject()
        self._connection._begin_scope(barrier)
        self._open.append(barrier)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        status = self._connection._end_scope(self._open.pop())
        if kind is None:
            check(status, "rsm_memseg_import_close_barrier")


def _unmap(link: _Link) -> None:
    lib.rsm_memseg_import_unmap(link.handle)


def _disconnect(handle: int) -> None:
    """What becomes of a connection that nobody closed."""
    lib.rsm_memseg_release_pollfd(handle)
    lib.rsm_memseg_import_disconnect(handle)


def _count(length: int, width: int | None) -> int:
    """How many items of so many bits so many bytes are; bytes, if they need not be items."""
    if width is None:
        return length
    if width not in (8, 16, 32, 64):
        raise ValueError("width is 8, 16, 32 or 64")
    if length % (width // 8):
        raise ValueError(f"{length} bytes are not a whole number of {width}-bit items")
    return length // (width // 8)
