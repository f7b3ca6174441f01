# SPDX-License-Identifier: GPL-2.0
"""An Ethernet switch between the guests of one run: python3 switch.py --socket PATH

QEMU's "-netdev stream" connects to the socket and puts the length of each frame before it, four
bytes in network order.  A guest that does not read, because it is paused or busy, loses frames
as it would with any switch; it does not hold up the others.  One that is killed takes nothing
down but its own port.
"""

import selectors
import signal
import socket
import struct
import sys
from pathlib import Path

HEADER = struct.Struct("!I")
ADDRESSES = 12
# The longest frame that QEMU itself takes.
FRAME_MAX = 4096 + 65536
RECEIVE_MAX = 1 << 18
# Frames that a port holds for a guest that is slow; a retransmission after this has a point again.
BACKLOG_MAX = 1 << 20
KNOWN_MAX = 1024


class BrokenPort(Exception):
    """What came is no frame, or nothing will come any more."""


class Port:
    """The connection of one guest."""

    def __init__(self, end):
        self.end = end
        self.incoming = bytearray()
        self.outgoing = bytearray()

    def receive(self):
        """The frames that have arrived as a whole, each with its length before it."""
        try:
            data = self.end.recv(RECEIVE_MAX)
        except BlockingIOError:
            return []
        except ConnectionResetError:
            data = b""
        if not data:
            raise BrokenPort
        self.incoming += data
        return list(self._frames())

    def _frames(self):
        at = 0
        while len(self.incoming) - at >= HEADER.size:
            size, = HEADER.unpack_from(self.incoming, at)
            if size > FRAME_MAX:
                raise BrokenPort
            end = at + HEADER.size + size
            if end > len(self.incoming):
                break
            if size >= ADDRESSES:
                yield bytes(self.incoming[at:end])
            at = end
        del self.incoming[:at]

    def post(self, frame):
        """Queues a frame, or drops it."""
        if len(self.outgoing) < BACKLOG_MAX:
            self.outgoing += frame

    def flush(self):
        """Sends what the guest takes; whoever is gone is noticed when reading."""
        try:
            sent = self.end.send(self.outgoing, socket.MSG_NOSIGNAL)
        except BlockingIOError:
            return
        except (BrokenPipeError, ConnectionResetError):
            sent = len(self.outgoing)
        del self.outgoing[:sent]


class Switch:
    """The ports, and behind which of them an address was seen last."""

    def __init__(self, listener):
        self.listener = listener
        self.ports = set()
        self.known = {}
        self.selector = selectors.DefaultSelector()
        self.selector.register(listener, selectors.EVENT_READ)

    def turn(self):
        """Waits for something to happen and deals with it."""
        for key, events in self.selector.select():
            if key.fileobj is self.listener:
                self._accept()
            elif events & selectors.EVENT_READ:
                self._read(key.data)
        for port in self.ports:
            self._write(port)

    def _accept(self):
        end, _ = self.listener.accept()
        end.setblocking(False)
        port = Port(end)
        self.ports.add(port)
        self.selector.register(end, selectors.EVENT_READ, port)

    def _read(self, port):
        try:
            for frame in port.receive():
                self._forward(port, frame)
        except BrokenPort:
            self.ports.remove(port)
            self.selector.unregister(port.end)
            self.known = {key: value for key, value in self.known.items() if value is not port}
            port.end.close()

    def _forward(self, port, frame):
        """To the port that the address is behind, or to all others."""
        target, source = frame[4:10], frame[10:16]
        if len(self.known) >= KNOWN_MAX:
            self.known.clear()
        if not source[0] & 1:
            self.known[source] = port
        if target in self.known:
            targets = {self.known[target]}
        else:
            targets = self.ports
        for other in targets - {port}:
            other.post(frame)

    def _write(self, port):
        if port.outgoing:
            port.flush()
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if port.outgoing else 0)
        if self.selector.get_key(port.end).events != wanted:
            self.selector.modify(port.end, wanted, port)


def main(path):
    """Serves until SIGTERM."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(path)
        try:
            listener.listen()
            switch = Switch(listener)
            while True:
                switch.turn()
        finally:
            Path(path).unlink()


if __name__ == "__main__":
    main(sys.argv[2])
