#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The driver of `make soak`, on the host, with bars that take no time.

usage: soak_test.py [TEST...]
"""

import io
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from contextlib import redirect_stdout
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from soak import page  # noqa: E402
from soak.bars import BARS, Bar, Goal  # noqa: E402
from soak.driver import REPORT, Driver  # noqa: E402
from soak.state import State  # noqa: E402

HOUR = 3600


def fake(name, script, goals=(Goal("kills", least=10),), **options):
    """A bar whose command is a shell script with $1 seconds and $2 as its seed."""
    return Bar(name, f"bar {name}", tuple(goals), ("sh", "-c", script, "sh"), **options)


class SoakTest(unittest.TestCase):
    """A state of its own for each test."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.path = Path(self._folder.name, "soak", "state.json")

    def state(self):
        return State(self.path)

    def run_bars(self, bars, slices, seed=100):
        with redirect_stdout(io.StringIO()) as said:
            self.status = Driver(bars, self.state(), self.path.parent / "logs", seed).run(HOUR, slices)
        return said.getvalue()

    def counts(self, name):
        return self.state().bar(name)["counts"]


class Counting(SoakTest):
    """What is counted."""

    def test_counts_add_up_over_slices_and_runs(self):
        bar = fake("A", "echo count kills 3; echo count other things 4")
        self.run_bars([bar], 2)
        self.run_bars([bar], 1)
        self.assertEqual(self.counts("A"), {"kills": 9, "other things": 12})
        self.assertEqual(self.state().bar("A")["slices"], 3)

    def test_the_worst_and_the_latest_stay(self):
        bar = fake("A", 'echo worst p99 $((200 - $2)); echo latest lines of lib $2.5; echo kernel 6.1-test')
        self.run_bars([bar], 3)
        entry = self.state().bar("A")
        self.assertEqual((entry["worst"], entry["latest"], entry["kernels"]),
                         ({"p99": 100}, {"lines of lib": "102.5"}, ["6.1-test"]))

    def test_slices_get_seconds_and_seeds(self):
        bar = fake("A", "echo count seconds $1; echo count seeds $2", slice=7)
        self.run_bars([bar], 2, seed=40)
        self.assertEqual(self.counts("A"), {"seconds": 14, "seeds": 81})
        self.assertEqual(self.state().bar("A")["seeds"], [40, 41])

    def test_lines_that_are_no_counts_change_nothing(self):
        self.run_bars([fake("A", "echo count kills; echo count kills -3; echo counted 4; echo count x y z")], 1)
        self.assertEqual(self.counts("A"), {})

    def test_a_failure_is_kept_with_its_seed_and_its_counts(self):
        self.run_bars([fake("A", "echo count kills 2; echo what is wrong; exit 3")], 1, seed=77)
        self.assertEqual(self.status, 1)
        self.assertEqual(self.counts("A"), {"kills": 2})
        [failure] = self.state().bar("A")["failures"]
        self.assertEqual((failure["seed"], failure["status"], failure["last"]), (77, 3, "what is wrong"))
        self.assertIn("what is wrong", (self.path.parent / "logs" / failure["log"]).read_text())

    def test_a_bar_that_can_not_run_is_no_failure_and_no_slice(self):
        said = self.run_bars([fake("A", "echo no such program; exit 77"), fake("B", "true")], 2)
        self.assertEqual(self.status, 0)
        self.assertNotIn("no bar can run here", said)
        entry = self.state().bar("A")
        self.assertEqual((entry["slices"], entry["unable"], entry["failures"]), (0, "no such program", []))

    def test_a_run_of_which_no_bar_can_run_is_no_success(self):
        said = self.run_bars([fake("A", "echo no such program; exit 77"), fake("B", "exit 77")], 3)
        self.assertEqual(self.status, 1)
        self.assertIn("no bar can run here", said)
        self.assertEqual(self.state().bar("A")["failures"], [])

    def test_reports_of_the_kernel_count_for_watched_bars(self):
        script = "echo '[ 1.0] BUG: KASAN: slab-out-of-bounds in rsm_x'; echo unreferenced object 0xffff8"
        self.run_bars([fake("A", script, watched=True), fake("B", script)], 2)
        self.assertEqual(self.counts("R1"), {"reports": 2, "runs watched": 1})
        self.assertEqual(self.status, 1)

    def test_a_run_without_a_debug_kernel_is_not_watched(self):
        self.run_bars([fake("A", "echo kernel 6.1-debug", watched=True), fake("B", "echo kernel 6.1", watched=True),
                       fake("C", "echo kernel 7.2.12-rsm-uml", watched=True)], 3)
        self.assertEqual(self.counts("R1"), {"reports": 0, "runs watched": 2})

    def test_harmless_lines_are_no_reports(self):
        for line in ("no BUG here", "WARNING: CPU: 0 at drivers/infiniband/sw/rxe/rxe_comp.c:1",
                     "ok 1 - kmemleak", "DEBUG: fine"):
            with self.subTest(line):
                self.assertIsNone(REPORT.search(line))


