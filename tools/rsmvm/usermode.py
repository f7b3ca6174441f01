# SPDX-License-Identifier: GPL-2.0
"""A guest that is a process of this machine: User-Mode Linux, a kernel on the host's system calls.

Where guests are emulated, a debug kernel does ten to twenty times as much in a second as a process, and boots in one.
It has one processor, no PCI and no other node: what takes these is for QEMU.
"""

import os
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path

from . import qemu
from .errors import UsageError

# The ports are serial lines, whose driver is built in.
TRANSPORT = []
COMMAND_LINE = "ignore_loglevel panic=-1 oops=panic log_buf_len=4M noreboot seccomp=auto kunit.autorun=1 con=null con0=null,fd:1 ssl=null"
# A file there takes no disk.
SHARED_MEMORY = Path("/dev/shm")


def check(options):
    """Refuses what such a guest has not."""
    if options.controller != "loopback":
        raise UsageError(f"--kernel uml: the guest is a process and has no device for --controller {options.controller}")
    if options.memory_nodes != 1:
        raise UsageError("--kernel uml: the guest has one memory node")


def serial_lines():
    """PORT=DEVICE for the guest's init, in the order of the ports."""
    return " ".join(f"rsm.{name}=ttyS{line}" for line, name in enumerate(qemu.PORTS, 1))


@dataclass
class Launch:
    """What the command lines of all guests have in common."""

    image: Path
    mebibytes: int
    is_emulated = False
    # It would run its drivers' last words in the middle of whatever it does. Its console is written at once.
    end_signal = signal.SIGKILL

    def command(self, _node, ramdisk, _console, port_fds):
        """The command line of one guest, which dies with rsm-vm, even by SIGKILL."""
        lines = [f"ssl{line}=fd:{port_fds[name]}" for line, name in enumerate(qemu.PORTS, 1)]
        return ["setpriv", "--pdeathsig", "KILL", str(self.image), f"mem={self.mebibytes}M", f"initrd={ramdisk}",
                *COMMAND_LINE.split(), *lines]

    def words(self, console, _complaints):
        """The file for what the process itself says, opened: its kernel log."""
        return open(console, "ab")

    def environment(self):
        """The guest's memory is a file."""
        if shutil.disk_usage(SHARED_MEMORY).free < self.mebibytes << 20:
            return None
        return os.environ | {"TMPDIR": str(SHARED_MEMORY)}
