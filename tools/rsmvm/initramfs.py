# SPDX-License-Identifier: GPL-2.0
"""Composes the file tree that a guest boots into."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from . import debuginfo, libraries, network, packages, paths, siw, usermode
from .arch import NATIVE
from .cpio import Archive
from .errors import UsageError
from .kernels import Runs

PROBE_MARK = "rsm-vm-user-space-reached"
UDEV_FIELD = re.compile(r'(KERNEL|GROUP|MODE)\s*={1,2}\s*"([^"]*)"')
FOLDERS = ["dev", "proc", "sys", "run", "mnt", "home/alice", "home/bob", "var/run", "etc/rsm",
           "etc/dat"]
GROUPS = """\
root:x:0:
tty:x:5:
rsm:x:900:nobody,alice,bob
alice:x:1001:
bob:x:1002:
nogroup:x:65534:
"""
USERS = """\
root:x:0:0:root:/root:/bin/sh
alice:x:1001:1001:with access to RSM:/home/alice:/bin/sh
bob:x:1002:1002:with access to RSM:/home/bob:/bin/sh
nobody:x:65534:65534:nobody:/nonexistent:/bin/sh
"""
HOSTS = "127.0.0.1 localhost\n"
MOST_NODES = 4


def skeleton(arch=NATIVE):
    """Busybox, the merged /usr of Debian and the nodes that init needs first."""
    busybox = shutil.which("busybox")
    if not busybox:
        raise UsageError("busybox is missing; get it with: tools/install-deps run")
    tree = Archive()
    for name in ("bin", "sbin", "lib", "lib64"):
        tree.directory(f"usr/{name}")
        tree.symlink(name, f"usr/{name}")
    tree.directory("tmp", 0o1777)
    tree.directory("root", 0o700)
    for name in FOLDERS:
        tree.directory(name)
    tree.device("dev/console", 0o600, 5, 1)
    tree.device("dev/null", 0o666, 1, 3)
    program = Path(busybox) if arch == NATIVE else packages.cross_root(arch) / "usr/bin/busybox"
    _add_program(tree, program, "usr/bin/busybox", arch)
    # Another architecture's is of the same Debian, and has the same.
    applets = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True)
    for applet in applets.stdout.split():
        if applet != "busybox":
            tree.symlink(f"usr/bin/{applet}", "busybox")
    return tree


def probe(arch):
    """Says one line and stops: what the KVM probe waits for."""
    tree = skeleton(arch)
    tree.file("init", f"#!/bin/sh\necho {PROBE_MARK} >/dev/console\nreboot -f\n".encode(), 0o755)
    return tree


def guest(setup):
    """Everything in one guest; setup is a guest.Setup."""
    tree = skeleton(setup.kernel.arch)
    for name, text in (("passwd", USERS), ("group", GROUPS), ("hosts", HOSTS)):
        tree.file(f"etc/{name}", text.encode())
    for path, name in (("init", "init"), ("etc/rsm-vm/uevent", "uevent")):
        tree.file(path, (paths.GUEST_FILES / name).read_bytes(), 0o755)
    tree.file("etc/rsm-vm/settings", _settings(setup))
    tree.file("etc/rsm-vm/command", os.fsencode(setup.command + "\n"))
    tree.file("etc/rsm-vm/permissions", _permissions())
    tree.file("etc/rsm/nodes", _nodes())
    _add_modules(tree, setup)
    _add_product(tree, setup)
    for item in setup.copies:
        _add_copy(tree, *split_copy(item), setup.kernel.arch)
    return tree


def split_copy(item):
    """--copy's FILE and DEST; a colon in an existing file's name is part of the name."""
    source, colon, target = item.rpartition(":")
    if not colon or os.path.exists(item) or not target.startswith("/"):
        source, target = item, ""
    if not os.path.exists(source):
        raise UsageError(f"--copy {item}: no such file")
    return Path(source), target or f"/tmp/{Path(os.path.abspath(source)).name}"


def _settings(setup):
    values = {"host_name": f"rsm{setup.node}", "address": _address(setup.node),
              "end_mark": setup.end_mark,
              "transport_modules": " ".join(setup.transport),
              "modules": " ".join(setup.modules),
              "drivers": " ".join(setup.drivers),
              "network_modules": " ".join(setup.network),
              "network_address": network.address(setup.node) if setup.network else "",
              "serial_lines": usermode.serial_lines() if setup.kernel.runs is Runs.PROCESS else "",
              "has_hub": "1" if setup.has_hub else "",
              "skip_kmemleak": os.environ.get("RSM_VM_NO_KMEMLEAK", "")}
    return "".join(f"{key}={shlex.quote(value)}\n" for key, value in values.items()).encode()


def _address(node):
    """A node's IP address: of its loopback device, as the interconnect carries no IP."""
    return f"10.77.0.{node}"


