# SPDX-License-Identifier: GPL-2.0
"""Looks for trouble in a guest's kernel log."""

import itertools
import re

COMMAND_MARK = "rsm-vm: the command starts"
LEAK_MARK = "rsm-vm: kmemleak"

# Each stands for a report that the kernel prints only when something is wrong.
REPORTS = re.compile(r"""
    \bBUG\b | \bOops\b | Kernel\ panic | \bKASAN: | \bUBSAN: | \bKFENCE: | \bKCSAN:
  | \bWARNING:\ | \bDEBUG_LOCKS_WARN_ON | general\ protection\ fault
  | sleeping\ function\ called | possible\ recursive\ locking | scheduling\ while\ atomic
  | suspicious\ RCU\ usage | \brcu:?\ .*\bstall | RCU.*self-detected | soft\ lockup
  | hard\ LOCKUP | blocked\ for\ more\ than | trying\ to\ register\ non-static\ key
  | refcount_t: | (list_add|list_del|list)\ corruption | unable\ to\ handle
  | invalid\ opcode: | divide\ error: | lockdep\ is\ turned\ off | held\ lock\ freed
  | Objects\ remaining\ in | still\ has\ locks\ held | Redzone | Bad\ page\ (state|map)
  | stack-protector: | kernel\ stack\ overflow
""", re.X)

# Said by healthy kernels: notes on mitigations that are off, and the kernel's own command line; and
# soft RoCE of 6.1 when a queue pair fails whose peer has answered NAK to a request that it has not
# looked at yet, when one goes, with a process that is killed, whose tasklet is scheduled just then
# (nothing else here has tasklets), and when one goes while the network device, which is down, keeps
# a packet of it that was sent: after 50 s.
HARMLESS = re.compile(r"""
    Spectre | Unprivileged\ eBPF | Command\ line:
  | WARNING:\ .*\ at\ drivers/infiniband/sw/rxe/rxe_comp\.c:\d+\ rxe_completer
  | WARNING:\ .*\ at\ drivers/infiniband/sw/rxe/rxe_pool\.c:\d+\ __rxe_cleanup
  | WARNING:\ .*\ at\ kernel/softirq\.c:\d+\ tasklet_clear_sched
""", re.X)

# Soft RoCE of 6.1 loses count of the references to a queue pair that goes under traffic, too: the trace of such a report
# begins in its module, and no module of ours has called it. The kernel then keeps the queue pair for ever.
REFCOUNT = re.compile(r"refcount_t:|refcount_warn_saturate")
BOUNDARY = re.compile(r"\[ cut here \]|\[ end trace")
OWN = re.compile(r"\[rsm\w*\]")
FRAME = re.compile(r"\][ ]+(?!\?)(?!refcount_warn)\S+\+0x")

STALL = re.compile(r"\brcu: .*detected .*\bstall|\bBUG: .* lockup")

CONTEXT_BEFORE = 3
CONTEXT_AFTER = 60


def reports(text):
    """The lines of every report with the backtrace that follows; empty if all is well."""
    body, leaks = split_leaks(text)
    lines = body.splitlines()
    wanted = set()
    for number, line in enumerate(lines):
        if REPORTS.search(line) and not HARMLESS.search(line) and not is_miscount_of_soft_roce(lines[number:]):
            wanted.update(range(max(0, number - CONTEXT_BEFORE),
                                min(len(lines), number + CONTEXT_AFTER)))
    return [lines[number] for number in sorted(wanted)] + own_leaks(leaks)


def is_miscount_of_soft_roce(lines):
    """Whether the first line is of such a report."""
    if not REFCOUNT.search(lines[0]):
        return False
    report = list(itertools.takewhile(lambda line: not BOUNDARY.search(line), lines))
    trace = itertools.dropwhile(lambda line: "Call Trace:" not in line, report)
    frames = list(filter(FRAME.search, trace))
    return bool(frames) and "[rdma_rxe]" in frames[0] and not any(OWN.search(frame) for frame in frames)


def has_stall(text):
    """Whether the kernel says that it gets no further; it repeats that about once a minute."""
    return STALL.search(text) is not None


def split_leaks(text):
    """The log proper, and what kmemleak found as the guest's init printed it, in every life."""
    body, *scans = text.split(f"{LEAK_MARK} begins")
    leaks = ""
    for scan in scans:
        found, _, rest = scan.partition(f"{LEAK_MARK} ends")
        leaks += found
        body += rest
    return body, leaks


def own_leaks(text):
    """Leaks allocated by the project's modules; the kernel's own are not our business."""
    blocks = re.split(r"(?=unreferenced object )", text)
    return [line for block in blocks if OWN.search(block)
            for line in block.splitlines()]


def since_command(text):
    """What the kernel said from the start of the command on, or at all if it never ran."""
    return text.rpartition(COMMAND_MARK)[2].splitlines()[1:]
