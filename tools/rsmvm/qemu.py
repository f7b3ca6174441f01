# SPDX-License-Identifier: GPL-2.0
"""The command line of QEMU for one guest."""

import shutil

from .errors import UsageError

PORTS = ("control", "out", "err")
# A machine with nothing but what a guest uses: every device costs boot time.
MACHINE = ["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
           "-M", "q35,usb=off,sata=off,smbus=off,vmport=off"]
# A broken guest must end, not linger: any oops panics and a panic resets, which with
# -no-reboot ends QEMU.  Emulation on a busy host is slow enough for false stall reports,
# hence the long RCU timeout.
COMMAND_LINE = ("console=ttyS0,115200 ignore_loglevel panic=-1 oops=panic log_buf_len=4M "
                "rcupdate.rcu_cpu_stall_timeout=60 random.trust_cpu=on "
                "tsc=reliable no_timer_check mitigations=off nokaslr")


def binary():
    """QEMU, or one line on how to get it."""
    path = shutil.which("qemu-system-x86_64")
    if not path:
        raise UsageError("qemu-system-x86_64 is missing; get it with: tools/install-deps run")
    return path


def command(options, accelerator, kernel_image, ramdisk, console, port_fds, devices):
    """setpriv sees to it that QEMU dies with rsm-vm, even by SIGKILL."""
    arguments = ["setpriv", "--pdeathsig", "KILL", binary(), *MACHINE, *accelerator,
                 "-smp", str(options.smp), "-m", str(options.mem),
                 "-kernel", str(kernel_image), "-initrd", str(ramdisk),
                 "-append", COMMAND_LINE,
                 "-chardev", f"file,id=console,path={console}", "-serial", "chardev:console",
                 "-device", "virtio-serial-pci"]
    for name in PORTS:
        arguments += ["-chardev", f"socket,id={name},fd={port_fds[name]}",
                      "-device", f"virtserialport,chardev={name},name=rsm.{name}"]
    return arguments + devices
