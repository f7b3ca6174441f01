# SPDX-License-Identifier: MIT
"""Remote shared memory: share memory with other processes, virtual machines and hosts.

    import rsm

    with rsm.Export(4096) as segment:
        id = segment.publish()
        with rsm.Import(id) as connection:
            connection.put(0, b"hello")
            print(bytes(segment.memory[:5]))

Everything may be called by several threads at once, but close() must not run while another thread
moves data with the object. Those that wait for its events get rsm.Closed. Calls that wait or move data
let other threads of Python run.
"""

from .controller import Controller, local_node, segment_id_range
from .errors import (BadAddress, BadArgument, BarrierError, Busy, ConnectionAborted, ControllerAbsent,
                     Error, InUse, NodeUnreachable, NotPublished, OutOfMemory, OutOfResources,
                     PermissionDenied)
from .events import Closed
from .export import Export, allocate
from .imports import NONE, READ, READ_WRITE, WRITE, Barrier, Import, Mapping

# That of RSM for Linux, and so of librsm.
__version__ = "1.0.0"

__all__ = [
    "__version__", "NONE", "READ", "READ_WRITE", "WRITE",
    "BadAddress", "BadArgument", "Barrier", "BarrierError", "Busy", "Closed",
    "ConnectionAborted", "Controller", "ControllerAbsent", "Error", "Export", "Import", "InUse", "Mapping",
    "NodeUnreachable", "NotPublished", "OutOfMemory", "OutOfResources", "PermissionDenied",
    "allocate", "local_node", "segment_id_range",
]
