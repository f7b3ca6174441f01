# SPDX-License-Identifier: GPL-2.0
"""Documentation/reliability.md: nothing that has not been counted."""

from collections.abc import Sequence

from .bars import Bar, Goal
from .state import State

HEAD = """<!-- SPDX-License-Identifier: MIT -->
# Reliability

`make soak HOURS=2` runs slices of the tests below in turn, for hours, and continues where the run before stopped;
`make soak-report` writes this page from what was counted. {when}

A goal that is *not yet* reached has not been counted long enough; one that is *missed* has a count beyond its bound; *failed*
means that a slice of the bar has failed for a reason that is not mended, see [Runs](#runs). Guests are emulated where a machine has no virtualisation, so times
say little. The counts are of all machines that have contributed.

| bar | what | count | goal | so far | |
|---|---|---|---|---|---|
"""


def wanted(goal: Goal) -> str:
    if goal.most is not None:
        return f"at most {goal.most:,}"
    return f"at least {goal.least:,}" if goal.least is not None else "-"


def _told(entry: dict, name: str) -> tuple[str, float | None]:  # type: ignore[type-arg]
    """The name of a figure, and the figure, if there is one."""
    for kind, suffix in (("counts", ""), ("worst", ", the largest of all slices"), ("latest", ", of the last slice")):
        if name in entry[kind]:
            return name + suffix, float(entry[kind][name]) if kind == "latest" else entry[kind][name]
    return name, None


def _verdict(entry: dict, goal: Goal, number: float | None) -> str:  # type: ignore[type-arg]
    verdict = "not yet" if number is None else goal.state(number, entry["slices"])
    if any("mended" not in failure for failure in entry["failures"]) and verdict != "missed":
        return "failed"
    return verdict


def _row(bar: Bar, what: str, goal: Goal, so_far: str, verdict: str) -> str:
    return f"| {bar.name} | {bar.title} | {what} | {wanted(goal)} | {so_far} | {verdict} |"


def rows(bar: Bar, state: State) -> list[str]:
    entry = state.bar(bar.name)
    lines = []
    for goal in bar.goals:
        number = entry["counts"].get(goal.count)
        none = "none counted" if entry["slices"] else "not run"
        lines.append(_row(bar, goal.count, goal, none if number is None else f"{number:,}", _verdict(entry, goal, number)))
    for goal in bar.told:
        what, number = _told(entry, goal.count)
        verdict = _verdict(entry, goal, number) if goal.is_bounded else "-"
        lines.append(_row(bar, what, goal, "not run" if number is None else f"{number:,}", verdict))
    return lines


def details(bar: Bar, state: State) -> list[str]:
    entry = state.bar(bar.name)
    if not entry["slices"]:
        reason = f": {entry['unable']}" if entry["unable"] else ""
        lines = [f"* **{bar.name}** has not run yet{reason}."]
    else:
        kernels = f", kernel {', '.join(entry['kernels'])}" if entry["kernels"] else ""
        lines = [f"* **{bar.name}**: {entry['slices']:,} slice{'' if entry['slices'] == 1 else 's'}, {entry['seconds'] / 3600:.2f} h, last on "
                 f"{entry['date']}{kernels}. Seeds: {', '.join(map(str, entry['seeds']))}."]
    if bar.missing:
        lines.append(f"  Missing: {bar.missing}.")
    for failure in entry["failures"]:
        lines.append(f"  Failed on {failure['date']} with seed {failure['seed']} (status {failure['status']}): "
                     f"`{failure['last']}`." + (f" Mended: {failure['mended']}." if "mended" in failure else ""))
    return lines


def write(bars: Sequence[Bar], state: State) -> str:
    total = sum(state.bar(bar.name)["seconds"] for bar in bars if bar.command)
    when = f"Last slice on {state.date}: {total / 3600:.2f} hours in all." if state.date else "Nothing has run yet."
    table = [row for bar in bars for row in rows(bar, state)]
    text = [line for bar in bars for line in details(bar, state)]
    return HEAD.format(when=when) + "\n".join([*table, "", "## Runs", "", *text, ""])
