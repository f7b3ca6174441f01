# SPDX-License-Identifier: GPL-2.0
"""One guest: its process, QEMU or a kernel of its own, and the ports over which its init talks to us."""

import os
import secrets
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import klog, qemu
from .hub import Mailbox
from .kernels import Kernel
from .modules import ModuleSet
from .stream import Stream

# Under emulation a guest stops for ever or dies in its boot, once in some hundred boots: with QEMU before
# 8.1 as emulator.py tells, and with QEMU 10 a timer of an idle processor was seen that never fired.
# Before init says this, nothing of ours is loaded: such a guest may be started again.
BOOT_MARK = b"rsm-vm: booted"
SILENCE = int(os.environ.get("RSM_VM_SILENCE", "90"))
MORE_STARTS = 2


@dataclass
class Setup:
    """What goes into one guest."""

    node: int
    command: str
    kernel: Kernel
    module_set: ModuleSet
    modules: list
    drivers: list
    parameters: dict
    copies: list
    has_hub: bool
    network: list
    transport: list
    end_mark: str = field(default_factory=lambda: f"<end {secrets.token_hex(8)}>")


class Guest:
    """Feed it what arrives on its sockets until .finished; then .stop() it.

    A guest that was killed can be started again: what it leaves is one console log and, of
    the last life, a status.
    """

    def __init__(self, setup, folder):
        self.node = setup.node
        self.setup = setup
        self.console = Path(folder, f"console{self.node}")
        self.ramdisk = Path(folder, f"initrd{self.node}")
        self.complaints = Path(folder, f"qemu{self.node}")
        self.ports = qemu.PORTS + (qemu.HUB_PORT if setup.has_hub else ())
        self.process = None
        self.end_signal = signal.SIGTERM
        self.more_starts = MORE_STARTS
        self._forget()

    def _forget(self):
        """The state before a life."""
        self.streams = {"out": Stream(self.node, 1, self.setup.end_mark),
                        "err": Stream(self.node, 2, self.setup.end_mark)}
        self.mail = Mailbox()
        self.sockets = {}
        self.control = b""
        self.started = self.ready = self.status = self.failure = None
        self.going = self.dismissed = self.done = False
        self.killed = self.paused = self.gone = False
        self.silent_since = time.monotonic()
        self.said_before = self.said = len(self._console_bytes())

    def start(self, launch):
        """Starts QEMU with one end of a socket pair for each port."""
        self._forget()
        pairs = {name: socket.socketpair() for name in self.ports}
        self.sockets = {name: pair[0] for name, pair in pairs.items()}
        fds = {name: pair[1].fileno() for name, pair in pairs.items()}
        self.end_signal = launch.end_signal
        command = launch.command(self.node, self.ramdisk, self.console, fds)
        self.started = time.monotonic()
        # A group of its own, or the terminal's Ctrl-C would reach QEMU before us.
        with launch.words(self.console, self.complaints) as words:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=words, stderr=words,
                                            pass_fds=fds.values(), process_group=0, env=launch.environment())
        for pair in pairs.values():
            pair[1].close()

    def receive(self, name):
        """What has arrived on a port; nothing when QEMU has closed it."""
        try:
            data = self.sockets[name].recv(65536)
        except ConnectionResetError:
            data = b""
        if name == "control":
            self._listen(data)
        elif name in self.streams:
            self.streams[name].feed(data)
        return data

    @property
    def alive(self):
        """QEMU runs, as far as we know."""
        return self.process is not None and not self.killed and not self.gone

    @property
    def running(self):
        """Its command runs or has run."""
        return self.alive and self.ready is not None and self.failure is None

    @property
    def reported(self):
        """The command is over and all its output is here, or neither will ever be."""
        ended = self.status is not None and all(s.ended for s in self.streams.values())
        return ended or self.failure is not None

    @property
    def dispensable(self):
        """Nothing more will come of it."""
        return (self.done and self.reported) or not self.running

    def go(self):
        """Lets init start the command."""
        self.going = True
        self._tell(b"go\n")

    def dismiss(self):
        """The run is over: init ends the command if need be and looks for leaks."""
        self.dismissed = self.status is None
        self._tell(b"end\n")

    def lost(self):
        """All ports are closed: QEMU has ended although the guest was not done."""
        self.gone = True
        for stream in self.streams.values():
            stream.close()
        if self.failure is None:
            self.process.wait()
            message = self._said_by_process()
            self.failure = "guest died: " + (message or "see its kernel log")

    def kill(self):
        """As if its power had failed; what it has said until then counts."""
        self.killed = True
        self._signal(signal.SIGKILL)
        self.process.wait()
        for name, stream in self.streams.items():
            while self.receive(name):
                pass
            stream.close()
        self._close()

    def pause(self):
        """Returns when the guest stands still."""
        self._signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        self.paused = True

    def resume(self):
        """Undoes pause()."""
        self._signal(signal.SIGCONT)
        self.paused = False

    def terminate(self):
        """Begins to end the process; SIGTERM lets QEMU write out the console's last lines."""
        if self.process:
            self._signal(self.end_signal)
            self.process.send_signal(signal.SIGCONT)

    def stop(self):
        """Ends QEMU."""
        if not self.process:
            return
        try:
            self.process.wait(timeout=3)
        except subprocess.TimeoutExpired:
            self._signal(signal.SIGKILL)
            # However busy the machine is: nothing survives that.
            self.process.wait()
        self._close()

    def _signal(self, number):
        """User-Mode Linux has a process for each address space; one that it has just made would outlive it."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, number)

    def hangs(self):
        """Whether the kernel has stopped before it could load anything of ours."""
        if not self.alive or self.paused or self.ready is not None or self.failure:
            return False
        log = self._console_bytes()
        if len(log) != self.said:
            self.said, self.silent_since = len(log), time.monotonic()
        silence = time.monotonic() - self.silent_since
        boot = log[self.said_before:]
        if BOOT_MARK in boot:
            return False
        return silence > SILENCE or klog.has_stall(boot.decode(errors="replace"))

    def died_in_boot(self):
        """Whether QEMU or the kernel has ended before anything of ours was loaded."""
        return self.gone and BOOT_MARK not in self._console_bytes()[self.said_before:]

    def forget_boot(self):
        """Removes the kernel's words in this life, a stall or a panic maybe: they tell nothing about us."""
        self.console.write_bytes(self._console_bytes()[:self.said_before])

    def _said_by_process(self):
        """QEMU's own words; a kernel that is a process says everything on its console."""
        try:
            return self.complaints.read_text(errors="replace").strip()
        except FileNotFoundError:
            return ""

    def kernel_log(self):
        """All that the guest's console said."""
        return self._console_bytes().decode(errors="replace").replace("\r", "")

    def _console_bytes(self):
        try:
            return self.console.read_bytes()
        except FileNotFoundError:
            return b""

    def reports(self):
        """Lines of kernel reports, see klog."""
        return klog.reports(self.kernel_log())

    def _close(self):
        for end in self.sockets.values():
            end.close()

    def _tell(self, line):
        """A word to init; a QEMU that has just ended is noticed elsewhere."""
        try:
            self.sockets["control"].send(line, socket.MSG_DONTWAIT)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def _listen(self, data):
        """init says "ready", "exit STATUS" and "done", or "fail REASON", each on a line."""
        self.control += data
        *lines, self.control = self.control.split(b"\n")
        for line in lines:
            word, _, rest = line.decode(errors="replace").partition(" ")
            if word == "ready":
                self.ready = time.monotonic()
            elif word == "exit":
                # A guest that was told to end has not failed.
                self.status = 0 if self.dismissed else int(rest)
            elif word == "done":
                self.done = True
            elif word == "fail":
                self.failure = rest
