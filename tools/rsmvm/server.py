# SPDX-License-Identifier: GPL-2.0
"""The ivshmem server of one run: it hands the shared memory and the doorbells to every QEMU."""

import os

from . import paths
from .errors import UsageError
from .service import Service

NAME = "rsm-ivshmem-server"
# As many peers as a small window has slots; the guests are four at most.
MAX_PEERS = 16


def binary():
    """The server, or one line on how to get it."""
    found = sorted(path for path in (paths.build_dir() / "tools").glob(f"**/{NAME}")
                   if path.is_file() and os.access(path, os.X_OK))
    if not found:
        raise UsageError(f"{NAME} is not built in {paths.build_dir()}; build it with: make lib")
    return found[0]


class Server(Service):
    """A window of this size, for those who connect to the path."""

    def __init__(self, path, mebibytes):
        super().__init__(NAME, path, [binary(), "--socket", str(path), "--size", f"{mebibytes}M",
                                      "--vectors", "1", "--max-peers", str(MAX_PEERS)])
