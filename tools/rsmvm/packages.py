# SPDX-License-Identifier: GPL-2.0
"""Kernels that are Debian packages but not installed: they are unpacked in the cache."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import paths
from .errors import UsageError

SUITE = "bookworm-backports"


def version_key(text):
    """Sorts 6.12 after 6.9."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text)]


def newest_backport():
    """The release that the backports suite's meta package stands for."""
    versions = re.findall(rf"\| *(\S+) *\|.*{SUITE}",
                          _run(["apt-cache", "madison", "linux-image-amd64"]) or "")
    shown = _run(["apt-cache", "show", f"linux-image-amd64={versions[0]}"]) if versions else ""
    match = re.search(r"^Depends: linux-image-([^\s,]+)", shown or "", re.M)
    if match:
        return match[1]
    unpacked = [path.name for path in _store().glob("*-amd64")]
    if unpacked:
        return max(unpacked, key=version_key)
    raise UsageError(f"apt knows no suite {SUITE}; get it with: tools/install-deps backports")


def unpacked_image(release):
    """The root directory of an unpacked linux-image package."""
    root = _store() / release
    if not root.exists():
        _store().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=_store()) as scratch:
            _fetch(release, Path(scratch)).rename(root)
    return root


def _store():
    return paths.cache_dir() / "packages"


def _fetch(release, scratch):
    """Downloads and unpacks in a scratch directory: only a complete tree gets its name."""
    package = f"linux-image-{release}"
    if _run(["apt-get", "download", "-q", package], cwd=scratch) is None:
        raise UsageError(f"kernel {release} is neither installed nor can apt-get download "
                         f"{package} (for backports: tools/install-deps backports)")
    tree = scratch / "tree"
    archive = next(scratch.glob("*.deb"))
    if _run(["dpkg-deb", "-x", archive, tree]) is None:
        raise UsageError(f"{archive.name} cannot be unpacked")
    depmod = shutil.which("depmod") or "/sbin/depmod"
    if _run([depmod, "-b", tree, release]) is None:
        raise UsageError("depmod is missing; get it with: tools/install-deps run")
    return tree


def _run(command, **options):
    """The command's output, None if it failed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None
