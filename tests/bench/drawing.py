# SPDX-License-Identifier: GPL-2.0
"""Plots as files of the tree: the same input gives the same file, with text that a reader can search."""

import io

import matplotlib

matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "rsm", "font.size": 9,
                            "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"]})


def write(path, canvas, metadata):
    """An SVG with the licence in its first lines."""
    text = io.StringIO()
    canvas.savefig(text, format="svg", facecolor="white", metadata={"Date": None} | metadata)
    declaration, rest = text.getvalue().split("\n", 1)
    lines = [declaration, "<!-- SPDX-License-Identifier: MIT -->", *(line.rstrip() for line in rest.splitlines())]
    path.write_text("\n".join(lines) + "\n")
