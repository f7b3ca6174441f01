# SPDX-License-Identifier: GPL-2.0
"""What has been counted so far, in a file."""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

VERSION = 1
# Seeds of slices that failed are all kept, of others so many.
SEEDS = 20


def _load(path: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if data.get("version") != VERSION:
        raise SystemExit(f"{path}: not of this version; move it away")
    return data


def _mended(bar: dict[str, Any]) -> int:
    """How many failures of a bar have a note of what was mended."""
    return sum("mended" in failure for failure in bar["failures"])


class State:
    """The file's contents: for each bar counts, seconds, slices, seeds and failures. If there is no such file, the
    contents of the file that was recorded last, of another clone or machine."""

    def __init__(self, path: Path, recorded: Path | None = None) -> None:
        self.path = path
        self._recorded = recorded
        self._load()

    def _load(self) -> None:
        self._data: dict[str, Any] = {"version": VERSION, "bars": {}, "last": "", "date": ""}
        for source in (self.path, self._recorded):
            if source and source.exists():
                self._data = _load(source)
                break

    @contextlib.contextmanager
    def changed(self) -> Iterator[None]:
        """The file as it is now, changed by nobody else until it is saved: several runs may count into one file."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._load()
            yield
            self.save()

    def bar(self, name: str) -> dict[str, Any]:
        bar: dict[str, Any] = self._data["bars"].setdefault(name, {
            "counts": {}, "worst": {}, "latest": {}, "seconds": 0.0, "slices": 0, "seeds": [],
            "failures": [], "unable": "", "kernels": [], "date": ""})
        return bar

    def lacks(self, other: "State") -> bool:
        """Whether another state has more slices of a bar, or notes of what was mended, which this one would lose."""
        return any(bar["slices"] > self.bar(name)["slices"] or _mended(bar) > _mended(self.bar(name))
                   for name, bar in other._data["bars"].items())

    @property
    def date(self) -> str:
        """The day of the last slice."""
        return max((str(bar["date"]) for bar in self._data["bars"].values()), default="")

    @property
    def last(self) -> str:
        """The bar of the last slice: the next one is another's."""
        return str(self._data["last"])

    @last.setter
    def last(self, name: str) -> None:
        self._data["last"] = name

    def mend(self, seed: int, why: str) -> bool:
        """Notes what has been mended since slices with this seed failed; false if none has failed."""
        found = [failure for bar in self._data["bars"].values() for failure in bar["failures"] if failure["seed"] == seed]
        for failure in found:
            failure["mended"] = why
        return bool(found)

    def count(self, name: str, what: str, number: int) -> None:
        counts = self.bar(name)["counts"]
        counts[what] = counts.get(what, 0) + number

    def add(self, name: str, seconds: float, seed: int, date: str) -> None:
        bar = self.bar(name)
        bar["seconds"] += seconds
        bar["slices"] += 1
        bar["date"] = date
        bar["seeds"] = (bar["seeds"] + [seed])[-SEEDS:]

    def save(self, path: Path | None = None) -> None:
        """Replaces the file in one step: a reader, or the next run, never sees half of it."""
        path = path or self.path
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        with new.open("w", encoding="utf-8") as stream:
            json.dump(self._data, stream, indent=1, sort_keys=True)
            stream.write("\n")
            stream.flush()
            os.fsync(stream.fileno())
        new.replace(path)
