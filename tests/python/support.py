# SPDX-License-Identifier: GPL-2.0
"""What the tests of module rsm share; they run in a guest, where rsm.ko is loaded, or over the fake of /dev/rsm."""

import gc
import mmap
import os
import time
import unittest
from pathlib import Path

import rsm

PAGE = mmap.PAGESIZE
RSM_GROUP = 900
# The fake of /dev/rsm writes its counters to a file that its user names.
STATS = Path(os.environ.get("RSM_STATS", "/sys/kernel/debug/rsm/stats"))


def held():
    """What the kernel holds: this process is the only one that uses RSM."""
    counters = dict(line.split()[:2] for line in STATS.read_text().splitlines())
    return {name: int(counters[name]) for name in ("handles", "published", "pinned_pages")}


class RsmTest(unittest.TestCase):
    """A test that leaves nothing behind in the kernel."""

    def setUp(self):
        before = held()
        self.addCleanup(self.expect_held, before)

    def expect_held(self, before):
        gc.collect()
        # The time limit of the run ends it when something was left behind.
        while held() != before:
            time.sleep(0.05)


class SegmentTest(RsmTest):
    """A test with a segment of four pages and a connection to it."""

    def setUp(self):
        super().setUp()
        self.segment = rsm.Export(4 * PAGE, rebind=True)
        self.addCleanup(self.segment.close)
        self.segment_id = self.segment.publish()
        self.connection = rsm.Import(self.segment_id)
        self.addCleanup(self.connection.close)
