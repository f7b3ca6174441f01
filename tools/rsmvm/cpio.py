# SPDX-License-Identifier: GPL-2.0
"""Writes an initramfs: a cpio archive in the "newc" format that the kernel unpacks."""

import os
import stat


class Archive:
    """Entries by guest path; parents come by themselves, a later entry replaces an earlier."""

    def __init__(self):
        self.entries = {}
        self.links = {}

    def directory(self, path, mode=0o755):
        """A directory and its parents."""
        self._put(path, stat.S_IFDIR | mode, b"")

    def symlink(self, path, target):
        """A symbolic link; entries below a linked directory land in the directory."""
        self._put(path, stat.S_IFLNK | 0o777, os.fsencode(target))
        self.links[self._clean(path)] = target

    def file(self, path, data, mode=0o644):
        """A regular file with these bytes."""
        self._put(path, stat.S_IFREG | mode, data)

    def device(self, path, mode, major, minor):
        """A character device node."""
        self._put(path, stat.S_IFCHR | mode, b"", (major, minor))

    def __contains__(self, path):
        return self.resolve(path) in self.entries

    def write(self, stream):
        """The archive, parents before their children."""
        for number, path in enumerate(sorted(self.entries), 1):
            mode, data, device = self.entries[path]
            self._record(stream, number, path, mode, data, device)
        self._record(stream, 0, "TRAILER!!!", 0, b"", (0, 0))

    def resolve(self, path):
        """The path below linked directories such as /lib (it is /usr/lib in the guest)."""
        head, *rest = self._clean(path).split("/")
        head = self.links.get(head, head)
        return "/".join([head, *rest])

    @staticmethod
    def _clean(path):
        return os.path.normpath(str(path)).lstrip("/")

    def _put(self, path, mode, data, device=(0, 0)):
        path = self.resolve(path)
        if path in ("", "."):
            return
        parent = os.path.dirname(path)
        if parent and parent not in self.entries:
            self.directory(parent)
        self.entries[path] = (mode, data, device)

    @staticmethod
    def _record(stream, number, path, mode, data, device):
        name = os.fsencode(path) + b"\0"
        links = 2 if stat.S_ISDIR(mode) else 1
        fields = (number, mode, 0, 0, links, 0, len(data), 0, 0, *device, len(name), 0)
        stream.write(b"070701" + b"".join(b"%08X" % field for field in fields))
        stream.write(name + b"\0" * (-(110 + len(name)) % 4))
        stream.write(data)
        stream.write(b"\0" * (-len(data) % 4))
