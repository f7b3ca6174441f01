#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What tests/check/run consists of, with stages that take no time.

usage: check_run_test.py [TEST...]
"""

import io
import os
import signal
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET
from contextlib import redirect_stdout
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from checks import check, table, times  # noqa: E402
from checks.results import Ctest, Tap  # noqa: E402
from checks.schedule import Plan, foresee  # noqa: E402
from checks.stage import Stage  # noqa: E402


def stage(name, script="true", kind="one", needs=(), processors=1):
    return Stage(name, "group", 10, ("sh", "-c", script), kind, needs, processors)


def counted(counter, text):
    for line in text.splitlines():
        counter.take(line)
    return [(case.name, case.verdict) for case in counter.cases]


class Results(unittest.TestCase):
    """Lines of logs."""

    def test_tap(self):
        tap = Tap()
        cases = counted(tap, "TAP version 13\n1..4\nok 1 - a.B\n# took 1500 ms\nnot ok 2 - a.C\n# why\n"
                             "    ok 1 - sub-test\nok 3 - a.D # SKIP no device\nok 4 kunit_name\n")
        self.assertEqual(cases, [("a.B", "passed"), ("a.C", "failed"), ("a.D", "skipped"),
                                 ("kunit_name", "passed")])
        self.assertEqual((tap.planned, tap.cases[0].seconds, tap.cases[1].detail, tap.cases[2].detail),
                         (4, 1.5, ["why"], ["no device"]))

    def test_plans_of_several_programs_add_up(self):
        tap = Tap()
        counted(tap, "1..1\nok 1 - a\n1..2\nok 1 - b\nok 2 - c")
        self.assertEqual((tap.planned, len(tap.cases)), (3, 3))

    def test_ctest(self):
        cases = counted(Ctest(), " 1/4 Test  #2: unit.A.b ......   Passed    0.01 sec\n"
                                 " 2/4 Test  #3: unit.C ......***Failed    0.02 sec\n"
                                 " 3/4 Test  #4: unit.D ......***Skipped   0.00 sec\n"
                                 " 4/4 Test  #5: unit.E ......***Timeout  60.00 sec\n")
        self.assertEqual(cases, [("unit.A.b", "passed"), ("unit.C", "failed"), ("unit.D", "skipped"),
                                 ("unit.E", "failed")])

    def test_ctest_names_with_spaces(self):
        cases = counted(Ctest(), "1/1 Test #7: unit.All/A.b/8-byte object <01-00> ...   Passed    0.01 sec\n")
        self.assertEqual(cases, [("unit.All/A.b/8-byte object <01-00>", "passed")])


class Schedule(unittest.TestCase):
    """Which stage comes next."""

    @staticmethod
    def plan(stages, seconds=None, processors=2):
        return Plan(stages, {each.name: 10 for each in stages} | (seconds or {}), processors)

    def test_a_stage_waits_for_its_needs(self):
        first, second = stage("first"), stage("second", needs=("first",))
        plan = self.plan([first, second])
        self.assertEqual((plan.next(), plan.next()), (first, None))
        plan.ended(first, True)
        self.assertEqual(plan.next(), second)

    def test_needs_outside_the_run_are_the_callers_business(self):
        only = stage("only", needs=("build",))
        self.assertEqual(self.plan([only]).next(), only)

    def test_what_needs_a_failed_stage_is_unreachable_and_so_is_what_needs_that(self):
        first, second = stage("first"), stage("second", needs=("first",))
        third = stage("third", needs=("second",))
        plan = self.plan([first, second, third])
        plan.ended(plan.next(), False)
        self.assertEqual(plan.unreachable(), (second, "first"))
        self.assertEqual(plan.unreachable(), (third, "second"))
        self.assertIsNone(plan.unreachable())
        self.assertFalse(plan)

    def test_the_longest_way_comes_first(self):
        short, long = stage("short"), stage("long")
        self.assertEqual(self.plan([short, long], {"long": 20}).next(), long)

    def test_not_more_stages_than_processors_but_for_those_that_need_none(self):
        stages = [stage("a"), stage("b"), stage("c"), stage("aside", processors=0)]
        plan = self.plan(stages)
        taken = {plan.next().name for _ in range(3)}
        self.assertEqual((taken, plan.next()), ({"a", "b", "aside"}, None))

    def test_a_stage_that_wants_all_processors_runs_alone(self):
        small, big = stage("small"), stage("big", processors=99)
        plan = self.plan([small, big], {"small": 20})
        self.assertEqual((plan.next(), plan.next()), (small, None))
        plan.ended(small, True)
        self.assertEqual(plan.next(), big)

    def test_how_long_all_takes(self):
        stages = [stage("a"), stage("b"), stage("c", needs=("a", "b"), processors=99), stage("d")]
        self.assertEqual(foresee(stages, {each.name: 10 for each in stages}, 2), 30)

    def test_the_table_can_be_run(self):
        for depth in table.Depth:
            stages = table.selected(depth, None)
            names = [each.name for each in stages]
            self.assertEqual(len(names), len(set(names)))
            for number, each in enumerate(stages):
                self.assertLessEqual(set(each.needs), set(names[:number]), each.name)


    def test_each_run_is_a_part_of_the_next(self):
        quick, usual, full = ({each.name for each in table.selected(depth, None)} for depth in table.Depth)
        self.assertLess(quick, usual)
        self.assertLess(usual, full)

    def test_stages_with_guests_wait_for_modules(self):
        for each in table.selected(table.Depth.FULL, None):
            if each.command[0].startswith(("tools/rsm-vm", "tests/vm/", "tests/check/kselftest")):
                with self.subTest(each.name):
                    self.assertTrue({"build-stock", "build-debug", "build-uml"} & set(each.needs))


class Style(unittest.TestCase):
    """The checks of tests/static."""

    # Parts of checks.
    PARTS = {"abi-layouts", "build-docs", "compile-modules", "files", "hash", "kernel-scripts", "unless-passed"}

    def test_each_check_is_a_stage(self):
        there = {path.name for path in (HERE.parent / "static").iterdir() if os.access(path, os.X_OK) and path.is_file()}
        self.assertEqual(there - self.PARTS, set(table.CHECKS))


class CommandLine(unittest.TestCase):
    """tests/check/run, the program."""

    def test_a_stage_that_is_not_there_is_refused(self):
        ended = subprocess.run([HERE / "run", "--list", "--stage", "unit", "--stage", "hots"], capture_output=True, text=True,
                               check=False)
        self.assertEqual((ended.returncode, ended.stderr), (1, "no such stage: hots\n"))


class Course(unittest.TestCase):
    """Whole runs."""

    def run_stages(self, *stages):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["RSM_CACHE"] = folder
            shown = io.StringIO()
            with redirect_stdout(shown):
                status = check.run(list(stages), Path(folder, "check"))
            xml = ET.parse(Path(folder, "check/junit.xml")).getroot()
            remembered = times.expected(stages)
        return status, shown.getvalue().splitlines(), xml, remembered

    def test_counts_and_exit_status_of_success(self):
        status, lines, xml, _ = self.run_stages(
            stage("one"), stage("tap", "echo 1..2; echo ok 1 - a; echo 'ok 2 - b # SKIP c'", "tap"))
        self.assertEqual((status, lines[-1]), (0, "2 passed, 0 failed, 1 skipped"))
        self.assertEqual({suite.get("name"): suite.get("tests") for suite in xml},
                         {"one": "1", "tap": "2"})

    def test_failures_fail_and_are_shown(self):
        status, lines, xml, _ = self.run_stages(
            stage("tap", "echo 1..2; echo ok 1 - a; echo not ok 2 - b; echo '# the reason'", "tap"))
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))
        self.assertIn("        # the reason", lines)
        self.assertIn("failed stages: tap", lines)
        self.assertEqual(xml.find(".//failure").get("message"), "the reason")

    def test_silence_missing_results_and_bad_exits_are_failures(self):
        for script in ("true", "echo 1..2; echo ok 1 - a", "echo 1..1; echo ok 1 - a; exit 3"):
            with self.subTest(script):
                status, lines, _, _ = self.run_stages(stage("tap", script, "tap"))
                self.assertEqual(status, 1)
                self.assertRegex(lines[-1], ", 1 failed, 0 skipped$")

    def test_missing_results_are_counted(self):
        _, lines, _, _ = self.run_stages(stage("tap", "echo 1..2; echo ok 1 - a", "tap"))
        self.assertTrue(any("1 of 2 tests have a result" in line for line in lines), lines)

    def test_what_rsm_vm_says_of_a_failure_is_shown_beside_the_end(self):
        _, lines, _, _ = self.run_stages(stage("tap", "echo rsm-vm: died; seq 100; exit 125", "tap"))
        shown = [line.strip() for line in lines]
        self.assertLess(shown.index("rsm-vm: died"), shown.index("100"))
        self.assertNotIn("50", shown)

    def test_a_stage_that_cannot_run_is_skipped_with_its_reason(self):
        status, lines, _, _ = self.run_stages(stage("one", "echo SKIP: no network; exit 77"),
                                              stage("two", needs=("one",)))
        self.assertEqual((status, lines[-1]), (0, "0 passed, 0 failed, 2 skipped"))
        self.assertTrue(any("no network" in line for line in lines))

    def test_a_stage_whose_tests_are_all_skipped_is_skipped_with_their_reason(self):
        for script in ("echo 1..1; echo 'ok 1 - a # SKIP no device'", "echo 1..0 '# SKIP no device'"):
            with self.subTest(script):
                status, lines, _, _ = self.run_stages(stage("tap", script, "tap"))
                self.assertEqual((status, lines[-1]), (0, "0 passed, 0 failed, 1 skipped"))
                self.assertTrue(any(line.startswith("skip ") and "no device" in line for line in lines), lines)

    def test_what_needs_a_failed_stage_fails(self):
        status, lines, _, _ = self.run_stages(stage("one", "false"), stage("two", needs=("one",)))
        self.assertEqual((status, lines[-1]), (1, "0 passed, 2 failed, 0 skipped"))

    def test_times_of_success_are_expected_next_time(self):
        _, _, _, expected = self.run_stages(stage("good"), stage("bad", "false"))
        # The table has whole seconds, what was measured is a fraction.
        self.assertIsInstance(expected["bad"], int)
        self.assertIsInstance(expected["good"], float)

    def test_an_interrupt_ends_the_stages_and_shows_the_table_so_far(self):
        with tempfile.TemporaryDirectory() as folder:
            script = ("import sys; sys.path.insert(0, sys.argv[1])\n"
                      "from pathlib import Path\n"
                      "from checks import check\n"
                      "from checks.stage import Stage\n"
                      "sleeper = Stage('sleeper', 'g', 1, ('sh', '-c', 'echo $$; exec sleep 10000'))\n"
                      "sys.exit(check.run([sleeper], Path(sys.argv[2])))\n")
            with subprocess.Popen([sys.executable, "-c", script, str(HERE), folder],
                                  env=dict(os.environ, RSM_CACHE=folder), text=True,
                                  stdout=subprocess.PIPE) as running:
                log = Path(folder, "sleeper.log")
                while not (log.exists() and log.read_text().endswith("\n")):
                    pass
                running.send_signal(signal.SIGTERM)
                text = running.communicate()[0]
            sleeper = int(log.read_text())
            self.assertEqual(running.returncode, 128 + signal.SIGTERM)
            self.assertRegex(text, r"(?m)^sleeper +interrupted")
            self.assertEqual(text.splitlines()[-1], "0 passed, 0 failed, 0 skipped")
            self.assertTrue(Path(folder, "junit.xml").exists())
            self.assertFalse(Path(f"/proc/{sleeper}").exists())


unittest.main()
