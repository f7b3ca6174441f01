# SPDX-License-Identifier: GPL-2.0
"""The stages. One that needs others stands behind them. Seconds are those of a quiet machine with two
processors that emulates its guests, with filled caches; tests/check/run uses what it has measured itself
once it has."""

import os
import subprocess
from enum import Enum
from pathlib import Path

from .stage import Stage


class Depth(Enum):
    """How much a run takes."""

    QUICK = "quick"     # minutes
    CHECK = "check"     # what a change has to pass
    FULL = "full"       # what a release has to pass, too


BUILD = Path(os.environ.get("RSM_BUILD") or Path.cwd() / "build")
ALL = 99
CHECKS = ("text", "licences", "version", "readme", "access", "lifetime", "shell", "python", "netlink", "sleeps", "allocations", "clock", "failnth",
          "error-codes", "includes", "abi", "checkpatch", "structure", "structure-kernel", "kernel-doc", "tidy", "modules", "compilers", "docs", "pages")
SLOW_CHECKS = {"tidy": 60, "modules": 60, "compilers": 60, "pages": 30, "checkpatch": 20, "shell": 15}

# The one of tests/check/install: another would configure the build anew beside the stages that use it.
PREFIX = "/usr"
SANITIZERS = {"asan": {"build": 500, "unit": 200, "host": 200}, "tsan": {"build": 500, "unit": 300, "host": 300}}
PATTERNS = Path(__file__).resolve().parents[1] / "patterns"
VM = "tools/rsm-vm"
DEMO = f"{BUILD}/examples:/demo"
BUILT = ("build-user", "build-stock")
DEBUG = ("build-user", "build-debug")
# The fastest debug kernel, which need not be emulated.
FAST_DEBUG = ("build-user", "build-uml")
# Tests over soft RoCE: which, and without which. After machines that are killed and networks and devices that fail,
# rdma_rxe's connection manager sometimes receives nothing any more, on Linux 6.1 and on 7.2. "--only rdma" has all.
RDMA = ("net.Net[/NSIK]*", "net.Net*Net[KUw]*")
# Connections, rights and events, which are the agents' business: the tests over ivshmem have them on the same kernel.
AGENTS = "net.Net/Net[CRE][!x]*"

# Hundreds of processes one after the other: minutes in a guest that is emulated. The debug kernel that is a process
# runs them, and "--only rdma" over soft RoCE.
MANY_PROCESSES = "dat.LifetimeKill.*_at_each_call_of_the_set_up"


def _style():
    return [Stage(f"style-{name}", "style", SLOW_CHECKS.get(name, 3), (f"tests/static/{name}",),
                  # These look at objects that are compiled with the build's own commands, or beside it.
                  needs=("build-user",) if name == "tidy" else ("build-stock",) if name == "modules" else (),
                  processors=ALL if name in ("tidy", "compilers") else 1)
            for name in CHECKS]


def _builds():
    return [
        # Beside all else: a kernel takes a fresh machine as long as user space.
        Stage("uml-kernel", "debug", 1, ("tests/check/fast-debug-kernel", "--build"), processors=0),
        Stage("debug-kernel", "debug", 1, ("tools/debug-kernel/build",), processors=0),
        Stage("build-user", "build", 420,
              ("make", "--no-print-directory", "lib", "TESTING=ON", "WERROR=ON", f"PREFIX={PREFIX}"),
              processors=ALL),
        Stage("build-stock", "build", 20, ("tools/build-modules", "--kernel", "stock", "--siw")),
        Stage("build-debug", "debug", 20, ("tools/build-modules", "--kernel", "debug"),
              needs=("debug-kernel",)),
        Stage("build-uml", "debug", 20, ("sh", "-c", 'tools/build-modules --kernel "$(tests/check/fast-debug-kernel)"'),
              needs=("uml-kernel",)),
    ]


def _demo():
    return [
        Stage("small", "demo", 60, ("tests/check/small", "stock"), kind="tap", needs=BUILT),
        Stage("demo-vms", "demo", 20,
              (VM, "--nodes", "2", "--controller", "ivshmem", "--timeout", "1200", "--until-first",
               "--module-param", "rsm:heartbeat_ms=5000", "--copy", DEMO,
               "--on", "2", "sh /demo/demo-vms export", "--", "sh", "/demo/demo-vms"), needs=BUILT),
        Stage("demo-dat-vms", "demo", 20,
              (VM, "--nodes", "2", "--controller", "ivshmem", "--timeout", "1200",
               "--module-param", "rsm:heartbeat_ms=5000", "--copy", DEMO,
               "--on", "2", "sh /demo/demo-dat server rsm1",
               "--", "sh", "/demo/demo-dat", "client", "rsm1", "10.77.0.2"), needs=BUILT),
        Stage("bench-smoke", "demo", 60, ("tests/bench/smoke",), needs=BUILT),
    ]


