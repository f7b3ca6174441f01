# SPDX-License-Identifier: GPL-2.0
"""The ways in which rsm-vm itself fails, each with the exit status it gives."""


class UsageError(Exception):
    """Asked for something impossible, or something needed is missing: one line, exit 2."""

    status = 2


class GuestError(Exception):
    """A guest did not get as far as running its command, or did not survive it."""

    status = 125


class TimeUp(Exception):
    """--timeout has passed."""

    status = 124


class Interrupted(Exception):
    """A signal asked rsm-vm to stop; its exit status is the shell's convention for that."""

    def __init__(self, signum):
        super().__init__(f"stopped by signal {signum}")
        self.status = 128 + signum
