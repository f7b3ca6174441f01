# SPDX-License-Identifier: GPL-2.0
"""Counts of hours of tests: tests/soak/run."""
