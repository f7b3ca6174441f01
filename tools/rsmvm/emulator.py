# SPDX-License-Identifier: GPL-2.0
"""Which QEMU emulates, where KVM does not work, and with how many threads.

Linux patches itself, through an int3, whenever it flips a static key (as many are while it
boots). A QEMU with a thread for each processor may keep the int3 for ever, and the processor
never leaves the int3:

* Until 8.1 QEMU registered a translated block after it had read the code, without a lock for the
  whole way: what another processor wrote in between went unnoticed. So an older QEMU gives way to
  that of Debian's backports, which is unpacked in the cache.
* QEMU 10 drops translated code before it stores what a processor writes there. Another processor
  may translate the old byte in between. A guest that flips static keys all the time hung so after
  two minutes: both processors in the int3, the memory there without it.

With one thread, which emulates the processors in turn, neither can happen. Two such guests on two
processors were as fast as two with a thread for each processor. But with one thread QEMU leaves
out the barriers and the atomicity that memory shared with other guests needs, and a program that
spins keeps the other processor waiting: programs that measure speed take a thread for each.
"""

import os
import re
import subprocess
from enum import Enum

from . import packages, qemu
from .errors import UsageError

FIRST_SOUND = (8, 1)
DATA = ("usr/share/qemu", "usr/share/seabios")


class Threads(Enum):
    """What emulates a guest's processors."""

    ONE = "single"
    PER_PROCESSOR = "multi"


def arguments(threads, arch):
    """QEMU's options to emulate; the caller of rsm-vm has the last word."""
    value = os.environ.get("RSM_VM_THREADS") or threads.value
    if value not in {known.value for known in Threads}:
        raise UsageError(f"RSM_VM_THREADS={value}: it is single or multi")
    return ["-accel", f"tcg,thread={value}", "-cpu", arch.emulated_processor]


def command(arch):
    """The beginning of a command line that emulates."""
    own = qemu.binary(arch)
    if _version(own) >= FIRST_SOUND:
        return [own]
    try:
        root = packages.unpacked_qemu(arch)
    except UsageError:
        return [own]    # it mostly works, and a guest that hangs in its boot is started again
    folders = [word for name in DATA for word in ("-L", str(root / name))]
    return [str(root / "usr/bin" / arch.qemu), *folders]


def _version(program):
    shown = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"version (\d+)\.(\d+)", shown.stdout)
    return (int(found[1]), int(found[2])) if found else (0, 0)