def _nodes():
    """/etc/rsm/nodes of every guest: which address is which node."""
    return "".join(f"{node} {_address(node)}\n" for node in range(1, MOST_NODES + 1)).encode()


def _permissions():
    """The udev rules as lines "glob group mode" for the guest's own small udev."""
    lines = []
    rules = paths.UDEV_RULES.read_text() if paths.UDEV_RULES.exists() else ""
    for rule in rules.splitlines():
        fields = {} if rule.startswith("#") else dict(UDEV_FIELD.findall(rule))
        if "KERNEL" in fields:
            lines.append(f"{fields['KERNEL']} {fields.get('GROUP', 'root')} "
                         f"{fields.get('MODE', '0600')}\n")
    return "".join(lines).encode()


def _add_modules(tree, setup):
    """Modules in one directory, with the index that modprobe reads."""
    root = f"usr/lib/modules/{setup.kernel.release}"
    tree.directory(root)
    for name, data in setup.module_set.data.items():
        tree.file(f"{root}/rsm/{name}.ko", data)
    tree.file(f"{root}/modules.dep", setup.module_set.dep_file().encode())
    tree.file(f"{root}/modules.alias", setup.module_set.alias_file().encode())
    options = "".join(f"options {name} {text}\n" for name, text in setup.parameters.items())
    tree.file("etc/modprobe.d/rsm.conf", options.encode())


def _add_product(tree, setup):
    """The project's libraries, tools and configuration, as "make install" would place them."""
    arch = setup.kernel.arch
    for path in libraries.built_libraries(arch):
        if path.is_symlink():
            tree.symlink(f"{arch.guest_libraries}/{path.name}", os.readlink(path))
        else:
            _add_program(tree, path, f"{arch.guest_libraries}/{path.name}", arch, debuginfo.without)
    for path in libraries.built_tools(arch):
        _add_program(tree, path, f"usr/bin/{path.name}", arch, debuginfo.without)
    tree.file("etc/rsm/rsm.segmentid", paths.SEGMENT_IDS.read_bytes())
    adapters = paths.DAT_CONF.read_text()
    if setup.network:
        adapters = network.dat_conf(adapters)
        for path, source in network.files().items():
            _add_program(tree, source, path, arch)
        if why := siw.absence(setup.kernel):
            tree.file("etc/rsm-vm/no-siw", why.encode())
    tree.file("etc/dat/dat.conf", adapters.encode())


def _add_copy(tree, source, target, arch):
    """A file, or a directory with all that is in it."""
    if not source.is_dir():
        _add_program(tree, source, target, arch)
        return
    tree.directory(target, source.stat().st_mode & 0o7777)
    for entry in sorted(source.iterdir()):
        if entry.is_symlink() and not entry.exists():
            tree.symlink(f"{target}/{entry.name}", os.readlink(entry))
        elif entry.is_dir() or entry.is_file():
            _add_copy(tree, entry, f"{target}/{entry.name}", arch)


def _add_program(tree, source, target, arch, form=bytes):
    """A file in some form, and what the loader will look for if it is an ELF file."""
    try:
        tree.file(target, form(source.read_bytes()), source.stat().st_mode & 0o7777)
    except OSError as error:
        raise UsageError(f"cannot copy {source}: {error.strerror}") from error
    if libraries.is_elf(source):
        for path, host in libraries.needed(source, arch).items():
            if path not in tree:
                tree.file(path, host.read_bytes(), 0o755)
