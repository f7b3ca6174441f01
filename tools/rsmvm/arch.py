# SPDX-License-Identifier: GPL-2.0
"""The architectures that a guest may have: what of QEMU, Debian and the kernel's build depends on them."""

from dataclasses import dataclass, field

# A machine with nothing but what a guest uses: every device costs boot time.
PC = ["-M", "q35,usb=off,sata=off,smbus=off,vmport=off"]
# The interrupt controller's ITS is what gives PCI devices their MSI vectors.
VIRT = ["-M", "virt,gic-version=3,its=on"]


@dataclass(frozen=True)
class Architecture:
    """Named as Debian names it."""

    name: str
    # uname -m says it.
    machine: str
    # ARCH of the kernel's build, where it leaves the image, and the compiler's prefix.
    kbuild: str
    image: str
    triplet: str
    qemu: str
    qemu_packages: tuple
    qemu_machine: list = field(hash=False)
    emulated_processor: str
    console: str
    # A part of the kernel's command line, on this architecture only.
    kernel_arguments: str
    # tools/install-deps installs this group to run it on another one.
    group: str

    @property
    def guest_libraries(self):
        """Where Debian puts shared libraries."""
        return f"/usr/lib/{self.triplet}"


# Without fast string instructions (erms, fsrm) the guest fills and copies memory by words: QEMU emulates
# "rep stosb" byte by byte, and a debug kernel spends a tenth of its time there.
AMD64 = Architecture(
    name="amd64", machine="x86_64", kbuild="x86_64", image="arch/x86/boot/bzImage", triplet="x86_64-linux-gnu",
    qemu="qemu-system-x86_64", qemu_packages=("qemu-system-x86", "qemu-system-common", "qemu-system-data", "seabios"),
    qemu_machine=PC, emulated_processor="max,la57=off,-erms,-fsrm", console="ttyS0,115200",
    kernel_arguments="tsc=reliable no_timer_check", group="run")
ARM64 = Architecture(
    name="arm64", machine="aarch64", kbuild="arm64", image="arch/arm64/boot/Image", triplet="aarch64-linux-gnu",
    qemu="qemu-system-aarch64", qemu_packages=("qemu-system-arm", "qemu-system-common", "qemu-system-data"),
    # The architecture's own algorithm for pointer authentication is slow to emulate.
    qemu_machine=VIRT, emulated_processor="max,pauth-impdef=on", console="ttyAMA0",
    kernel_arguments="arm64.nopauth arm64.nobti arm64.nomte", group="arm64")
ALL = {each.name: each for each in (AMD64, ARM64)}
# The one that the tests of the tree were written on; the build directory itself is for it.
NATIVE = AMD64


def of_release(release):
    """The architecture of a Debian kernel, which its release names: 6.1.0-56-arm64, 6.12.95+deb12-arm64-16k."""
    words = release.split("-")
    return next((each for each in ALL.values() if each.name in words), NATIVE)
