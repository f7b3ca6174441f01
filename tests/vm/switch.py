# SPDX-License-Identifier: GPL-2.0
"""Tests of the guests' Ethernet switch (tools/rsmvm/switch.py), without guests."""

import select
import socket
import struct
import sys
import tempfile
import unittest
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "tools"))

from rsmvm import network, switch  # noqa: E402

ALL = b"\xff" * 6
ONE, TWO, THREE = (bytes([2, 0, 0, 0, 0, number]) for number in (1, 2, 3))
SILENCE = 0.2


def packed(target, source, text=b""):
    """A frame as QEMU sends it."""
    body = target + source + b"\x08\0" + text
    return struct.pack("!I", len(body)) + body


class Card:
    """A guest's network card."""

    def __init__(self, path):
        self.end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.end.connect(path)

    def send(self, *frame):
        """Puts a frame on the wire."""
        self.end.sendall(packed(*frame))

    def receive(self):
        """The next frame; None when the switch has closed the port."""
        head = self._exactly(4)
        return self._exactly(struct.unpack("!I", head)[0]) if head else None

    def _exactly(self, size):
        """So many bytes, fewer at the end."""
        data = b""
        while len(data) < size and (more := self.end.recv(size - len(data))):
            data += more
        return data

    def silent(self):
        """Whether nothing comes."""
        self.end.settimeout(SILENCE)
        try:
            self.end.recv(1)
        except TimeoutError:
            return True
        finally:
            self.end.settimeout(None)
        return False


class PacketCard:
    """The network card of a guest that is a process."""

    def __init__(self, path):
        self.end = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.end.connect(path)

    def send(self, *frame):
        """Puts a frame on the wire."""
        self.end.sendall(packed(*frame)[4:])

    def receive(self):
        """The next frame; None when the switch has closed the port."""
        return self.end.recv(switch.FRAME_MAX) or None

    silent = Card.silent


