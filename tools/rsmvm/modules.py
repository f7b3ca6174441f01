# SPDX-License-Identifier: GPL-2.0
"""Kernel modules: which files a guest needs, and in what order they load."""

import lzma
import re
import subprocess
from pathlib import Path

from . import debuginfo, paths
from .arch import NATIVE
from .errors import UsageError

DEPENDS = re.compile(rb"\0depends=([^\0]*)\0")
ALIAS = re.compile(rb"\0alias=([^\0]+)(?=\0)")


def plain(name):
    """File names may have '-' where the module has '_'."""
    return name.replace("-", "_")


def module_name(path):
    """virtio_pci of kernel/drivers/virtio/virtio_pci.ko.xz."""
    return plain(Path(path).name.split(".ko")[0])


def read(path):
    """The module's bytes, unpacked: the guest's busybox knows no compressed modules."""
    data = Path(path).read_bytes()
    if path.suffix == ".xz":
        return lzma.decompress(data)
    if path.suffix == ".zst":
        return subprocess.run(["zstd", "-dc", path], check=True, capture_output=True).stdout
    return data


class ModuleSet:
    """The modules that go into a guest, in an order that insmod accepts."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.available = self._distribution() | self._project()
        self.builtin = self._builtin()
        self.data = {}
        self.depends = {}

    def add(self, name):
        """Takes in a module after those it depends on."""
        name = plain(name)
        if name in self.data or name in self.builtin:
            return
        if name not in self.available:
            # An image without modules must have all that it needs built in.
            if not self.kernel.modules and not name.startswith("rsm"):
                return
            raise UsageError(self._missing(name))
        data = debuginfo.without(read(self.available[name]))
        found = DEPENDS.search(data)
        depends = [plain(d) for d in found[1].decode().split(",") if d] if found else []
        for other in depends:
            self.add(other)
        self.data[name] = data
        self.depends[name] = [d for d in depends if d in self.data]

    def add_project(self):
        """Takes in all modules of the project, loaded or not: tests load some."""
        for name, path in self._project().items():
            if not self._is_foreign(path):
                self.add(name)

    def add_if_built(self, name):
        """Takes in what only some builds have."""
        if name in self.available:
            self.add(name)

    def loadable(self, names):
        """Those of the names that are modules here and not built into the kernel."""
        return [name for name in names if name in self.data]

    def alias_file(self):
        """modules.alias: which module a device's modalias asks for."""
        return "".join(f"alias {alias.decode()} {name}\n" for name, data in self.data.items()
                       for alias in ALIAS.findall(data))

    def dep_file(self):
        """modules.dep for the guest's modprobe, every module in one directory."""
        return "".join(f"rsm/{name}.ko: {' '.join(f'rsm/{d}.ko' for d in self._closure(name))}\n"
                       for name in self.data)

    def _closure(self, name):
        """All dependencies, the one to load first last: modprobe reads one line only."""
        wanted, found = [name], set()
        while wanted:
            for other in self.depends[wanted.pop()]:
                if other not in found:
                    found.add(other)
                    wanted.append(other)
        return [other for other in reversed(self.data) if other in found]

    def _distribution(self):
        tree = self.kernel.modules
        dep = tree / "modules.dep" if tree else None
        if not dep or not dep.exists():
            return {}
        files = (tree / line.split(":")[0] for line in dep.read_text().splitlines())
        return {module_name(path): path for path in files}

    def _project(self):
        root = paths.modules_dir(self.kernel.release)
        return {module_name(path): path for path in sorted(root.glob("**/*.ko"))}

    def _is_foreign(self, path):
        """Built from the kernel's own source."""
        return path.relative_to(paths.modules_dir(self.kernel.release)).parts[0] == "drivers"

    def _builtin(self):
        listing = self.kernel.modules / "modules.builtin" if self.kernel.modules else None
        if not listing or not listing.exists():
            return set()
        return {module_name(line) for line in listing.read_text().split()}

    def _missing(self, name):
        if name.startswith("rsm"):
            arch = "" if self.kernel.arch == NATIVE else f"--arch {self.kernel.arch.name} "
            return (f"{name}.ko is not built for {self.kernel.release}; build it with: "
                    f"tools/build-modules {arch}--kernel {self.kernel.argument}")
        return (f"module {name} of kernel {self.kernel.release} is missing in "
                f"{self.kernel.modules}; get it with: tools/install-deps run")
