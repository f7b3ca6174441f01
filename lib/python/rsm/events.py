# SPDX-License-Identifier: MIT
"""Events of segments and connections: post, wait, poll, and await in asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import select
import threading
import time
import weakref
from ctypes import byref, c_int

from .errors import CONN_ABORTED, INTERRUPTED, TIMEOUT, check
from .library import NO_ACCUMULATE, Pollfd, call
from .native import lib

_LONGEST_MS = (1 << 31) - 1


class Closed(ValueError):
    """What a task or a thread that waits for an event gets when another closes the segment."""


class _Life:
    """The time until a segment ends, or does not though it was tried: a descriptor becomes readable then.

    Those that poll the descriptor hold the object, so that no other file gets its number meanwhile.
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        self.descriptor, self._writer = os.pipe()
        for end in (self.descriptor, self._writer):
            weakref.finalize(self, os.close, end).atexit = False

    def end(self, reason: str | None) -> None:
        self.reason = reason
        # Not by closing the pipe: a child may have it open, too.
        os.write(self._writer, b"e")


class EventSource:
    """What Export and Import have in common. handle is 0 once the object is closed."""

    def __init__(self, handle: int):
        self.handle = handle
        self._fd: int | None = None
        # A signal handler may come while its own thread has the lock.
        self._lock = threading.RLock()
        self._life: _Life | None = None
        self._epoll: select.epoll | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiters: set[asyncio.Future[None]] = set()
        _sources.add(self)

    def post(self, accumulate: bool = True) -> None:
        """Delivers an event: from an Import to the exporter, from an Export to each importer.

        Without accumulate not to those who have one pending.
        """
        call("rsm_intr_signal_post", self.handle, 0 if accumulate else NO_ACCUMULATE)

    def wait(self, timeout: float | None = None) -> bool:
        """Waits for an event and consumes it; False when timeout, in seconds, is over.

        Without a timeout there is no limit. ConnectionAborted: no event is pending, and there
        will be none, since the connection is broken. Closed: another thread, or a signal handler,
        has closed or unpublished the segment meanwhile. Signals are handled meanwhile, and what
        their handlers raise comes out of here.
        """
        end = math.inf if timeout is None else time.monotonic() + timeout
        life = self._begin_life() if timeout is None or timeout > 0 else None
        while not self._consume(life):
            left = end - time.monotonic()
            if life is None or left <= 0:
                return False
            life = self._sleep(life, left)
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

    def _begin_life(self) -> _Life:
        with self._lock:
            if self._life is None:
                self._life = _Life()
            return self._life

    def _consume(self, life: _Life | None) -> bool:
        """Takes an event, if one is pending. No other segment gets the descriptor meanwhile."""
        ready = c_int()
        with self._lock:
            _expect_life(life)
            entry = Pollfd(self.fileno(), select.POLLRDNORM | select.POLLRDHUP)
            status = lib.rsm_intr_signal_wait_pollfd(byref(entry), 1, 0, byref(ready))
            _expect_life(life)
        if status in (INTERRUPTED, TIMEOUT):
            return False
        check(status, "rsm_intr_signal_wait_pollfd")
        if not entry.revents & select.POLLRDNORM:
            check(CONN_ABORTED, "rsm_intr_signal_wait_pollfd")
        return True

    def _sleep(self, life: _Life, seconds: float) -> _Life:
        """Waits until something may have happened. Returns the life that goes on."""
        poll = select.poll()
        poll.register(life.descriptor, select.POLLIN)
        with self._lock:
            if self._life is not life:
                return life if life.reason is not None else self._begin_life()
            poll.register(self.fileno(), select.POLLRDNORM | select.POLLRDHUP)
        poll.poll(_milliseconds(seconds))
        return life

    def _watched(self) -> int:
        """A descriptor that polls readable at the end of a connection, too: asyncio asks no more."""
        with self._lock:
            if self._epoll is None:
                self._epoll = select.epoll()
                self._watch()
            return self._epoll.fileno()

    def _watch(self) -> None:
        if self._epoll is not None:
            self._epoll.register(self.fileno(), select.EPOLLIN | select.EPOLLRDHUP)

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        waiter = loop.create_future()
        with self._lock:
            if not self._waiters:
                loop.add_reader(self._watched(), self._wake)
                self._loop = loop
            elif loop is not self._loop:
                raise RuntimeError("the events of a segment can be awaited in one loop only")
            self._waiters.add(waiter)
        try:
            await waiter
        finally:
            self._leave(waiter)

    def _leave(self, waiter: asyncio.Future[None]) -> None:
        with self._lock:
            self._waiters.discard(waiter)
            if not self._waiters and self._loop is not None and self._epoll is not None:
                self._loop.remove_reader(self._epoll.fileno())
                self._loop = None

    def _wake(self) -> None:
        for waiter in tuple(self._waiters):
            if not waiter.done():
                waiter.set_result(None)

    def _end_by(self, name: str, reason: str) -> None:
        """Calls a function that ends the segment; then those that wait for its events get an exception."""
        with self._lock:
            self._release_descriptor()
            try:
                call(name, self.handle)
            except BaseException:
                self._end_life(None)
                self._watch()
                raise
            self._end_waits(reason)

    def _release_descriptor(self) -> None:
        """The library ends no segment that is polled."""
        with self._lock:
            if self._fd is None:
                return
            if self._epoll is not None:
                self._epoll.unregister(self._fd)
            call("rsm_memseg_release_pollfd", self.handle)
            self._fd = None

    def _end_life(self, reason: str | None) -> None:
        life, self._life = self._life, None
        if life is not None:
            life.end(reason)

    def _end_waits(self, reason: str) -> None:
        """Threads hear of it by the descriptor that they poll, tasks in their own loop's thread."""
        with self._lock:
            self._end_life(reason)
            loop, self._loop = self._loop, None
            epoll, self._epoll = self._epoll, None
            waiters, self._waiters = self._waiters, set()
        if epoll is None:
            return
        if loop is None or loop.is_closed():
            epoll.close()
        elif loop is _running_loop():
            _end_tasks(loop, epoll, waiters, reason)
        else:
            # The loop may be closed at this very moment: then none of its tasks waits any more.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(_end_tasks, loop, epoll, waiters, reason)


def _expect_life(life: _Life | None) -> None:
    if life is not None and life.reason is not None:
        raise Closed(life.reason)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _end_tasks(loop: asyncio.AbstractEventLoop, epoll: select.epoll, waiters: set[asyncio.Future[None]],
               reason: str) -> None:
    loop.remove_reader(epoll.fileno())
    epoll.close()
    for waiter in waiters:
        if not waiter.done():
            waiter.set_exception(Closed(reason))


_sources: weakref.WeakSet[EventSource] = weakref.WeakSet()


def _begin_child() -> None:
    """A child has none of the threads that had locks or slept, and shares what its parent polls."""
    for source in _sources:
        source._lock = threading.RLock()
        source._life = source._epoll = source._loop = None
        source._waiters = set()


os.register_at_fork(after_in_child=_begin_child)


def _milliseconds(seconds: float) -> int:
    """As librsm takes them: never less than asked for; a longer wait than it knows is repeated."""
    if seconds == math.inf:
        return -1
    return max(0, min(math.ceil(seconds * 1000), _LONGEST_MS))
