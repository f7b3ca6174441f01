#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The runner of the kselftests, on the host, with tests that do wrong (sample.cpp).

usage: check.py RUNNER DIRECTORY-OF-SAMPLE [TEST...]
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RUNNER = sys.argv.pop(1)
BINARIES = sys.argv.pop(1)
INTERRUPTS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


class Run:
    """What the runner says of some tests: exit status, lines, and the lines of each test."""

    def __init__(self, *options):
        with tempfile.TemporaryDirectory() as root:
            for folder, name, text in (("dev", "kmsg", "6,1,0,-;BUG: before the tests\n"),
                                       ("sys/kernel/debug/rsm", "stats", "handles 0\nother 3\n")):
                Path(root, folder).mkdir(parents=True)
                Path(root, folder, name).write_text(text)
            Path(root, "reports").mkdir()
            done = subprocess.run([RUNNER, "--binaries", BINARIES, "--root", root,
                                   "--reports", f"{root}/reports", *options],
                                  env=dict(os.environ, RSM_SAMPLE_ROOT=root), text=True,
                                  stdout=subprocess.PIPE, check=False)
        self.status = done.returncode
        self.lines = done.stdout.splitlines()
        self.text = done.stdout


def set_interrupts(ignored):
    """In the runner's process: the signals that end it, whatever this process was started with."""
    for number in INTERRUPTS:
        signal.signal(number, signal.SIG_IGN if number == ignored else signal.SIG_DFL)


def run(pattern, *options):
    return Run("--filter", f"sample.{pattern}", *options)


