# SPDX-License-Identifier: GPL-2.0
"""Sees the chosen stages through."""

import os
import signal
import time

from . import junit, times
from .display import Display
from .schedule import Plan, foresee
from .stage import Run, Unreached

POLL_SECONDS = 0.5


class Check:
    """One run of the stages."""

    def __init__(self, stages, logs):
        self._stages = stages
        self._logs = logs
        self._expected = times.expected(stages)
        # One more than there are: guests wait for their devices, for each other, and for what does not come.
        processors = (os.cpu_count() or 1) + 1
        self._plan = Plan(stages, self._expected, processors)
        self._display = Display(len(stages), foresee(stages, self._expected, processors))
        self._running = []
        self._signal = None
        self.runs = []

    def _start_ready(self):
        while lost := self._plan.unreachable():
            stage, name = lost
            cause = next(run for run in self.runs if run.stage.name == name)
            self._finish(Unreached(stage, cause))
        while stage := self._plan.next():
            run = Run(stage, self._logs, self._expected[stage.name])
            self._running.append(run)
            self._display.start(run)

    def _finish(self, run):
        self.runs.append(run)
        self._display.end(run)
        junit.write(self._logs / "junit.xml", self.runs)

    def _poll(self):
        for run in [run for run in self._running if run.poll()]:
            self._running.remove(run)
            self._plan.ended(run.stage, run.verdict == "passed")
            self._finish(run)

    def interrupt(self, signum, _frame):
        """A signal's handler, which may run between any two steps: follow() looks at what it notes."""
        self._signal = signum

    @property
    def signal(self):
        """The signal that has ended the run."""
        return self._signal

    def follow(self):
        """Sees all stages through, or ends those that run when a signal comes."""
        try:
            while (self._plan or self._running) and not self._signal:
                self._start_ready()
                self._poll()
                self._display.progress(self._running)
                if self._running:
                    time.sleep(POLL_SECONDS)
        finally:
            for run in self._running:
                run.stop()
                self.runs.append(run)
            junit.write(self._logs / "junit.xml", self.runs)
            times.remember(self.runs)

    def summary(self):
        """The table and the last lines; True when all was well."""
        known = {run.stage.name for run in self.runs}
        rest = [stage for stage in self._stages if stage.name not in known]
        self._display.table(self.runs, rest)
        bad = [run.stage.name for run in self.runs if run.verdict not in ("passed", "skipped")]
        if bad:
            print("failed stages:", *bad)
        print(f"logs and junit.xml are in {self._logs}")
        totals = [sum(run.counter.count(verdict) for run in self.runs)
                  for verdict in ("passed", "failed", "skipped")]
        print("{} passed, {} failed, {} skipped".format(*totals), flush=True)
        return bool(self.runs) and not bad and not rest


def run(stages, logs):
    """Runs the stages, with logs and junit.xml in a directory; the exit status of tests/check/run."""
    logs.mkdir(parents=True, exist_ok=True)
    for old in (*logs.glob("*.log"), *logs.glob("*.xml")):
        old.unlink()
    check = Check(stages, logs)
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, check.interrupt)
    check.follow()
    good = check.summary()
    return 128 + check.signal if check.signal else 0 if good else 1
