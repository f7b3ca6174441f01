# SPDX-License-Identifier: GPL-2.0
"""Curves: time of an operation of any size, beside what others take for it; and factors of slow cases."""

import figures
import sweeps
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

GREY = "#666666"
COLOURS = ("#4575b4", "#c0392b", "#1b7837", "#e08214", "#762a83", "#35978f", "#888888")


def draw_panel(axes, title, drawn):
    """Times over sizes, both in powers."""
    for number, (sizes, times, label, is_floor) in enumerate(drawn):
        axes.plot(sizes, times, "o--" if is_floor else "o-", color=COLOURS[number % len(COLOURS)], label=label,
                  linewidth=1.4, markersize=3.5)
    ticks = [8 ** power for power in range(1, 10) if 8 ** power <= 1.5 * max(max(sizes) for sizes, *_ in drawn)]
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(ticks, [sweeps.byte_text(tick) for tick in ticks])
    axes.yaxis.set_major_formatter(lambda value, _: figures.time_text(value).replace(".00", "").replace(".0", ""))
    axes.set_xlabel("bytes")
    axes.set_title(title, fontsize=9)
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.spines[["right", "top"]].set_visible(False)
    axes.legend(frameon=False, fontsize=7.5)


def heading(canvas, title, report):
    """The title, and what was measured where."""
    height = canvas.get_size_inches()[1]
    canvas.text(0.01, 1 - 0.12 / height, title, va="top", fontsize=11, fontweight="bold")
    canvas.text(0.01, 1 - 0.34 / height, f"recorded {report['recorded']} in virtual machines, Linux "
                f"{report['kernel']}; minimum of all batches", va="top", color=GREY, fontsize=8)


def draw_curves(title, panels, report):
    """A plot with a panel beside the other; none where the report has no point of them."""
    drawn = [(name, list(sweeps.curves(report, shown, floors))) for name, shown, floors in panels]
    drawn = [(name, lines) for name, lines in drawn if lines]
    if not drawn:
        return None
    canvas = Figure(figsize=(9.5, 4.2))
    for number, (name, lines) in enumerate(drawn):
        width = 1 / len(drawn)
        axes = canvas.add_axes((number * width + 0.075, 0.13, width - 0.095, 0.66))
        draw_panel(axes, name, lines)
    heading(canvas, title, report)
    return canvas


def draw_cases(title, tests, report):
    """A bar for each case; none where the report has none."""
    shown = [figure for test in tests for figure in report["figures"]
             if figures.test_name(figure) == test and "ratio" in figure]
    if not any("parameters" in figure and figure["parameters"] for figure in shown):
        return None
    height = 0.3 * len(shown) + 1.4
    canvas = Figure(figsize=(9.5, height))
    axes = canvas.add_axes((0.55, 0.6 / height, 0.38, 0.3 * len(shown) / height))
    axes.barh(range(len(shown)), [figure["ratio"] - 1 for figure in shown], left=1, color=COLOURS[0], height=0.6)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.axvline(1, color=GREY, linewidth=1)
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.set_yticks(range(len(shown)), [f"{sweeps.case_text(figure)}\nagainst {figure['floor']}" for figure in shown],
                    fontsize=6.5)
    for row, figure in enumerate(shown):
        axes.text(1.02, row, figures.ratio_text(figure), transform=axes.get_yaxis_transform(), va="center")
    axes.spines[["left", "right", "top"]].set_visible(False)
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel("time as a multiple of the other: less is faster")
    heading(canvas, title, report)
    return canvas


def plots(run, report):
    """Name, title and drawing of each plot that the report has points for."""
    for name, title, panels in sweeps.PLOTS.get(run, []):
        yield name, title, draw_curves(title, panels, report)
    for name, title, tests in sweeps.CASES.get(run, []):
        yield name, title, draw_cases(title, tests, report)
