# SPDX-License-Identifier: GPL-2.0
"""A process that a run needs on the host: QEMUs connect to its socket."""

import os
import socket
import subprocess
import time
from pathlib import Path

from .errors import UsageError

START_SECONDS = 30
SOCKET_PATH_MAX = 107


class Service:
    """The process; it ends with rsm-vm whatever happens to rsm-vm."""

    def __init__(self, name, path, command):
        self.name = name
        self.path = str(path)
        self.command = command
        self.process = None
        self.complaints = None

    def start(self, folder):
        """Returns when QEMU can connect."""
        if len(os.fsencode(self.path)) > SOCKET_PATH_MAX:
            raise UsageError(f"{self.path}: too long for a socket's name; it has at most {SOCKET_PATH_MAX} bytes: give a shorter path, or set TMPDIR")
        self.complaints = Path(folder, "service")
        with open(self.complaints, "wb") as complaints:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *self.command],
                stdin=subprocess.DEVNULL, stdout=complaints, stderr=complaints, process_group=0)
        deadline = time.monotonic() + START_SECONDS
        while not self._listens():
            if self.failure():
                raise UsageError(self.failure())
            if time.monotonic() > deadline:
                raise UsageError(f"{self.name} does not listen on {self.path}")
            time.sleep(0.02)

    def failure(self):
        """Why the process is gone, None while it is not."""
        if self.process.poll() is None:
            return None
        message = self.complaints.read_text(errors="replace").strip()
        return f"{self.name} ended with status {self.process.returncode}: " + \
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

    def qemu_path(self):
        """The socket's name as a part of an option of QEMU."""
        return self.path.replace(",", ",,")

    def _listens(self):
        """A peer that comes and goes; the name alone would be there before it is served."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
            return end.connect_ex(self.path) == 0
