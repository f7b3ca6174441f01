# SPDX-License-Identifier: GPL-2.0
"""Runs slices of bars, and counts."""

import contextlib
import datetime
import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from .bars import Bar
from .state import State

CANNOT_RUN = 77
# A run that is watched counts here. A bar may run without a debug kernel now and then.
WATCH = "R1"
DEBUG_KERNEL = re.compile(r"-(?:debug|rsm-uml)$")
# As tests/kselftest/src/runner/kernel.cpp has them; each in lines of a kernel.
REPORT = re.compile(r"\b(?:BUG: |KASAN: |UBSAN: |KCSAN: |WARNING: (?!.*\bdrivers/infiniband/sw/rxe/)|Oops: |"
                    r"possible (?:recursive locking|circular locking|irq lock inversion)|"
                    r"suspicious RCU usage|unreferenced object 0x|refcount_t: |general protection fault)")
SAID = re.compile(r"(count|worst|latest|kernel) (.+)")


class Slice:
    """What a command has said."""

    def __init__(self) -> None:
        self.counts: list[tuple[str, int]] = []
        self.worst: list[tuple[str, int]] = []
        self.latest: list[tuple[str, str]] = []
        self.kernels: list[str] = []
        self.reports = 0
        self.last = ""

    def take(self, line: str) -> None:
        self.reports += bool(REPORT.search(line))
        if line.strip():
            self.last = line.strip()
        said = SAID.fullmatch(line.rstrip("\n"))
        if not said:
            return
        kind, rest = said.groups()
        name, _, value = rest.rpartition(" ")
        if kind == "kernel":
            self.kernels.append(rest)
        elif kind == "latest" and name:
            self.latest.append((name, value))
        elif name and value.isdigit():
            (self.counts if kind == "count" else self.worst).append((name, int(value)))


class Driver:
    """Slices in turn, until time is up or somebody interrupts."""

    def __init__(self, bars: Sequence[Bar], state: State, logs: Path, seed: int | None = None) -> None:
        self._bars = bars
        self._state = state
        self._logs = logs
        self._seed = random.SystemRandom().randrange(1, 1 << 31) if seed is None else seed
        self._process: subprocess.Popen[str] | None = None
        self._stopped = False
        # Slices of this run whose bar could run.
        self._able = 0

    def run(self, seconds: float, slices: int = 0) -> int:
        """0 if all slices of this run were in order; 1, too, if none of their bars can run here."""
        previous = {number: signal.signal(number, self._stop) for number in (signal.SIGINT, signal.SIGTERM)}
        begin = time.monotonic()
        failed = done = 0
        try:
            for bar in self._turns():
                left = seconds - (time.monotonic() - begin)
                if self._stopped or left <= 0 or (slices and done >= slices):
                    break
                failed += not self._slice(bar, max(1, min(bar.slice, int(left))))
                done += 1
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)
        if done and not self._able and not self._stopped:
            print("no bar can run here: nothing was counted", flush=True)
            return 1
        return 1 if failed else 0

    def _turns(self):  # type: ignore[no-untyped-def]
        """The bars again and again, from the one behind the last one of the run before."""
        names = [bar.name for bar in self._bars]
        place = names.index(self._state.last) + 1 if self._state.last in names else 0
        while self._bars:
            yield self._bars[place % len(self._bars)]
            place += 1

    def _stop(self, *_: object) -> None:
        self._stopped = True
        self._end_process()

    def _end_process(self) -> None:
        if self._process:
            # The process may have ended just now.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGTERM)

    def _slice(self, bar: Bar, seconds: int) -> bool:
        seed, self._seed = self._seed, self._seed + 1
        now = datetime.datetime.now().replace(microsecond=0)
        log = self._logs / f"{bar.name}-{now:%Y%m%dT%H%M%S}-{seed}.log"
        print(f"{now:%H:%M:%S} {bar.name}: {seconds} s, seed {seed}: {bar.title}", flush=True)
        begin = time.monotonic()
        status, said = self._execute([*bar.command, str(seconds), str(seed)], log)
        if self._stopped:
            print(f"{bar.name}: interrupted, not counted", flush=True)
            return True
        self._able += status != CANNOT_RUN
        with self._state.changed():
            self._record(bar, said, status, seed, time.monotonic() - begin, log)
        return status in (0, CANNOT_RUN) and not said.reports

    def _execute(self, command: list[str], log: Path) -> tuple[int, Slice]:
        log.parent.mkdir(parents=True, exist_ok=True)
        said = Slice()
        with log.open("w", encoding="utf-8") as stream:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                             stderr=subprocess.STDOUT, text=True, errors="replace",
                                             start_new_session=True)
            # A signal that came before the line above had its value has ended nothing.
            if self._stopped:
                self._end_process()
            assert self._process.stdout
            for line in self._process.stdout:
                stream.write(line)
                said.take(line)
            status = self._process.wait()
        self._process = None
        return status, said

    def _record(self, bar: Bar, said: Slice, status: int, seed: int, seconds: float, log: Path) -> None:
        date = datetime.date.today().isoformat()
        entry = self._state.bar(bar.name)
        entry["unable"] = said.last if status == CANNOT_RUN else ""
        for name, number in said.counts:
            self._state.count(bar.name, name, number)
        for name, number in said.worst:
            entry["worst"][name] = max(number, entry["worst"].get(name, number))
        entry["latest"].update(said.latest)
        entry["kernels"] = sorted({*entry["kernels"], *said.kernels})
        if status != CANNOT_RUN:
            self._state.add(bar.name, seconds, seed, date)
        if status not in (0, CANNOT_RUN):
            entry["failures"].append({"seed": seed, "date": date, "status": status, "log": log.name,
                                      "last": said.last})
        if bar.watched and status != CANNOT_RUN and (said.reports or any(map(DEBUG_KERNEL.search, said.kernels))):
            self._state.count(WATCH, "reports", said.reports)
            self._state.count(WATCH, "runs watched", 1)
            self._state.add(WATCH, seconds, seed, date)
        self._state.last = bar.name
        verdict = {0: "in order", CANNOT_RUN: f"can't run: {said.last}"}.get(status, f"FAILED, see {log}")
        counts = ", ".join(f"{number} {name}" for name, number in said.counts)
        print(f"{bar.name}: {verdict}{': ' + counts if counts else ''}", flush=True)
