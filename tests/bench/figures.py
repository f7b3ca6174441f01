# SPDX-License-Identifier: GPL-2.0
"""Reports of rsmperf that the tree keeps, and what is made of them."""

import hashlib
import json
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
# A report of each run of tests/bench/run, in the form of "rsmperf --json", with the day of its recording.
RECORDED = TREE / "tests/bench/recorded.json"
# Each run with the name of its plot.
RUNS = {"one": "loopback", "two": "guests", "dat": "udapl", "rdma": "hosts"}


def load(path=RECORDED):
    """The reports of a file; none where there is no file."""
    return json.loads(path.read_text()) if path.exists() else {}


def save(reports, path=RECORDED):
    """Writes the reports of some runs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(reports, indent=1) + "\n")


def without_samples(report):
    """The report that the tree keeps: of each figure's times the minimum and percentiles, not each sample."""
    def side(figure, key):
        return {key: {name: value for name, value in figure[key].items() if name != "samples_ns"}} if key in figure else {}
    return report | {"figures": [figure | side(figure, "figure_times") | side(figure, "floor_times")
                                 for figure in report["figures"]]}


def has_sizes(figure):
    """Whether a figure is a point of a curve."""
    return "size" in figure.get("parameters", {}) and "ratio" in figure


def test_name(figure):
    """The name of a figure without its parameters."""
    return figure["name"].split("/", 1)[0]


def digest(report):
    """Names the contents of a report: a plot carries the name of the report that it shows."""
    return hashlib.sha256(json.dumps(report, sort_keys=True).encode()).hexdigest()[:16]


def time_text(nanoseconds):
    """A time, with three digits and the unit that fits."""
    for unit in ("ns", "µs", "ms"):
        if nanoseconds < 999.5:
            break
        nanoseconds /= 1000
    else:
        unit = "s"
    return f"{three_digits(nanoseconds)} {unit}"


def three_digits(number):
    """A number as 0.0115, 1.00, 40.3 or 304."""
    text = f"{number:#.3g}".rstrip(".")
    return f"{number:.0f}" if "e" in text else text


def ratio_text(figure):
    """The ratio of a figure; with one more digit where three would hide that it is above its limit."""
    if "ratio" not in figure:
        return "-"
    text = three_digits(figure["ratio"])
    if figure["verdict"] == "miss" and float(text) <= figure["at_most"] and "figure_ns" in figure:
        return f"{figure['figure_ns'] / figure['floor_ns']:.3f}"
    return text
