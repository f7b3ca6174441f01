// SPDX-License-Identifier: GPL-2.0
/* Arrays with an entry for each page of a segment. */

#include "internal.h"

#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>

/**
 * rsm_page_array_alloc() - memory for an array with an entry for each page of a segment
 * @bytes: size of the array
 * @flags: how to allocate
 *
 * kvmalloc() refuses more than INT_MAX bytes, which the pointers to the pages of a segment
 * of 1 TiB take.
 *
 * Return: memory to be freed by kvfree(), or NULL.
 */
void *rsm_page_array_alloc(size_t bytes, gfp_t flags)
{
	return bytes > INT_MAX ? __vmalloc(bytes, flags) : kvmalloc(bytes, flags);
}
