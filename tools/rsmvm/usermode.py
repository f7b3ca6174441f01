# SPDX-License-Identifier: GPL-2.0
"""A guest that is a process of this machine: User-Mode Linux, a kernel on the host's system calls.

It boots in a second, and starts a process in a tenth of the time that an emulated debug kernel takes.
It has one processor and no PCI devices; tests that need these run in QEMU.
"""

import os
import signal
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import qemu
from .arch import NATIVE
from .errors import UsageError

# The ports are serial lines, whose driver is built in.
TRANSPORT = []
COMMAND_LINE = "ignore_loglevel panic=-1 oops=panic log_buf_len=4M noreboot seccomp=auto kunit.autorun=1 con=null con0=null,fd:1 ssl=null"
# Which serial line is which port.
LINES = {name: line for line, name in enumerate(qemu.PORTS + qemu.HUB_PORT, 1)}
# The guest's memory is a file; one there does not go to a disk.
SHARED_MEMORY = Path("/dev/shm")
# Bytes where the kernel ends a word, or begins one that goes on over blanks. The last one is a blank of Latin-1, and part of
# letters of UTF-8.
BREAKS_COMMAND_LINE = frozenset(b' \t\n\v\f\r"\xa0')
# With less the kernel finds bugs of its own while it boots, or no memory to go on.
LEAST_MEBIBYTES = 128


def check(options):
    """Refuses what such a guest has not."""
    if options.arch != NATIVE:
        raise UsageError(f"--kernel uml is for --arch {NATIVE.name}")
    if (options.smp or 1) != 1:
        raise UsageError("--kernel uml: the guest has one processor")
    if options.mem < LEAST_MEBIBYTES:
        raise UsageError(f"--kernel uml: the guest needs --mem {LEAST_MEBIBYTES}")
    most = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    if options.nodes * options.mem > most:
        raise UsageError(f"--kernel uml: --nodes {options.nodes} with --mem {options.mem} needs more than the {most} MiB of this machine")
    for path in (tempfile.gettempdir(), options.ivshmem_socket and os.path.abspath(options.ivshmem_socket)):
        if path and BREAKS_COMMAND_LINE.intersection(os.fsencode(path)):
            raise UsageError(f"--kernel uml: the kernel's command line takes no blank, no quote and no byte 0xa0: {path}")
    # The switch's name is there, among other arguments of the network card.
    if options.controller == "rdma" and "," in tempfile.gettempdir():
        raise UsageError(f"--kernel uml: the network card takes no comma, which is in {tempfile.gettempdir()}: set TMPDIR")
    if options.memory_nodes != 1:
        raise UsageError("--kernel uml: the guest has one memory node")


def serial_lines():
    """PORT=DEVICE for the guest's init, in the order of the ports."""
    return " ".join(f"rsm.{name}=ttyS{line}" for name, line in LINES.items())


@dataclass
class Launch:
    """What the command lines of all guests have in common."""

    image: Path
    mebibytes: int
    arguments: Callable[[int], list]    # of a node's controller
    is_emulated = False
    # It would run its drivers' last words in the middle of whatever it does. Its console is written at once.
    end_signal = signal.SIGKILL

    def command(self, node, ramdisk, _console, port_fds):
        """The command line of one guest, which dies with rsm-vm, even by SIGKILL."""
        lines = [f"ssl{LINES[name]}=fd:{fd}" for name, fd in port_fds.items()]
        return ["setpriv", "--pdeathsig", "KILL", str(self.image), f"mem={self.mebibytes}M", f"initrd={ramdisk}",
                # Else it is in $HOME, and stays there.
                f"uml_dir={Path(ramdisk).parent}/", *COMMAND_LINE.split(), *self.arguments(node), *lines]

    def words(self, console, _complaints):
        """The file for what the process itself says, opened: its kernel log."""
        return open(console, "ab")

    def environment(self):
        """The process's environment, with the folder for the file of the guest's memory: the kernel looks no further."""
        return os.environ | {"TMPDIR": str(SHARED_MEMORY) if self._fits() else tempfile.gettempdir()}

    def _fits(self):
        """Whether there can be memory: in a container there is often little room, or nothing may be executed."""
        try:
            state = os.statvfs(SHARED_MEMORY)
        except OSError:
            return False
        return not state.f_flag & os.ST_NOEXEC and state.f_bavail * state.f_frsize >= self.mebibytes << 20