class Switched(unittest.TestCase):
    """Each with a switch of its own, and three cards of which it has heard."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.service = network.Network(Path(folder.name, "switch"))
        self.addCleanup(self.service.stop)
        self.service.start(folder.name)
        one = self.plugged()
        two = self.card(TWO, [one])
        three = self.card(THREE, [one, two])
        self.announce(one, ONE, [two, three])
        self.cards = [one, two, three]

    def new_card(self):
        """A card of the kind that is tested."""
        return Card(self.service.path)

    def plugged(self):
        """A card that nobody has heard of, the switch perhaps neither."""
        card = self.new_card()
        self.addCleanup(card.end.close)
        return card

    def card(self, address, others):
        """A card that the others have heard of."""
        card = self.plugged()
        self.announce(card, address, others)
        return card

    def announce(self, card, address, others):
        """Lets the others hear of a card."""
        card.send(ALL, address, b"here")
        for other in others:
            self.assertEqual(other.receive(), packed(ALL, address, b"here")[4:])

    def assert_works(self, sender, receiver, target, source):
        """A frame goes from one to the other and to nobody else."""
        sender.send(target, source, b"hello")
        self.assertEqual(receiver.receive(), packed(target, source, b"hello")[4:])


class Common:
    """Tests that cards of both kinds pass."""

    def test_a_known_address_has_one_port(self):
        one, two, three = self.cards
        self.assert_works(one, two, TWO, ONE)
        self.assert_works(two, one, ONE, TWO)
        self.assertTrue(three.silent())

    def test_an_unknown_address_is_everywhere_else(self):
        one, two, three = self.cards
        one.send(b"\x02\0\0\0\0\x09", ONE, b"where")
        self.assertTrue(two.receive().endswith(b"where"))
        self.assertTrue(three.receive().endswith(b"where"))
        self.assertTrue(one.silent())

    def test_an_address_moves(self):
        one, two, three = self.cards
        three.send(ALL, TWO, b"moved")
        self.assertEqual([card.receive()[14:] for card in (one, two)], [b"moved"] * 2)
        self.assert_works(one, three, TWO, ONE)

    def test_a_group_is_no_source(self):
        one, two, three = self.cards
        one.send(TWO, ALL, b"forged")
        self.assertTrue(two.receive().endswith(b"forged"))
        two.send(ALL, TWO, b"to all")
        self.assertTrue(one.receive().endswith(b"to all"))
        self.assertTrue(three.receive().endswith(b"to all"))

    def test_a_card_that_goes_is_forgotten(self):
        one, two, three = self.cards
        two.end.close()
        again = self.card(b"\x02\0\0\0\0\4", [one, three])
        one.send(TWO, ONE, b"to the new one")
        self.assertTrue(again.receive().endswith(b"to the new one"))
        self.assertTrue(three.receive().endswith(b"to the new one"))

    def test_a_full_port_loses_frames_and_holds_up_nobody(self):
        one, two, three = self.cards
        body = bytes(4000)
        count = 3 * switch.BACKLOG_MAX // len(body)
        for _ in range(count):
            one.send(TWO, ONE, body)
        self.assert_works(one, three, THREE, ONE)
        received = 0
        while two.receive()[14:] == body and received < count:
            received += 1
            one.send(TWO, ONE, b"last")
        self.assertGreater(received, switch.BACKLOG_MAX // len(body))
        self.assertLess(received, count)

    def test_many_addresses(self):
        one, two, _ = self.cards
        for number in range(3 * switch.KNOWN_MAX):
            one.send(TWO, b"\x06\0" + number.to_bytes(4, "big"))
            two.receive()
        two.send(ALL, TWO)
        self.assert_works(one, two, TWO, ONE)


class StreamTest(Common, Switched):
    """Cards in QEMU: a stream can have what is no frame."""

    def test_frames_in_pieces_and_together(self):
        one, two, _ = self.cards
        data = b"".join(packed(TWO, ONE, b"%d" % number * 1500) for number in range(10))
        for at in range(0, 100):
            one.end.sendall(data[at:at + 1])
        one.end.sendall(data[100:])
        self.assertEqual([two.receive()[14:15] for _ in range(10)],
                         [b"%d" % number for number in range(10)])

    def test_short_frames_go_nowhere(self):
        one, two, _ = self.cards
        for size in (0, 1, switch.ADDRESSES - 1):
            one.end.sendall(struct.pack("!I", size) + b"\xff" * size)
        self.assert_works(one, two, TWO, ONE)

    def test_nonsense_closes_the_port(self):
        one, two, three = self.cards
        one.end.sendall(struct.pack("!I", switch.FRAME_MAX + 1) + bytes(100))
        self.assertIsNone(one.receive())
        self.assert_works(two, three, THREE, TWO)
        self.assert_works(self.card(ONE, [two, three]), two, TWO, ONE)


class PacketTest(Common, Switched):
    """The same tests with cards of processes."""

    def new_card(self):
        return PacketCard(self.service.packets)

    def test_short_frames_go_nowhere(self):
        one, two, _ = self.cards
        for size in (1, switch.ADDRESSES - 1):
            one.end.sendall(b"\xff" * size)
        self.assert_works(one, two, TWO, ONE)

    def test_last_frames_of_a_card_that_goes(self):
        one, two, three = self.cards
        for goes, source, unread in ((one, ONE, False), (three, THREE, True)):
            with self.subTest(unread=unread):
                if unread:
                    two.send(THREE, TWO, b"never read")
                    select.select([three.end], [], [])
                for number in range(10):
                    goes.send(TWO, source, b"%d" % number)
                goes.end.close()
                self.assertEqual([two.receive()[14:] for _ in range(10)], [b"%d" % number for number in range(10)])

    def test_a_guest_in_qemu_reaches_a_process(self):
        card = Card(self.service.path)
        self.addCleanup(card.end.close)
        one, two, three = self.cards
        self.announce(card, b"\x02\0\0\0\0\x07", [one, two, three])
        self.assert_works(one, card, b"\x02\0\0\0\0\x07", ONE)
        self.assert_works(card, two, TWO, b"\x02\0\0\0\0\x07")


if __name__ == "__main__":
    unittest.main(verbosity=0)
