# SPDX-License-Identifier: GPL-2.0
"""The two libraries: their headers, names and errors, and what goes without saying in their comments."""

import re
from dataclasses import dataclass
from pathlib import Path

from . import errors
from .comments import DocumentError, functions
from .errors import Error
from .texts import Excerpts, Texts
from .types import Types

# Begins the paragraph of a function that returns no status.
RETURN = "Return: "
# Begins the paragraph that names a program of the tree to be shown.
EXAMPLE = "Example: "
# Marks a function of uDAPL that several threads may not call at once, also where a line breaks within it.
UNSAFE = re.compile(r"\s*\bMT:\s+unsafe\.")
LIVE = "no live handle of the right kind"

# Errors that RSMAPI's functions have for the handles that they take.
RSMAPI_HANDLES = {
    "rsmapi_controller_handle_t": "RSMERR_BAD_CTLR_HNDL",
    "rsm_memseg_export_handle_t": "RSMERR_BAD_SEG_HNDL",
    "rsm_memseg_import_handle_t": "RSMERR_BAD_SEG_HNDL",
    "rsm_localmemory_handle_t": "RSMERR_BAD_LOCALMEM_HNDL",
    "void *memseg": "RSMERR_BAD_SEG_HNDL",
}

RSMAPI_RETURNS = """\
RSM_SUCCESS, which is 0, or one of the errors below; rsm_strerror() describes it. errno is not set. Internal \
failures without a specific code, such as a descriptor of the library that the program has closed, return \
RSMERR_INTERNAL_ERROR."""

RSMAPI_THREADS = """\
Several threads may call it at once, on the same handle, too. A function that destroys a handle must not run while \
another call uses that handle."""

UDAPL_RETURNS = """\
DAT_SUCCESS, which is 0, or an error that is made of a type and a subtype: compare DAT_GET_TYPE() of it with a \
type of those below. Subtypes are advice. Any function may return DAT_INTERNAL_ERROR, and DAT_NOT_IMPLEMENTED \
if the provider lacks it. A function that fails has changed nothing, but may have written to its results."""


@dataclass
class Library:
    """What pages are made of."""
    name: str
    header: str
    overview: str
    returns: str
    dialect: object
    functions: list
    implied: object
    threads: object
    types: Types
    tree: Path
    # The version of each symbol, by its name.
    versions: dict
    texts: Texts
    excerpts: Excerpts

    def find(self, name):
        for function in self.functions:
            if function.name == name:
                return function
        raise DocumentError(f"no such function: {name}")

    def errors_of(self, function):
        """What its handles imply, then what its comment lists."""
        listed = []
        for paragraph in function.paragraphs:
            if errors.is_list(paragraph, self.dialect):
                try:
                    listed += errors.parse(paragraph, self.dialect, self.listed_of)
                except DocumentError as error:
                    raise DocumentError(f"{function.name}: {error}") from None
        return errors.merge(self.implied(function), listed)

    def returns_of(self, function):
        """RETURN VALUE: what every function of the library returns, or what the comment says."""
        if function.type.strip() == "void":
            return "None."
        own = [each.removeprefix(RETURN) for each in function.paragraphs if each.startswith(RETURN)]
        if not own and not self.has_status(function):
            raise DocumentError(f"{function.name}: its comment says nothing of what it returns")
        return own[0] if own else self.returns

    def examples_of(self, function):
        """The programs that the comment names, (path, text), and excerpts without a path."""
        names = [each.removeprefix(EXAMPLE) for each in function.paragraphs if each.startswith(EXAMPLE)]
        for name in names:
            if not (self.tree / name).is_file():
                raise DocumentError(f"{function.name}: there is no {name}")
        return [(name, (self.tree / name).read_text()) for name in names] + \
               [("", text) for text in self.excerpts.of(function.name)]

    @staticmethod
    def has_status(function):
        return function.is_macro or function.type.strip() in ("int", "DAT_RETURN")

    def listed_of(self, name):
        return self.errors_of(self.find(name))

    def paragraphs_of(self, function):
        """DESCRIPTION: what it does, the prose of its comment, and the rest of its text."""
        prose = [each for each in function.paragraphs
                 if not errors.is_list(each, self.dialect) and not each.startswith((RETURN, EXAMPLE))]
        text = self.texts.of(function.name).description
        return self.without_errors(function, text[:1] + prose + text[1:])

    def notes_of(self, function):
        return self.without_errors(function, self.texts.of(function.name).notes)

    def history_of(self, function):
        """The version of its symbol. A macro has none of its own."""
        name = function.page_of or function.name
        return f"{function.name}() is in lib{self.name} since version {self.versions[name]} of its symbols."

    def without_errors(self, function, paragraphs):
        for paragraph in paragraphs:
            hidden = re.search(self.dialect.hidden, paragraph)
            if hidden:
                raise DocumentError(f"{function.name}: {hidden[0]} is not in a paragraph of errors")
        return paragraphs


