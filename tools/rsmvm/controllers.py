# SPDX-License-Identifier: GPL-2.0
"""Controllers: what joins the guests, and what each needs from QEMU and in the guest."""

from contextlib import contextmanager
from pathlib import Path

from . import network
from .arch import NATIVE
from .emulator import Threads
from .errors import UsageError
from .server import Server


class Controller:
    """What all have in common.  .modules are loaded by name, in this order, each bringing its
    dependencies; .drivers must come up by themselves, by the modalias of a PCI device where there are such."""

    name = ""
    modules = ["rsm"]
    drivers = []
    # Modules of the network between the guests, if there is one, and of a network card in QEMU.
    network = []
    card = []
    # Modules that tests load, where there are such: brd is a disk, since no file system of the guests takes O_DIRECT.
    optional = ["brd"]
    threads = Threads.ONE

    @contextmanager
    def started(self, folder):
        """While this lasts, the guests' devices have something to connect to."""
        del folder
        yield

    def failure(self):
        """What went wrong on the host's side, None if nothing did."""
        return None

    def qemu_arguments(self, node):
        """Devices of a guest."""
        del node
        return []

    def process_arguments(self, node):
        """Words for the command line of a kernel that is a process."""
        del node
        return []

    def parameters(self):
        """{module: parameters} that the guests' modules need."""
        return {}


class Loopback(Controller):
    """The controller built into rsm.ko: one node, no device."""

    name = "loopback"

    def __init__(self, options):
        if options.nodes != 1:
            raise UsageError("--controller loopback joins a node to itself only: use --nodes 1, or "
                             f"--controller ivshmem (up to {Ivshmem.max_nodes} nodes) or rdma (up to {Rdma.max_nodes})")
        _refuse_ivshmem(options)


class Ivshmem(Controller):
    """Memory shared by all guests, and doorbells between them, from a server of our own."""

    name = "ivshmem"
    drivers = ["rsm_ivshmem"]
    max_nodes = 4
    threads = Threads.PER_PROCESSOR

    def __init__(self, options):
        _limit_nodes(options, self.max_nodes)
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

    def qemu_arguments(self, node):
        return ["-chardev", f"socket,path={self.server.qemu_path()},id=ivshmem",
                "-device", "ivshmem-doorbell,vectors=1,chardev=ivshmem"]

    def process_arguments(self, node):
        return [f"rsm_ivshmem.socket={self.server.path}"]


class Rdma(Controller):
    """An Ethernet segment, and on it a soft-RoCE device in each guest: rxe0."""

    name = "rdma"
    modules = ["rsm", "rsm_rdma"]
    optional = [*Controller.optional, *network.CHECKSUM, *network.OPTIONAL]
    card = network.CARD
    network = network.CHECKSUM + network.MODULES
    max_nodes = 3

    def __init__(self, options):
        _limit_nodes(options, self.max_nodes)
        _refuse_ivshmem(options)
        if options.arch != NATIVE:
            raise UsageError(f"--controller rdma is for --arch {NATIVE.name}")
        self.nodes = options.nodes
        self.switch = None

    @contextmanager
    def started(self, folder):
        self.switch = network.Network(Path(folder, "switch"))
        try:
            self.switch.start(folder)
            yield
        finally:
            self.switch.stop()

    def failure(self):
        return self.switch.failure()

    def qemu_arguments(self, node):
        return self.switch.qemu_arguments(node)

    def process_arguments(self, node):
        return self.switch.process_arguments(node)

    def parameters(self):
        nodes = range(1, self.nodes + 1)
        listed = ",".join(f"{node}={network.address(node)}" for node in nodes)
        return {"rsm_rdma": f"nodes={listed}"}


CONTROLLERS = {"loopback": Loopback, "ivshmem": Ivshmem, "rdma": Rdma}


def _limit_nodes(options, most):
    if options.nodes > most:
        raise UsageError(f"--nodes {options.nodes}: rsm-vm joins up to {most}")


def _refuse_ivshmem(options):
    for option in ("ivshmem_socket", "ivshmem_size"):
        if getattr(options, option):
            raise UsageError(f"--{option.replace('_', '-')} is for --controller ivshmem")


def create(options):
    """The controller that joins the guests of these options."""
    return CONTROLLERS[options.controller](options)
