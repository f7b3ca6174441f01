# SPDX-License-Identifier: GPL-2.0
"""An Ethernet switch between the guests of one run: python3 switch.py --socket PATH --packets PATH

QEMU's "-netdev stream" connects to the first socket and puts the length of each frame before it, four
bytes in network order.  User-Mode Linux's "transport=bess" connects to the second, where each packet is
a frame.  A guest that does not read, because it is paused or busy, loses frames as it would with any
switch; it does not hold up the others.  One that is killed takes nothing down but its own port.
"""

import selectors
import signal
import socket
import struct
import sys
from collections import deque
from contextlib import ExitStack
from pathlib import Path

HEADER = struct.Struct("!I")
ADDRESSES = 12
# The longest frame that QEMU itself takes.
FRAME_MAX = 4096 + 65536
RECEIVE_MAX = 1 << 18
# Frames that a port holds for a guest that is slow; a retransmission after this has a point again.
BACKLOG_MAX = 1 << 20
KNOWN_MAX = 1024
# Packets that are read from a port before another one has its turn.
TURN_MAX = 64


class BrokenPort(Exception):
    """What came is no frame, or nothing will come any more."""


class StreamPort:
    """The connection of one guest in QEMU."""

    SOCKET = socket.SOCK_STREAM

    def __init__(self, end):
        self.end = end
        self.incoming = bytearray()
        self.outgoing = bytearray()

    def receive(self):
        """The frames that have arrived as a whole."""
        data = received(self.end, RECEIVE_MAX)
        self.incoming += data or b""
        return list(self._frames())

    def _frames(self):
        at = 0
        while len(self.incoming) - at >= HEADER.size:
            size, = HEADER.unpack_from(self.incoming, at)
            if size > FRAME_MAX:
                raise BrokenPort
            begin = at + HEADER.size
            at = begin + size
            if at > len(self.incoming):
                at = begin - HEADER.size
                break
            yield bytes(self.incoming[begin:at])
        del self.incoming[:at]

    def post(self, frame):
        """Queues a frame, or drops it."""
        if len(self.outgoing) < BACKLOG_MAX:
            self.outgoing += HEADER.pack(len(frame)) + frame

    def flush(self):
        """Sends what the guest takes."""
        del self.outgoing[:sent(self.end, self.outgoing)]


class PacketPort:
    """The connection of one guest that is a process."""

    SOCKET = socket.SOCK_SEQPACKET

    def __init__(self, end):
        self.end = end
        self.outgoing = deque()
        self.waiting = 0

    def receive(self):
        """The frames that have arrived, or some of them, one by one: the last ones of a guest that goes count, too."""
        for _ in range(TURN_MAX):
            if not (frame := received(self.end, FRAME_MAX)):
                return
            yield frame

    def post(self, frame):
        """Queues a frame, or drops it."""
        if self.waiting < BACKLOG_MAX:
            self.outgoing.append(frame)
            self.waiting += len(frame)

    def flush(self):
        """Sends what the guest takes."""
        while self.outgoing and sent(self.end, self.outgoing[0]):
            self.waiting -= len(self.outgoing.popleft())


def received(end, most):
    """What has come, None if nothing has."""
    try:
        data = end.recv(most)
    except BlockingIOError:
        return None
    except ConnectionResetError:
        # The guest has gone and has left frames unread, which is said once, before its own last frames.
        return received(end, most)
    if not data:
        raise BrokenPort
    return data


def sent(end, data):
    """How much of it the guest took: all if it is gone, which is noticed when reading."""
    try:
        return end.send(data, socket.MSG_NOSIGNAL)
    except BlockingIOError:
        return 0
    except (BrokenPipeError, ConnectionResetError):
        return len(data)


class Switch:
    """The ports, and behind which of them an address was seen last."""

    def __init__(self, listeners):
        self.kinds = listeners
        self.ports = set()
        self.known = {}
        self.selector = selectors.DefaultSelector()
        for listener in listeners:
            self.selector.register(listener, selectors.EVENT_READ)

    def turn(self):
        """Waits for something to happen and deals with it."""
        for key, events in self.selector.select():
            if key.fileobj in self.kinds:
                self._accept(key.fileobj)
            elif events & selectors.EVENT_READ:
                self._read(key.data)
        for port in self.ports:
            self._write(port)

    def _accept(self, listener):
        end, _ = listener.accept()
        end.setblocking(False)
        port = self.kinds[listener](end)
        self.ports.add(port)
        self.selector.register(end, selectors.EVENT_READ, port)

    def _read(self, port):
        try:
            for frame in port.receive():
                if len(frame) >= ADDRESSES:
                    self._forward(port, frame)
        except BrokenPort:
            self.ports.remove(port)
            self.selector.unregister(port.end)
            self.known = {key: value for key, value in self.known.items() if value is not port}
            port.end.close()

    def _forward(self, port, frame):
        """To the port that the address is behind, or to all others."""
        target, source = frame[:6], frame[6:ADDRESSES]
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


def listener_at(path, kind, stack):
    """A listening socket, whose name goes with it."""
    listener = stack.enter_context(socket.socket(socket.AF_UNIX, kind))
    listener.bind(path)
    stack.callback(Path(path).unlink)
    listener.listen()
    return listener


def main(stream_path, packet_path):
    """Serves until SIGTERM."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with ExitStack() as stack:
        # A guest comes when the first is there: it is made last.
        packets = listener_at(packet_path, PacketPort.SOCKET, stack)
        streams = listener_at(stream_path, StreamPort.SOCKET, stack)
        switch = Switch({streams: StreamPort, packets: PacketPort})
        while True:
            switch.turn()


if __name__ == "__main__":
    main(sys.argv[2], sys.argv[4])
