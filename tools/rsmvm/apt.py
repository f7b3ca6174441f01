# SPDX-License-Identifier: GPL-2.0
"""Package lists of our own, in the cache: suites and architectures that this machine's apt need not know.

Nothing of this machine's apt is changed: it is asked for its mirrors and for the way there, no more.
"""

import fcntl
import os
import re
import subprocess
from contextlib import contextmanager

from . import paths
from .errors import UsageError

RELEASE = "bookworm"
BACKPORTS = f"{RELEASE}-backports"
# The release after it, for sources of newer kernels.
NEXT_BACKPORTS = "trixie-backports"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
CONFIGURATION = """\
Dir::State "{folder}/state";
Dir::State::status "{folder}/status";
Dir::Cache "{folder}/cache";
Dir::Etc::sourcelist "{folder}/sources.list";
Dir::Etc::sourceparts "{folder}/none";
Dir::Etc::preferences "{folder}/preferences";
Dir::Etc::preferencesparts "{folder}/none";
APT::Architectures {{ {architectures} }};
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "2";
"""


class Lists:
    """The lists of some suites for some architectures; fetched when they are missing, or by update()."""

    def __init__(self, name, suites, architectures=("amd64",)):
        self.name = name
        self.folder = paths.cache_dir() / "apt" / name
        self.suites = suites
        self.architectures = architectures

    def update(self):
        """Fetches the lists anew."""
        for folder in ("state/lists/partial", "cache/archives/partial", "none"):
            (self.folder / folder).mkdir(parents=True, exist_ok=True)
        with _exclusive(self.folder):
            self._configure()
            if self.run("apt-get", "update", "-qq", "--error-on=any") is None:
                raise UsageError(f"the package lists of {', '.join(self.suites)} can't be had: is there a network?")
            (self.folder / "complete").touch()

    def run(self, *command, **options):
        """Output of one of apt's programs, None if it failed."""
        environment = os.environ | {"APT_CONFIG": str(self.folder / "apt.conf"), "LC_ALL": "C"}
        return output(command, env=environment, **options)

    def show(self, package, field):
        """A field of a package's newest version, None if there is no such package."""
        self._need()
        shown = self.run("apt-cache", "show", "--no-all-versions", package)
        found = re.search(rf"^{field}: (.*)", shown or "", re.M)
        return found[1] if found else None

    def download(self, packages, folder):
        """Puts the packages' files into the folder."""
        self._need()
        command = ("apt-get", "download", "-q", *packages)
        # Where this fails the archive may have moved on since.
        if self.run(*command, cwd=folder) is None:
            self.update()
            if self.run(*command, cwd=folder) is None:
                raise UsageError(f"can't download {' '.join(packages)} with APT_CONFIG={self.folder}/apt.conf")

    def _need(self):
        if not (self.folder / "complete").exists():
            self.update()

    def _configure(self):
        known = mirrors()
        if not known:
            raise UsageError(f"apt of this machine knows no mirror of Debian {RELEASE}")
        lines = [f"deb [signed-by={KEYRING}] {site} {suite} main\n" for site, suite in known if suite in self.suites]
        for suite in {BACKPORTS, NEXT_BACKPORTS}.intersection(self.suites):
            if not any(f" {suite} " in line for line in lines):
                # It is where the release itself is.
                site = next((site for site, other in known if other == RELEASE), known[0][0])
                lines.append(f"deb [signed-by={KEYRING}] {site} {suite} main\n")
        (self.folder / "sources.list").write_text("".join(lines))
        (self.folder / "status").touch()
        # Where suites have different versions of a package, each suite counts as the other.
        (self.folder / "preferences").write_text("Package: *\nPin: release a=*\nPin-Priority: 500\n")
        quoted = " ".join(f'"{name}";' for name in self.architectures)
        (self.folder / "apt.conf").write_text(CONFIGURATION.format(folder=self.folder, architectures=quoted) + _proxies())


def mirrors():
    """(site, suite) of this machine's sources of Debian."""
    shown = output(["apt-get", "indextargets", "--format", "$(SITE) $(RELEASE) $(COMPONENT)",
                    "Identifier: Packages"]) or ""
    lines = (line.split() for line in shown.splitlines())
    found = ((words[0], words[1]) for words in lines if len(words) == 3 and words[2] == "main")
    return sorted({(site, suite) for site, suite in found if suite.split("-")[0] == RELEASE})


def output(command, **options):
    """A command's standard output, None if it failed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None


def _proxies():
    """How this machine's apt gets to its mirrors."""
    dump = output(["apt-config", "dump"]) or ""
    return "".join(f"{line}\n" for line in dump.splitlines() if re.match(r"Acquire::(http|https|ftp)::", line, re.I))


@contextmanager
def _exclusive(folder):
    with open(folder / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
