# SPDX-License-Identifier: GPL-2.0
"""One run of rsm-vm: prepare the guests, see them through, sum up."""

import os
import signal
import sys
import tempfile

from . import accel, controllers, emulator, image, initramfs, kernels, klog, options, qemu, usermode
from .course import Course
from .errors import GuestError, Interrupted, TimeUp, UsageError
from .guest import Guest, Setup
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
        if opts.kernel == "uml":
            usermode.check(opts)
        else:
            qemu.binary(opts.arch)
        controller = controllers.create(opts)
        kernel = kernels.resolve(opts.kernel, opts.arch)
        if kernel.runs is kernels.Runs.PROCESS:
            usermode.check(opts)    # a build tree's kernel may be one, too
        with tempfile.TemporaryDirectory(prefix="rsm-vm-") as folder:
            guests = _prepare(opts, kernel, controller, folder)
            with controller.started(folder):
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


def _prepare(opts, kernel, controller, folder):
    """Guests with their ramdisks written, ready to start."""
    bare = os.environ.get("RSM_VM_NO_MODULES") == "1"
    modules = [] if bare else controller.modules
    drivers = [] if bare else controller.drivers
    module_set = ModuleSet(kernel)
    if kernel.runs is kernels.Runs.PROCESS:
        transport, network = usermode.TRANSPORT, controller.network
    else:
        transport, network = qemu.TRANSPORT, controller.card + controller.network
    for name in controller.optional:
        module_set.add_if_built(name)
    for name in transport + network + modules + drivers:
        if name not in controller.optional:
            module_set.add(name)
    module_set.add_project()
    setups = [Setup(node, command, kernel, module_set, module_set.loadable(modules), drivers,
                    _parameters(node, opts, module_set, controller), opts.copy, opts.nodes > 1,
                    module_set.loadable(network), module_set.loadable(transport))
              for node, command in opts.commands.items()]
    return [_with_ramdisk(Guest(setup, folder)) for setup in setups]


def _parameters(node, opts, module_set, controller):
    """{module: parameters} for modprobe; the last value of a parameter counts."""
    parameters = {"rsm": f"node_id={node}"} | controller.parameters()
    for module, text in opts.module_param:
        if module not in module_set.data:
            raise UsageError(f"--module-param {module}:{text}: the guests have no such module")
        parameters[module] = f"{parameters.get(module, '')} {text}".strip()
    return parameters


def _with_ramdisk(guest):
    with open(guest.ramdisk, "wb") as stream:
        initramfs.guest(guest.setup).write(stream)
    return guest


def _run(guests, opts, kernel, controller):
    """Sees the guests through, and stops them whatever happens."""
    begin = _process if kernel.runs is kernels.Runs.PROCESS else _machine
    launch = begin(opts, kernel, controller)
    _announce(len(guests), kernel, launch)
    try:
        _limit_time(opts.timeout)
        Course(guests, launch, opts.until_first).follow()
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
    return _verdict(guests, controller)


def _process(opts, kernel, controller):
    """A guest that is a process of this machine."""
    return usermode.Launch(kernel.image, opts.mem, controller.process_arguments)


def _machine(opts, kernel, controller):
    """A guest in QEMU."""
    boot_image = image.bootable(kernel.image)
    accelerator = accel.arguments(qemu.binary(kernel.arch), kernel, boot_image, controller.threads)
    program = [qemu.binary(kernel.arch)] if accelerator == accel.KVM else emulator.command(kernel.arch)
    return qemu.Launch(kernel.arch, program, opts.smp or 2, opts.mem, accelerator, boot_image,
                       controller.qemu_arguments, accel.kernel_arguments(accelerator, kernel.arch),
                       opts.memory_nodes)


def _announce(count, kernel, launch):
    """Tells somebody at a terminal what the silence that follows is; a program that calls rsm-vm gets the guests' words alone."""
    if sys.stderr.isatty():
        what = "a guest" if count == 1 else f"{count} guests"
        how = ", emulated, which takes some 10 seconds" if launch.is_emulated else ""
        say(f"booting {what} with Linux {kernel.release}{how}")


def _limit_time(seconds):
    """A timer, because it also ends a write to a caller that does not read."""
    def expire(_signum, _frame):
        raise TimeUp(f"time is up after {seconds} s")
    signal.signal(signal.SIGALRM, expire)
    signal.alarm(seconds)


def _stop(guests):
    """All at once: each takes a while."""
    for guest in guests:
        guest.terminate()
    for guest in guests:
        guest.stop()


def _verdict(guests, controller):
    """CMD's status, or 125 where that is 0 and something else went wrong."""
    trouble = _show_reports(guests)
    if failure := controller.failure():
        say(failure)
        trouble = True
    counted = [guest for guest in guests if not guest.killed]
    for guest in counted:
        if os.environ.get("RSM_VM_VERBOSE") and guest.ready:
            say(f"node {guest.node} booted in {guest.ready - guest.started:.1f} s")
        if guest.failure:
            say(f"node {guest.node}: {guest.failure}")
            trouble = True
        elif guest.status and guest.node != 1:
            say(f"node {guest.node}: the command failed with status {guest.status}")
            trouble = True
    _show_logs([guest for guest in counted if guest.failure or guest.status])
    status = 0 if guests[0].killed else guests[0].status
    return status or (FAILED if trouble else 0)


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
