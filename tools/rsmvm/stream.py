# SPDX-License-Identifier: GPL-2.0
"""The output of a guest's command on its way to our own."""

import os

# A line longer than this is passed on in pieces.
LINE_MAX = 1 << 16


class Stream:
    """Output of the command, passed on as it comes, without the mark that ends it.

    What might be the beginning of the mark is held back until the next bytes tell.  Nodes
    other than the first are passed on by whole lines, so that no two nodes share one.
    """

    def __init__(self, node, target, end_mark):
        self.prefix = b"" if node == 1 else b"[%d] " % node
        self.target = target
        self.mark = end_mark.encode()
        self.pending = b""
        self.line = b""
        self.ended = False

    def feed(self, data):
        """Takes bytes from the guest."""
        if self.ended:
            return
        self.pending += data
        body, mark, _ = self.pending.partition(self.mark)
        keep = 0 if mark else self._possible_mark(body)
        self.pending = body[len(body) - keep:]
        self._pass(body[:len(body) - keep])
        if mark:
            self._end()

    def close(self):
        """The guest is gone: what was held back was no mark."""
        if not self.ended:
            self._pass(self.pending)
            self._end()

    def _end(self):
        self.ended = True
        self.pending = b""
        if self.line:
            self._write(self.prefix + self.line + b"\n")

    def _possible_mark(self, data):
        return next((size for size in range(min(len(data), len(self.mark) - 1), 0, -1)
                     if self.mark.startswith(data[-size:])), 0)

    def _pass(self, data):
        if not self.prefix:
            self._write(data)
            return
        *lines, self.line = (self.line + data).split(b"\n")
        if len(self.line) > LINE_MAX:
            lines.append(self.line)
            self.line = b""
        self._write(b"".join(self.prefix + line + b"\n" for line in lines))

    def _write(self, data):
        while data:
            data = data[os.write(self.target, data):]
