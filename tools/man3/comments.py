# SPDX-License-Identifier: GPL-2.0
"""Reads the comments of a header that describe functions."""

import re
from dataclasses import dataclass, field

# A comment that begins with the name of what follows it: a prototype or a macro.
DOCUMENTED = re.compile(r"/\*\*\s(?P<comment>(?:(?!\*/).)*?)\*/\s*"
                        r"(?P<code>#define (?:[^\n]*\\\n)*[^\n]*|[^;{}#]*;)", re.S)
PART = re.compile(r"/\* -{4} (.*?) -+ \*/")
PROTOTYPE = re.compile(r"(?P<type>[\w ]+?[ *]+)(?P<name>\w+)\((?P<parameters>.*)\);", re.S)
MACRO = re.compile(r"#define (?P<name>\w+)\((?P<parameters>[^)]*)\)\s*\\?\s*(?P<calls>\w+)", re.S)


class DocumentError(Exception):
    """A comment that can't be made a page."""


@dataclass
class Parameter:
    """One parameter: its type as text, and what the comment says."""
    name: str
    declaration: str
    text: str = ""

    @property
    def type(self):
        return re.sub(rf"\b{self.name}\b", "", self.declaration).strip()


@dataclass
class Function:
    """What a comment and the prototype behind it say."""
    name: str
    purpose: str
    type: str = ""
    parameters: list = field(default_factory=list)
    paragraphs: list = field(default_factory=list)
    # The function whose page this one is on: "as NAME(), ..." in its purpose, or a macro's expansion.
    page_of: str = ""
    is_macro: bool = False
    # The heading of the header's part that it stands in.
    part: str = ""


def functions(text, names):
    """The functions of a header in their order, those whose name is wanted."""
    found = []
    for match in DOCUMENTED.finditer(text):
        function = declared(match["code"])
        if function and function.name in names:
            describe(function, match["comment"])
            function.part = (PART.findall(text, 0, match.start()) or [""])[-1]
            found.append(function)
    return found


def declared(code):
    macro = MACRO.match(code)
    if macro:
        parameters = [Parameter(name.strip(), name.strip()) for name in macro["parameters"].split(",")]
        return Function(macro["name"], "", "", parameters, page_of=macro["calls"], is_macro=True)
    prototype = PROTOTYPE.fullmatch(code)
    if not prototype:
        return None
    return Function(prototype["name"], "", prototype["type"], parameters_of(prototype["parameters"]))


def parameters_of(text):
    declarations = [" ".join(part.split()) for part in text.split(",")]
    if declarations == ["void"]:
        return []
    return [Parameter(re.search(r"(\w+)(\[\])?$", each)[1], each) for each in declarations]


def describe(function, comment):
    lines = [re.sub(r"^\s*\* ?", "", line) for line in comment.strip().splitlines()]
    head, *paragraphs = split_paragraphs(lines)
    title, *parameters = re.split(r"\n(?=@)", head)
    name, dash, purpose = " ".join(title.split()).partition(" - ")
    if not dash or name != function.name:
        raise DocumentError(f"{function.name}: its comment begins with {name!r}")
    function.purpose = purpose
    function.paragraphs = paragraphs
    other = re.match(r"as (\w+)\(\)", purpose)
    if other:
        function.page_of = other[1]
    else:
        describe_parameters(function, parameters)


def split_paragraphs(lines):
    paragraphs = "\n".join(line.rstrip() for line in lines).split("\n\n")
    return [paragraph.strip("\n") for paragraph in paragraphs if paragraph.strip()]


def describe_parameters(function, texts):
    said = {}
    for text in texts:
        name, _, what = text[1:].partition(":")
        said[name] = " ".join(what.split())
    if not function.is_macro and list(said) != [each.name for each in function.parameters]:
        raise DocumentError(f"{function.name}: parameters are not those of its comment")
    for parameter in function.parameters:
        parameter.text = said.get(parameter.name, "")
