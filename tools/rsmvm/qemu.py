# SPDX-License-Identifier: GPL-2.0
"""The command line of QEMU for one guest."""

import shutil
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .arch import Architecture
from .errors import UsageError

# Without these a guest has no ports; they are built in or absent from some kernels.
TRANSPORT = ["virtio_pci", "virtio_console"]
PORTS = ("control", "out", "err")
HUB_PORT = ("hub",)
MACHINE = ["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
# A broken guest must end, not linger: any oops panics and a panic resets, which with
# -no-reboot ends QEMU.  Emulation on a busy host is slow enough for false stall reports,
# hence the long RCU timeout.  The kernel's tests of its own ciphers would take a tenth of an emulated boot.
COMMAND_LINE = ("cryptomgr.notests initcall_blacklist=crypto_kdf108_init "
                "ignore_loglevel panic=-1 oops=panic log_buf_len=4M rcupdate.rcu_cpu_stall_timeout=60 "
                "random.trust_cpu=on mitigations=off nokaslr")


def binary(arch):
    """QEMU, or one line on how to get it."""
    path = shutil.which(arch.qemu)
    if not path:
        raise UsageError(f"{arch.qemu} is missing; get it with: tools/install-deps {arch.group}")
    return path


@dataclass
class Launch:
    """What the command lines of all guests have in common."""

    arch: Architecture
    program: list
    smp: int
    mebibytes: int
    accelerator: list
    image: Path
    devices: Callable
    kernel_arguments: str = ""
    memory_nodes: int = 1
    end_signal = signal.SIGTERM

    def command(self, node, ramdisk, console, port_fds):
        """setpriv sees to it that QEMU dies with rsm-vm, even by SIGKILL.

        For a machine that can only have one processor the emulator leaves out barriers and the
        atomicity of locked instructions, which guests that share memory need.
        """
        arguments = ["setpriv", "--pdeathsig", "KILL", *self.program, *MACHINE, *self.arch.qemu_machine,
                     *self.accelerator, *processors(self), *memory(self),
                     "-kernel", str(self.image), "-initrd", str(ramdisk),
                     "-append", f"console={self.arch.console} {COMMAND_LINE} {self.arch.kernel_arguments}"
                     f"{self.kernel_arguments}",
                     # A guest may live more than once in a run: its console adds up.
                     "-chardev", f"file,id=console,path={console},append=on",
                     "-serial", "chardev:console",
                     "-device", "virtio-serial-pci"]
        for name, end in port_fds.items():
            arguments += ["-chardev", f"socket,id={name},fd={end}",
                          "-device", f"virtserialport,chardev={name},name=rsm.{name}"]
        return arguments + self.devices(node)

    def words(self, _console, complaints):
        """The file for what the process itself says, opened: QEMU writes the console on its own."""
        return open(complaints, "wb")

    def environment(self):
        """The process's environment: this one."""
        return None

    @property
    def is_emulated(self):
        """No hardware helps."""
        return "kvm" not in self.accelerator

    @property
    def processors(self):
        """So many a guest could have: as many in each NUMA node."""
        nodes = self.memory_nodes
        return -(-max(self.smp, 2) // nodes) * nodes


def processors(launch):
    """Options for the guest's processors: a NUMA node is a socket."""
    topology = f",sockets={launch.memory_nodes}" if launch.memory_nodes > 1 else ""
    return ["-smp", f"{launch.smp},maxcpus={launch.processors}{topology}"]


def memory(launch):
    """Options for the guest's memory, in NUMA nodes of the same size if it is to have several."""
    arguments = ["-m", str(launch.mebibytes)]
    nodes = launch.memory_nodes
    if nodes == 1:
        return arguments
    per_node = launch.processors // nodes
    for node in range(nodes):
        size = launch.mebibytes * (node + 1) // nodes - launch.mebibytes * node // nodes
        first = node * per_node
        arguments += ["-object", f"memory-backend-ram,id=memory{node},size={size}M", "-numa",
                      f"node,nodeid={node},memdev=memory{node},cpus={first}-{first + per_node - 1}"]
    return arguments
