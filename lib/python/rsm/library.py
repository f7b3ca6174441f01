# SPDX-License-Identifier: MIT
"""librsm.so.2 by ctypes: prototypes of its functions, structures, and what Python's buffers are to them.

ctypes and not cffi, as it needs neither a compiler nor a package, and lets other threads run
during a call just the same.
"""

from __future__ import annotations

import ctypes
import mmap
import operator
from ctypes import POINTER, byref, c_char, c_char_p, c_int, c_long, c_short, c_size_t, c_uint, c_uint16
from ctypes import c_uint32, c_ulong, c_void_p
from typing import Any

from .errors import (BAD_ACL, BAD_LENGTH, BAD_OFFSET, BAD_PERMS, BAD_SEGID, REMOTE_NODE_UNREACHABLE, check,
                     error_of)
from .native import lib

PAGE = mmap.PAGESIZE
NAME_SIZE = 256
SG_MAX = 16
VA_TYPE = 2
IMPLICIT_SIGPOST = 1
NO_ACCUMULATE = 2
ALLOW_REBIND = 1
MODE_EXPLICIT = 0
MODE_IMPLICIT = 1
BARRIER_SEGMENT = 1


class Pollfd(ctypes.Structure):
    """struct pollfd"""
    _fields_ = [("fd", c_int), ("events", c_short), ("revents", c_short)]


class AccessEntry(ctypes.Structure):
    """rsmapi_access_entry_t"""
    _fields_ = [("node", c_uint32), ("permission", c_uint32)]


class BarrierObject(ctypes.Structure):
    """rsmapi_barrier_t"""
    _fields_ = [("seg", c_void_p), ("gnum", c_uint16), ("privdata", c_void_p)]


class Iovec(ctypes.Structure):
    """rsm_iovec_t, its local end an address"""
    _fields_ = [("io_type", c_int), ("vaddr", c_void_p), ("local_offset", c_size_t),
                ("remote_offset", c_size_t), ("transfer_length", c_size_t)]


class ScatterGather(ctypes.Structure):
    """rsm_scat_gath_t"""
    _fields_ = [("local_nodeid", c_uint32), ("io_request_count", c_ulong),
                ("io_residual_count", c_ulong), ("flags", c_uint), ("remote_handle", c_void_p),
                ("iovec", POINTER(Iovec))]


class TopologyHead(ctypes.Structure):
    """rsm_topology_hdr_t, at the start of a topology"""
    _fields_ = [("local_nodeid", c_uint32), ("local_cntlr_count", c_uint)]


class Attributes(ctypes.Structure):
    """rsmapi_controller_attr_t"""
    _fields_ = [("direct_access_sizes", c_uint), ("atomic_sizes", c_uint), ("page_size", c_size_t),
                ("max_export_segment_size", c_size_t), ("tot_export_segment_size", c_size_t),
                ("max_export_segments", c_ulong), ("max_import_map_size", c_size_t),
                ("tot_import_map_size", c_size_t), ("max_import_segments", c_ulong)]


class Offset(c_long):
    """off_t"""


class Length(c_size_t):
    """A size, or a number of items."""


class SegmentId(c_uint32):
    """rsm_memseg_id_t"""


class Node(c_uint32):
    """rsm_node_id_t"""


class Permission(c_uint32):
    """rsm_permission_t"""


class Listed(c_uint32):
    """A node or a permission of an access list."""


# The error of a number that its type can't hold.
_NUMBERS = {Offset: BAD_OFFSET, Length: BAD_LENGTH, SegmentId: BAD_SEGID, Node: REMOTE_NODE_UNREACHABLE,
            Permission: BAD_PERMS, Listed: BAD_ACL}

