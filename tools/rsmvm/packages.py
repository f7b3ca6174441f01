# SPDX-License-Identifier: GPL-2.0
"""Debian packages that are not installed but unpacked in the cache: kernels, their headers, QEMU, and the libraries
of another architecture."""

import hashlib
import os
import re
import shutil
import tempfile
from pathlib import Path

from . import apt, paths
from .arch import ALL, AMD64
from .errors import UsageError

SUITES = (apt.RELEASE, f"{apt.RELEASE}-updates", f"{apt.RELEASE}-security")
SOURCE = "linux-source-7.2"
# The packages of group "cross" in packaging/dependencies.txt are unpacked for another architecture.
CROSS = "cross"


def version_key(text):
    """Sorts 6.12 after 6.9."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text)]


def stable(arch):
    """The lists of Debian 12. This machine's apt knows those of its own architecture."""
    return apt.Lists(arch.name, SUITES, _architectures(arch))


def backports(arch):
    """The lists of its backports."""
    return apt.Lists(f"{arch.name}-backports", (apt.BACKPORTS,), _architectures(arch))


def newest(lists, arch, flavour=""):
    """The release that the lists' meta package of kernels stands for."""
    flavour = arch.name + (f"-{flavour}" if flavour else "")
    depends = lists.show(f"linux-image-{flavour}:{arch.name}", "Depends")
    match = re.search(r"linux-image-(\d[^\s,]*)", depends or "")
    if match:
        return match[1]
    raise UsageError(f"{', '.join(lists.suites)}: there is no linux-image-{flavour}")


def known_releases(arch, flavour=""):
    """Releases in the cache, oldest first."""
    ending = f"-{arch.name}-{flavour}" if flavour else f"-{arch.name}"
    return sorted((path.name for path in _store().glob(f"[0-9]*{ending}")), key=version_key)


def unpacked_image(release, arch):
    """The root directory of an unpacked linux-image package."""
    package = f"linux-image-{release}:{arch.name}"
    return _unpacked(release, arch, [package], lambda tree: _depmod(tree, release))


def unpacked_headers(release, arch):
    """The directory to build modules in, of unpacked packages. Its programs run on this machine."""
    lists = _lists_of(f"linux-headers-{release}:{arch.name}", arch)
    depends = lists.show(f"linux-headers-{release}:{arch.name}", "Depends")
    others = re.findall(r"(linux-(?:headers-[^\s,:]+-common|kbuild-[^\s,:]+))", depends)
    package = f"linux-headers-{release}:{arch.name}"
    root = _unpacked(f"headers-{release}", arch, [package, *others], lambda tree: None)
    _relocate(root, root / f"usr/src/linux-headers-{release}/Makefile")
    return root / f"usr/src/linux-headers-{release}"


def unpacked_qemu(arch):
    """The root directory of the backports suite's QEMU; apt is asked for it only once. The libraries that it needs
    come with the installed one, which needs the same."""
    unpacked = [path.name for path in _store().glob(f"emulator-{arch.name}-*")]
    if unpacked:
        return _store() / max(unpacked, key=version_key)
    lists = backports(AMD64)
    version = lists.show(arch.qemu_packages[0], "Version")
    if not version:
        raise UsageError(f"{apt.BACKPORTS}: there is no {arch.qemu_packages[0]}")
    return _unpacked(f"emulator-{arch.name}-{version}", AMD64, arch.qemu_packages, lambda tree: None, lists)


def unpacked_source():
    """The root directory of a package with the source of User-Mode Linux. One that was unpacked once is taken as it is;
    of those in the archive the version that this project was tested with, else the newest."""
    unpacked = [path.name for path in _store().glob("linux-source-*")]
    if unpacked:
        return _store() / max(unpacked, key=version_key)
    lists = _next_backports()
    package = SOURCE if lists.show(SOURCE, "Version") else _newest_source(lists)
    return _unpacked(f"linux-source-{lists.show(package, 'Version')}", AMD64, [package], lambda tree: None, lists)