def libraries(tree):
    texts = Texts(tree / "Documentation/man3")
    excerpts = Excerpts(tree / "Documentation/man3/examples")
    found = [rsmapi(tree, texts, excerpts), udapl(tree, texts, excerpts)]
    names = [each.name for library in found for each in library.functions if not each.page_of]
    texts.check(names)
    excerpts.check(names)
    return found


def exported(version_script):
    """The version of each symbol that a library exports."""
    return {name: version for version, names in
            re.findall(r"^([\w.]+) \{$(.*?)^\}", version_script.read_text(), re.M | re.S)
            for name in re.findall(r"^\t(\w+);$", names, re.M)}


def read(names, headers):
    """The functions of all headers; each name that the library exports has to be there."""
    found = [function for header in headers for function in functions(header.read_text(), names)]
    missing = names - {function.name for function in found}
    if missing:
        raise DocumentError("no comment describes " + ", ".join(sorted(missing)))
    return found


def rsmapi(tree, texts, excerpts):
    common = (tree / "include/uapi/linux/rsm_common.h").read_text()
    codes = {name: meaning for meaning, name in
             re.findall(r"^(?:/\* ([^*\n]*) \*/\n)?#define (RSMERR_\w+)", common, re.M)}
    versions = exported(tree / "lib/librsm/librsm.map")
    include = tree / "lib/librsm/include"
    found = read(set(versions), [include / "rsmapi.h"])
    return Library("rsm", "rsmapi.h", "rsm", RSMAPI_RETURNS, errors.Rsmapi(codes), found,
                   rsmapi_handles, rsmapi_threads,
                   Types([include / name for name in ("sys/rsm/rsm_common.h", "sys/rsm/rsmapi_common.h",
                                                      "rsmapi.h")]), tree, versions, texts, excerpts)


def rsmapi_threads(function):
    return RSMAPI_THREADS if Library.has_status(function) else "Several threads may call it at once."


def rsmapi_handles(function):
    implied = {}
    for parameter in function.parameters:
        name = RSMAPI_HANDLES.get(parameter.type) or RSMAPI_HANDLES.get(parameter.declaration)
        if name:
            implied[name] = Error(name, "", f"@{parameter.name} is {LIVE}")
    return list(implied.values())


def udapl(tree, texts, excerpts):
    directory = tree / "lib/libdat/include/dat"
    types, subtypes = dat_errors((directory / "dat_error.h").read_text())
    versions = exported(tree / "lib/libdat/libdat.map")
    headers = [directory / name for name in ("udat.h", "dat_functions.h", "dat_registry.h")]
    return Library("dat", "dat/udat.h", "libdat", UDAPL_RETURNS, errors.Udapl(types, subtypes),
                   read(set(versions) | {"dat_ia_open"}, headers), dat_handles, dat_threads,
                   Types([directory / name for name in ("dat.h", "udat.h")]), tree, versions, texts, excerpts)


def dat_errors(text):
    """Types and subtypes with what their comments say."""
    types, subtypes = {}, {}
    entry = re.compile(r"(?:/\*\* ([^*]*?) \*/\n)?\t(DAT_\w+)(?: = 0x(\w+))?,?(?: /\*\*< (.*?) \*/)?\n")
    for before, name, number, behind in entry.findall(text):
        (types if number else subtypes)[name] = (behind or before).rstrip(".")
    return types, subtypes


def dat_handles(function):
    if not function.parameters:
        return []
    first = function.parameters[0]
    kind = re.fullmatch(r"DAT_(?:(\w+)_)?HANDLE", first.type)
    if not kind or kind[1] is None and first.type != "DAT_HANDLE":
        return []
    subtype = "DAT_INVALID_HANDLE1" if kind[1] in (None, "EVD") else f"DAT_INVALID_HANDLE_{kind[1]}"
    implied = [Error("DAT_INVALID_HANDLE", subtype, f"@{first.name} is {LIVE}")]
    if function.name.endswith("_query") and len(function.parameters) == 3 and "mask" in \
            function.parameters[1].name:
        implied += [Error("DAT_INVALID_PARAMETER", "DAT_INVALID_ARG2", "undefined bits in the mask"),
                    Error("DAT_INVALID_PARAMETER", "DAT_INVALID_ARG3", f"@{function.parameters[2].name} is NULL")]
    return implied


def dat_threads(function):
    if any(map(UNSAFE.search, function.paragraphs)):
        return "Unless the provider is thread-safe (DAT_THREADSAFE), not to be called by several threads at " \
               "once on the same object."
    return "Several threads may call it at once, on the same object, too."
