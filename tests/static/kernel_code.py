# SPDX-License-Identifier: GPL-2.0
"""What the static checks read of kernel/ and of the tables that describe it."""

import re
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
KERNEL = TREE / "kernel"

FUNCTION = re.compile(r"^(?:static |inline |noinline |__always_inline |__init |__exit |const |struct |enum |unsigned )*"
                      r"[\w ]+?[ *]+(\w+)\([^;]*$")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"", re.S)


def _blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def code(path):
    """The text of a file without comments and strings."""
    return COMMENT.sub(_blank, path.read_text())


def functions(path):
    """Name and body of each function of a file, without comments and strings."""
    name, body = None, []
    for line in code(path).splitlines():
        start = FUNCTION.match(line)
        if start and not line.startswith(("#", "\t", " ")):
            name = start[1]
            body = []
        if line.startswith("}") and name:
            yield name, "\n".join(body)
            name = None
        elif name and not start:
            body.append(line)


def sources():
    """The files of kernel/, but those that a build makes and the one of tracepoints, which are macros."""
    return [path for path in sorted([*KERNEL.rglob("*.c"), *KERNEL.rglob("*.h")])
            if not path.name.endswith(".mod.c") and path.name != "trace.h"]


def named(table):
    """What stands in backquotes in the first column of a table, a list of rows."""
    return [name for row in table for name in re.findall(r"`([^`]+)`", row[0])]


def compare(what, in_code, in_table, page):
    """A line for each name that only the code or only the table has, or that has several rows."""
    failures = [f"kernel/{name}: {what} without a row in {page}" for name in sorted(in_code - set(in_table))]
    failures += [f"{page}: `{name}`: a row without code" for name in sorted(set(in_table) - in_code)]
    failures += [f"{page}: `{name}` has two rows" for name in sorted({n for n in in_table if in_table.count(n) > 1})]
    return failures
