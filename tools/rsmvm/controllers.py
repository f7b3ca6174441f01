# SPDX-License-Identifier: GPL-2.0
"""Controllers: what joins the guests, and what each needs from QEMU and in the guest."""

from .errors import UsageError


class Loopback:
    """The controller built into rsm.ko: one node, no device."""

    name = "loopback"
    # Loaded in this order; each brings its own dependencies.
    modules = ["rsm"]

    def __init__(self, nodes):
        if nodes != 1:
            raise UsageError("--controller loopback joins a node to itself only: use --nodes 1")

    def qemu_arguments(self, node):
        """Devices of this node's guest."""
        del node
        return []

    def module_parameters(self, node):
        """{module: parameters} for modprobe."""
        return {"rsm": f"node_id={node}"}


CONTROLLERS = {"loopback": Loopback}


def create(name, nodes):
    """The controller that joins so many nodes."""
    if name not in CONTROLLERS:
        raise UsageError(f"--controller {name} is not available yet: this version of RSM has "
                         + ", ".join(CONTROLLERS))
    return CONTROLLERS[name](nodes)
