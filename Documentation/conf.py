# SPDX-License-Identifier: MIT
"""Sphinx: see tools/make-docs, which puts the sources together."""

import os
import re
import sys

# Options have the names that Sphinx gives them.
# pylint: disable=invalid-name

# tools/make-docs puts a copy of module rsm beside the sources.
sys.path.insert(0, os.path.abspath("../python"))

project = "RSM for Linux"
author = "the authors of RSM for Linux"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["colon_fence"]
# "security.md#trust" goes to the heading of that name.
myst_heading_anchors = 3
suppress_warnings = ["highlighting_failure"]
highlight_language = "none"
pygments_style = "friendly"
manpages_url = "man/{page}.{section}.html"

# The library itself is not needed, and need not be built.
autodoc_mock_imports = ["rsm.native"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"

html_theme = "alabaster"
html_theme_options = {"page_width": "75em", "sidebar_width": "17em", "fixed_sidebar": True,
                      "description": "Remote Shared Memory, and uDAPL 1.2"}
html_sidebars = {"**": ["about.html", "searchbox.html", "navigation.html"]}
html_static_path = ["_static"]
html_css_files = ["manual.css"]
html_show_sourcelink = False
html_show_copyright = False
html_copy_source = False

# Types of the compiler, the kernel and Python, which are described elsewhere.
nitpick_ignore_regex = [("c:identifier", r".*"), ("c:type", r".*"), ("py:.*", r".*")]


def describe_parameters(_app, what, _name, _obj, _options, lines):
    """Makes fields of a comment's lines "NAME: TEXT", as Sphinx wants them."""
    if what == "module":
        lines.clear()
    in_fields = False
    for number, line in enumerate(lines):
        field = re.match(r"(\w+): ", line)
        if field and (in_fields or number == 0 or not lines[number - 1]):
            kind = "raises" if field[1][0].isupper() else "param"
            lines[number] = f":{kind} {line}"
            in_fields = True
        elif not line.startswith(" "):
            in_fields = False


def setup(app):
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", describe_parameters)