def _host():
    return [
        Stage("unit", "unit", 80, ("tests/check/unit",), kind="ctest", needs=("build-user",)),
        Stage("host", "unit", 120, ("tests/check/host",), kind="tap", needs=("build-user",)),
        # Some five seconds of each target, and a build with clang of its own. "unit" takes the corpora without it.
        Stage("fuzz-host", "unit", 300, ("env", "JOBS=1", "tests/fuzz/host/run", "--inputs"), kind="tap",
              needs=("build-user",)),
        Stage("vm-runner", "unit", 120, ("tests/vm/run",), kind="tap", needs=BUILT),
        Stage("install", "install", 60, ("tests/check/install",), needs=BUILT),
        Stage("packages", "install", 240, ("tests/check/packages",), needs=BUILT),
        Stage("packages-trixie", "install", 600, ("tests/check/packages-chroot", "trixie")),
        Stage("packages-rpm", "install", 300, ("tests/check/packages-rpm",)),
    ]


def _sanitized():
    return [stage for name, seconds in SANITIZERS.items() for stage in (
        Stage(f"build-{name}", "sanitize", seconds["build"], ("tests/check/build-sanitized", name), needs=("build-user",),
              processors=ALL),
        Stage(f"unit-{name}", "sanitize", seconds["unit"], ("tests/check/unit", name), kind="ctest",
              needs=(f"build-{name}",)),
        Stage(f"host-{name}", "sanitize", seconds["host"], ("tests/check/host", name), kind="tap",
              needs=(f"build-{name}",)))]


def _patterns(name, *area):
    """A list of tests, those of one area if it is named, as the runner's options take it."""
    return subprocess.run([PATTERNS, name, *area], check=True, capture_output=True, text=True).stdout.strip()


def _stock(depth):
    # A little of all, and what the debug kernels can't say. Debug kernels, which a quick run does not take, run the others.
    # "selftests" runs those of the uapi on the same kernel.
    smoke = [word for word in _patterns("stock-tests").split() if not word.startswith(("uapi_", "grant_"))]
    tests = f"{' '.join(smoke)} {_patterns('uml-excluded')}"
    little = _patterns("stock-tests", "net")
    net = {Depth.QUICK: little, Depth.CHECK: f"{_patterns('net-uml-excluded')} {little}", Depth.FULL: "net.*"}[depth]
    rdma = f"{_patterns('net-uml-excluded')} " + (RDMA[0] if depth is Depth.FULL else "net.Net/NetBasics.* net.NetSoftIwarp.*")
    return [
        Stage("kselftest-stock", "stock", 90, ("tests/check/kselftest", "stock", tests, MANY_PROCESSES), kind="tap",
              needs=BUILT),
        Stage("selftests", "stock", 60, ("tests/check/selftests",), kind="tap", needs=BUILT),
        Stage("kselftest-verbs", "stock", 60, ("tests/check/kselftest-verbs", "stock", "dat.[!FL]*",
                                           # Queue pairs end under traffic, of which rdma_rxe 6.1 sometimes loses count:
                                           # "refcount_t: underflow" in rxe_destroy_qp(). "--only rdma" has all.
                                           "dat.OrderPrograms.*"),
              kind="tap", needs=BUILT),
        # "make check-kernels" takes Debian 13's kernels, too.
        Stage("kernels", "stock", 200, ("tests/check/kernels", "--smoke", "backports"), kind="tap", needs=BUILT),
        Stage("kselftest-net-stock", "stock", 300, ("tests/check/kselftest-net", "stock", net), kind="tap",
              needs=BUILT),
        Stage("kselftest-dat-stock", "stock", 60, ("tests/check/kselftest-dat", "stock"), kind="tap", needs=BUILT),
        Stage("kselftest-rdma-stock", "stock", 80, ("tests/check/kselftest-rdma", "stock", rdma, RDMA[1]),
              kind="tap", needs=BUILT),
    ]


