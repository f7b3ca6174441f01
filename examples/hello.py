#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Exports a page, imports it again, and writes through the import: by put and by a memoryview."""

import sys

import rsm

with rsm.Export(4096) as segment, rsm.Import(segment.publish()) as connection:
    connection.put(0, b"hello ")
    with connection.map(4096) as view:
        view[6:11] = b"world"
    text = bytes(segment.memory[:11])
    print(f"segment {segment.id:#x} holds {text!r}")
sys.exit(text != b"hello world")
