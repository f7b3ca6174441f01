# SPDX-License-Identifier: GPL-2.0
"""What stands behind tools/build-modules.

Kbuild of 6.1 puts its products beside the sources, and each kernel needs its own, so the
sources are copied to build/modules/RELEASE in their layout and built there.  Only files that
changed are copied, which keeps rebuilds short.
"""

import argparse
import fcntl
import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager

from . import arch, kernels, paths, siw
from .errors import UsageError

# In build order: the later ones use symbols of the first.
KUNIT = "tests/kunit"
MODULE_FOLDERS = ["kernel", "tests/controllers", "tests/modules/ivshmem_raw", "tests/modules/rsm_rdmahold", KUNIT]
COVERAGE = "tests/modules/rsm_cov"
SOURCE_FOLDERS = ["include/uapi", *MODULE_FOLDERS]
SOURCE_NAMES = (".c", ".h", ".S", "Kbuild")
# Said about Debian's headers and about clang with them; no concern of ours.
NOISE = re.compile(r"Skipping BTF generation|the compiler differs|The kernel was built by:"
                   r"|You are using:|^\s*$")
SPARSE_FINDING = re.compile(r"\b(warning|error):")


def main(argv):
    """Builds for each kernel asked for; the exit status is make's or that of a usage error."""
    try:
        options = parse(argv)
        for kernel in wanted_kernels(options.kernel, options.arch):
            if not build(kernel, options):
                return 1
    except UsageError as error:
        print(f"build-modules: {error}", file=sys.stderr)
        return error.status
    return 0


def parse(argv):
    """The command line."""
    parser = argparse.ArgumentParser(prog="build-modules", description="Builds the kernel "
                                     "modules into build/modules/RELEASE, warnings are errors.")
    parser.add_argument("--kernel", default="stock", metavar="K",
                        help="stock, debug, uml, backports, trixie, trixie-backports, a VERSION, a build tree's "
                        "PATH or all")
    parser.add_argument("--arch", default=arch.NATIVE.name, choices=sorted(arch.ALL), help=f"for which architecture "
                        f"({arch.NATIVE.name}); of arm64, K is stock, backports, 16k, 64k or a release")
    parser.add_argument("--check", action="store_true", help="run sparse on every file too")
    parser.add_argument("--llvm", action="store_true",
                        help="compile with clang, into build/modules-clang")
    parser.add_argument("--lines", action="store_true",
                        help="with line numbers, into build/modules-lines")
    parser.add_argument("--siw", action="store_true",
                        help="soft-iWARP too, for tests, from the package linux-source-6.1")
    parser.add_argument("--coverage", action="store_true",
                        help="with line numbers, and rsm_cov.ko knows what they reach (for kernels "
                        "without KCOV)")
    options = parser.parse_args(argv)
    options.arch = arch.ALL[options.arch]
    return options


def wanted_kernels(argument, architecture):
    """The kernels to build for; "all" takes backports only where they are to be had."""
    if argument != "all" or architecture != arch.NATIVE:
        return [kernels.resolve_build(argument, architecture)]
    wanted = [kernels.resolve_build("stock"), kernels.resolve_build("debug")]
    try:
        wanted.append(kernels.resolve_build("backports"))
    except UsageError as error:
        print(f"build-modules: without backports: {error}", file=sys.stderr)
    return wanted


def build(kernel, options):
    """Copies and builds everything for one kernel; False if anything is wrong with it."""
    root = paths.modules_dir(kernel.release)
    if kernel.system and (options.llvm or options.check):
        raise UsageError("clang and sparse are for kernels whose headers are on this machine")
    if options.llvm:
        root = root.parent.with_name("modules-clang") / kernel.release
    if options.lines:
        root = root.parent.with_name("modules-lines") / kernel.release
    root.mkdir(parents=True, exist_ok=True)
    with exclusive(root):
        first = [COVERAGE] if options.coverage else []
        for folder in first + SOURCE_FOLDERS:
            synchronize(paths.TREE / folder, root / folder)
        folders = [folder for folder in first + MODULE_FOLDERS
                   if (root / folder / "Kbuild").exists()
                   and (folder != KUNIT or has_kunit(kernel))]
        done = all(make(kernel, root, folder, options) for folder in folders)
        if done:
            collect(root)
            if options.siw:
                siw.build(kernel, root, compiler(kernel), os.environ | cache_of_objects())
    return done


