# SPDX-License-Identifier: GPL-2.0
"""The bars: what each counts, and how much is wanted."""

from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parents[1] / "bars"


@dataclass(frozen=True)
class Goal:
    """A count of a bar, and its bounds; without any it is only told."""

    count: str
    least: int | None = None
    most: int | None = None

    @property
    def is_bounded(self) -> bool:
        return self.least is not None or self.most is not None

    def state(self, number: float, slices: int) -> str:
        if self.most is not None and number > self.most:
            return "missed"
        if self.least is not None:
            return "reached" if number >= self.least else "not yet"
        return "held so far" if self.most is not None and slices else "-"


@dataclass(frozen=True)
class Bar:
    """A bar of reliability. Its command gets seconds and a seed, and prints
    `count NAME NUMBER` (numbers add up), `worst NAME NUMBER` (the largest stays), `latest NAME TEXT` and
    `kernel NAME`; status 77 says that it can't run here, and the last line why."""

    name: str
    title: str
    goals: tuple[Goal, ...]
    command: tuple[str, ...] = ()
    # Seconds of a slice, about: a guest ends what it has begun.
    slice: int = 300
    # Under KASAN, lockdep, kmemleak and UBSAN of the debug kernel: bar R1 counts its reports.
    watched: bool = False
    # Figures that do not add up.
    told: tuple[Goal, ...] = field(default=())
    # Known gaps of the bar, for the page.
    missing: str = ""


def _script(name: str) -> tuple[str, ...]:
    return (str(HERE / name),)


BARS = (
    Bar("R1", "reports of KASAN, lockdep, kmemleak and UBSAN in all runs on the debug kernel",
        (Goal("reports", most=0),), told=(Goal("runs watched"),),
        missing="KCSAN: the debug kernel has KASAN, which excludes it"),
    Bar("R2", "every ioctl and netlink command with each failure of memory and user space, until none is left",
        (Goal("commands not swept", most=0), Goal("faults injected")), _script("R2"), watched=True),
    Bar("R3", "kill -9 at random; nothing is left behind",
        (Goal("processes killed", least=10_000), Goal("guests killed", least=1_000),
         Goal("simulated nodes killed", least=100_000), Goal("RDMA peers killed", least=500)),
        _script("R3"), watched=True),
    Bar("R4", "time until a peer's death is known",
        (Goal("deaths noticed on the same node"), Goal("notices of deaths by other nodes, simulated")), _script("R4"), slice=120,
        told=(Goal("same node p50 (us)"), Goal("same node p99 (us)", most=100_000),
              Goal("other nodes p99, beyond two heartbeats (virtual ms)"),
              Goal("other nodes p99, beyond two heartbeats since the last message (virtual ms)", most=100)),
        missing="the figure between nodes of a real machine: guests here are emulated, or share a processor. The simulated "
                "network keeps the dead node's last message for up to an eighth of the longest heartbeat, which can be more "
                "than 100 ms; the figure with the bound begins at the arrival of that message"),
    Bar("R5", "fuzzed calls of the kernel, and inputs for parsers and functions of user space, guided by coverage",
        (Goal("calls", least=10_000_000), Goal("inputs for user space")), _script("R5"), slice=600, watched=True),
    Bar("R6", "hostile peer: every shared field with 0, its maximum, one more, one less, random bits, and changed "
        "between two reads",
        (Goal("pairs of a field and a value not tried", most=0), Goal("pairs of a field and a value tried"), Goal("mutations"),
         Goal("kinds of attack survived")), _script("R6"), slice=600, watched=True,
        missing="the sweep leaves out the superblock, which no running guest reads, owners of chunks, of which nothing tells "
                "when they are read, and RDMA, whose nodes send the same messages"),
    Bar("R7", "line coverage of kernel/ and lib/",
        (Goal("measurements"),), _script("R7"), slice=900, told=(Goal("lines of lib (percent)", least=90), Goal("lines of kernel (percent)", least=90)),
        missing="lines of kernel/ that only the debug kernel's tests, KUnit and hostile guests reach; they count in which a "
                "basic block begins, of tests on Debian's kernel"),
    Bar("R8", "mixed load on 3 guests",
        (Goal("seconds of load", least=4 * 3600), Goal("corruptions", most=0)), _script("R8"), slice=600, watched=True),
    Bar("R9", "racing pairs of operations, 12 pairs",
        (Goal("races of the rarest pair", least=1_000_000),
         Goal("races in which one operation began within the other, of the rarest pair", least=100_000)),
        _script("R9"), watched=True),
    Bar("R10", "symbols and layouts of structures as the release before has them, 32 and 64 bits",
        (Goal("differences", most=0), Goal("fields compared")), _script("R10"), slice=60,
        missing="structures of librsm and libdat, of which tests/unit compares the symbols"),
)
