/* SPDX-License-Identifier: GPL-2.0 */
/* The guests that the mutator attacks have pages of 4 KiB. */
#ifndef PAGE_SHIFT
#define PAGE_SHIFT 12
#endif
