# SPDX-License-Identifier: GPL-2.0
"""Finds the shared libraries that a program needs, with the system's own loader."""

import os
import re
import subprocess
from pathlib import Path

from . import paths
from .errors import UsageError

GUEST_LIBRARIES = "/usr/lib/x86_64-linux-gnu"
LDD_LINE = re.compile(r"^\s*(?:(\S+) => )?(/\S+) \(0x")
LDD_MISSING = re.compile(r"^\s*(\S+) => not found", re.M)


def is_elf(path):
    """Whether the file can need shared libraries at all."""
    with open(path, "rb") as stream:
        return stream.read(4) == b"\x7fELF"


def built_libraries():
    """The project's own shared libraries, sonames and plain names alike."""
    root = paths.build_dir() / "lib"
    return sorted(path for path in root.glob("**/lib*.so*") if "CMakeFiles" not in path.parts)


def built_tools():
    """The project's own programs."""
    root = paths.build_dir() / "tools"
    return sorted(path for path in root.glob("**/*")
                  if "CMakeFiles" not in path.parts and path.is_file()
                  and os.access(path, os.X_OK) and is_elf(path) and ".so" not in path.name)


def needed(program):
    """{guest path: host path} of every library of the program, the loader included."""
    folders = sorted({str(path.parent) for path in built_libraries()})
    environment = dict(os.environ, LC_ALL="C")
    environment["LD_LIBRARY_PATH"] = ":".join(
        filter(None, [*folders, os.environ.get("LD_LIBRARY_PATH")]))
    text = subprocess.run(["ldd", str(program)], env=environment, check=False,
                          capture_output=True, text=True).stdout
    if missing := LDD_MISSING.findall(text):
        raise UsageError(f"{program} needs {', '.join(missing)}, which is not on this machine")
    found = {}
    for line in text.splitlines():
        if match := LDD_LINE.match(line):
            host = Path(match[2])
            found[guest_path(match[1] or host.name, host)] = host
    return found


def guest_path(name, host):
    """System libraries stay where they are; others go where the guest's loader looks."""
    if os.path.dirname(name):
        return name
    if host.is_relative_to("/lib") or host.is_relative_to("/usr/lib") \
            or host.is_relative_to("/lib64"):
        return str(host)
    return f"{GUEST_LIBRARIES}/{name}"
