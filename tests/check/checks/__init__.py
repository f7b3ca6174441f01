# SPDX-License-Identifier: GPL-2.0
"""What tests/check/run consists of."""
