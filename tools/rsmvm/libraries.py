# SPDX-License-Identifier: GPL-2.0
"""Finds the shared libraries that a program needs: with the system's own loader, or for another architecture in the
dynamic sections of programs and libraries."""

import os
import re
import subprocess
from pathlib import Path

from . import packages, paths
from .arch import NATIVE
from .errors import UsageError

LDD_LINE = re.compile(r"^\s*(?:(\S+) => )?(/\S+) \(0x")
DYNAMIC = re.compile(r"\(NEEDED\).*\[(.*)\]|Requesting program interpreter: (\S+)\]")
LDD_MISSING = re.compile(r"^\s*(\S+) => not found", re.M)


def is_elf(path):
    """Whether the file can need shared libraries at all."""
    with open(path, "rb") as stream:
        return stream.read(4) == b"\x7fELF"


def built_libraries(arch=NATIVE):
    """The project's own shared libraries, sonames and plain names alike."""
    root = paths.product_dir(arch) / "lib"
    return sorted(path for path in root.glob("**/lib*.so*") if "CMakeFiles" not in path.parts)


def built_tools(arch):
    """The project's own programs."""
    root = paths.product_dir(arch) / "tools"
    return sorted(path for path in root.glob("**/*")
                  if "CMakeFiles" not in path.parts and path.is_file()
                  and os.access(path, os.X_OK) and is_elf(path) and ".so" not in path.name)


def needed(program, arch):
    """{guest path: host path} of every library of the program, the loader included."""
    return _loaded_here(program) if arch == NATIVE else _loaded_there(program, arch)


def _loaded_there(program, arch):
    """What a loader of another architecture would look for."""
    root = packages.cross_root(arch)
    built = {path.name: path for path in built_libraries(arch)}
    found, wanted = {}, [Path(program)]
    while wanted:
        for guest in _dynamic(wanted.pop(), arch):
            host = built.get(os.path.basename(guest), root / guest.lstrip("/"))
            if guest in found:
                continue
            if not host.exists():
                raise UsageError(f"{program} needs {guest}, which is not in {root}")
            found[guest] = host
            wanted.append(host)
    return found


def _dynamic(path, arch):
    """Guest paths of what an ELF file itself names."""
    text = subprocess.run(["readelf", "--wide", "--dynamic", "--program-headers", str(path)], check=True,
                          capture_output=True, text=True, env=dict(os.environ, LC_ALL="C")).stdout
    # The loader is a library too, but has a place of its own.
    return [loader or f"{arch.guest_libraries}/{name}" for name, loader in DYNAMIC.findall(text)
            if loader or not name.startswith("ld-linux")]


def _loaded_here(program):
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
    return f"{NATIVE.guest_libraries}/{name}"
