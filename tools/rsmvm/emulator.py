# SPDX-License-Identifier: GPL-2.0
"""Which QEMU emulates, where KVM does not work.

Until 8.1 QEMU registered a translated block after it had read the code, without a lock for the
whole way: what another processor wrote in between went unnoticed, and the old code was executed
for ever. Linux patches itself like that, through an int3, whenever it flips a static key (as
many are while it boots), and a processor that keeps such an int3 never leaves it. So an older
QEMU gives way to that of Debian's backports, which is unpacked in the cache.
"""

import re
import subprocess

from . import packages, qemu
from .errors import UsageError

FIRST_SOUND = (8, 1)
DATA = ("usr/share/qemu", "usr/share/seabios")


def command():
    """The beginning of a command line that emulates."""
    own = qemu.binary()
    if _version(own) >= FIRST_SOUND:
        return [own]
    try:
        root = packages.unpacked_qemu()
    except UsageError:
        return [own]    # it mostly works, and a guest that hangs in its boot is started again
    folders = [word for name in DATA for word in ("-L", str(root / name))]
    return [str(root / "usr/bin" / qemu.PROGRAM), *folders]


def _version(program):
    shown = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"version (\d+)\.(\d+)", shown.stdout)
    return (int(found[1]), int(found[2])) if found else (0, 0)
