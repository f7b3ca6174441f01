# SPDX-License-Identifier: GPL-2.0
"""Sets the pages of a library in man(7)."""

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

from .library import UNSAFE

SPDX = '.\\" SPDX-License-Identifier: MIT\n.\\" Made by tools/make-man3 out of <{}>: change that.\n'
CONSTANT = re.compile(r"\b_?(?:RSMERR|RSM|DAT|RLIMIT)_[A-Z0-9_]+\*?|\bPOLLRD(?:NORM|HUP)\b|\bNULL\b")


@dataclass
class Source:
    """What the foot of a page says."""
    version: str
    date: str


def pages(library, source):
    """(name, text) of each page; (name, Path) of a link, for a function that is on another's page."""
    names = {function.name for function in library.functions}
    for function in library.functions:
        if function.page_of:
            yield function.name, Path(f"{function.page_of}.3")
        else:
            yield function.name, Page(library, function, names, source).text()


def escape(text):
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("\"", "\\(dq")


class Page:
    """One page."""

    def __init__(self, library, function, names, source):
        self.library = library
        self.function = function
        self.names = names
        self.source = source
        self.guests = [each for each in library.functions if each.page_of == function.name]

    def text(self):
        title = self.function.name.upper()
        head = SPDX.format(self.library.header) + \
            f'.TH {title} 3 "{self.source.date}" "RSM for Linux {self.source.version}" ' \
            f'"lib{self.library.name}"\n.nh\n.ad l\n'
        return head + "".join(f".SH {title}\n{body}" for title, body in self.sections() if body)

    def sections(self):
        return [("NAME", self.name()), ("LIBRARY", self.link()), ("SYNOPSIS", self.synopsis()),
                ("DESCRIPTION", self.description()), ("PARAMETERS", self.parameters()),
                ("TYPES", self.types()),
                ("RETURN VALUE", self.returns()), ("ERRORS", self.errors()),
                ("HISTORY", self.paragraph(self.library.history_of(self.function))), ("NOTES", self.notes()),
                ("EXAMPLES", self.examples()), ("SEE ALSO", self.see_also())]

    def name(self):
        names = ", ".join([self.function.name] + [guest.name for guest in self.guests])
        return f"{names} \\- {self.purpose()}\n"

    def purpose(self):
        # The words "items of 8 bits" hold for the first function, and not for those that share its page.
        purpose = self.function.purpose
        return re.sub(r" of 8 bits", "", purpose) if self.guests else purpose

    def link(self):
        return f"lib{self.library.name}\n.RB ( \\-l{self.library.name} )\n"

    def synopsis(self):
        members = [self.function] + self.guests
        prototypes = "\n".join(".PP\n.nf\n" + self.prototype(each) + "\n.fi" for each in members)
        return f".nf\n.B #include <{self.library.header}>\n.fi\n{prototypes}\n"

    def prototype(self, function):
        """Bold, parameters slanted, broken where a line would get too long."""
        words = [re.sub(rf"\b{each.name}\b(?=(\[\])?$)", "@" + each.name, each.declaration)
                 for each in function.parameters]
        lines = textwrap.wrap(", ".join(word.replace(" ", "\x00") for word in words), 60,
                              break_long_words=False, break_on_hyphens=False) or ["void"]
        lines[0] = function.type + function.name + "(" + lines[0]
        lines[-1] += ")" + ("" if function.is_macro else ";")
        return "\n".join(self.bold(line if number == 0 else "    " + line)
                         for number, line in enumerate(lines))

    @staticmethod
    def bold(line):
        line = escape(line.replace("\x00", " "))
        return "\\fB" + re.sub(r"@(\w+)", r"\\fI\1\\fB", line) + "\\fP"

    def description(self):
        own = self.library.paragraphs_of(self.function)
        blocks = [self.paragraph(self.without_threads(each)) for each in own]
        blocks += [self.paragraph(f"{guest.name}() {self.guest(guest)}.") for guest in self.guests]
        return ".PP\n".join(block for block in blocks if block.strip())

    def notes(self):
        """May threads call it at once? And what its text says besides."""
        threads = self.library.threads(self.function)
        return ".PP\n".join(map(self.paragraph, [threads, *self.library.notes_of(self.function)]))

    @staticmethod
    def guest(guest):
        if guest.is_macro:
            return "is a macro that does the same: " + guest.purpose
        return "does the same" + guest.purpose.removeprefix(f"as {guest.page_of}()")

    @staticmethod
    def without_threads(text):
        return UNSAFE.sub("", text)

    def parameters(self):
        return "".join(f".TP\n.I {each.name}\n{self.paragraph(each.text)}" for each in self.function.parameters)

    def types(self):
        texts = self.library.types.of(self.function)
        return ".PP\n".join(f".nf\n{self.code(text)}\n.fi\n" for text in texts)

    @staticmethod
    def code(text):
        lines = escape(re.sub(r"/\*\*<?", "/*", text.expandtabs(4))).splitlines()
        return "\n".join("\\&" + line if line[:1] in ".'" else line for line in lines)

    def returns(self):
        return self.paragraph(self.library.returns_of(self.function))

    def errors(self):
        listed = self.library.errors_of(self.function) if self.library.has_status(self.function) else []
        return "".join(map(self.error, listed)) or "None.\n"

    def examples(self):
        blocks = [(f"{self.paragraph(name + ':')}.PP\n" if name else "") + f".nf\n{self.code(text)}\n.fi\n"
                  for name, text in self.library.examples_of(self.function)]
        return ".PP\n".join(blocks)

    def error(self, error):
        names = error.name
        reason = error.reason
        if error.subtype.startswith("that of "):
            reason = f"the state of {error.subtype.removeprefix('that of ')} forbids the call; the subtype, " \
                     "DAT_INVALID_STATE_EP_*, names that state"
        elif error.subtype:
            names += ", " + error.subtype
            reason = self.of_argument(error.subtype, reason)
        reason = reason[:1].upper() + reason[1:] if re.match(r"[a-z]+\b(?!\()", reason) else reason
        return f".TP\n.B {escape(names)}\n{self.paragraph(reason + '.' if reason else '')}"

    def of_argument(self, subtype, reason):
        """The reason with the name of the argument whose position the subtype is."""
        position = re.fullmatch(r"DAT_INVALID_ARG(\d+)", subtype)
        if not position or "@" in reason:
            return reason
        return f"@{self.function.parameters[int(position[1]) - 1].name}: {reason}"

    def paragraph(self, text):
        """Filled text with names set in type, a sentence a line as man(7) likes it."""
        text = re.sub(r"\s+", " ", text).strip()
        lines = re.split(r"(?<=[a-z0-9\])_A-Z][.:])\s+(?=[A-Z@])", text)
        return "".join(self.line(part) for line in lines for part in textwrap.wrap(
            line, 78, break_long_words=False, break_on_hyphens=False))

    def line(self, text):
        text = escape(text)
        text = re.sub(r"\b(\w+)\(\)", self.call, text)
        text = CONSTANT.sub(lambda match: f"\\fB{match[0]}\\fP", text)
        text = re.sub(r"@(\w+)", r"\\fI\1\\fP", text)
        return ("\\&" if text[:1] in ".'" else "") + text + "\n"

    def call(self, match):
        name = match[1]
        if name == self.function.name:
            return f"\\fB{name}\\fP()"
        known = {"poll": "2", "select": "2", "epoll": "7", "fork": "2", "malloc": "3", "munmap": "2",
                 "mlock": "2", "madvise": "2", "mmap": "2"}
        section = "3" if name in self.names else known.get(name)
        return f"\\fB{name}\\fP({section})" if section else f"\\fB{name}\\fP()"

    def see_also(self):
        said = " ".join([self.function.purpose] + self.function.paragraphs +
                        self.library.paragraphs_of(self.function) + self.library.notes_of(self.function) +
                        [each.text for each in self.function.parameters])
        names = {self.page(name) for name in re.findall(r"\b(\w+)\(\)", said) if name in self.names}
        names |= {self.page(name) for name in self.siblings()}
        names -= {self.function.name}
        entries = [f".BR {name} (3)" for name in sorted(names)] + [f".BR {self.library.overview} (7)"]
        return " ,\n".join(entries).replace("(3) ,", "(3),") + "\n"

    def siblings(self):
        """The functions that stand in the same part of the header."""
        return [each.name for each in self.library.functions if each.part == self.function.part]

    def page(self, name):
        function = self.library.find(name)
        return function.page_of or function.name
