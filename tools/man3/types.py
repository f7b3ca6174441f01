# SPDX-License-Identifier: GPL-2.0
"""Finds the structures and enumerations of headers, to be shown on the pages of functions that take them."""

import re

COMMENT = r"(?:/\*\*(?:(?!\*/).)*?\*/\n)?"
# Braces nest once: a union within a structure.
BODY = r"\{(?:[^{}]|\{[^{}]*\})*\}"
TYPEDEF = re.compile(rf"^({COMMENT}typedef (?:struct|union|enum)(?: \w+)? {BODY} \*?(\w+);)", re.M | re.S)
TAGGED = re.compile(rf"^({COMMENT}(?:struct|union|enum) (\w+) {BODY};)", re.M | re.S)
ALIAS = re.compile(r"^typedef (?:struct|union|enum) (\w+) (\w+);", re.M)


class Types:
    """Types by name, with the text that defines them."""

    def __init__(self, headers):
        text = "\n".join(header.read_text() for header in headers)
        self.texts = {name: whole for whole, name in TYPEDEF.findall(text)}
        tagged = {name: whole for whole, name in TAGGED.findall(text)}
        # True and false need no telling.
        self.texts.pop("DAT_BOOLEAN", None)
        self.texts.update({name: tagged[tag] for tag, name in ALIAS.findall(text) if tag in tagged})

    def of(self, function):
        """The texts of what the parameters are, and of the structures in these."""
        names = []
        for parameter in function.parameters:
            self.add(names, parameter.type)
        for name in list(names):
            for member in self.members(name):
                self.add(names, member)
        return [self.texts[name] for name in names]

    def add(self, names, declaration):
        for word in re.findall(r"\w+", declaration):
            if word in self.texts and word not in names:
                names.append(word)

    def members(self, name):
        """The types of a structure's members."""
        text = re.sub(r"/\*.*?\*/", "", self.texts[name], flags=re.S)
        return re.findall(r"^\s+(\w+)\s+\*?\w+(?:\[\w+\])?;", text, re.M)
