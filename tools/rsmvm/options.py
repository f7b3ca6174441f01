# SPDX-License-Identifier: GPL-2.0
"""The command line of rsm-vm."""

import argparse
import re
import shlex

from . import arch, controllers
from .errors import UsageError

EPILOG = """\
One CMD argument is run by "sh -c"; several are run as they are, without a shell.
The commands of all nodes start together when every guest is up.  Lines of nodes other than 1
are prefixed by "[K] ".  With several nodes, one process in each guest opens /run/rsm-hub, which
takes lines of at most 4096 bytes: "@K TEXT" for node K and orders "@vm kill|start|pause|resume K"
and "@vm stall MS" (all nodes at once) for rsm-vm; "@N TEXT" from node N and "@vm ok" or
"@vm error REASON" are read there.  A node killed so does not count as failed.
With --controller rdma the guests are on one Ethernet, also a single one: eth0 with 10.77.1.K
and rxe0 on it, with ip, tc and rdma of iproute2 in /usr/sbin (their shell prefers busybox's ip
and tc to them, unless the path is given).  The queue of eth0 is a netem without effect, which
"tc qdisc change dev eth0 root netem limit 10000 delay 400ms" changes.
Exit status: that of CMD; 125 if another command failed, a guest died or the kernel log
holds a report; 124 after --timeout; 2 if something needed is missing.
Environment: RSM_CACHE, RSM_BUILD, RSM_VM_ACCEL=kvm|tcg, RSM_VM_NO_MODULES=1 (no rsm.ko),
RSM_VM_NO_KMEMLEAK=1 (no leak scan on debug kernels), RSM_VM_VERBOSE=1, RSM_VM_SILENCE=S (a
kernel that says nothing for so long before it reaches init is started again, 90),
RSM_VM_THREADS=single|multi (what emulates a guest's processors: one thread, or one for each)."""


class Parser(argparse.ArgumentParser):
    """argparse prints its usage with every error; one line is what people read."""

    def error(self, message):
        raise UsageError(f"{message} (rsm-vm --help shows the options)")


def positive(text):
    """A count, a size or a number of seconds."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return value


def power_of_two(text):
    """A size in MiB that a PCI device can have."""
    value = positive(text)
    if not 4 <= value <= 1 << 16 or value & (value - 1):
        raise argparse.ArgumentTypeError(f"{text} is not a power of two from 4 to 65536")
    return value


def module_parameter(text):
    """(MODULE, "NAME=VALUE")"""
    match = re.fullmatch(r"([\w-]+):(\w+=[^\s\"\\]+)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text} is not MODULE:NAME=VALUE")
    return match[1].replace("-", "_"), match[2]


def build_parser():
    """All options of the contract in the design page."""
    parser = Parser(prog="rsm-vm", epilog=EPILOG, allow_abbrev=False,
                    formatter_class=argparse.RawDescriptionHelpFormatter,
                    usage="rsm-vm [options] -- CMD...",
                    description="Boots guests that have RSM and runs commands in them.")
    add = parser.add_argument
    add("--nodes", type=positive, default=1, metavar="N", help="number of guests, 1 to 4 (1); rdma joins 3")
    add("--controller", default="loopback", choices=controllers.CONTROLLERS,
        help="what joins the guests (loopback)")
    add("--kernel", default="stock", metavar="K",
        help="stock, debug, uml (a debug kernel that is a process of this machine and not emulated: one processor, no "
        "RDMA), backports, trixie, trixie-backports, a VERSION, or the PATH of an image or build tree")
    add("--arch", default=arch.NATIVE.name, choices=sorted(arch.ALL),
        help=f"the guests' architecture ({arch.NATIVE.name}); of arm64, --kernel may be stock, backports, 16k (pages "
        "of 16 KiB, of backports), 64k (built from source) or a release")
    add("--smp", type=positive, metavar="N", help="processors per guest (2; of uml 1)")
    add("--mem", type=positive, default=1024, metavar="MiB", help="memory per guest (1024)")
    add("--memory-nodes", type=positive, default=1, metavar="N",
        help="NUMA nodes over which a guest's memory and processors are spread (1)")
    add("--copy", action="append", default=[], metavar="FILE[:DEST]",
        help="put FILE and the libraries it needs at DEST (/tmp/NAME)")
    add("--timeout", type=positive, default=300, metavar="S", help="seconds in all (300)")
    add("--on", action="append", nargs=2, default=[], metavar=("K", "CMD"),
        help="also run CMD on node K")
    add("--until-first", action="store_true",
        help="end when node 1's command ends; it is no failure if others still run")
    add("--module-param", action="append", default=[], type=module_parameter,
        metavar="MODULE:NAME=VALUE", help="parameter of a module in all guests")
    add("--ivshmem-size", type=power_of_two, metavar="MiB",
        help="shared memory of --controller ivshmem (64)")
    add("--ivshmem-socket", metavar="PATH",
        help="where its server listens, for others to join (a private place)")
    add("command", nargs="*", metavar="CMD", help="what node 1 runs, as root in /tmp")
    return parser


def shell_text(command):
    """CMD as a line for the guest's shell: a lone string as it is, several quoted."""
    return command[0] if len(command) == 1 else shlex.join(command)


def _other_nodes(nodes):
    """What --on can name."""
    if nodes == 1:
        return "there is no second node, see --nodes"
    return "the other node is 2" if nodes == 2 else f"the nodes besides the first are 2..{nodes}"


def node_commands(options):
    """{node: shell text} of CMD and the --on commands; other nodes are just there."""
    commands = {1: shell_text(options.command)}
    for node, text in options.on:
        if not node.isdigit() or not 1 < int(node) <= options.nodes:
            raise UsageError(f"--on {node}: {_other_nodes(options.nodes)}")
        if int(node) in commands:
            raise UsageError(f"--on {node} is given twice")
        commands[int(node)] = text
    return {node: commands.get(node, ":") for node in range(1, options.nodes + 1)}


def parse(argv):
    """Options with .commands; everything after the first "--" is CMD, options or not."""
    argv, command = split_command(argv)
    options = build_parser().parse_args(argv)
    options.command += command
    if not options.command:
        raise UsageError("no command given (rsm-vm [options] -- CMD...)")
    options.commands = node_commands(options)
    options.arch = arch.ALL[options.arch]
    return options


def split_command(argv):
    """argparse drops a second "--" too, which may belong to CMD."""
    if "--" not in argv:
        return argv, []
    at = argv.index("--")
    return argv[:at], argv[at + 1:]
