# SPDX-License-Identifier: GPL-2.0
"""Controllers: what joins the guests, and what each needs from QEMU and in the guest."""

from contextlib import contextmanager
from pathlib import Path

from .errors import UsageError
from .server import Server


class Controller:
    """What all have in common.  .modules are loaded by name, in this order, each bringing its
    dependencies; .drivers must come up by themselves, by the modalias of a PCI device."""

    name = ""
    modules = ["rsm"]
    drivers = []

    @contextmanager
    def started(self, folder):
        """While this lasts, the guests' devices have something to connect to."""
        del folder
        yield

    def failure(self):
        """What went wrong on the host's side, None if nothing did."""
        return None

    def qemu_arguments(self):
        """Devices of a guest."""
        return []


class Loopback(Controller):
    """The controller built into rsm.ko: one node, no device."""

    name = "loopback"

    def __init__(self, options):
        if options.nodes != 1:
            raise UsageError("--controller loopback joins a node to itself only: use --nodes 1")
        for option in ("ivshmem_socket", "ivshmem_size"):
            if getattr(options, option):
                raise UsageError(f"--{option.replace('_', '-')} is for --controller ivshmem")


class Ivshmem(Controller):
    """Memory shared by all guests, and doorbells between them, from a server of our own."""

    name = "ivshmem"
    drivers = ["rsm_ivshmem"]
    max_nodes = 4

    def __init__(self, options):
        if options.nodes > self.max_nodes:
            raise UsageError(f"--nodes {options.nodes}: rsm-vm joins up to {self.max_nodes}")
        self.path = options.ivshmem_socket
        self.mebibytes = options.ivshmem_size or 64
        self.server = None

    @contextmanager
    def started(self, folder):
        path = Path(self.path or Path(folder, "ivshmem")).absolute()
        self.server = Server(path, self.mebibytes)
        try:
            self.server.start(folder)
            yield
        finally:
            self.server.stop()

    def failure(self):
        return self.server.failure()

    def qemu_arguments(self):
        return ["-chardev", f"socket,path={self.server.path.replace(',', ',,')},id=ivshmem",
                "-device", "ivshmem-doorbell,vectors=1,chardev=ivshmem"]


CONTROLLERS = {"loopback": Loopback, "ivshmem": Ivshmem}


def create(options):
    """The controller that joins the guests of these options."""
    if options.controller not in CONTROLLERS:
        raise UsageError(f"--controller {options.controller} is not available yet: this version "
                         "of RSM has " + ", ".join(CONTROLLERS))
    return CONTROLLERS[options.controller](options)
