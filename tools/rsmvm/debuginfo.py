# SPDX-License-Identifier: GPL-2.0
"""Programs, libraries and modules without what only debuggers read: a guest unpacks all of them into
memory at boot, and nine tenths of the project's own are debug information."""

import subprocess
import tempfile

SECTION = b".debug_info\0"


def without(data):
    """The bytes of an ELF file without debug information; symbols stay. Others, and files for
    processors that this machine's objcopy does not know, stay as they are."""
    if not data.startswith(b"\x7fELF") or SECTION not in data:
        return data
    with tempfile.NamedTemporaryFile(prefix="rsm-vm-") as file:
        file.write(data)
        file.flush()
        try:
            done = subprocess.run(["objcopy", "--strip-debug", file.name], check=False, capture_output=True)
        except FileNotFoundError:
            return data
        if done.returncode != 0:
            return data
        with open(file.name, "rb") as result:
            return result.read()
