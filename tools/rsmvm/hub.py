# SPDX-License-Identifier: GPL-2.0
"""The hub: commands in several guests talk to each other and give orders to rsm-vm.

One process of each guest opens /run/rsm-hub and exchanges lines of at most 4096 bytes.
A guest writes "@K TEXT", and node K reads "@N TEXT", N being the sender; the line is dropped
if node K does not run.  "@vm kill K", "@vm start K", "@vm pause K" and "@vm resume K" are
orders, and "@vm stall MS" stops all guests at once for so long, as a busy host does; rsm-vm
answers each with "@vm ok" when it is carried out (a start: when the command of node K starts)
or "@vm error REASON".
"""

import contextlib
import socket
import time

LINE_MAX = 4096
# Longest stall, in milliseconds.
STALL_MAX = 60000
# Bytes that a guest that does not read can make us keep.
OUTGOING_MAX = 1 << 20


class Mailbox:
    """The lines between one guest and the hub, as long as the guest lives."""

    def __init__(self):
        self.incoming = b""
        self.outgoing = b""

    def lines(self, data):
        """The lines that data completes; None stands for one that is too long."""
        *lines, rest = (self.incoming + data).split(b"\n")
        self.incoming = rest[:LINE_MAX]
        return [line if len(line) < LINE_MAX else None for line in lines]

    def post(self, line):
        """Queues a line; False if the guest has left too many unread."""
        if len(self.outgoing) + len(line) >= OUTGOING_MAX:
            return False
        self.outgoing += line + b"\n"
        return True

    def flush(self, end):
        """Sends what the guest's socket takes."""
        try:
            sent = end.send(self.outgoing, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except (BrokenPipeError, ConnectionResetError):
            sent = len(self.outgoing)
        self.outgoing = self.outgoing[sent:]


class OrderError(Exception):
    """An order that cannot be carried out."""


class Hub:
    """Delivers lines and carries out orders; machine has kill(guest) and start(guest)."""

    def __init__(self, guests, machine):
        self.guests = {b"%d" % guest.node: guest for guest in guests}
        self.machine = machine
        # Waiters for the start of a node: [(guest, mailbox of the one who asked)].
        self.awaited = []
        self.orders = {b"kill": self._kill, b"start": self._start,
                       b"pause": self._pause, b"resume": self._resume}

    def feed(self, guest, data):
        """Takes what a guest wrote."""
        mail = guest.mail
        for line in mail.lines(data):
            try:
                self._handle(guest, line)
            except OrderError as error:
                self._answer(mail, f"error {error}")

    def settle(self):
        """Answers those whose node has started, or will not."""
        waiting, self.awaited = self.awaited, []
        for guest, mail in waiting:
            if guest.killed:
                self._answer(mail, f"error node {guest.node} was killed")
            elif guest.failure:
                self._answer(mail, f"error node {guest.node}: {guest.failure}")
            elif guest.ready:
                self._answer(mail, "ok")
            else:
                self.awaited.append((guest, mail))

    @staticmethod
    def _answer(mail, text):
        mail.post(b"@vm " + " ".join(text.split()).encode()[:LINE_MAX // 2])

    def _handle(self, guest, line):
        if line is None:
            raise OrderError(f"a line has at most {LINE_MAX} bytes")
        address, _, text = line.partition(b" ")
        if address == b"@vm":
            self._order(guest, text)
        elif address[:1] == b"@" and address[1:] in self.guests:
            self._deliver(guest, self.guests[address[1:]], text)
        else:
            raise OrderError("a line begins with @vm or @ and the number of a node")

    @staticmethod
    def _deliver(guest, target, text):
        line = b"@%d %s" % (guest.node, text)
        if target.running and not target.mail.post(line):
            raise OrderError(f"node {target.node} does not read")

    def _order(self, guest, text):
        word, _, node = text.partition(b" ")
        if word == b"stall":
            self._stall(node, guest.mail)
            return
        if word not in self.orders or node not in self.guests:
            raise OrderError("an order is kill, start, pause or resume and the number of a node")
        # Nobody is left to answer a guest that kills its own node.
        mail, target = guest.mail, self.guests[node]
        if word != b"start" and not target.alive:
            raise OrderError(f"node {target.node} is not running")
        self.orders[word](target, mail)

    def _stall(self, text, mail):
        if not text.isdigit() or not 0 < int(text) <= STALL_MAX:
            raise OrderError(f"a stall lasts 1 to {STALL_MAX} milliseconds")
        with contextlib.ExitStack() as stack:
            for guest in self.guests.values():
                if guest.alive and not guest.paused:
                    guest.pause()
                    stack.callback(guest.resume)
            time.sleep(int(text) / 1000)
        self._answer(mail, "ok")

    def _kill(self, target, mail):
        self.machine.kill(target)
        self._answer(mail, "ok")

    def _start(self, target, mail):
        if not target.killed:
            raise OrderError(f"node {target.node} has not been killed")
        self.machine.start(target)
        self.awaited.append((target, mail))

    def _pause(self, target, mail):
        if target.paused:
            raise OrderError(f"node {target.node} is paused already")
        target.pause()
        self._answer(mail, "ok")

    def _resume(self, target, mail):
        if not target.paused:
            raise OrderError(f"node {target.node} is not paused")
        target.resume()
        self._answer(mail, "ok")
