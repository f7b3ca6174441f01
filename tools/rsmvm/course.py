# SPDX-License-Identifier: GPL-2.0
"""The course of a run from the first QEMU's start to the last command's end."""

import selectors
import sys

from .hub import Hub


class Course:
    """Starts the guests, lets their commands begin together, passes on what they say."""

    def __init__(self, guests, launch, until_first):
        self.guests = guests
        self.launch = launch
        self.until_first = until_first
        self.released = False
        self.closing = False
        self.hub = Hub(guests, self)
        self.selector = None

    def follow(self):
        """Returns when every command has ended, or with until_first when node 1's has."""
        with selectors.DefaultSelector() as self.selector:
            for guest in self.guests:
                self.start(guest)
            while not self._over():
                self._turn()
            if self.released:
                self._finish()

    def start(self, guest):
        """Boots a guest, for the first time or again."""
        guest.start(self.launch)
        for name, end in guest.sockets.items():
            self.selector.register(end, selectors.EVENT_READ, (guest, name))

    def kill(self, guest):
        """Ends a guest without a chance to say anything."""
        for end in guest.sockets.values():
            if end in self.selector.get_map():
                self.selector.unregister(end)
        guest.kill()

    def _over(self):
        if not self.released:
            # The others wait for all: they will not start any more.
            return any(guest.failure for guest in self.guests)
        first = self.guests[0]
        if self.until_first and first.reported and not first.killed:
            return True
        return all(guest.reported or guest.killed for guest in self.guests)

    def _finish(self):
        """All guests look for leaks at the same time, when nobody works any more."""
        self.closing = True
        asked = [guest for guest in self.guests if guest.running and not guest.paused]
        for guest in asked:
            guest.dismiss()
        while not all(guest.dispensable for guest in asked):
            self._turn()

    def _turn(self):
        """Waits for something to happen and deals with it."""
        for guest in self.guests:
            self._watch_mail(guest)
        for key, events in self.selector.select(self._patience()):
            guest, name = key.data
            if key.fileobj.fileno() < 0:
                continue    # killed on behalf of an earlier one of these
            if events & selectors.EVENT_WRITE:
                guest.mail.flush(key.fileobj)
            if events & selectors.EVENT_READ:
                self._read(guest, name, key.fileobj)
        for guest in self.guests:
            if guest.more_starts and guest.hangs():
                self._start_again(guest, "the kernel hangs in its boot")
            elif guest.more_starts and guest.died_in_boot():
                self._start_again(guest, f"{guest.failure}, in its boot")
        self._release()
        self.hub.settle()

    def _patience(self):
        """Seconds after which guests that are booting are looked at."""
        return 5 if any(guest.alive and guest.ready is None for guest in self.guests) else None

    def _start_again(self, guest, reason):
        print(f"rsm-vm: node {guest.node}: {reason}; starting it again", file=sys.stderr, flush=True)
        guest.more_starts -= 1
        self.kill(guest)
        guest.forget_boot()
        self.start(guest)

    def _watch_mail(self, guest):
        """The hub's port is asked for room only while there is something to send."""
        end = guest.sockets.get("hub")
        if not end or end.fileno() < 0 or end not in self.selector.get_map():
            return
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if guest.mail.outgoing else 0)
        if self.selector.get_key(end).events != wanted:
            self.selector.modify(end, wanted, (guest, "hub"))

    def _read(self, guest, name, end):
        data = guest.receive(name)
        if data and name == "hub" and not self.closing:
            self.hub.feed(guest, data)
        if not data:
            self.selector.unregister(end)
            if not any(key.data[0] is guest for key in self.selector.get_map().values()):
                guest.lost()

    def _release(self):
        """The first commands start when all guests are up; a guest that is started again does
        not wait for anybody."""
        waiting = [guest for guest in self.guests if guest.running and not guest.going]
        self.released = self.released or len(waiting) == len(self.guests)
        if self.released:
            for guest in waiting:
                guest.go()
