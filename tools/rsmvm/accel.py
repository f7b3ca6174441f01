# SPDX-License-Identifier: GPL-2.0
"""Chooses between KVM and emulation.

On some machines /dev/kvm opens and KVM_CREATE_VM succeeds, yet a guest hangs in the firmware
for ever.  Nothing short of booting a guest up to user space tells, so that is what the probe
does, once per boot of the host.
"""

import hashlib
import os
import platform
import subprocess
import tempfile
from pathlib import Path

from . import clock, emulator, initramfs, paths
from .arch import AMD64

PROBE_SECONDS = 15
KVM = ["-accel", "kvm", "-cpu", "host"]


def arguments(qemu, kernel, boot_image, threads):
    """QEMU's options for the fastest accelerator that works."""
    return KVM if _chooses_kvm(qemu, kernel.arch, boot_image) else emulator.arguments(threads, kernel.arch)


def _chooses_kvm(qemu, arch, boot_image):
    if arch.machine != platform.machine():
        return False
    forced = os.environ.get("RSM_VM_ACCEL")
    if forced in ("kvm", "tcg"):
        return forced == "kvm"
    return os.access("/dev/kvm", os.R_OK | os.W_OK) and _kvm_works(qemu, arch, boot_image)


def kernel_arguments(accelerator, arch):
    """What a kernel has to be told that runs so."""
    frequency = clock.kilohertz() if accelerator != KVM and arch == AMD64 else None
    return f" tsc_early_khz={frequency}" if frequency else ""


def _kvm_works(qemu, arch, boot_image):
    """The remembered answer, else a probe's."""
    remembered = paths.cache_dir() / "kvm" / _key(qemu)
    try:
        return remembered.read_text() == "yes"
    except FileNotFoundError:
        works = _probe(qemu, arch, boot_image)
    remembered.parent.mkdir(parents=True, exist_ok=True)
    remembered.write_text("yes" if works else "no")
    return works


def _key(qemu):
    """A new boot may mean another host kernel, or another host altogether."""
    version = subprocess.run([qemu, "--version"], capture_output=True, check=True).stdout
    boot = Path("/proc/sys/kernel/random/boot_id").read_bytes()
    return hashlib.sha256(version + boot).hexdigest()[:16]


def _probe(qemu, arch, boot_image):
    """Whether a guest reaches user space in time."""
    with tempfile.TemporaryDirectory(prefix="rsm-kvm-") as folder:
        ramdisk = Path(folder, "initrd")
        with open(ramdisk, "wb") as stream:
            initramfs.probe(arch).write(stream)
        command = [qemu, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
                   *arch.qemu_machine, "-m", "256", "-serial", "stdio", *KVM,
                   "-kernel", boot_image, "-initrd", ramdisk,
                   "-append", f"console={arch.console} quiet panic=-1"]
        try:
            done = subprocess.run(command, capture_output=True, check=False,
                                  stdin=subprocess.DEVNULL, timeout=PROBE_SECONDS)
        except subprocess.TimeoutExpired:
            return False
    return initramfs.PROBE_MARK.encode() in done.stdout
