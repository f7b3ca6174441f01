# SPDX-License-Identifier: GPL-2.0
"""Module rsm: put, get, pieces, mappings and barriers."""

import array
import ctypes
import gc
import unittest
from unittest import mock

import rsm
from support import PAGE, SegmentTest, held


class Data(SegmentTest):
    def test_bytes_need_no_alignment(self):
        self.connection.put(4097, b"remote")
        self.assertEqual(bytes(self.segment.memory[4097:4103]), b"remote")
        self.assertEqual(self.connection.get(4097, 6), b"remote")

    def test_whatever_has_bytes_can_be_put(self):
        for data in (bytearray(b"1234"), memoryview(b"1234"), memoryview(bytearray(b"1.2.3.4."))[::2],
                     array.array("I", [0x01020304])):
            self.connection.put(8, data)
            self.assertEqual(self.connection.get(8, 4), memoryview(data).tobytes())

    def test_items_of_each_width(self):
        for width, code in ((8, "B"), (16, "H"), (32, "I"), (64, "Q")):
            items = array.array(code, [1, 2, (1 << width) - 1])
            self.connection.put(64, items, width=width)
            received = array.array(code, [0, 0, 0])
            self.connection.get_into(64, received, width=width)
            self.assertEqual(items, received)
        with self.assertRaises(ValueError):
            self.connection.put(0, bytes(6), width=32)
        with self.assertRaises(ValueError):
            self.connection.put(0, bytes(6), width=24)
        with self.assertRaises(rsm.BadArgument) as caught:
            self.connection.put(4, bytes(8), width=64)
        self.assertEqual(caught.exception.name, "RSMERR_BAD_MEM_ALIGNMENT")

    def test_beyond_the_segment(self):
        for call in (lambda: self.connection.put(4 * PAGE, b"x"),
                     lambda: self.connection.put(4 * PAGE - 1, b"xy"),
                     lambda: self.connection.get(-1, 1)):
            with self.assertRaises(rsm.BadArgument) as caught:
                call()
            self.assertEqual(caught.exception.name, "RSMERR_BAD_OFFSET")

    def test_numbers_that_do_not_fit(self):
        beyond = 1 << 64
        for call in (lambda: self.connection.put(beyond + 8, b"x"), lambda: self.connection.get(beyond, 1),
                     lambda: self.connection.get(0, beyond), lambda: self.connection.get_into(-beyond, bytearray(1)),
                     lambda: self.connection.put_pieces([(beyond, b"x")]),
                     lambda: self.connection.get_pieces([(beyond, bytearray(1))]),
                     lambda: self.connection.map(PAGE, beyond), lambda: self.connection.map(beyond + PAGE)):
            with self.assertRaises(rsm.BadArgument):
                call()
        for call in (lambda: self.connection.put(0.0, b"x"), lambda: self.connection.get("0", 1),
                     lambda: self.connection.put(None, b"x"),
                     lambda: self.connection.get(0, b"abc"), lambda: self.connection.put(0, b"x" * 8, 8.0), lambda: self.connection.map(PAGE, 0.5)):
            with self.assertRaises(TypeError):
                call()
        with self.connection.map() as view:
            self.assertEqual(bytes(view[:16]), bytes(16), "nothing was written, and nothing is mapped any more")

    def test_what_is_read_only_stays_so(self):
        with self.assertRaises(TypeError):
            self.connection.get_into(0, b"bytes")
        with rsm.Import(self.segment_id, access=rsm.READ) as reader:
            self.assertEqual(reader.get(0, 2), b"\0\0")
            with self.assertRaises(PermissionError) as caught:
                reader.put(0, b"x")
            self.assertIsInstance(caught.exception, rsm.PermissionDenied)

    def test_more_pieces_than_a_request_takes(self):
        self.connection.put_pieces([(2 * at, bytes([at])) for at in range(40)], post=True)
        self.assertEqual(bytes(self.segment.memory[:80:2]), bytes(range(40)))
        self.assertTrue(self.segment.wait())
        self.assertFalse(self.segment.wait(0), "one event for all requests")
        buffers = [bytearray(1) for _ in range(20)]
        self.connection.get_pieces([(2 * at, buffer) for at, buffer in enumerate(buffers)])
        self.assertEqual(b"".join(buffers), bytes(range(20)))

    def test_barriers(self):
        with self.connection.barrier() as barrier:
            self.connection.put(0, b"first")
            barrier.order()
            self.connection.put(8, b"second")
        self.assertEqual(bytes(self.segment.memory[:5]), b"first")
        with self.assertRaises(rsm.BarrierError):
            barrier.order()
        with self.assertRaises(rsm.ConnectionAborted), self.connection.barrier():
            self.segment.unpublish()
        with self.assertRaises(KeyError), self.connection.barrier():
            raise KeyError("what was raised within comes out")


    def expect_implicit(self):
        """A put waits for its data, and so tells that the connection is broken. The first put maps the segment."""
        self.connection.put(0, b"x")
        self.segment.close()
        with self.assertRaises(rsm.ConnectionAborted):
            self.connection.put(0, b"x")

    def test_barriers_of_threads_overlap(self):
        first, second = self.connection.barrier(), self.connection.barrier()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        second.order()
        second.__exit__(None, None, None)
        self.expect_implicit()

    def interrupted(self, handler):
        """Enters a barrier, and has a signal handler come behind the call that makes the mode explicit."""
        real = rsm.imports.call
        come = []

        def call(name, *arguments):
            real(name, *arguments)
            if name == "rsm_memseg_import_set_mode" and not come:
                come.append(name)
                handler()
        with mock.patch.object(rsm.imports, "call", call), self.connection.barrier():
            pass

    def test_a_handler_that_uses_a_barrier(self):
        def use():
            with self.connection.barrier():
                pass
        self.interrupted(use)
        self.expect_implicit()

    def test_a_handler_that_raises(self):
        def fail():
            raise KeyError("as Ctrl-C does")
        with self.assertRaises(KeyError):
            self.interrupted(fail)
        self.expect_implicit()

    def test_a_barrier_in_a_barrier(self):
        barrier = self.connection.barrier()
        with barrier, barrier:
            barrier.order()
        with self.assertRaises(rsm.BarrierError):
            barrier.order()


