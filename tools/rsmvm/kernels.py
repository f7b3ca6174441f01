# SPDX-License-Identifier: GPL-2.0
"""Turns what --kernel says into files: something to boot, its modules, its build tree."""

import re
import subprocess
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from . import image, packages, paths
from .arch import AMD64, NATIVE, Architecture, of_release
from .errors import UsageError


# Suites, versions without the rest of a release, and releases, all of Debian 13.
DEBIAN13 = re.compile(r"trixie(-backports)?|\d+\.\d+|\d+[\d.]*\+deb13\S*")


class Runs(Enum):
    """What a kernel runs on."""

    MACHINE = "a machine, virtual or emulated"
    PROCESS = "the host's system calls: User-Mode Linux"


@dataclass
class Kernel:
    """One kernel that a guest can boot.  Paths are None where this kernel has no such thing."""

    argument: str
    release: str
    image: Path | None
    modules: Path | None
    build: Path | None
    arch: Architecture = NATIVE
    # The root directory in which build lies where it takes the compiler of that system.
    system: Path | None = None
    runs: Runs = Runs.MACHINE


def resolve(argument, arch=NATIVE):
    """The kernel that --kernel means."""
    if arch != NATIVE:
        return foreign(argument, arch)
    if argument == "stock":
        return installed(argument, stock_release())
    if argument == "debug":
        return from_source(argument, arch)
    if argument == "uml":
        return by_tree(built(paths.UML_KERNEL), argument)
    if argument == "backports":
        return by_release(argument, newest_backport(NATIVE))
    if DEBIAN13.fullmatch(argument) and not image_of(argument).exists():
        return debian13(argument)
    if "/" in argument or Path(argument).exists():
        return by_path(Path(argument).absolute())
    return by_release(argument, argument)


def newest_backport(arch, flavour=""):
    """The release of Debian's backports; the newest one in the cache where there is no network."""
    try:
        return packages.newest(packages.backports(arch), arch, flavour)
    except UsageError:
        known = packages.known_releases(arch, flavour)
        if not known:
            raise
        return known[-1]


def foreign(argument, arch):
    """A kernel of another architecture: Debian's, unpacked in the cache with its headers, or one of this project."""
    if argument == "64k":
        return from_source(argument, arch, "64k")
    if argument == "stock":
        release = packages.newest(packages.stable(arch), arch)
    elif argument in ("backports", "16k"):
        release = newest_backport(arch, argument.replace("backports", ""))
    elif of_release(argument) == arch and "/" not in argument:
        release = argument
    else:
        raise UsageError(f"--arch {arch.name}: --kernel is stock, backports, 16k (of backports), 64k (from source) "
                         f"or a release like "
                         f"6.12.95+deb12-{arch.name}")
    root = packages.unpacked_image(release, arch)
    return Kernel(argument, release, image_of(release, root), root / "lib/modules" / release, None, arch)


def resolve_build(argument, arch=NATIVE):
    """The kernel to build modules against: its image may be absent, its headers may not."""
    if argument == "backports" and arch == NATIVE:
        argument = newest_backport(NATIVE)
    headers = None if "/" in argument else headers_of(argument)
    kernel = Kernel(argument, argument, None, None, headers) if headers else resolve(argument, arch)
    if not kernel.build and (arch != NATIVE or re.match(r"\d", argument)):
        kernel.build = packages.unpacked_headers(kernel.release, arch)
    if not kernel.build:
        raise UsageError(f"the headers of kernel {kernel.release} are missing; get them with: "
                         "tools/install-deps build")
    return kernel


def from_source(argument, arch, *variant):
    """Debian's source with a configuration of the project, built when it is not in the cache."""
    tree = built(paths.DEBUG_KERNEL, *variant)
    release = (tree / "release").read_text().strip()
    return Kernel(argument, release, tree / arch.image, tree / "modroot/lib/modules" / release, tree, arch)


def built(*command):
    """The directory where a kernel of this project was built, now if need be."""
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode:
        raise UsageError("the kernel could not be built, see above")
    return Path(result.stdout.strip())


def debian13(argument):
    """A kernel of Debian 13: fetched into the cache, with a Debian 13 to build modules in."""
    result = subprocess.run([paths.DEBIAN13_KERNEL, argument], stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode:
        raise UsageError(f"there is no kernel {argument}, see above")
    release = result.stdout.strip()
    cache = paths.cache_dir() / "trixie"
    return Kernel(argument, release, image_of(release, cache / release), cache / release / "lib/modules" / release,
                  cache / f"root/usr/src/linux-headers-{release}", system=cache / "root")


def stock_release():
    """The kernel of the distribution's own suite: what its meta package stands for unless that
    came from backports, else the newest one in /boot with such a release name."""
    shown = subprocess.run(["dpkg-query", "-W", "-f", "${Version} ${Depends}",
                            "linux-image-amd64"], capture_output=True, text=True,
                           check=False).stdout
    match = re.match(r"\S+ linux-image-(\S+)", shown)
    if match and "~bpo" not in shown and image_of(match[1]).exists():
        return match[1]
    releases = [path.name[len("vmlinuz-"):] for path in Path("/boot").glob("vmlinuz-*-amd64")]
    releases = [release for release in releases if re.search(r"\.0-\d+-amd64$", release)]
    if not releases:
        raise UsageError("no Debian kernel is installed; get it with: tools/install-deps run")
    return max(releases, key=packages.version_key)


def image_of(release, root=Path("/")):
    """Where Debian's packages put a kernel image."""
    return root / "boot" / f"vmlinuz-{release}"


def by_release(argument, release):
    """A Debian kernel, installed or else from a package unpacked in the cache."""
    if image_of(release).exists():
        return installed(argument, release)
    root = packages.unpacked_image(release, AMD64)
    return Kernel(argument, release, image_of(release, root), root / "lib/modules" / release, headers_of(release))


def installed(argument, release):
    """A kernel of this machine."""
    modules = Path("/lib/modules") / release
    return Kernel(argument, release, image_of(release),
                  modules if modules.exists() else None, headers_of(release))


def headers_of(release):
    """The tree to build modules against, which may be there without the kernel."""
    for tree in (Path("/lib/modules") / release / "build",
                 Path("/usr/src") / f"linux-headers-{release}"):
        if (tree / "Makefile").exists():
            return tree
    return None


def by_path(path):
    """A kernel image, or a kernel's build tree."""
    if path.is_dir():
        return by_tree(path)
    if not path.exists():
        raise UsageError(f"--kernel {path}: no such file")
    release = image.release_of(path)
    modules = Path("/lib/modules") / release
    return Kernel(str(path), release, path, modules if modules.exists() else None,
                  headers_of(release))


def by_tree(tree, argument=""):
    """A directory where "make" built a kernel; modules come from INSTALL_MOD_PATH=modroot."""
    try:
        release = (tree / "include/config/kernel.release").read_text().strip()
    except OSError as error:
        raise UsageError(f"--kernel {tree}: this is no built kernel tree") from error
    images = [tree / "linux", tree / "vmlinux", tree / "arch/x86/boot/bzImage"]
    image_file = next((path for path in images if path.exists()), None)
    if not image_file:
        raise UsageError(f"--kernel {tree}: it has no vmlinux; run make there first")
    modules = tree / "modroot/lib/modules" / release
    return Kernel(argument or str(tree), release, image_file, modules if modules.exists() else tree, tree,
                  runs=Runs.PROCESS if image_file.name == "linux" else Runs.MACHINE)
