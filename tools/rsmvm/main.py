# SPDX-License-Identifier: GPL-2.0
"""The course of one run: prepare, start the guests, pass on their output, sum up."""

import os
import selectors
import signal
import sys
import tempfile

from . import accel, controllers, image, initramfs, kernels, klog, options, qemu
from .errors import GuestError, Interrupted, TimeUp, UsageError
from .guest import TRANSPORT, Guest, Setup
from .modules import ModuleSet

FAILED = 125
LOG_LINES = 60


def say(message):
    """rsm-vm's own words; the guests' output is passed on untouched."""
    print(f"rsm-vm: {message}", file=sys.stderr, flush=True)


def main(argv):
    """Runs it all and returns the exit status."""
    _catch_signals()
    try:
        opts = options.parse(argv)
        controller = controllers.create(opts.controller, opts.nodes)
        qemu.binary()
        kernel = kernels.resolve(opts.kernel)
        with tempfile.TemporaryDirectory(prefix="rsm-vm-") as folder:
            guests = [_prepare(node, opts, kernel, controller, folder)
                      for node in range(1, opts.nodes + 1)]
            return _run(guests, opts, kernel, controller)
    except (UsageError, GuestError, TimeUp, Interrupted) as error:
        say(error)
        return error.status
    except BrokenPipeError:
        # Nobody reads our output any more: die as any filter does, quietly.
        return 128 + signal.SIGPIPE


def _catch_signals():
    """Exceptions instead of death: the guests must be stopped on the way out."""
    def interrupt(signum, _frame):
        raise Interrupted(signum)
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, interrupt)


def _prepare(node, opts, kernel, controller, folder):
    """A guest with its ramdisk written, ready to start."""
    bare = os.environ.get("RSM_VM_NO_MODULES") == "1"
    module_set = ModuleSet(kernel)
    wanted = [] if bare else controller.modules
    for name in TRANSPORT + wanted:
        module_set.add(name)
    module_set.add_project()
    setup = Setup(node, opts.commands.get(node, ":"), kernel, module_set,
                  [name for name in wanted if name in module_set.data],
                  controller.module_parameters(node), opts.copy,
                  [name for name in TRANSPORT if name in module_set.data])
    guest = Guest(setup, folder)
    with open(guest.ramdisk, "wb") as stream:
        initramfs.guest(setup).write(stream)
    return guest


def _run(guests, opts, kernel, controller):
    """Starts the guests, sees them through, and stops them whatever happens."""
    boot_image = image.bootable(kernel.image)
    accelerator = accel.arguments(qemu.binary(), boot_image)
    try:
        _limit_time(opts.timeout)
        for guest in guests:
            guest.start(opts, accelerator, boot_image, controller.qemu_arguments(guest.node))
        _follow(guests)
    except (TimeUp, Interrupted) as error:
        _limit_time(0)
        _stop(guests)
        _show_reports(guests)
        if isinstance(error, TimeUp):
            _show_logs(guests)
        raise
    finally:
        _limit_time(0)
        _stop(guests)
    return _verdict(guests)


def _limit_time(seconds):
    """A timer, because it also ends a write to a caller that does not read."""
    def expire(_signum, _frame):
        raise TimeUp(f"time is up after {seconds} s")
    signal.signal(signal.SIGALRM, expire)
    signal.alarm(seconds)


def _follow(guests):
    """Passes on output until every guest has finished or is gone."""
    with selectors.DefaultSelector() as selector:
        for guest in guests:
            for name, end in guest.sockets.items():
                selector.register(end, selectors.EVENT_READ, (guest, name))
        while not all(guest.finished for guest in guests):
            for key, _ in selector.select():
                guest, name = key.data
                if not guest.receive(name):
                    selector.unregister(key.fileobj)
                    if not any(k.data[0] is guest for k in selector.get_map().values()):
                        guest.lost()


def _stop(guests):
    for guest in guests:
        guest.stop()


def _verdict(guests):
    """CMD's status, or 125 where that is 0 and something else went wrong."""
    trouble = _show_reports(guests)
    for guest in guests:
        if os.environ.get("RSM_VM_VERBOSE") and guest.ready:
            say(f"node {guest.node} booted in {guest.ready - guest.started:.1f} s")
        if guest.failure:
            say(f"node {guest.node}: {guest.failure}")
            trouble = True
        elif guest.status and guest.node != 1:
            say(f"node {guest.node}: the command failed with status {guest.status}")
            trouble = True
    if any(guest.failure or guest.status for guest in guests):
        _show_logs([guest for guest in guests if guest.failure or guest.status])
    return guests[0].status or (FAILED if trouble else 0)


def _show_reports(guests):
    """Prints what the kernels complain about; True if they do."""
    found = False
    for guest in guests:
        if lines := guest.reports():
            found = True
            say(f"node {guest.node}: the kernel log holds a report:")
            print("\n".join(lines), file=sys.stderr)
    return found


def _show_logs(guests):
    """The end of a failed guest's kernel log: from the command on, if it came to that."""
    for guest in guests:
        lines = klog.since_command(guest.kernel_log())[-LOG_LINES:]
        if lines:
            say(f"node {guest.node}: end of the kernel log:")
            print("\n".join(lines), file=sys.stderr)
