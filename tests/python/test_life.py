# SPDX-License-Identifier: GPL-2.0
"""Module rsm: exports, access lists, errors, and what becomes of objects that nobody closes."""

import mmap
import os
import pickle
import subprocess
import sys
import unittest

import rsm
from support import PAGE, RSM_GROUP, RsmTest, SegmentTest


class Exports(RsmTest):
    def test_memory_of_the_caller_is_shared_in_place(self):
        memory = rsm.allocate(PAGE + 1)
        self.assertEqual(len(memory), 2 * PAGE)
        with rsm.Export(memory) as segment, rsm.Import(segment.publish()) as connection:
            connection.put(0, b"in place")
            self.assertEqual(memory[:8], b"in place")
            memory[8:10] = b"!!"
            self.assertEqual(connection.get(8, 2), b"!!")
            with self.assertRaises(BufferError):
                memory.close()
        with self.assertRaises(ValueError):
            segment.memory[0]
        memory.close()

    def test_a_bytearray_can_be_copied_only(self):
        data = bytearray(b"bytes of a bytearray")
        with self.assertRaisesRegex(ValueError, "copy_of"):
            rsm.Export(data)
        with rsm.Export.copy_of(data) as segment:
            self.assertEqual(segment.size, PAGE)
            self.assertEqual(bytes(segment.memory[:len(data)]), data)

    def test_memory_that_can_not_be_exported(self):
        with self.assertRaises(TypeError):
            rsm.Export(b"read-only")
        with self.assertRaises(ValueError):
            rsm.Export(memoryview(rsm.allocate(2 * PAGE))[16:PAGE + 16])
        with self.assertRaises(ValueError):
            rsm.Export(memoryview(rsm.allocate(2 * PAGE))[::2])
        with self.assertRaises(ValueError):
            rsm.Export(bytearray())
        with open("/tmp/file", "w+b") as file:
            file.truncate(PAGE)
            with mmap.mmap(file.fileno(), PAGE) as shared, self.assertRaises(rsm.BadAddress):
                rsm.Export(shared)
        os.unlink("/tmp/file")

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_access_lists(self):
        node = rsm.local_node()
        with rsm.Export(PAGE) as segment:
            with self.assertRaisesRegex(ValueError, "everybody"):
                segment.publish(access={})
            self.assertEqual(segment.publish(0x400123, {node: 0o444}), 0x400123)
            self.assertEqual(self.connects_as_alice(rsm.READ_WRITE), "RSMERR_PERM_DENIED")
            self.assertEqual(self.connects_as_alice(rsm.READ), "")
            segment.republish({node: 0o666})
            self.assertEqual(self.connects_as_alice(rsm.READ_WRITE), "")

    def test_numbers_that_do_not_fit(self):
        node = rsm.local_node()
        high = 1 << 32
        with rsm.Export(PAGE) as segment:
            for access in ({node + high: 0o666}, {node: 0o666 + high}, {-1: 0o666}):
                with self.assertRaises(rsm.BadArgument):
                    segment.publish(access=access)
            segment_id = segment.publish()
            for call in (lambda: rsm.Import(segment_id + high), lambda: rsm.Import(segment_id, access=high | rsm.READ)):
                with self.assertRaises(rsm.BadArgument):
                    call()
            with self.assertRaises(rsm.NodeUnreachable):
                rsm.Import(segment_id, node=node + high)

    def connects_as_alice(self, access):
        """The error that a user gets whom the list is about, as nobody asks root."""
        code = f"""
import os, rsm
os.setgroups([{RSM_GROUP}]), os.setgid(1001), os.setuid(1001)
try:
    rsm.Import(0x400123, access={access}).close()
except rsm.PermissionDenied as error:
    print(error.name)
"""
        return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True,
                              text=True).stdout.strip()

    def test_ids(self):
        with rsm.Export(PAGE) as segment, rsm.Export(PAGE) as other:
            for bad in (-1, 1 << 32):
                with self.assertRaises(rsm.BadArgument):
                    segment.publish(bad)
            with self.assertRaises(rsm.InUse) as caught:
                segment.publish(5)
            self.assertEqual(caught.exception.name, "RSMERR_RESERVED_SEGID")
            segment.publish(0x400001)
            with self.assertRaises(rsm.InUse):
                other.publish(0x400001)
            segment.unpublish()
            self.assertEqual(other.publish(0x400001), 0x400001)

    def test_other_memory(self):
        memory = rsm.allocate(PAGE)
        memory[:3] = b"new"
        with rsm.Export(PAGE, rebind=True) as segment, \
                rsm.Import(segment.publish()) as connection:
            segment.rebind(memory)
            self.assertEqual(connection.get(0, 3), b"new")
            self.assertEqual(bytes(segment.memory[:3]), b"new")
        with rsm.Export(PAGE) as segment, self.assertRaises(rsm.PermissionDenied):
            segment.rebind(memory)
        memory.close()


class Ends(SegmentTest):
    def test_closed_objects(self):
        for closed in (self.connection, self.segment):
            closed.close()
            closed.close()
            self.assertIn("closed", repr(closed))
            with self.assertRaises(rsm.BadArgument):
                closed.post()
        with self.assertRaises(rsm.BadArgument):
            self.connection.get(0, 1)
        with self.assertRaises(rsm.NotPublished):
            rsm.Import(self.segment_id)

    def test_what_nobody_closes(self):
        segment = rsm.Export(PAGE)
        connection = rsm.Import(segment.publish())
        connection.fileno(), segment.fileno()
        mapping = connection.map(PAGE)
        self.assertEqual(mapping.view[0], 0)
        del segment, connection, mapping

    def test_a_process_that_just_ends(self):
        child = os.fork()
        if child == 0:
            try:
                connection = rsm.Import(self.segment_id)
                connection.map(PAGE).view[0] = 77
                os._exit(0)
            finally:
                os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(self.segment.memory[0], 77)


class Controllers(RsmTest):
    def test_a_controller(self):
        with rsm.Controller() as controller:
            self.assertEqual(controller.attributes()["page_size"], PAGE)
            with rsm.Export(PAGE, controller) as segment:
                controller.close()
                rsm.Import(segment.publish(), node=rsm.local_node(), controller="loopback").close()

    def test_names_of_c_hold_no_null_character(self):
        for call in (lambda: rsm.Controller("loopback\0"), lambda: rsm.segment_id_range("a\0b")):
            with self.assertRaisesRegex(ValueError, "null character"):
                call()

    def test_absent_ones(self):
        with self.assertRaises(rsm.ControllerAbsent):
            rsm.Controller("nosuch9")
        with self.assertRaises(rsm.ControllerAbsent):
            rsm.Import(0x400000, node=rsm.local_node() + 1)

    @unittest.skipUnless(os.path.exists("/etc/rsm/rsm.segmentid"), "/etc/rsm/rsm.segmentid is not installed")
    def test_segment_id_range(self):
        with self.assertRaises(rsm.Error) as caught:
            rsm.segment_id_range("no such application")
        self.assertEqual(caught.exception.name, "RSMERR_BAD_APPID")

    def test_errors(self):
        with self.assertRaises(LookupError) as caught:
            rsm.Import(0x400000)
        error = caught.exception
        self.assertEqual((type(error), error.code, error.call),
                         (rsm.NotPublished, 7, "rsm_memseg_import_connect"))
        self.assertIn("segment is not published (RSMERR_SEG_NOT_PUBLISHED)", str(error))
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(copy), str(copy)), (type(error), str(error)))


if __name__ == "__main__":
    unittest.main()