class RunnerTest(unittest.TestCase):
    """One property of the runner each."""

    def failed(self, pattern, *options):
        result = run(pattern, *options)
        self.assertEqual(result.status, 1, result.text)
        self.assertEqual(result.lines[1], "1..1")
        self.assertRegex(result.lines[2], "^not ok 1 - sample\\.")
        self.assertEqual(result.lines[-1], "0 passed, 1 failed, 0 skipped")
        return result.text

    def passed(self, pattern, *options):
        result = run(pattern, *options)
        self.assertEqual(result.status, 0, result.text)
        self.assertEqual(result.lines[-1], "1 passed, 0 failed, 0 skipped")
        return result.text

    def test_lists_the_tests_that_match(self):
        result = run("*Val*", "--list")
        self.assertEqual(result.lines, ["sample.Some/Values.AreSeen/0", "sample.Some/Values.AreSeen/1"])

    def test_leaves_out_exceptions(self):
        result = run("Some/*", "--except", "*/1", "--list")
        self.assertEqual(result.lines, ["sample.Some/Values.AreSeen/0"])

    def test_takes_several_patterns(self):
        result = Run("--filter", "other.* sample.Some/*/0  sample.Log.Is*", "--except", "none *Log*", "--list")
        self.assertEqual(result.lines, ["sample.Some/Values.AreSeen/0"])

    def test_fails_when_a_pattern_matches_nothing(self):
        for patterns in ("other.*", "sample.Some/*/0 other.*"):
            with self.subTest(patterns):
                result = Run("--filter", patterns)
                self.assertEqual(result.status, 1)
                self.assertIn("# no test matches other.*", result.lines)

    def test_fails_when_no_test_is_left(self):
        result = Run("--filter", "sample.Some/*", "--except", "*Values*")
        self.assertEqual(result.status, 1)
        self.assertIn("# no test is left", result.lines)

    def test_patterns_for_tests_with_peers_are_in_order_without_peers(self):
        self.assertEqual(Run("--filter", "sample.Some/*/0 net.* datnet.*").status, 0)

    def test_refuses_unknown_options_and_bad_numbers(self):
        for options in (["--what"], ["--filter"], ["--time-limit", "-1"], ["--time-factor", "x"]):
            with self.subTest(options):
                done = subprocess.run([RUNNER, *options], capture_output=True, check=False)
                self.assertEqual((done.returncode, done.stdout), (2, b""))
                self.assertTrue(done.stderr)

    def test_lists_kernel_selftests(self):
        result = Run("--filter", "ktap.*", "--list")
        self.assertEqual(sorted(result.lines), ["ktap.global.fails", "ktap.global.passes", "ktap.global.skips",
                                                "ktap.global.stops", "ktap.several.one.is_one",
                                                "ktap.several.two.is_one"])

    def test_runs_one_kernel_selftest(self):
        result = Run("--filter", "ktap.global.passes")
        self.assertEqual(result.lines[-2:], ["ok 1 - ktap.global.passes", "1 passed, 0 failed, 0 skipped"])
        self.assertEqual(result.status, 0)

    def test_shows_why_kernel_selftests_failed(self):
        result = Run("--filter", "ktap.global.[fs]*s", "--except", "*.skips")
        self.assertEqual(result.lines[-1], "0 passed, 2 failed, 0 skipped", result.text)
        self.assertRegex(result.text, r"(?m)^# # \S*ktap\.c:\d+:fails:Expected 1 \(1\) == 2 \(2\)")
        self.assertRegex(result.text, r"(?m)^# # \S*ktap\.c:\d+:stops:Expected 3 \(3\) == 4 \(4\)")

    def test_shows_why_a_kernel_selftest_was_skipped(self):
        result = Run("--filter", "ktap.global.skips")
        self.assertIn("ok 1 - ktap.global.skips # SKIP no device", result.lines)
        self.assertEqual(result.lines[-1], "0 passed, 0 failed, 1 skipped")

    def test_runs_each_variant_of_a_kernel_selftest(self):
        result = Run("--filter", "ktap.several.*")
        self.assertIn("ok 1 - ktap.several.one.is_one", result.lines)
        self.assertIn("not ok 2 - ktap.several.two.is_one", result.lines)

    def test_shows_notes_of_a_test_that_passes(self):
        self.assertIn("ok 1 - sample.Results.Passes\n# a figure\n", self.passed("Results.Passes"))

    def test_runs_each_value_of_a_parameter(self):
        result = run("Some/*")
        self.assertEqual(result.lines[-1], "2 passed, 0 failed, 0 skipped", result.text)

    def test_shows_why_a_test_failed(self):
        self.assertIn("# as it should", self.failed("Results.Fails"))

    def test_shows_why_a_test_was_skipped(self):
        result = run("Results.Skips")
        self.assertIn("ok 1 - sample.Results.Skips # SKIP no device", result.lines)
        self.assertEqual(result.lines[-1], "0 passed, 0 failed, 1 skipped")
        self.assertEqual(result.status, 0)

    def test_fails_a_test_that_ends_without_a_result(self):
        self.assertIn("# no test ran", self.failed("Results.ExitsEarly"))

    def test_fails_a_test_that_dies(self):
        self.assertIn("# killed by signal 9", self.failed("Results.DiesOfSignal"))

    def test_goes_on_when_the_starter_of_tests_dies(self):
        result = run("Results.*", "--except", "*.[FSED]*")
        self.assertRegex(result.text, "not ok 2 - sample.Results.KillsItsStarter")
        self.assertRegex(result.text, "ok 3 - sample.Results.PassesAfterThat")
        self.assertEqual(result.lines[-1], "2 passed, 1 failed, 0 skipped", result.text)

    def failed_in_time(self, pattern, is_there):
        """What is said of a test that fails, and the limit, once the test had the time to."""
        for limit in (1, 4, 16, 64):
            text = self.failed(pattern, "--time-limit", str(limit))
            if is_there(text):
                return text, limit
        return self.fail(text)

    def overrun(self, pattern, is_there):
        """What is said of a test that waits for ever, once it had the time to begin to."""
        text, limit = self.failed_in_time(pattern, is_there)
        self.assertIn(f"# took more than {limit} s", text)
        return text

    def test_ends_a_test_that_waits_for_ever_and_says_where_it_waits(self):
        thread = re.compile(r"^# thread \d+ \(sample.test\) of process \d+: wchan \S+, "
                            r"syscall \d+ .*, at \S*libc\.so\S*\+0x", re.M)
        # The stacks in user space, of both threads: one joins, one pauses.
        joins = re.compile(r"(?m)^# .*libstdc\+\+.*_ZNSt6thread4joinEv")
        pauses = re.compile(r"(?m)^# .*libc\.so.*pause")
        self.overrun("Waits.NeverEnds", lambda text: len(thread.findall(text)) == 2 and joins.search(text) and
                     pauses.search(text))

    def test_says_what_a_test_waits_for(self):
        text = self.overrun("Waits.HasName", re.compile(r"(?m)^# waits for what never comes: \S*sample\.cpp:\d+$").search)
        self.assertNotIn("something else", text)

    def test_says_which_thread_shows_no_stack(self):
        blocks = re.compile(r"(?m)^# thread \d+ of process \d+ blocks the signal that asks for its stack$")
        self.overrun("Waits.BlocksSignals", blocks.search)

    def test_ends_the_children_of_a_test_that_waits_for_ever(self):
        process = re.compile(r"^# thread \d+ \S+ of process (\d+):", re.M)
        self.overrun("Waits.NeverEndsInChild", lambda text: len(set(process.findall(text))) == 2)

    def test_finds_a_process_that_is_left_behind(self):
        self.failed_in_time("Leaves.Process", re.compile(r"# processes left behind: \d+ \(sample\.test\)").search)

    def test_waits_for_a_process_that_is_about_to_end(self):
        self.passed("Leaves.ProcessThatEnds")

    def test_does_not_count_a_process_with_a_session_of_its_own(self):
        self.passed("Leaves.Daemon")

    def test_finds_a_handle_that_is_left_behind(self):
        self.failed_in_time("Leaves.Handle", re.compile("# left behind: handles 1; before: handles 0").search)

    def test_finds_a_report_in_the_kernel_log(self):
        self.assertIn("# BUG: KASAN: use-after-free", self.failed("Log.HasReport"))

    def test_knows_reports_that_are_harmless(self):
        self.passed("Log.HasHarmlessReport")
        self.passed("Log.HasMiscountOfSoftRoce")
        self.assertIn("# refcount_t: underflow", self.failed("Log.HasMiscount"))
        self.assertIn("# refcount_t: underflow", self.failed("Log.HasMiscountBelowOurs"))

    def test_says_when_the_kernel_log_was_overwritten(self):
        self.assertIn("# [2 records of the kernel log were overwritten", self.failed("Log.IsOverrun"))

    def test_finds_a_report_of_a_sanitizer_and_shows_it_once(self):
        result = run("Sanitizer.*")
        self.assertIn("# a sanitizer reports:\n# WARNING: ThreadSanitizer: data race\n", result.text)
        self.assertEqual(result.lines[-1], "1 passed, 1 failed, 0 skipped", result.text)

    def interrupted(self, test, number, ignored=None):
        """The signal ends the runner; all processes of the test, which hold a FIFO open, end too.

        A signal that is ignored does nothing: it comes first.
        """
        with tempfile.TemporaryDirectory() as root:
            os.mkfifo(f"{root}/held")
            with subprocess.Popen([RUNNER, "--binaries", BINARIES, "--root", root, "--filter",
                                   f"sample.Interrupted.{test}"], stdout=subprocess.DEVNULL,
                                  env=dict(os.environ, RSM_SAMPLE_ROOT=root),
                                  preexec_fn=lambda: set_interrupts(ignored)) as runner, \
                    open(f"{root}/held", "rb", buffering=0) as held:
                self.assertEqual(held.read(1), b"x")
                if ignored is not None:
                    runner.send_signal(ignored)
                runner.send_signal(number)
                self.assertEqual(held.read(1), b"")
                self.assertEqual(runner.wait(), -number)

    def test_ends_the_processes_of_a_test_when_it_is_interrupted(self):
        for number in INTERRUPTS:
            with self.subTest(number):
                self.interrupted("TwoProcesses", number)

    def test_goes_on_after_a_signal_that_it_was_started_to_ignore(self):
        self.interrupted("TwoProcesses", signal.SIGTERM, ignored=signal.SIGHUP)
        self.interrupted("TwoProcesses", signal.SIGTERM, ignored=signal.SIGINT)

    def test_ends_a_test_when_it_is_killed(self):
        self.interrupted("OneProcess", signal.SIGKILL)

    def test_says_how_long_a_test_took(self):
        self.assertRegex(self.passed("Results.Passes", "--times"), r"(?m)^# took \d+ ms$")


unittest.main()