class Turns(SoakTest):
    """Which bar is next."""

    def test_bars_take_turns(self):
        said = self.run_bars([fake("A", "true"), fake("B", "true")], 3)
        self.assertEqual(re.findall(r" ([AB]): \d+ s", said), ["A", "B", "A"])

    def test_a_run_goes_on_behind_the_last_bar(self):
        bars = [fake("A", "true"), fake("B", "true"), fake("C", "true")]
        self.run_bars(bars, 2)
        self.assertRegex(self.run_bars(bars, 1), r" C: \d+ s")

    def test_ends_when_time_is_up(self):
        with redirect_stdout(io.StringIO()):
            Driver([fake("A", "true")], self.state(), self.path.parent / "logs", 1).run(0)
        self.assertEqual(self.state().bar("A")["slices"], 0)

    def test_an_interrupted_slice_is_not_counted_and_the_state_is_whole(self):
        # The second slice waits for ever; it ends with the driver, and so do its children.
        waits = Path(self._folder.name, "waits")
        bar = fake("A", f"echo count kills 5; test $2 = 100 || {{ touch {waits}; sleep 1000; }}")

        def interrupt():
            while not waits.exists():
                pass
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        thread.start()
        said = self.run_bars([bar], 5)
        thread.join()
        self.assertIn("A: interrupted, not counted", said)
        self.assertEqual((self.counts("A"), self.state().bar("A")["slices"]), ({"kills": 5}, 1))

    def test_an_interrupt_while_a_slice_starts_ends_it(self):
        start = subprocess.Popen

        def interrupted_start(*arguments, **options):
            process = start(*arguments, **options)
            os.kill(os.getpid(), signal.SIGINT)
            return process

        with mock.patch("subprocess.Popen", interrupted_start):
            said = self.run_bars([fake("A", "sleep 1000")], 5)
        self.assertIn("A: interrupted, not counted", said)

    def test_a_clone_without_a_state_goes_on_from_the_recorded_one(self):
        recorded = self.path.parent / "recorded.json"
        self.run_bars([fake("A", "echo count kills 3")], 1)
        self.state().save(recorded)
        self.path.unlink()
        state = State(self.path, recorded)
        state.count("A", "kills", 1)
        state.save()
        self.assertEqual(self.counts("A"), {"kills": 4})
        self.assertEqual(State(recorded).bar("A")["counts"], {"kills": 3})
        self.assertEqual(State(self.path, recorded).bar("A")["counts"], {"kills": 4})

    def test_runs_at_a_time_count_into_one_state(self):
        bar = fake("A", "echo count kills 3")
        drivers = [Driver([bar], self.state(), self.path.parent / "logs", seed) for seed in (1, 2)]
        with redirect_stdout(io.StringIO()):
            for driver in drivers:
                driver.run(1000, 1)
        self.assertEqual((self.counts("A"), self.state().bar("A")["seeds"]), ({"kills": 6}, [1, 2]))

    def test_a_state_that_lacks_recorded_counts_is_told_from_one_that_has_them(self):
        bar = fake("A", "echo count kills 3")
        recorded = self.path.parent / "recorded.json"
        self.run_bars([bar], 2)
        self.state().save(recorded)
        self.assertFalse(self.state().lacks(State(recorded)))
        self.path.unlink()
        self.run_bars([bar], 1)
        self.assertTrue(self.state().lacks(State(recorded)))

    def test_a_state_of_another_version_is_refused(self):
        self.path.parent.mkdir(parents=True)
        self.path.write_text('{"version": 99, "bars": {}}')
        with self.assertRaises(SystemExit):
            self.state()


