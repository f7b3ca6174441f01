# SPDX-License-Identifier: GPL-2.0
"""What tests/check/run shows: a line for each start and end, and on a terminal how far it is."""

import shutil
import sys
import time

# Where output goes to a file, a line in this many seconds says that all is well.
SIGN_OF_LIFE = 60
WIDTH = 20


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


class Display:
    """Lines that stay, and one in place."""

    def __init__(self, stages, foreseen):
        self._total = stages
        self._foreseen = foreseen
        self._started = 0
        self._terminal = sys.stdout.isatty()
        self._begin = self._said = time.monotonic()
        self._say(f"{stages} stages, about {clock(foreseen)} min in all")

    @property
    def elapsed(self):
        return time.monotonic() - self._begin

    def _say(self, text):
        if self._terminal:
            sys.stdout.write("\r\x1b[K")
        print(text, flush=True)
        self._said = time.monotonic()

    def start(self, run):
        self._started += 1
        self._say(f"start   {run.stage.name:{WIDTH}} {self._started}/{self._total} at {clock(self.elapsed)},"
                  f" expected {clock(run.expected)}")

    def end(self, run):
        """Its result, and what tells why where it failed."""
        count = run.counter.count
        counts = f"{count('passed')} passed, {count('failed')} failed, {count('skipped')} skipped"
        word = {"passed": "ok", "failed": "FAILED", "skipped": "skip"}[run.verdict]
        told = [run.reason] if run.verdict == "skipped" else [counts, run.reason]
        self._say(f"{word:7} {run.stage.name:{WIDTH}} {clock(run.seconds):>6}  {': '.join(filter(None, told))}")
        if run.verdict == "failed" and run.path:
            self._say(f"        from {run.path}:")
            for line in run.log.excerpt():
                self._say(f"        {line}")

    def progress(self, runs):
        """How far those are that run."""
        if not self._terminal and time.monotonic() - self._said < SIGN_OF_LIFE:
            return
        parts = [f"{run.stage.name} {self._far(run)}" for run in runs]
        text = f"[{clock(self.elapsed)} of about {clock(self._foreseen)}] " + "; ".join(parts)
        if not self._terminal:
            self._say(text)
            return
        width = shutil.get_terminal_size().columns - 1
        sys.stdout.write(f"\r\x1b[K{text[:width]}")
        sys.stdout.flush()

    @staticmethod
    def _far(run):
        counter = run.counter
        if run.stage.kind == "one" or not counter.planned:
            return f"{clock(run.seconds)}/{clock(run.expected)}"
        failed = f", {counter.count('failed')} FAILED" if counter.count("failed") else ""
        return f"{len(counter.cases)}/{counter.planned}{failed}"

    def table(self, runs, unreached):
        """All stages, with the processors' time too; at an interrupt what there is."""
        self._say("")
        self._say(f"{'stage':{WIDTH}} {'result':11} {'time':>6} {'expected':>8} {'cpu':>6} "
                  f"{'passed':>6} {'failed':>6} {'skipped':>7}")
        for run in runs:
            count = run.counter.count
            self._say(f"{run.stage.name:{WIDTH}} {run.verdict:11} {clock(run.seconds):>6} "
                      f"{clock(run.expected):>8} {clock(run.processor_seconds):>6} {count('passed'):6} "
                      f"{count('failed'):6} {count('skipped'):7}")
        for stage in unreached:
            self._say(f"{stage.name:{WIDTH}} not run")
        self._say(f"took {clock(self.elapsed)} min")
