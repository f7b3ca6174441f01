# SPDX-License-Identifier: GPL-2.0
"""One running guest: its QEMU process and the ports over which its init talks to us."""

import os
import secrets
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import klog, qemu
from .kernels import Kernel
from .modules import ModuleSet

# Without these a guest has no ports; they are built in or absent from some kernels.
TRANSPORT = ["virtio_pci", "virtio_console"]


@dataclass
class Setup:
    """What goes into one guest."""

    node: int
    command: str
    kernel: Kernel
    module_set: ModuleSet
    modules: list
    parameters: dict
    copies: list
    transport: list = field(default_factory=lambda: list(TRANSPORT))
    end_mark: str = field(default_factory=lambda: f"<end {secrets.token_hex(8)}>")


class Stream:
    """Output of the command, passed on as it comes, without the mark that ends it.

    What might be the beginning of the mark is held back until the next bytes tell.
    """

    def __init__(self, node, target, end_mark):
        self.prefix = b"" if node == 1 else b"[%d] " % node
        self.target = target
        self.mark = end_mark.encode()
        self.pending = b""
        self.at_line_start = True
        self.ended = False

    def feed(self, data):
        """Takes bytes from the guest."""
        if self.ended:
            return
        self.pending += data
        body, mark, _ = self.pending.partition(self.mark)
        self.ended = bool(mark)
        keep = 0 if mark else self._possible_mark(body)
        self.pending = body[len(body) - keep:]
        self._write(body[:len(body) - keep])

    def close(self):
        """The guest is gone: what was held back was no mark."""
        if not self.ended:
            self.ended = True
            self._write(self.pending)

    def _possible_mark(self, data):
        return next((size for size in range(min(len(data), len(self.mark) - 1), 0, -1)
                     if self.mark.startswith(data[-size:])), 0)

    def _write(self, data):
        if self.prefix:
            data = b"".join(self._prefixed(line) for line in data.splitlines(keepends=True))
        while data:
            data = data[os.write(self.target, data):]

    def _prefixed(self, line):
        start = self.prefix if self.at_line_start else b""
        self.at_line_start = line.endswith(b"\n")
        return start + line


class Guest:
    """Feed it what arrives on its sockets until .finished; then .stop() it."""

    def __init__(self, setup, folder):
        self.node = setup.node
        self.console = Path(folder, f"console{self.node}")
        self.ramdisk = Path(folder, f"initrd{self.node}")
        self.complaints = Path(folder, f"qemu{self.node}")
        self.streams = {"out": Stream(self.node, 1, setup.end_mark),
                        "err": Stream(self.node, 2, setup.end_mark)}
        self.sockets = {}
        self.process = None
        self.started = self.ready = None
        self.status = None
        self.failure = None
        self.control = b""

    def start(self, options, accelerator, image, devices):
        """Starts QEMU with one end of a socket pair for each port."""
        pairs = {name: socket.socketpair() for name in qemu.PORTS}
        self.sockets = {name: pair[0] for name, pair in pairs.items()}
        fds = {name: pair[1].fileno() for name, pair in pairs.items()}
        command = qemu.command(options, accelerator, image, self.ramdisk, self.console,
                               fds, devices)
        self.started = time.monotonic()
        # A group of its own, or the terminal's Ctrl-C would reach QEMU before us.
        with open(self.complaints, "wb") as complaints:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                            stdout=complaints, stderr=complaints,
                                            pass_fds=fds.values(), process_group=0)
        for pair in pairs.values():
            pair[1].close()

    def receive(self, name):
        """Reads one port; False when QEMU has closed it."""
        try:
            data = self.sockets[name].recv(65536)
        except ConnectionResetError:
            data = b""
        if name == "control":
            self._listen(data)
        else:
            self.streams[name].feed(data)
        return bool(data)

    @property
    def finished(self):
        """Nothing more will come: the command is over and all its output is here."""
        reported = self.status is not None and all(s.ended for s in self.streams.values())
        return reported or self.failure is not None

    def lost(self):
        """All ports are closed: QEMU has ended before the guest reported."""
        for stream in self.streams.values():
            stream.close()
        if self.status is None and self.failure is None:
            self.process.wait()
            message = self.complaints.read_text(errors="replace").strip()
            self.failure = "guest died: " + (message or "see its kernel log")

    def stop(self):
        """Ends QEMU; SIGTERM lets it write out the console's last lines."""
        if not self.process:
            return
        self.process.terminate()
        try:
            self.process.wait(timeout=3)
        except subprocess.TimeoutExpired:
            self.process.kill()
            # However busy the machine is: nothing survives that.
            self.process.wait()
        for end in self.sockets.values():
            end.close()

    def kernel_log(self):
        """All that the guest's console said."""
        try:
            return self.console.read_text(errors="replace").replace("\r", "")
        except FileNotFoundError:
            return ""

    def reports(self):
        """Lines of kernel reports, see klog."""
        return klog.reports(self.kernel_log())

    def _listen(self, data):
        """init says "ready", then "exit STATUS", or "fail REASON", each on a line."""
        self.control += data
        *lines, self.control = self.control.split(b"\n")
        for line in lines:
            word, _, rest = line.decode(errors="replace").partition(" ")
            if word == "ready":
                self.ready = time.monotonic()
            elif word == "exit":
                self.status = int(rest)
            elif word == "fail":
                self.failure = rest
