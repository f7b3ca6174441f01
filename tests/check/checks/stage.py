# SPDX-License-Identifier: GPL-2.0
"""A stage of tests/check/run, and its run."""

import os
import signal
import subprocess
import time
from dataclasses import dataclass

from .results import Case, Log, Single

CANNOT_RUN = 77


@dataclass(frozen=True)
class Stage:
    """A command that is a test, or runs tests."""

    name: str
    group: str
    # Seconds that it takes on two processors, when nothing is known of this machine.
    seconds: int
    command: tuple
    # How its output is read: "one" test, "tap" or "ctest".
    kind: str = "one"
    # Stages that must have succeeded before.
    needs: tuple = ()
    # Processors that it keeps busy; 0 runs it beside all others.
    processors: int = 1


class Run:
    """One run of a stage; .verdict is passed, failed, skipped, or empty while it goes on."""

    def __init__(self, stage, logs, expected):
        self.stage = stage
        self.expected = expected
        self.path = logs / f"{stage.name}.log"
        self.verdict = ""
        self.reason = ""
        self.processor_seconds = 0.0
        self._begin = time.monotonic()
        self._end = None
        with open(self.path, "wb") as output:
            # A session of its own: an interrupt of the terminal goes to tests/check/run alone.
            self._process = subprocess.Popen(stage.command, stdout=output, stderr=output,
                                             stdin=subprocess.DEVNULL, start_new_session=True)
        self.log = Log(self.path, stage.kind)

    @property
    def seconds(self):
        return (self._end or time.monotonic()) - self._begin

    @property
    def counter(self):
        return self.log.counter

    def poll(self):
        """Reads what has come; True when the stage has ended."""
        self.log.read()
        process, status, usage = os.wait4(self._process.pid, os.WNOHANG)
        if not process:
            return False
        self._process.returncode = os.waitstatus_to_exitcode(status)
        self.processor_seconds = usage.ru_utime + usage.ru_stime
        self._finish(self._process.returncode)
        return True

    def stop(self):
        """Ends the stage, which has not ended by itself."""
        try:
            os.killpg(self._process.pid, signal.SIGTERM)
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        except ProcessLookupError:
            pass
        self.verdict = "interrupted"
        self._end = time.monotonic()
        self.log.close()

    def _finish(self, status):
        self._end = time.monotonic()
        self.log.close()
        if self.stage.kind == "one":
            self._judge_single(status)
        else:
            self._judge_tests(status)

    def _judge_single(self, status):
        if status == CANNOT_RUN:
            said = [line for line in self.path.read_text(errors="replace").splitlines()
                    if line.startswith("SKIP: ")]
            self.reason = said[-1].removeprefix("SKIP: ") if said else "it said not why"
        self.verdict = {0: "passed", CANNOT_RUN: "skipped"}.get(status, "failed")
        detail = self.log.excerpt() if self.verdict == "failed" else [self.reason]
        self.counter.cases.append(Case(self.stage.name, self.verdict, self.seconds, detail))

    def _judge_tests(self, status):
        """Silence is no success: a stage without a result has failed, and one that a test is missing of."""
        count = self.counter.count
        complete = len(self.counter.cases) >= max(1, self.counter.planned)
        good = status == 0 and complete and not count("failed")
        self.verdict = "failed" if not good else "passed" if count("passed") else "skipped"
        if self.verdict == "skipped":
            self.reason = next((case.detail[0] for case in self.counter.cases if case.detail), "it said not why")
        if not good and not count("failed"):
            missing = f"{len(self.counter.cases)} of {self.counter.planned} tests have a result"
            why = f"exit status {status}" if status else missing
            self.counter.cases.append(Case(self.stage.name, "failed", 0, [why, *self.log.excerpt()]))
            self.reason = why


class Unreached:
    """A stage that could not run because another had no success."""

    def __init__(self, stage, cause):
        self.stage = stage
        self.verdict = "skipped" if cause.verdict == "skipped" else "failed"
        self.reason = cause.reason if self.verdict == "skipped" else f"{cause.stage.name} failed"
        self.seconds = self.expected = self.processor_seconds = 0
        self.path = None
        self.counter = Single()
        self.counter.cases.append(Case(stage.name, self.verdict, 0, [self.reason]))