def _fast_debug():
    """A debug kernel that is a process; the tests of uDAPL, a third of all, in another guest, as a guest has one processor."""
    return [
        Stage("vm-process", "debug", 10, ("tests/vm/run", "process*"), kind="tap", needs=FAST_DEBUG),
        Stage("kunit", "debug", 20, ("tests/check/kunit",), kind="tap", needs=FAST_DEBUG),
        Stage("kselftest-one-node", "debug", 170, ("tests/check/kselftest", "fast-debug", "[!d]*"), kind="tap",
              needs=FAST_DEBUG),
        Stage("kselftest-udapl", "debug", 130, ("tests/check/kselftest", "fast-debug", "d*"), kind="tap", needs=FAST_DEBUG,
              # It mostly waits.
              processors=0),
        # It mostly waits, too, for nodes that are dead.
        Stage("kselftest-net", "debug", 400, ("tests/check/kselftest-net", "fast-debug"), kind="tap", needs=FAST_DEBUG,
              processors=0),
        Stage("kselftest-rdma", "debug", 250, ("tests/check/kselftest-rdma", "fast-debug", RDMA[0],
                                                f"{RDMA[1]} {AGENTS}"), kind="tap", needs=FAST_DEBUG,
              processors=0),
        Stage("kselftest-dat", "debug", 40, ("tests/check/kselftest-dat", "fast-debug"), kind="tap", needs=FAST_DEBUG),
        Stage("hostile", "debug", 90, ("sh", "-c", 'tests/vm/hostile.sh --kernel "$(tests/check/fast-debug-kernel)" --brief'),
              kind="tap", needs=FAST_DEBUG),
    ]


def _debug():
    """The debug kernel that QEMU emulates: 6.1, with two processors. Its build would take a fresh machine a third of "make check"."""
    return [
        # Two processors race.
        Stage("kunit-debug", "debug", 60, ("tests/check/kunit", "debug"), kind="tap", needs=DEBUG),
        Stage("kselftest-net-debug", "debug", 300, ("tests/check/kselftest-net", "debug"), kind="tap", needs=DEBUG),
        Stage("hostile-debug", "debug", 250, ("tests/vm/hostile.sh",), kind="tap", needs=DEBUG),
        # In two guests: one emulates its processors in one thread.
        Stage("kselftest-debug", "debug", 700,
              ("tests/check/kselftest", "debug", "[!d]*"), kind="tap", needs=DEBUG),
        Stage("kselftest-udapl-debug", "debug", 700, ("tests/check/kselftest", "debug", "d*", MANY_PROCESSES), kind="tap",
              needs=DEBUG),
        Stage("kselftest-dat-debug", "debug", 140, ("tests/check/kselftest-dat", "debug"), kind="tap",
              needs=DEBUG),
    ]


def _rdma():
    """All that soft RoCE takes, only when it is asked for: rdma_rxe of Linux 6.1 does not always bear
    processes that are killed and links that go down."""
    return [
        Stage("rdma-stock", "rdma", 300, ("tests/check/kselftest-rdma", "stock"), kind="tap"),
        Stage("rdma-debug", "rdma", 900, ("tests/check/kselftest-rdma", "debug"), kind="tap"),
        Stage("verbs-stock", "rdma", 300, ("tests/check/kselftest-verbs", "stock"), kind="tap"),
    ]


def groups():
    return sorted({stage.group for stage in _everything() + _rdma()})


def _everything(depth=Depth.FULL):
    return _builds() + _style() + _demo() + _host() + _sanitized() + _stock(depth) + _fast_debug() + _debug()


# Checks that changes of this tree seldom break, and a release has to pass: the other compiler and clang-tidy, which
# "make style" runs, too, another kernel, Debian packages in a clean Debian, the tools that run guests and measure,
# sanitizers, which take their time, and the debug kernel that is emulated.
FULL_ONLY = {"debug-kernel", "build-debug", "kselftest-debug", "kselftest-udapl-debug", "kselftest-dat-debug", "kselftest-net-debug", "kunit-debug", "hostile-debug",
             "kernels", "style-compilers", "style-tidy", "vm-runner", "packages", "packages-trixie", "packages-rpm",
             "bench-smoke"} | {stage.name for stage in _sanitized()}
# Left out of a quick run, besides these and all that takes the debug kernel.
THOROUGH = {"style-modules", "fuzz-host", "small", "demo-vms", "demo-dat-vms", "install", "kselftest-verbs", "kselftest-dat-stock",
            "kselftest-rdma-stock"}


def _belongs(stage, depth):
    if depth is Depth.FULL:
        return True
    if stage.name in FULL_ONLY:
        return False
    return depth is Depth.CHECK or not (stage.group == "debug" or stage.name in THOROUGH)


def selected(depth, only):
    """The stages of a run; what other groups build is the caller's business when only one is wanted."""
    if only:
        return [stage for stage in _everything() + _rdma() if stage.group == only]
    return [stage for stage in _everything(depth) if _belongs(stage, depth)]
