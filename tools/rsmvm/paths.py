# SPDX-License-Identifier: GPL-2.0
"""Where things lie on the host.  Nothing else in the package spells out a directory."""

import os
from pathlib import Path

from .arch import NATIVE

TREE = Path(__file__).resolve().parents[2]
GUEST_FILES = Path(__file__).resolve().parent / "guest"
DEBUG_KERNEL = TREE / "tools/debug-kernel/build"
UML_KERNEL = TREE / "tools/debug-kernel/build-uml"
DEBIAN13_KERNEL = TREE / "tools/debian13/kernel"
DEBIAN13_RUN = TREE / "tools/debian13/run"
INSTALL_DEPS = TREE / "tools/install-deps"
SWITCH = TREE / "tools/rsmvm/switch.py"
CLANG = TREE / "tools/rsmvm/clang"
SEGMENT_IDS = TREE / "packaging/rsm.segmentid"
DEPENDENCIES = TREE / "packaging/dependencies.txt"
DAT_CONF = TREE / "packaging/dat.conf"
UDEV_RULES = TREE / "packaging/udev/60-rsm.rules"


def build_dir():
    """The CMake build directory, and the home of build/modules."""
    return Path(os.environ.get("RSM_BUILD", TREE / "build")).absolute()


def product_dir(arch):
    """The CMake build directory of one architecture: others than NATIVE have their own in it."""
    return build_dir() if arch == NATIVE else build_dir() / arch.name


def cache_dir():
    """Outside the tree, so that "make clean" or a fresh clone does not cost a kernel build."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    path = Path(os.environ.get("RSM_CACHE") or os.path.join(base, "rsm"))
    path.mkdir(parents=True, exist_ok=True)
    return path


def modules_dir(release):
    """Where tools/build-modules leaves the project's modules for this kernel release."""
    return build_dir() / "modules" / release
