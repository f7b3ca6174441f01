# SPDX-License-Identifier: GPL-2.0
"""What stands behind tools/rsm-vm: from the command line to the guests' exit status."""
