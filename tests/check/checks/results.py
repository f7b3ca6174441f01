# SPDX-License-Identifier: GPL-2.0
"""Counts the tests of a stage while its log grows."""

import re
from dataclasses import dataclass, field

PLAN = re.compile(r"1\.\.(\d+)$")
NOTHING_PLANNED = re.compile(r"1\.\.0 *# *SKIP\b *(.*)$")
# Indented lines are sub-tests, which KTAP counts within the line that sums them up.
TAP = re.compile(r"(not )?ok \d+(?: -)? ?(.*?)(?:\s*# *(SKIP)\b *(.*))?$")
TOOK = re.compile(r"# took (\d+) ms$")
CTEST = re.compile(r" *\d+/(\d+) Test +#\d+: (.+?) \.{3,} *(?:\*\*\*)?(.+?)  +([\d.]+) sec")
MOST_DETAIL = 60


@dataclass
class Case:
    """One test."""

    name: str
    verdict: str    # passed, failed or skipped
    seconds: float = 0
    detail: list = field(default_factory=list)


class Counter:
    """Tests of a log so far; subclasses know the lines."""

    def __init__(self):
        self.cases = []
        self.planned = 0

    def count(self, verdict):
        return sum(case.verdict == verdict for case in self.cases)

    def take(self, line):
        raise NotImplementedError


class Tap(Counter):
    """TAP and KTAP."""

    def take(self, line):
        if match := PLAN.match(line):
            # A log may hold the output of several programs.
            self.planned += int(match[1])
        elif match := NOTHING_PLANNED.match(line):
            self.planned += 1
            self.cases.append(Case("all", "skipped", detail=[match[1]]))
        elif match := TAP.match(line):
            verdict = "failed" if match[1] else "skipped" if match[3] else "passed"
            self.cases.append(Case(match[2], verdict, detail=[match[4]] if match[4] else []))
        elif self.cases and (match := TOOK.match(line)):
            self.cases[-1].seconds = int(match[1]) / 1000
        elif self.cases and line.startswith("#") and len(self.cases[-1].detail) < MOST_DETAIL:
            self.cases[-1].detail.append(line.lstrip("# "))


class Ctest(Counter):
    """What ctest prints."""

    def take(self, line):
        if not (match := CTEST.match(line)):
            return
        self.planned = int(match[1])
        said = match[3].strip()
        verdict = "passed" if said == "Passed" else "skipped" if said == "Skipped" else "failed"
        self.cases.append(Case(match[2], verdict, float(match[4]), [] if verdict == "passed" else [said]))


class Single(Counter):
    """A stage that is one test: its exit status is the result."""

    def take(self, line):
        pass


KINDS = {"one": Single, "tap": Tap, "ctest": Ctest}


class Log:
    """A log that is read as it grows."""

    def __init__(self, path, kind):
        self.path = path
        self.counter = KINDS[kind]()
        self._stream = open(path, encoding="utf-8", errors="replace")
        self._rest = ""

    def read(self):
        """Takes the lines that have been added."""
        *lines, self._rest = (self._rest + self._stream.read()).split("\n")
        for line in lines:
            self.counter.take(line)

    def close(self):
        self.read()
        if self._rest:
            self.counter.take(self._rest)
        self._stream.close()

    def excerpt(self):
        """The lines that say most of a failure: single tests that failed, or else rsm-vm's reasons, and
        the end."""
        lines = self.path.read_text(errors="replace").splitlines()
        wanted = [number + offset for number, line in enumerate(lines)
                  if line.startswith("not ok ") for offset in range(9)]
        if not wanted:
            reasons = [line for line in lines[:-25] if line.startswith("rsm-vm: ")]
            return reasons[-15:] + lines[-25:]
        return [lines[number] for number in sorted(set(wanted)) if number < len(lines)][:60]