_HANDLE = c_void_p
_OUT = POINTER(c_void_p)
_ITEMS = (_HANDLE, Offset, c_void_p, Length)
_BARRIER = (POINTER(BarrierObject),)
_PROTOTYPES: dict[str, tuple[Any, ...]] = {
    "rsm_get_controller": (c_char_p, _OUT),
    "rsm_release_controller": (_HANDLE,),
    "rsm_get_controller_attr": (_HANDLE, POINTER(Attributes)),
    "rsm_get_interconnect_topology": (POINTER(POINTER(TopologyHead)),),
    "rsm_get_segmentid_range": (c_char_p, POINTER(c_uint32), POINTER(c_uint32)),
    "rsm_memseg_export_create": (_HANDLE, _OUT, c_void_p, Length, c_uint),
    "rsm_memseg_export_destroy": (_HANDLE,),
    "rsm_memseg_export_publish": (_HANDLE, POINTER(c_uint32), POINTER(AccessEntry), c_uint),
    "rsm_memseg_export_republish": (_HANDLE, POINTER(AccessEntry), c_uint),
    "rsm_memseg_export_unpublish": (_HANDLE,),
    "rsm_memseg_export_rebind": (_HANDLE, c_void_p, ctypes.c_longlong, c_size_t),
    "rsm_memseg_import_connect": (_HANDLE, Node, SegmentId, Permission, _OUT),
    "rsm_memseg_import_get_length": (_HANDLE, POINTER(c_size_t)),
    "rsm_memseg_import_disconnect": (_HANDLE,),
    **{f"rsm_memseg_import_{way}{width}": _ITEMS
       for way in ("put", "get") for width in ("", 8, 16, 32, 64)},
    "rsm_memseg_import_putv": (POINTER(ScatterGather),),
    "rsm_memseg_import_getv": (POINTER(ScatterGather),),
    "rsm_memseg_import_map": (_HANDLE, _OUT, c_int, c_uint32, Offset, Length),
    "rsm_memseg_import_unmap": (_HANDLE,),
    "rsm_memseg_import_init_barrier": (_HANDLE, c_int, *_BARRIER),
    "rsm_memseg_import_open_barrier": _BARRIER,
    "rsm_memseg_import_order_barrier": _BARRIER,
    "rsm_memseg_import_close_barrier": _BARRIER,
    "rsm_memseg_import_destroy_barrier": _BARRIER,
    "rsm_memseg_import_set_mode": (_HANDLE, c_int),
    "rsm_memseg_import_get_mode": (_HANDLE, POINTER(c_int)),
    "rsm_intr_signal_post": (_HANDLE, c_uint),
    "rsm_intr_signal_wait": (_HANDLE, c_int),
    "rsm_intr_signal_wait_pollfd": (POINTER(Pollfd), c_ulong, c_int, POINTER(c_int)),
    "rsm_memseg_get_pollfd": (_HANDLE, POINTER(Pollfd)),
    "rsm_memseg_release_pollfd": (_HANDLE,),
}


for _name, _arguments in _PROTOTYPES.items():
    getattr(lib, _name).argtypes = _arguments
lib.rsm_free_interconnect_topology.argtypes = (POINTER(TopologyHead),)
lib.rsm_free_interconnect_topology.restype = None


def number(kind: type[Any], value: Any, name: str) -> int:
    """An integer that fits, for function name. ctypes would drop its upper bits without a word."""
    result = operator.index(value)
    if kind(result).value != result:
        raise error_of(_NUMBERS[kind], name)
    return result


def call(name: str, *arguments: Any) -> None:
    """Calls a function of librsm; raises its error."""
    fitting = [number(kind, value, name) if kind in _NUMBERS else value
               for kind, value in zip(_PROTOTYPES[name], arguments, strict=True)]
    check(getattr(lib, name)(*fitting), name)


def text(value: str) -> bytes:
    """A string of C, which ends with its first null character: there must be none within."""
    if "\0" in value:
        raise ValueError("embedded null character")
    return value.encode()


def made_by(name: str, *arguments: Any) -> int:
    """The handle that a function with an out argument at the end makes."""
    handle = c_void_p()
    call(name, *arguments, byref(handle))
    return handle.value or 0


def writable(buffer: Any) -> ctypes.Array[c_char]:
    """The memory of an object as an array; the object can't move or end before the array does."""
    view = memoryview(buffer)
    if view.readonly:
        raise TypeError("the memory must be writable")
    if not view.c_contiguous:
        raise ValueError("the memory must be contiguous")
    return (c_char * view.nbytes).from_buffer(view.cast("B") if view.nbytes else bytearray())


def readable(buffer: Any) -> ctypes.Array[c_char] | bytes:
    """The same for memory that is not modified; what ctypes can't point to is copied."""
    view = memoryview(buffer)
    if view.readonly or not view.c_contiguous:
        return buffer if isinstance(buffer, bytes) else view.tobytes()
    return writable(view)


def address_of(memory: ctypes.Array[c_char] | bytes) -> int | None:
    """Where writable() or readable() memory is; it must be kept as long as the address is used."""
    if isinstance(memory, bytes):
        return ctypes.cast(c_char_p(memory), c_void_p).value
    return ctypes.addressof(memory)
