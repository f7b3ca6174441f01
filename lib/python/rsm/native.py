# SPDX-License-Identifier: MIT
"""librsm.so.2, loaded, and what it says of a status."""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_int

LIBRARY = "librsm.so.2"


def _load() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError as error:
        raise ImportError(f"{error}: install the package librsm2, or run ldconfig after \"make install\", or "
                          "name the library's directory in LD_LIBRARY_PATH", name=LIBRARY) from error
    try:
        for function in (library.rsm_strerror, library.rsm_strerrorname):
            function.argtypes = (c_int,)
            function.restype = c_char_p
    except AttributeError as error:
        raise ImportError(f"{error}: the library is older than this module, install both from one release",
                          name=LIBRARY) from error
    return library


lib = _load()


def text_of(status: int) -> str:
    """The text of rsm_strerror() for a status."""
    text: bytes = lib.rsm_strerror(status)
    return text.decode()


def name_of(status: int) -> str:
    """The name of a status, such as "RSMERR_BAD_ADDR"."""
    name: bytes = lib.rsm_strerrorname(status)
    return name.decode()
