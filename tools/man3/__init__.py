# SPDX-License-Identifier: GPL-2.0
"""Manual pages of section 3 out of the comments of the public headers; see tools/make-man3."""
