# SPDX-License-Identifier: MIT
"""Controllers, this node, and the ids that are reserved for applications."""

from __future__ import annotations

import weakref
from ctypes import POINTER, byref, c_uint32

from .library import Attributes, TopologyHead, call, made_by, text
from .native import lib


def local_node() -> int:
    """The id of this node."""
    topology = POINTER(TopologyHead)()
    call("rsm_get_interconnect_topology", byref(topology))
    node: int = topology.contents.local_nodeid
    lib.rsm_free_interconnect_topology(topology)
    return node


def segment_id_range(application: str) -> range:
    """The segment ids that /etc/rsm/rsm.segmentid reserves for an application."""
    base, length = c_uint32(), c_uint32()
    call("rsm_get_segmentid_range", text(application), byref(base), byref(length))
    return range(base.value, base.value + length.value)


class Controller:
    """An open controller, by type and unit such as "ivshmem0"; segments survive its close()."""

    def __init__(self, name: str = "loopback"):
        self.name = name
        self.handle = made_by("rsm_get_controller", text(name))
        self._end = weakref.finalize(self, lib.rsm_release_controller, self.handle)
        self._end.atexit = False

    def attributes(self) -> dict[str, int]:
        """Access widths and limits; a limit of 0 means that the controller sets none."""
        attributes = Attributes()
        call("rsm_get_controller_attr", self.handle, byref(attributes))
        return {name: getattr(attributes, name) for name, _ in Attributes._fields_}

    def close(self) -> None:
        """Gives the controller back; calling it again has no effect."""
        self._end()
        self.handle = 0

    def __enter__(self) -> Controller:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<rsm.Controller {self.name}{'' if self.handle else ', closed'}>"


def opened(controller: Controller | str | None) -> Controller:
    """The controller that an argument means."""
    if isinstance(controller, Controller):
        return controller
    return Controller(controller or "loopback")
