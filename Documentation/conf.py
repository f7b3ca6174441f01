# SPDX-License-Identifier: MIT
"""Sphinx: see tools/make-docs, which puts the sources together."""

# Options have the names that Sphinx gives them.
# pylint: disable=invalid-name

project = "RSM for Linux"
author = "the authors of RSM for Linux"
extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence"]
# "security.md#trust" goes to the heading of that name.
myst_heading_anchors = 3
suppress_warnings = ["highlighting_failure"]
highlight_language = "none"

html_theme = "alabaster"
html_theme_options = {"page_width": "70em", "fixed_sidebar": True}
html_extra_path = ["extra"]
html_show_sourcelink = False

# Types of the compiler and the kernel, which are described elsewhere.
nitpick_ignore_regex = [("c:identifier", r".*"), ("c:type", r".*")]
