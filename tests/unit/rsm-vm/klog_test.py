#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Which messages of a guest's kernel are reports of something wrong."""

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))

from rsmvm import klog  # noqa: E402

MISCOUNT = """\
[  222.100000] ------------[ cut here ]------------
[  222.100001] refcount_t: underflow; use-after-free.
[  222.100002] WARNING: CPU: 1 PID: 1078 at lib/refcount.c:28 refcount_warn_saturate+0xba/0x110
[  222.100003] RIP: 0010:refcount_warn_saturate+0xba/0x110
[  222.100004] Call Trace:
[  222.100005]  <TASK>
[  222.100006]  ? complete+0x18/0x80 [rsm]
[  222.100007]  FUNCTION
[  222.100008]  rxe_destroy_qp+0x26/0x30 [rdma_rxe]
[  222.100009]  </TASK>
[  222.100010] ---[ end trace 0000000000000000 ]---
"""
OURS = "rsm_segment_put+0x10/0x20 [rsm]"
THEIRS = "__rxe_cleanup+0x155/0x160 [rdma_rxe]"


def miscount(function):
    """A report of refcount_t whose trace begins in that function."""
    return MISCOUNT.replace("FUNCTION", function)


class Reports(unittest.TestCase):
    """Trouble is shown with what stands around it."""

    def test_miscount_of_soft_roce_is_none(self):
        self.assertEqual(klog.reports(miscount(THEIRS)), [])

    def test_miscount_of_ours_is_one_even_behind_one_of_soft_roce(self):
        for text in (miscount(OURS), miscount(THEIRS) + miscount(OURS)):
            self.assertIn(OURS, "\n".join(klog.reports(text)))

    def test_miscount_in_soft_roce_that_ours_has_called_is_one(self):
        called = f"{THEIRS}\n[  222.100008]  ib_dereg_mr_user+0x10/0x20 [ib_core]\n[  222.100008]  {OURS}"
        self.assertIn(OURS, "\n".join(klog.reports(miscount(called))))

    def test_miscount_without_a_trace_is_one(self):
        self.assertTrue(klog.reports("[  222.1] refcount_t: underflow; use-after-free.\n" + miscount(THEIRS)))


if __name__ == "__main__":
    unittest.main()