class Mappings(SegmentTest):
    def test_a_mapping_is_the_segment(self):
        with self.connection.map(PAGE, offset=PAGE) as view:
            self.assertEqual(len(view), PAGE)
            view[:3] = b"abc"
            self.assertEqual(bytes(self.segment.memory[PAGE:PAGE + 3]), b"abc")
            self.segment.memory[PAGE] = 0x7A
            self.assertEqual(view[0], 0x7A)
        with self.assertRaises(ValueError):
            view[0]

    def test_one_at_a_time(self):
        mapping = self.connection.map(PAGE)
        with self.assertRaises(rsm.Busy):
            self.connection.map(PAGE)
        mapping.close()
        mapping.close()
        with self.assertRaises(ValueError):
            mapping.view[0] = 1
        self.connection.map(PAGE).close()

    def test_a_reader_can_not_write(self):
        with rsm.Import(self.segment_id, access=rsm.READ) as reader, reader.map(PAGE) as view:
            self.assertTrue(view.readonly)
            with self.assertRaises(TypeError):
                view[0] = 1
        with self.connection.map(PAGE, writable=False) as view:
            self.assertTrue(view.readonly)

    def test_views_keep_the_memory(self):
        mapping = self.connection.map(PAGE)
        part = mapping.view[8:16]
        with self.assertRaises(BufferError):
            mapping.close()
        with self.assertRaises(BufferError):
            self.connection.close()
        part[0] = 9
        self.assertEqual(self.segment.memory[8], 9)
        self.assertEqual(mapping.view[8], 9, "a close that failed leaves the mapping as it was")
        part.release()
        mapping.close()

    def test_views_keep_what_nobody_holds(self):
        view = rsm.Import(self.segment_id).map(PAGE).view
        gc.collect()
        view[100] = 5
        self.assertEqual(self.segment.memory[100], 5)
        del view
        gc.collect()

    def test_a_view_without_its_mapping(self):
        view = self.connection.map(PAGE).view
        with self.assertRaises(rsm.Busy):
            self.connection.close()
        view.release()
        self.connection.close()

    def test_an_array_outlives_both_withs(self):
        before = held()["handles"]
        with rsm.Import(self.segment_id) as connection:
            with connection.map() as view:
                self.assertEqual(len(view), 4 * PAGE)
                words = (ctypes.c_ubyte * len(view)).from_buffer(view)
            connection.post()
            with self.assertRaises(rsm.Busy):
                connection.map(PAGE)
        del view
        words[4 * PAGE - 1] = 77
        self.assertEqual(self.segment.memory[4 * PAGE - 1], 77)
        self.assertTrue(self.segment.wait(0))
        with self.assertRaises(rsm.BadArgument):
            connection.put(0, b"closed")
        self.assertEqual(held()["handles"], before + 1)
        del words
        gc.collect()

    def test_a_connection_knows_the_segment_s_size(self):
        self.assertEqual(self.connection.size, 4 * PAGE)
        with self.connection.map(offset=PAGE) as view:
            self.assertEqual(len(view), 3 * PAGE)

    def test_a_broken_connection_shows_zeroes(self):
        self.segment.memory[0] = 1
        with self.connection.map(PAGE) as view:
            self.assertEqual(view[0], 1)
            self.assertFalse(self.connection.aborted)
            self.segment.unpublish()
            self.assertTrue(self.connection.aborted)
            self.assertEqual(view[0], 0)
            view[0] = 3
        with self.assertRaises(ConnectionAbortedError):
            self.connection.put(0, b"x")


if __name__ == "__main__":
    unittest.main()