@contextmanager
def exclusive(root):
    """Two builds in one directory would corrupt it: the second waits."""
    with open(root / ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def synchronize(source, target):
    """Makes target's sources those of source; products in it stay."""
    names = {path.relative_to(source) for path in source.glob("**/*")
             if path.is_file() and path.name.endswith(SOURCE_NAMES)
             and not path.name.endswith(".mod.c")}
    for name in names:
        copy = target / name
        data = (source / name).read_bytes()
        if not copy.exists() or copy.read_bytes() != data:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(data)
    for path in list(target.glob("**/*")):
        is_source = path.name.endswith(SOURCE_NAMES) and not path.name.endswith(".mod.c")
        if path.is_file() and is_source and path.relative_to(target) not in names:
            path.unlink()


def has_kunit(kernel):
    """Whether the kernel can run KUnit tests."""
    config = kernel.build / "include/config/auto.conf"
    return config.exists() and "CONFIG_KUNIT=" in config.read_text()


def make(kernel, root, folder, options):
    """Runs Kbuild in one folder and prints what it has to say about our sources."""
    command = [*make_for(kernel, root), f"M={root / folder}",
               f"-j{os.cpu_count()}", "W=1", "KCFLAGS=-Werror -g0",
               # tests/static/kernel-doc does this part of W=1, for all kernels at once.
               "cmd_checkdoc=",
               # Instrumented where the kernel is configured for it, ignored elsewhere.
               "KCOV_INSTRUMENT=y", "UBSAN_SANITIZE=y"]
    # Where vmlinux is beside the headers, pahole would make type information for tracing, out of debug information.
    command.append("CONFIG_DEBUG_INFO_BTF_MODULES=")
    if folder == KUNIT:
        # "obj-$(CONFIG_KUNIT)" must name a module, also where KUnit itself is built in.
        command.append("CONFIG_KUNIT=m")
    # Modules of the kernel folder are all that is measured.
    measured = options.coverage and folder == MODULE_FOLDERS[0]
    if folder not in (MODULE_FOLDERS[0], COVERAGE) or measured:
        symbols = COVERAGE if measured else MODULE_FOLDERS[0]
        command.append(f"KBUILD_EXTRA_SYMBOLS={root / symbols / 'Module.symvers'}")
    if not options.llvm:
        command += compiler(kernel)
    if options.llvm:
        program("clang")
        # objtool checks code for mitigations that only gcc's flags would have put there.  Where
        # the kernel is configured for clang it says -Wno-gnu itself, about its own headers.
        command += [f"CC={paths.CLANG}", "objtool=true", "KCFLAGS=-Werror -g0 -Wno-gnu"]
    if options.lines or options.coverage:
        command.append("KCFLAGS=-Werror -g1" + " -fsanitize-coverage=trace-pc" * measured)
    if options.check:
        command += ["C=2", f"CHECK={program('sparse')}"]
    done = subprocess.run([*command, "modules"], text=True, check=False, env=os.environ | cache_of_objects(),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = [line for line in done.stdout.splitlines() if not NOISE.search(line)]
    findings = [line for line in lines if str(root) in line and SPARSE_FINDING.search(line)]
    if lines and (done.returncode or findings or not options.check):
        # The copy's file names would lead an editor astray.
        print("\n".join(lines).replace(f"{root}/", ""), file=sys.stderr)
    return not done.returncode and not findings


def compiler(kernel):
    """Variables of make: gcc by ccache, where it is this machine's."""
    here = not kernel.system and kernel.arch == arch.NATIVE
    return ["CC=ccache gcc"] if here and shutil.which("ccache") else []


def cache_of_objects():
    """What ccache finds in its environment: the directory that the Makefile gives it. Objects that are in it are
    those of trees in the same place, as Kbuild names sources by their absolute paths. The kernel's headers are read
    once for their checksums, not for each source."""
    found = {"CCACHE_INODECACHE": "1"}
    if "CCACHE_DIR" not in os.environ:
        found |= {"CCACHE_DIR": str(paths.cache_dir() / "ccache"), "CCACHE_MAXSIZE": os.environ.get("CCACHE_MAXSIZE", "2G")}
    return found


def make_for(kernel, root):
    """The beginning of make's command line: here, or in the system whose compiler the headers want."""
    if kernel.arch != arch.NATIVE:
        compiler = program(f"{kernel.arch.triplet}-gcc", kernel.arch.group)
        return ["make", "-s", "-C", str(kernel.build), f"ARCH={kernel.arch.kbuild}",
                f"CROSS_COMPILE={compiler.removesuffix('gcc')}"]
    if kernel.runs is kernels.Runs.PROCESS:
        return ["make", "-s", "-C", str(kernel.build), "ARCH=um"]
    if not kernel.system:
        return ["make", "-s", "-C", str(kernel.build)]
    return [paths.DEBIAN13_RUN, str(root), "make", "-s", "-C", f"/{kernel.build.relative_to(kernel.system)}"]


def program(name, group="check"):
    """A tool besides the compiler, or one line on how to get it."""
    if not shutil.which(name):
        raise UsageError(f"{name} is missing; get it with: tools/install-deps {group}")
    return name


def collect(root):
    """Links at the top of the directory: what "make install" takes, and the KUnit module, which
    no kernel that is installed on a host would have built. Guests may be starting with them."""
    made = {module.name: module for folder in ("kernel", KUNIT)
            for module in (root / folder).glob("*.ko")}
    for old in root.glob("*.ko"):
        if old.name not in made:
            old.unlink()
    for name, module in made.items():
        link, new = root / name, root / f"{name}.new"
        if not (link.exists() and link.samefile(module)):
            new.unlink(missing_ok=True)
            os.link(module, new)
            new.replace(link)
