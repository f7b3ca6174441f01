// SPDX-License-Identifier: GPL-2.0
/* The layout of a window, and the check whether a window is one of ours. */

#include "layout.h"

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/mm.h>
#include <asm/barrier.h>
#include <asm/byteorder.h>
#include <asm/sync_bitops.h>

#define LARGE_WINDOW	(256ULL << 20)
#define CHUNKS_MAX	262144ULL

static_assert(sizeof(struct rsm_window_super) <= RSM_WINDOW_NODES);
static_assert(sizeof(struct rsm_window_node) == 128);
static_assert(sizeof(struct rsm_window_message) == 192);
static_assert(sizeof(struct rsm_window_queue) == 128 + RSM_WINDOW_QUEUE_SLOTS * 192);
static_assert(RSM_WINDOW_FORMAT <= U16_MAX);

static u32 chunk_shift(u64 size)
{
	u32 shift = PAGE_SHIFT;

	while (size >> shift > CHUNKS_MAX)
		shift++;
	return shift;
}

/**
 * rsm_window_layout() - compute the layout of a window
 * @layout: result
 * @size: bytes in the window
 *
 * Return: 0, or -EINVAL for a size that no window can have.
 */
int rsm_window_layout(struct rsm_window_layout *layout, u64 size)
{
	u64 queues, table;

	if (size < RSM_WINDOW_MIN || size > RSM_WINDOW_MAX)
		return -EINVAL;
	layout->size = size;
	layout->slots = size < LARGE_WINDOW ? 16 : RSM_WINDOW_SLOTS_MAX;
	layout->chunk_shift = chunk_shift(size);

	queues = (u64)layout->slots * layout->slots * sizeof(struct rsm_window_queue);
	table = (size >> layout->chunk_shift) * sizeof(__le64);
	layout->queues = PAGE_ALIGN(RSM_WINDOW_NODES +
				    layout->slots * sizeof(struct rsm_window_node));
	layout->chunk_table = PAGE_ALIGN(layout->queues + queues);
	layout->data = round_up(layout->chunk_table + table, 1ULL << layout->chunk_shift);
	layout->chunks = (size - layout->data) >> layout->chunk_shift;
	return 0;
}

/* Can RSM of this version or an earlier one have written this, on a kernel with any page size? */
static bool is_format(u32 format)
{
	return (format & RSM_WINDOW_VERSION_MASK) <= RSM_WINDOW_VERSION &&
	       format >> RSM_WINDOW_PAGES_SHIFT <= RSM_WINDOW_PAGES_MAX;
}

static const char *other_format(u32 format)
{
	if ((format & RSM_WINDOW_VERSION_MASK) == RSM_WINDOW_VERSION)
		return "the window belongs to guests with pages of another size";
	return "the window has another version";
}

/**
 * rsm_window_claim() - make sure that a window is one of ours
 * @super: its superblock
 * @size: bytes in the window
 *
 * An empty window becomes one of ours. Several guests may do this at once: the first one decides
 * on the format; guests with pages of the same size write the same values, the magic last.
 *
 * Return: NULL, or what is wrong with it.
 */
const char *rsm_window_claim(struct rsm_window_super *super, u64 size)
{
	u64 magic = le64_to_cpu(READ_ONCE(super->magic));
	u32 format = le32_to_cpu(READ_ONCE(super->version));
	u64 was = le64_to_cpu(READ_ONCE(super->size));

	if (magic ? magic != RSM_WINDOW_MAGIC : !is_format(format))
		return "something else uses this memory";
	if (format != RSM_WINDOW_FORMAT && (magic || format))
		return other_format(format);
	if (was != size && (magic || was))
		return "the window was made for another size";
	if (!format)
		format = le32_to_cpu(sync_cmpxchg(&super->version, 0,
						  cpu_to_le32(RSM_WINDOW_FORMAT)));
	if (format && format != RSM_WINDOW_FORMAT)
		return other_format(format);
	WRITE_ONCE(super->size, cpu_to_le64(size));
	/* Last: a guest that finds the magic finds the other fields, too. */
	virt_store_release(&super->magic, cpu_to_le64(RSM_WINDOW_MAGIC));
	return NULL;
}