def _next_backports():
    return apt.Lists("next-backports", (apt.NEXT_BACKPORTS,))


def _newest_source(lists):
    found = lists.run("apt-cache", "search", "--names-only", r"^linux-source-\d") or ""
    names = sorted((line.split()[0] for line in found.splitlines()), key=version_key)
    if not names:
        raise UsageError(f"{apt.NEXT_BACKPORTS}: there is no linux-source")
    return names[-1]


def cross_root(arch):
    """The root directory of libraries and headers of another architecture, and of its busybox."""
    wanted = _cross_packages()
    key = hashlib.sha256(" ".join(wanted).encode()).hexdigest()[:12]
    name = f"cross-{arch.name}-{key}"
    if not (_store() / name).exists():
        wanted = [_of_architecture(each, arch) for each in wanted]
    return _unpacked(name, arch, wanted, _merge_usr)


def _architectures(arch):
    return tuple(sorted({AMD64.name, arch.name}))


def _cross_packages():
    lines = (line.split() for line in paths.DEPENDENCIES.read_text().splitlines())
    return [words[1] for words in lines if words and words[0] == CROSS]


def _of_architecture(name, arch):
    """How apt calls it: a package that is the same for all architectures belongs to this machine's."""
    other = f"{name}:{arch.name}"
    return other if stable(arch).show(other, "Version") else name


def _lists_of(package, arch):
    """The lists that have a package."""
    known = [stable(arch), backports(arch)] if arch != AMD64 else [backports(arch)]
    found = next((lists for lists in known if lists.show(package, "Version")), None)
    if not found:
        raise UsageError(f"Debian {apt.RELEASE} and its backports have no package {package}")
    return found


def _store():
    return paths.cache_dir() / "packages"


def _unpacked(name, arch, parts, finish, lists=None):
    """The tree of some packages; only a complete one gets its name."""
    root = _store() / name
    if root.exists():
        return root
    _store().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=_store()) as scratch:
        tree = _fetch(parts, Path(scratch), lists or _lists_of(parts[0], arch))
        finish(tree)
        try:
            tree.rename(root)
        except OSError:
            if not root.exists():    # or else somebody was faster
                raise
    return root


def _fetch(parts, scratch, lists):
    """Downloads packages and unpacks them into one tree."""
    lists.download(parts, scratch)
    tree = scratch / "tree"
    for archive in scratch.glob("*.deb"):
        if apt.output(["dpkg-deb", "-x", archive, tree]) is None:
            raise UsageError(f"{archive.name} cannot be unpacked")
    return tree


def _merge_usr(tree):
    """As Debian has it: packages may still use the old places."""
    for name in ("bin", "sbin", "lib", "lib64"):
        old, new = tree / name, tree / "usr" / name
        if old.is_dir() and not old.is_symlink():
            shutil.copytree(old, new, symlinks=True, dirs_exist_ok=True)
            shutil.rmtree(old)
        if not old.exists():
            old.symlink_to(f"usr/{name}")


def _relocate(root, makefile):
    """The headers name each other by the place where they would be installed. Links between them are relative."""
    text = makefile.read_text()
    here = re.sub(r"(?<=include )/usr/src/", f"{root}/usr/src/", text)
    if here != text:
        new = makefile.with_name(f"Makefile.{os.getpid()}")
        new.write_text(here)
        new.replace(makefile)


def _depmod(tree, release):
    depmod = shutil.which("depmod") or "/sbin/depmod"
    if apt.output([depmod, "-b", tree, release]) is None:
        raise UsageError("depmod is missing; get it with: tools/install-deps run")


def update():
    """Fetches anew the lists that are in the cache."""
    for arch in ALL.values():
        for lists in (stable(arch), backports(arch), _next_backports()):
            if lists.folder.exists():
                lists.update()
