# SPDX-License-Identifier: GPL-2.0
"""Soft-iWARP (siw.ko), which Debian's kernels leave out: built from Debian's source of the same kernel, for the tests
that want a device that rsm_rdma refuses. A build without it is complete: those tests skip, and say why."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from . import paths

PACKAGE = "linux-source-6.1"
TARBALL = Path(f"/usr/src/{PACKAGE}.tar.xz")
FOLDER = "drivers/infiniband/sw/siw"
NOTE = "no-siw"


class Unavailable(Exception):
    """Why there is no siw.ko for a kernel."""


def build(kernel, root, variables, environment):
    """Builds siw.ko below a directory of tools/build-modules, by make with these variables; or says why not, and notes
    it there."""
    note = root / NOTE
    try:
        copy = root / FOLDER
        _copy_source(kernel, copy)
        _make(kernel, [f"M={copy}", *variables], environment)
        note.unlink(missing_ok=True)
    except (Unavailable, subprocess.CalledProcessError) as reason:
        (root / FOLDER / "siw.ko").unlink(missing_ok=True)
        note.write_text(f"{reason}\n")
        print(f"build-modules: without siw: {reason}", file=sys.stderr)


def absence(kernel):
    """Why the modules of a kernel do not include siw.ko; empty if they do."""
    root = paths.modules_dir(kernel.release)
    if (root / FOLDER / "siw.ko").exists():
        return ""
    if (root / NOTE).exists():
        return (root / NOTE).read_text()
    return f"build it with: tools/build-modules --kernel {kernel.argument} --siw\n"


def _copy_source(kernel, copy):
    package = _source_version()
    version = _kernel_version(kernel)
    if _upstream(package) != version:
        raise Unavailable(f"kernel {kernel.release} is {version}, and the source of siw, {PACKAGE}, is {package}; "
                          "bring both to one version with: tools/install-deps run kernel")
    shutil.copytree(_unpacked(package), copy, copy_function=_copy_changed, dirs_exist_ok=True)


def _make(kernel, variables, environment):
    done = subprocess.run(["make", "-s", "-C", str(kernel.build), f"-j{os.cpu_count()}", "CONFIG_RDMA_SIW=m", *variables,
                           "modules"],
                          text=True, check=False, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        print(done.stdout, end="", file=sys.stderr)
        raise Unavailable(f"{PACKAGE} {_source_version()} does not compile for {kernel.release}")


def _source_version():
    """The version of the installed package."""
    shown = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", PACKAGE], capture_output=True, text=True,
                           check=False).stdout
    if not shown or not TARBALL.exists():
        raise Unavailable(f"{PACKAGE} is missing; get it with: tools/install-deps kernel")
    return shown


def _upstream(package):
    """6.1.192 of 6.1.192-2."""
    return package.rpartition("-")[0]


def _kernel_version(kernel):
    """Of the headers: Debian's releases, as 6.1.0-56-amd64, stay the same over several versions."""
    return subprocess.run(["make", "-s", "-C", str(kernel.build), "kernelversion"], capture_output=True, text=True,
                          check=True).stdout.strip()


def _unpacked(package):
    """The folder of the source, out of the archive once for all builds of this machine."""
    folder = paths.cache_dir() / "src" / f"siw-{package}"
    if folder.exists():
        return folder
    folder.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as new:
        subprocess.run(["tar", "-xJf", TARBALL, "-C", new, "--strip-components=4", f"{PACKAGE}/{FOLDER}"], check=True)
        try:
            Path(new, "siw").rename(folder)
        except OSError:
            # Another build was faster.
            if not folder.exists():
                raise
    return folder


def _copy_changed(source, target):
    """Leaves what is the same alone, so that make has nothing to do."""
    if not Path(target).exists() or Path(target).read_bytes() != Path(source).read_bytes():
        shutil.copyfile(source, target)
