# SPDX-License-Identifier: GPL-2.0
"""The Ethernet between guests and soft RoCE on it: what QEMU and the guests need for them."""

import shutil
import sys
from pathlib import Path

from . import paths
from .arch import NATIVE
from .errors import UsageError
from .service import Service

# The network card of a guest in QEMU; a kernel that is a process has its own built in.
CARD = ["virtio_net"]
# rdma_rxe wants crc32 at once, which nothing in a guest would load for it, where that is a module.
CHECKSUM = ["crc32_generic"]
# In this order.  sch_netem is there for tests that lose packets or delay them.
MODULES = ["rdma_rxe", "ib_uverbs", "rdma_ucm", "sch_netem"]
# A device that rsm_rdma refuses: soft-iWARP, which wants crc32c in the same way.
OPTIONAL = ["crc32c_generic", "siw"]
# iproute2's own: busybox has an ip and a tc, which cannot do half of it, and no rdma.
PROGRAMS = ["ip", "tc", "rdma"]
# libibverbs loads one for each kind of device.
PROVIDERS = ["rxe", "siw"]
# The largest packet of RoCE, 4096 bytes, and its headers.
MTU = 4200
VERBS_LINE = "#verbs0 "


def address(node):
    """A node's IP address on this network."""
    return f"10.77.1.{node}"


def mac(node):
    """A node's Ethernet address."""
    return f"52:54:00:4d:01:{node:02x}"


class Network(Service):
    """The switch that the guests of one run are plugged into."""

    def __init__(self, path):
        # No longer than the other name, whose length is checked.
        self.packets = str(Path(path).with_name("cards"))
        super().__init__("the switch", path,
                         [sys.executable, paths.SWITCH, "--socket", path, "--packets", self.packets])

    def qemu_arguments(self, node):
        """A guest's network card.  Without romfile QEMU would look for a boot ROM; without speed
        rxe would complain of it in the kernel log."""
        return ["-netdev", f"stream,id=net,server=off,addr.type=unix,addr.path={self.qemu_path()}",
                "-device", "virtio-net-pci,netdev=net,romfile=,speed=10000,duplex=full,"
                f"host_mtu={MTU},mac={mac(node)}"]

    def process_arguments(self, node):
        """The same of a guest that is a process."""
        return [f"vec0:transport=bess,dst={self.packets},mac={mac(node)},mtu={MTU}"]


def files():
    """{guest path: host path} of the programs, and of what libibverbs looks for by itself."""
    found = {f"usr/sbin/{name}": _program(name) for name in PROGRAMS}
    for name in PROVIDERS:
        plugins = sorted(Path(NATIVE.guest_libraries, "libibverbs").glob(f"lib{name}-rdmav*.so"))
        driver = Path(f"/etc/libibverbs.d/{name}.driver")
        if not plugins or not driver.exists():
            raise UsageError("ibverbs-providers is missing; get it with: tools/install-deps run")
        found |= {str(path): path for path in [*plugins, driver]}
    # glibc loads libgcc_s when a thread is ended from outside, as rping's are.
    unwinder = Path(NATIVE.guest_libraries, "libgcc_s.so.1")
    found[str(unwinder)] = unwinder
    return found


def dat_conf(text):
    """dat.conf where there is such a device: its line is no longer a comment."""
    return "".join(line[1:] if line.startswith(VERBS_LINE) else line
                   for line in text.splitlines(keepends=True))


def _program(name):
    path = shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")
    if not path:
        raise UsageError(f"{name} of iproute2 is missing; get it with: tools/install-deps run")
    return Path(path)
