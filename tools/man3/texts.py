# SPDX-License-Identifier: GPL-2.0
"""Reads Documentation/man3/NAME.txt: the text of a page that would be too long for the header.

Documentation/man3/examples/*.c has the EXAMPLES: programs that the tests compile, in which a comment that begins with
"example:" names the pages that show what follows it.

Paragraphs, in the form of those of a comment. The first says what the function does, and the prose of the comment
follows it; the others are the rest of DESCRIPTION. Those behind a line "NOTES" are that section.
"""

import re
from dataclasses import dataclass, field

from .comments import DocumentError, split_paragraphs


@dataclass
class Text:
    """The paragraphs that a file adds to a page."""
    description: list = field(default_factory=list)
    notes: list = field(default_factory=list)


class Texts:
    """The texts of a directory by the name of the function."""

    def __init__(self, directory):
        self.texts = {path.stem: read(path) for path in sorted(directory.glob("*.txt"))}

    def of(self, name):
        return self.texts.get(name) or Text()

    def check(self, names):
        """Each text is of a function that has a page of its own."""
        for name in set(self.texts) - set(names):
            raise DocumentError(f"Documentation/man3/{name}.txt: there is no such page")


MARK = re.compile(r"^/\*\s*(?:\* )?example:(.*?)\*/\n", re.M | re.S)


class Excerpts:
    """What the comments of examples mark, by the name of the function."""

    def __init__(self, directory):
        self.excerpts = {}
        for path in sorted(directory.glob("*.c")):
            _, *parts = MARK.split(path.read_text())
            for names, text in zip(parts[::2], parts[1::2]):
                for name in re.findall(r"\w+", names):
                    self.excerpts.setdefault(name, []).append(text.strip("\n"))

    def of(self, name):
        return self.excerpts.get(name, [])

    def check(self, names):
        """Each excerpt is of a function that has a page of its own."""
        for name in set(self.excerpts) - set(names):
            raise DocumentError(f"Documentation/man3/examples: there is no page {name}")


def read(path):
    lines = [line for line in path.read_text().splitlines() if not line.startswith("# SPDX-")]
    paragraphs = split_paragraphs(lines)
    cut = paragraphs.index("NOTES") if "NOTES" in paragraphs else len(paragraphs)
    if not paragraphs[:cut]:
        raise DocumentError(f"{path.name}: it describes nothing")
    return Text(paragraphs[:cut], paragraphs[cut + 1:])
