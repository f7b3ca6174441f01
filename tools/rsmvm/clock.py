# SPDX-License-Identifier: GPL-2.0
"""The frequency of this machine's time stamp counter, which is that of emulated guests, too.

A guest would measure it against emulated timers while it boots.  On a busy machine it is now
and then wrong by a factor of several, and for the rest of its life every timeout with it.
"""

import ctypes
import mmap
import platform
import time

# rdtsc; shl $32, %rdx; or %rdx, %rax; ret
READ_TSC = bytes.fromhex("0f31 48c1e220 4809d0 c3")
SECONDS = 0.1
TRIES = 20


def kilohertz():
    """The frequency, or None where it can't be measured: then guests do that for themselves."""
    if platform.machine() != "x86_64":
        return None
    try:
        code = mmap.mmap(-1, mmap.PAGESIZE,
                         prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError:
        return None
    code.write(READ_TSC)
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    return _measure(ctypes.CFUNCTYPE(ctypes.c_uint64)(address))


def _measure(read):
    first_time, first_count = _sample(read)
    time.sleep(SECONDS)
    last_time, last_count = _sample(read)
    return round((last_count - first_count) * 1_000_000 / (last_time - first_time))


def _sample(read):
    """Nanoseconds and counts of the same moment: of several tries the least disturbed one."""
    return min((_look(read) for _ in range(TRIES)), key=lambda look: look[0])[1:]


def _look(read):
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    count = read()
    after = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    return after - before, (before + after) // 2, count
