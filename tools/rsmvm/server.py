# SPDX-License-Identifier: GPL-2.0
"""The ivshmem server of one run: it hands the shared memory and the doorbells to every QEMU."""

import os
import socket
import subprocess
import time
from pathlib import Path

from . import paths
from .errors import UsageError

NAME = "rsm-ivshmem-server"
START_SECONDS = 30
SOCKET_PATH_MAX = 107
# As many peers as a small window has slots; the guests are four at most.
MAX_PEERS = 16


def binary():
    """The server, or one line on how to get it."""
    found = sorted(path for path in (paths.build_dir() / "tools").glob(f"**/{NAME}")
                   if path.is_file() and os.access(path, os.X_OK))
    if not found:
        raise UsageError(f"{NAME} is not built in {paths.build_dir()}; build it with: make lib")
    return found[0]


class Server:
    """The process; it ends with rsm-vm whatever happens to rsm-vm."""

    def __init__(self, path, mebibytes):
        self.program = binary()
        self.path = str(path)
        self.mebibytes = mebibytes
        self.process = None
        self.complaints = None

    def start(self, folder):
        """Returns when QEMU can connect."""
        if len(os.fsencode(self.path)) > SOCKET_PATH_MAX:
            raise UsageError(f"{self.path}: too long for a socket's name; "
                             "set TMPDIR or give --ivshmem-socket")
        self.complaints = Path(folder, "server")
        with open(self.complaints, "wb") as complaints:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", self.program, "--socket", self.path,
                 "--size", f"{self.mebibytes}M", "--vectors", "1",
                 "--max-peers", str(MAX_PEERS)],
                stdin=subprocess.DEVNULL, stdout=complaints, stderr=complaints, process_group=0)
        deadline = time.monotonic() + START_SECONDS
        while not self._listens():
            if self.failure():
                raise UsageError(self.failure())
            if time.monotonic() > deadline:
                raise UsageError(f"{NAME} does not listen on {self.path}")
            time.sleep(0.02)

    def failure(self):
        """Why the server is gone, None while it is not."""
        if self.process.poll() is None:
            return None
        message = self.complaints.read_text(errors="replace").strip()
        return f"{NAME} ended with status {self.process.returncode}: " + \
            (message.splitlines() or ["it said nothing"])[-1]

    def stop(self):
        """SIGTERM lets it remove its socket."""
        if not self.process:
            return
        self.process.terminate()
        try:
            self.process.wait(timeout=3)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _listens(self):
        """A peer that comes and goes; the name alone would be there before it is served."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
            return end.connect_ex(self.path) == 0