class Page(SoakTest):
    """The page says what was counted, and no more."""

    def text(self, *bars):
        return page.write(bars, self.state())

    def test_a_bar_that_has_not_run(self):
        text = self.text(fake("A", "true"))
        self.assertIn("| A | bar A | kills | at least 10 | not run | not yet |", text)
        self.assertIn("* **A** has not run yet.", text)

    def test_goals_that_are_reached_or_not_yet(self):
        bar = fake("A", "echo count kills 6; echo kernel 6.1-test")
        self.run_bars([bar], 1)
        self.assertIn("| kills | at least 10 | 6 | not yet |", self.text(bar))
        self.run_bars([bar], 1, seed=7)
        text = self.text(bar)
        self.assertIn("| kills | at least 10 | 12 | reached |", text)
        self.assertRegex(text, r"\*\*A\*\*: 2 slices, .* kernel 6\.1-test\. Seeds: 100, 7\.")

    def test_a_goal_that_is_missed(self):
        bar = fake("A", "echo count leaks 1", [Goal("leaks", most=0)])
        self.run_bars([bar], 1)
        self.assertIn("| leaks | at most 0 | 1 | missed |", self.text(bar))

    def test_failures_and_missing_parts_are_told(self):
        bar = fake("A", "echo out of order; exit 1", missing="all else")
        self.run_bars([bar], 1, seed=5)
        text = self.text(bar)
        self.assertIn("| kills | at least 10 | none counted | failed |", text)
        self.assertIn("  Missing: all else.", text)
        self.assertRegex(text, r"  Failed on \S+ with seed 5 \(status 1\): `out of order`\.")

    def test_a_failure_that_is_mended_does_not_count_any_more(self):
        bar = fake("A", "echo out of order; exit 1")
        self.run_bars([bar], 2, seed=5)
        state = self.state()
        self.assertFalse(state.mend(4, "nothing"))
        self.assertFalse(self.state().lacks(state))
        self.assertTrue(state.mend(5, "the order is kept"))
        self.assertTrue(self.state().lacks(state))
        state.save()
        self.assertIn("| none counted | failed |", self.text(bar))
        state.mend(6, "this one, too")
        state.save()
        text = self.text(bar)
        self.assertIn("| none counted | not yet |", text)
        self.assertIn("`out of order`. Mended: the order is kept.", text)

    def test_a_figure_says_of_which_slices_it_is(self):
        bar = fake("A", 'echo worst p99 $((200 - $2)); echo latest lines $2',
                   told=(Goal("p99", most=194), Goal("lines", least=6), Goal("others"), Goal("more", least=1)))
        self.run_bars([bar], 2, seed=5)
        text = self.text(bar)
        self.assertIn("| p99, the largest of all slices | at most 194 | 195 | missed |", text)
        self.assertIn("| lines, of the last slice | at least 6 | 6.0 | reached |", text)
        self.assertIn("| others | - | not run | - |", text)
        self.assertIn("| more | at least 1 | not run | not yet |", text)


class Command(SoakTest):
    """tests/soak/run"""

    def test_a_note_of_what_was_mended_says_something_and_comes_alone(self):
        for words in (["--mended", "5", " "], ["--report", "--mended", "5", "the order is kept"]):
            with self.subTest(words):
                answer = subprocess.run([HERE / "run", *words], env=os.environ | {"RSM_BUILD": self._folder.name},
                                        capture_output=True, text=True, check=False)
                self.assertEqual(answer.returncode, 1)
                self.assertRegex(answer.stderr, "^--mended")


class Table(unittest.TestCase):
    """The ten bars."""

    def test_all_are_there(self):
        self.assertEqual([bar.name for bar in BARS], [f"R{number}" for number in range(1, 11)])

    def test_each_has_a_program_but_the_first_which_counts_what_others_say(self):
        for bar in BARS[1:]:
            with self.subTest(bar.name):
                self.assertTrue(os.access(bar.command[0], os.X_OK))


if __name__ == "__main__":
    unittest.main()
