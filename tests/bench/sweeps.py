# SPDX-License-Identifier: GPL-2.0
"""Figures that are measured at several points: which plots show them, and with which words."""

import figures

# Each plot: its name, its title, and its panels: a title, the figures whose times it shows (one of them often is
# measured several times, beside one floor after the other: then only the first is drawn), and whose floors.
PLOTS = {
    "one": [("puts", "RSMAPI over loopback: put and get of any size",
             [("put", ("put",), ("put",)), ("get", ("get",), ("get",))])],
    "dat": [("transfers", "uDAPL over RSM between two processes, of any size",
             [("write and read", ("dat_write", "dat_read"), ("dat_write",)),
              ("message, half a round trip", ("dat_send",),
               ("dat_send", "dat_send_ucx", "dat_send_fabric", "dat_send_tcp"))])],
}
# Figures of these plots that compare a way with a quicker one of the same library.
CASES = {"dat": [("cases", "uDAPL over RSM: cases that take other ways than the quick one",
                  ("dat_unaligned", "dat_write_only", "dat_contexts", "dat_suppress", "dat_poll", "dat_wake",
                   "dat_connect"))]}


def byte_text(size):
    """8, 64K, 1M."""
    for unit in ("", "K", "M", "G"):
        if size < 1024 or size % 1024:
            return f"{size}{unit}"
        size //= 1024
    return f"{size}T"


def points(report, test, key):
    """Sizes and times of one curve, of a figure or of its floor."""
    chosen = sorted((figure["parameters"]["size"], figure[key]) for figure in report["figures"]
                    if figures.test_name(figure) == test and figures.has_sizes(figure)
                    and figure["parameters"].get("threads", 1) == 1)
    return [size for size, _ in chosen], [time for _, time in chosen]


def text_of(report, test, key):
    """What a figure measures, or what its floor is."""
    return next(figure[key] for figure in report["figures"] if figures.test_name(figure) == test)


def curves(report, shown, floors):
    """Sizes, times, label and whether it is a floor, of each curve that the report has."""
    for test, key, name in [(test, "figure_ns", "figure") for test in shown] + \
                           [(test, "floor_ns", "floor") for test in floors]:
        sizes, times = points(report, test, key)
        if sizes:
            yield sizes, times, text_of(report, test, name), key == "floor_ns"


def case_text(figure):
    """What was measured, with its parameters."""
    values = [f"{byte_text(value)} bytes" if name == "size" else f"{value} {name}"
              for name, value in figure.get("parameters", {}).items() if name == "size" or value > 1]
    return figure["figure"] + (f" ({', '.join(values)})" if values else "")


def names(run, report):
    """The names of those plots, without drawing."""
    for name, _, panels in PLOTS.get(run, []):
        if any(list(curves(report, shown, floors)) for _, shown, floors in panels):
            yield name
    for name, _, tests in CASES.get(run, []):
        if any(figures.test_name(figure) in tests and figure.get("parameters") and "ratio" in figure
               for figure in report["figures"]):
            yield name


def title(wanted):
    """The title of a plot."""
    return next(plot[1] for plots in (*PLOTS.values(), *CASES.values()) for plot in plots if plot[0] == wanted)
