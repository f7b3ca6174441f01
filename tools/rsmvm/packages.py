# SPDX-License-Identifier: GPL-2.0
"""Debian packages that are not installed but unpacked in the cache: kernels, and QEMU."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import paths
from .errors import UsageError

SUITE = "bookworm-backports"
# The libraries that these need come with the installed qemu-system-x86, which needs the same.
QEMU_PARTS = ("qemu-system-x86", "qemu-system-common", "qemu-system-data", "seabios")


def version_key(text):
    """Sorts 6.12 after 6.9."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text)]


def newest_backport():
    """The release that the backports suite's meta package stands for."""
    version = _backport("linux-image-amd64")
    shown = _run(["apt-cache", "show", f"linux-image-amd64={version}"]) if version else ""
    match = re.search(r"^Depends: linux-image-([^\s,]+)", shown or "", re.M)
    if match:
        return match[1]
    unpacked = [path.name for path in _store().glob("*-amd64")]
    if unpacked:
        return max(unpacked, key=version_key)
    raise UsageError(f"apt knows no suite {SUITE}; get it with: tools/install-deps backports")


def unpacked_image(release):
    """The root directory of an unpacked linux-image package."""
    return _unpacked(release, [f"linux-image-{release}"], lambda tree: _depmod(tree, release))


def unpacked_qemu():
    """The root directory of the backports suite's QEMU; apt is asked for it only once."""
    unpacked = [path.name for path in _store().glob("qemu_*")]
    if unpacked:
        return _store() / max(unpacked, key=version_key)
    version = _backport(QEMU_PARTS[0])
    if not version and _run([paths.INSTALL_DEPS, "suite"]) is not None:
        version = _backport(QEMU_PARTS[0])
    if not version:
        raise UsageError(f"apt knows no suite {SUITE}; get it with: tools/install-deps suite")
    return _unpacked(f"qemu_{version}", [f"{part}/{SUITE}" for part in QEMU_PARTS])


def _backport(package):
    """The version of a package in the backports suite, None where apt does not know it."""
    found = re.search(rf"\| *(\S+) *\|.*{SUITE}", _run(["apt-cache", "madison", package]) or "")
    return found[1] if found else None


def _store():
    return paths.cache_dir() / "packages"


def _unpacked(name, parts, finish=lambda tree: None):
    """The tree of some packages; only a complete one gets its name."""
    root = _store() / name
    if root.exists():
        return root
    _store().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=_store()) as scratch:
        tree = _fetch(parts, Path(scratch))
        finish(tree)
        try:
            tree.rename(root)
        except OSError:
            if not root.exists():    # or else somebody was faster
                raise
    return root


def _fetch(parts, scratch):
    """Downloads packages and unpacks them into one tree."""
    if _run(["apt-get", "download", "-q", *parts], cwd=scratch) is None:
        raise UsageError(f"apt-get cannot download {' '.join(parts)} (for backports: "
                         "tools/install-deps backports)")
    tree = scratch / "tree"
    for archive in scratch.glob("*.deb"):
        if _run(["dpkg-deb", "-x", archive, tree]) is None:
            raise UsageError(f"{archive.name} cannot be unpacked")
    return tree


def _depmod(tree, release):
    depmod = shutil.which("depmod") or "/sbin/depmod"
    if _run([depmod, "-b", tree, release]) is None:
        raise UsageError("depmod is missing; get it with: tools/install-deps run")


def _run(command, **options):
    """The command's output, None if it failed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None
