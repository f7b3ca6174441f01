# SPDX-License-Identifier: MIT
"""Events of segments and connections: post, wait, poll, and await in asyncio."""

from __future__ import annotations

import asyncio
import math
import select
import threading
import time
from ctypes import byref, c_int

from .errors import CONN_ABORTED, INTERRUPTED, TIMEOUT, check
from .library import NO_ACCUMULATE, Pollfd, call
from .native import lib

_LONGEST_MS = (1 << 31) - 1


class Closed(ValueError):
    """What a task that awaits an event gets when another closes the segment."""


class EventSource:
    """What Export and Import have in common. handle is 0 once the object is closed."""

    def __init__(self, handle: int):
        self.handle = handle
        self._fd: int | None = None
        # A signal handler may come while its own thread has the lock.
        self._lock = threading.RLock()
        self._epoll: select.epoll | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiters: set[asyncio.Future[None]] = set()

    def post(self, accumulate: bool = True) -> None:
        """Delivers an event: from an Import to the exporter, from an Export to each importer.

        Without accumulate not to those who have one pending.
        """
        call("rsm_intr_signal_post", self.handle, 0 if accumulate else NO_ACCUMULATE)

    def wait(self, timeout: float | None = None) -> bool:
        """Waits for an event and consumes it; False when timeout, in seconds, is over.

        Without a timeout there is no limit. ConnectionAborted: no event is pending, and there
        will be none, since the connection is broken. Signals are handled meanwhile, and what
        their handlers raise comes out of here.
        """
        end = math.inf if timeout is None else time.monotonic() + timeout
        entry = Pollfd(self.fileno(), select.POLLRDNORM | select.POLLRDHUP)
        ready = c_int()
        while True:
            left = end - time.monotonic()
            status = lib.rsm_intr_signal_wait_pollfd(byref(entry), 1, _milliseconds(left),
                                                     byref(ready))
            if status == TIMEOUT and time.monotonic() >= end:
                return False
            if status in (INTERRUPTED, TIMEOUT):
                continue
            check(status, "rsm_intr_signal_wait_pollfd")
            if not entry.revents & select.POLLRDNORM:
                check(CONN_ABORTED, "rsm_intr_signal_wait_pollfd")
            return True

    async def event(self) -> None:
        """Waits in the running loop of asyncio until there is an event, and consumes it.

        ConnectionAborted: as wait().
        """
        while not self.wait(0):
            await self._readable()

    def fileno(self) -> int:
        """A descriptor that polls readable while an event is pending: for select and selectors.

        It is the library's, to be polled only; it stays open until close() or unpublish().
        """
        with self._lock:
            if self._fd is None:
                entry = Pollfd()
                call("rsm_memseg_get_pollfd", self.handle, byref(entry))
                if self._fd is not None:
                    call("rsm_memseg_release_pollfd", self.handle)
                self._fd = entry.fd
            return self._fd

    def _watched(self) -> int:
        """A descriptor that polls readable at the end of a connection, too: asyncio asks no more."""
        with self._lock:
            if self._epoll is None:
                epoll = select.epoll()
                epoll.register(self.fileno(), select.EPOLLIN | select.EPOLLRDHUP)
                self._epoll = epoll
            return self._epoll.fileno()

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        if not self._waiters:
            loop.add_reader(self._watched(), self._wake)
            self._loop = loop
        elif loop is not self._loop:
            raise RuntimeError("the events of a segment can be awaited in one loop only")
        waiter = loop.create_future()
        self._waiters.add(waiter)
        try:
            await waiter
        finally:
            self._waiters.discard(waiter)
            self._stop_reading()

    def _wake(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    def _stop_reading(self) -> None:
        if not self._waiters and self._loop is not None and self._epoll is not None:
            self._loop.remove_reader(self._epoll.fileno())
            self._loop = None

    def _end_by(self, name: str, reason: str) -> None:
        """Calls a function that ends the segment; then tasks that await its events get an exception."""
        loop = self._release_descriptor()
        try:
            call(name, self.handle)
        except BaseException:
            if loop is not None:
                loop.add_reader(self._watched(), self._wake)
                self._loop = loop
            raise
        self._end_waits(reason)

    def _release_descriptor(self) -> asyncio.AbstractEventLoop | None:
        """The library ends no segment that is polled. Returns the loop in which tasks await its events."""
        with self._lock:
            loop, self._loop = self._loop, None
            if self._epoll is not None:
                if loop is not None:
                    loop.remove_reader(self._epoll.fileno())
                self._epoll.close()
                self._epoll = None
            if self._fd is not None:
                call("rsm_memseg_release_pollfd", self.handle)
                self._fd = None
        return loop

    def _end_waits(self, reason: str) -> None:
        waiters, self._waiters = self._waiters, set()
        for waiter in waiters:
            if not waiter.done():
                waiter.set_exception(Closed(reason))


def _milliseconds(seconds: float) -> int:
    """As librsm takes them: never less than asked for; a longer wait than it knows is repeated."""
    if seconds == math.inf:
        return -1
    return max(0, min(math.ceil(seconds * 1000), _LONGEST_MS))
