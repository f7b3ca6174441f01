# SPDX-License-Identifier: MIT
"""Events of segments and connections: post, wait, poll, and await in asyncio."""

from __future__ import annotations

import asyncio
import math
import os
import select
import threading
import time
import weakref
from ctypes import byref, c_int

from .errors import CONN_ABORTED, INSUFFICIENT_RESOURCES, INTERRUPTED, TIMEOUT, Error, check, error_of
from .library import NO_ACCUMULATE, Pollfd, call
from .native import lib

_LONGEST_MS = (1 << 31) - 1


class Closed(ValueError):
    """What a task or a thread that waits for an event gets when another closes the segment."""


class _Life:
    """The time until a segment ends, or does not though it was tried: then another life follows.

    Those that poll its descriptor hold the object, so that no other file gets the number meanwhile.
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        self.next: _Life | None = None
        self._pipe: tuple[int, int] | None = None

    def descriptor(self) -> int:
        """What polls readable at the end. Only threads need one."""
        if self._pipe is None:
            try:
                self._pipe = os.pipe()
            except OSError as error:
                raise error_of(INSUFFICIENT_RESOURCES, "rsm.EventSource.wait") from error
            for end in self._pipe:
                weakref.finalize(self, os.close, end).atexit = False
        return self._pipe[0]

    def end(self) -> None:
        # Not by closing the pipe: a child may have it open, too.
        if self._pipe is not None:
            os.write(self._pipe[1], b"e")

    def now(self) -> _Life:
        """The life that goes on. Closed: there is none."""
        life = self
        while life.next is not None:
            life = life.next
        if life.reason is not None:
            raise Closed(life.reason)
        return life


class EventSource:
    """What Export and Import have in common. handle is 0 once the object is closed."""

    def __init__(self, handle: int):
        self.handle = handle
        self._fd: int | None = None
        self._taken = 0
        # A signal handler may come while its own thread has the lock.
        self._lock = threading.RLock()
        self._life = _Life()
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
        life = self._life
        while not self._consume(life):
            left = end - time.monotonic()
            if left <= 0:
                return False
            self._sleep(life, left)
        return True

    async def event(self) -> None:
        """Waits in the running loop of asyncio until there is an event, and consumes it.

        ConnectionAborted, Closed: as wait().
        """
        life = self._life
        while not self._consume(life):
            await self._readable(life)

    def fileno(self) -> int:
        """A descriptor that polls readable while an event is pending: for select and selectors.

        It is the library's, to be polled only; it stays open until close() or unpublish().
        """
        with self._lock:
            if not self.handle:
                raise Closed("the segment is closed")
            if self._fd is None:
                entry = Pollfd()
                # First: an exception of a signal handler may come behind the call.
                self._taken += 1
                try:
                    call("rsm_memseg_get_pollfd", self.handle, byref(entry))
                except Error:
                    if not self.handle:
                        raise Closed("the segment is closed") from None
                    raise
                self._fd = entry.fd
            return self._fd

    def _consume(self, life: _Life) -> bool:
        """Takes an event, if one is pending. No other segment gets the descriptor meanwhile."""
        ready = c_int()
        with self._lock:
            life.now()
            entry = Pollfd(self.fileno(), select.POLLRDNORM | select.POLLRDHUP)
            status = lib.rsm_intr_signal_wait_pollfd(byref(entry), 1, 0, byref(ready))
            life.now()
        if status in (INTERRUPTED, TIMEOUT):
            return False
        check(status, "rsm_intr_signal_wait_pollfd")
        if not entry.revents & select.POLLRDNORM:
            check(CONN_ABORTED, "rsm_intr_signal_wait_pollfd")
        return True

    def _sleep(self, life: _Life, seconds: float) -> None:
        """Waits until something may have happened."""
        poll = select.poll()
        with self._lock:
            life = life.now()
            poll.register(life.descriptor(), select.POLLIN)
            poll.register(self.fileno(), select.POLLRDNORM | select.POLLRDHUP)
        poll.poll(_milliseconds(seconds))

    def _watched(self) -> int:
        """A descriptor that polls readable at the end of a connection, too: asyncio asks no more."""
        with self._lock:
            if self._epoll is None:
                epoll = select.epoll()
                self._watch(epoll)
                self._epoll = epoll
            return self._epoll.fileno()

    def _watch(self, epoll: select.epoll) -> None:
        epoll.register(self.fileno(), select.EPOLLIN | select.EPOLLRDHUP)

    async def _readable(self, life: _Life) -> None:
        loop = asyncio.get_running_loop()
        waiter = loop.create_future()
        with self._lock:
            life.now()
            if self._loop is not None and self._loop.is_closed():
                self._loop = None
                self._waiters.clear()
            if self._loop is None:
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
            if waiter not in self._waiters:
                return
            self._waiters.discard(waiter)
            if not self._waiters and self._loop is not None and self._epoll is not None:
                self._loop.remove_reader(self._epoll.fileno())
                self._loop = None

    def _wake(self) -> None:
        for waiter in tuple(self._waiters):
            if not waiter.done():
                waiter.set_result(None)

    def _close_by(self, name: str, reason: str) -> bool:
        """Calls a function that ends the segment for ever; False: another call has, or is about to."""
        with self._lock:
            # A signal handler that comes meanwhile, and closes, finds nothing to do.
            handle, self.handle = self.handle, 0
            if handle:
                self._end_by(name, handle, reason)
            return bool(handle)

    def _end_by(self, name: str, handle: int, reason: str) -> None:
        """Calls a function that ends a life of the segment; those that wait for events get an exception."""
        with self._lock:
            self._release_descriptor(handle)
            try:
                call(name, handle)
            except BaseException:
                self.handle = handle
                self._end_life(None)
                if self._epoll is not None:
                    self._watch(self._epoll)
                raise
            self._end_waits(reason)

    def _release_descriptor(self, handle: int) -> None:
        """The library ends no segment that is polled."""
        with self._lock:
            if self._epoll is not None and self._fd is not None:
                self._epoll.unregister(self._fd)
            self._fd = None
            while self._taken:
                self._taken -= 1
                lib.rsm_memseg_release_pollfd(handle)

    def _end_life(self, reason: str | None) -> None:
        life, self._life = self._life, _Life()
        if reason is None:
            life.next = self._life
        life.reason = reason
        life.end()

    def _end_waits(self, reason: str) -> None:
        """Threads hear of it by the descriptor that they poll, tasks in their own loop's thread."""
        with self._lock:
            self._end_life(reason)
            loop, self._loop = self._loop, None
            epoll, self._epoll = self._epoll, None
            waiters, self._waiters = self._waiters, set()
        if epoll is None:
            return
        try:
            if loop is not None:
                # It may sleep: this may be a signal handler.
                loop.call_soon_threadsafe(_end_tasks, loop, epoll, waiters, reason)
                return
        except RuntimeError:
            pass  # a loop that is closed, whose tasks wait no more
        epoll.close()


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
        source._life = _Life()
        source._epoll = source._loop = None
        source._waiters = set()


os.register_at_fork(after_in_child=_begin_child)


def _milliseconds(seconds: float) -> int:
    """As librsm takes them: never less than asked for; a longer wait than it knows is repeated."""
    if seconds == math.inf:
        return -1
    return max(0, min(math.ceil(seconds * 1000), _LONGEST_MS))
