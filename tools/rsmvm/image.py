# SPDX-License-Identifier: GPL-2.0
"""Kernel images.

A compressed bzImage unpacks itself inside the guest, which takes seconds under emulation.
The ELF file in it can be booted directly where the kernel has a PVH entry, so it is unpacked
on the host, once, into the cache.
"""

import lzma
import os
import re
import struct
import subprocess
import zlib

from . import paths
from .errors import UsageError

PVH_NOTE = re.compile(rb"\x04\0\0\0[\x04\x08]\0\0\0\x12\0\0\0Xen\0")
PACKERS = {
    b"\x1f\x8b": lambda data: zlib.decompressobj(31).decompress(data),
    b"\xfd7": lambda data: lzma.LZMADecompressor().decompress(data),
    b"\x28\xb5": lambda data: _filter(["zstd", "-dcq"], data),
    b"\x02\x21": lambda data: _filter(["lz4", "-dcq"], data),
}


def bootable(path):
    """The file that QEMU boots fastest: the ELF kernel if it can, else the image as it is."""
    with open(path, "rb") as stream:
        if stream.read(4) == b"\x7fELF":
            return path
    status = path.stat()
    cached = paths.cache_dir() / "kernels" / f"{path.name}-{status.st_size}-{status.st_mtime_ns}"
    if not cached.exists():
        elf = _unpack(path.read_bytes())
        if not elf or not PVH_NOTE.search(elf):
            return path
        _store(cached, elf)
    return cached


def release_of(path):
    """The release in a bzImage's header: modules must match it."""
    with open(path, "rb") as stream:
        head = stream.read(0x10000)
    if head[0x202:0x206] == b"HdrS":
        offset = struct.unpack_from("<H", head, 0x20E)[0] + 0x200
        return head[offset:].split(b"\0", 1)[0].split(b" ", 1)[0].decode()
    raise UsageError(f"--kernel {path}: not a bzImage (give the build tree for an ELF kernel)")


def _unpack(data):
    """The ELF kernel in a bzImage (Documentation/x86/boot.rst), or None if it resists."""
    if data[0x202:0x206] != b"HdrS":
        return None
    offset, length = struct.unpack_from("<II", data, 0x248)
    start = ((data[0x1F1] or 4) + 1) * 512 + offset
    payload = data[start:start + length]
    unpack = PACKERS.get(payload[:2])
    try:
        elf = unpack(payload) if unpack else None
    except (OSError, subprocess.CalledProcessError, lzma.LZMAError, zlib.error):
        return None
    return elf if elf and elf.startswith(b"\x7fELF") else None


def _filter(command, data):
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout


def _store(path, data):
    """Renamed into place, so that a second rsm-vm never boots half a kernel."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    temporary.write_bytes(data)
    temporary.rename(path)
