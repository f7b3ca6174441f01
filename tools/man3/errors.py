# SPDX-License-Identifier: GPL-2.0
"""Reads and completes the errors that a comment lists.

A list ends with a full stop and is made of names, each with its reason in brackets behind it:

    RSMERR_BAD_ADDR (@attr is NULL), RSMERR_CTLR_NOT_PRESENT.
    INVALID_PARAMETER: ARG3 or ARG5 (undefined bits), ARG4 (no data). QUEUE_FULL.

The first is RSMAPI's; the second uDAPL's, where each type has a sentence of its own and subtypes behind a
colon. Names joined by "or" share a reason. "As NAME(), and " in front takes over another function's list.
"""

import re
from dataclasses import dataclass

from .comments import DocumentError

TAKES_OVER = re.compile(r"As (\w+)\(\)(?:, and |\.$)")


@dataclass
class Error:
    """One error and when it is returned. A subtype is uDAPL's; its own text stands for "of the EP"."""
    name: str
    subtype: str
    reason: str

    @property
    def key(self):
        return self.name, self.subtype


def is_list(paragraph, dialect):
    return bool(TAKES_OVER.match(paragraph) or re.match(rf"{dialect.starts}(?=[\s:,.(])", paragraph))


def parse(paragraph, dialect, others):
    """The errors of a paragraph; others finds those of another function."""
    text = " ".join(paragraph.split())
    errors = []
    takes_over = TAKES_OVER.match(text)
    if takes_over:
        errors = list(others(takes_over[1]))
        text = text[takes_over.end():]
    return merge(errors, dialect.parse(text) if text else [])


def merge(errors, more):
    """The second list has the last word about an error that both name."""
    merged = {error.key: error for error in errors}
    merged.update({error.key: error for error in more})
    return list(merged.values())


def split_outside_brackets(text, separator):
    """Splits at a separator that is in no brackets."""
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and text.startswith(separator, at):
            parts.append(text[begin:at])
            begin = at + len(separator)
    return parts + [text[begin:]]


def names_and_reason(item):
    match = re.fullmatch(r"([^(]+?)(?: \((.*)\))?", item.strip())
    if not match:
        raise DocumentError(f"not an error with its reason: {item!r}")
    return match[1].split(" or "), match[2] or ""


class Rsmapi:
    """Names are whole: RSMERR_*."""
    starts = r"RSMERR_\w+"
    # A list that an ordinary paragraph would swallow: two names in a row.
    hidden = r"RSMERR_\w+[^.]*, RSMERR_\w+"

    def __init__(self, codes):
        self.codes = codes

    def parse(self, text):
        if not text.endswith("."):
            raise DocumentError(f"errors without a full stop: {text!r}")
        errors = []
        for item in split_outside_brackets(text[:-1], ", "):
            names, reason = names_and_reason(item)
            errors += [Error(self.known(name), "", reason or self.codes[name]) for name in names]
        return errors

    def known(self, name):
        if name not in self.codes:
            raise DocumentError(f"no such error: {name}")
        return name


class Udapl:
    """Types without DAT_; subtypes without DAT_ and what is the type's anyway."""

    # The words in front of a subtype, by type.
    PREFIXES = {
        "DAT_INSUFFICIENT_RESOURCES": "DAT_RESOURCE_", "DAT_INVALID_HANDLE": "DAT_INVALID_HANDLE_",
        "DAT_INVALID_PARAMETER": "DAT_INVALID_", "DAT_INVALID_STATE": "DAT_INVALID_STATE_",
        "DAT_PRIVILEGES_VIOLATION": "DAT_PRIVILEGES_", "DAT_PROTECTION_VIOLATION": "DAT_PROTECTION_",
        "DAT_INVALID_ADDRESS": "DAT_INVALID_ADDRESS_", "DAT_PROVIDER_NOT_FOUND": "DAT_",
    }

    def __init__(self, types, subtypes):
        self.types = types
        self.subtypes = subtypes
        self.starts = "(?:" + "|".join(name.removeprefix("DAT_") for name in types) + ")"
        self.hidden = rf"\b(?<!DAT_){self.starts}\b"

    def parse(self, text):
        if not text.endswith("."):
            raise DocumentError(f"errors without a full stop: {text!r}")
        return [error for sentence in split_outside_brackets(text[:-1], ". ")
                for error in self.sentence(sentence)]

    def sentence(self, text):
        head, *rest = split_outside_brackets(text, ": ")
        if rest:
            kind = self.known_type(head)
            return [error for item in split_outside_brackets(rest[0], ", ")
                    for error in self.subtype_item(kind, item)]
        errors = []
        for item in split_outside_brackets(text, ", "):
            names, reason = names_and_reason(item)
            errors += [self.plain(self.known_type(name), reason) for name in names]
        return errors

    def plain(self, kind, reason):
        return Error(kind, "", reason or self.types[kind])

    def subtype_item(self, kind, item):
        if item.startswith("that of "):
            return [Error(kind, item, "")]
        names, reason = names_and_reason(item)
        return [self.with_subtype(kind, name, reason) for name in names]

    def with_subtype(self, kind, name, reason):
        if name == "none":
            return self.plain(kind, reason)
        subtype = self.PREFIXES.get(kind, "DAT_") + name
        if subtype not in self.subtypes:
            raise DocumentError(f"no such subtype of {kind}: {subtype}")
        return Error(kind, subtype, reason or self.subtypes[subtype])

    def known_type(self, name):
        if f"DAT_{name}" not in self.types:
            raise DocumentError(f"no such type of error: DAT_{name}")
        return f"DAT_{name}"
