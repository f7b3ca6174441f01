/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The layout of the shared window. Every guest can write to all of it, so this kernel believes
 * nothing that it reads from the window: offsets follow from the size of the device alone.
 *
 * Zeroes are a valid empty window: no guest has to format it first, so none can leave it half
 * formatted. All numbers are little-endian.
 *
 * Version 1 had no signs of life in the node table. A node of one version refuses a
 * window of another one when it finds it, before it writes anything.
 *
 * Chunks are at least as large as a guest's pages, so guests whose pages have
 * different sizes would disagree about the layout: the size is part of the version,
 * which for pages of 4 KiB is the plain number.
 *
 *	0		struct rsm_window_super
 *	4 KiB		node table: one struct rsm_window_node for each slot
 *	...		queues: one struct rsm_window_queue for each pair of slots
 *	...		chunk table: one __le64 for each chunk of the data area
 *	...		data area, from a chunk boundary to the end
 */
#ifndef RSM_IVSHMEM_LAYOUT_H
#define RSM_IVSHMEM_LAYOUT_H

#include <linux/types.h>
#include <asm/page.h>

#define RSM_WINDOW_MAGIC	0x574d53524d565352ULL	/* "RSVMRSMW" */
#define RSM_WINDOW_VERSION	2
#define RSM_WINDOW_VERSION_MASK	0xff
#define RSM_WINDOW_PAGES_SHIFT	8
#define RSM_WINDOW_PAGES_MAX	4		/* of 64 KiB */
#define RSM_WINDOW_FORMAT	(RSM_WINDOW_VERSION | \
				 (PAGE_SHIFT - 12) << RSM_WINDOW_PAGES_SHIFT)
#define RSM_WINDOW_MIN		(4ULL << 20)	/* smallest window, bytes */
#define RSM_WINDOW_MAX		(64ULL << 40)	/* largest */
#define RSM_WINDOW_NODES	4096		/* offset of the node table */
#define RSM_WINDOW_SLOTS_MAX	64		/* most slots of any window */

/**
 * struct rsm_window_super - what kind of window this is
 * @magic: RSM_WINDOW_MAGIC, 0 in a new window
 * @version: RSM_WINDOW_FORMAT; another one means another layout
 * @reserved: 0
 * @size: bytes in the window
 */
struct rsm_window_super {
	__le64 magic;
	__le32 version;
	__le32 reserved;
	__le64 size;
};

/*
 * An incarnation is 58 random bits and, in the lowest six, the slot: so the owner of a chunk is
 * one word, which guests change by compare-and-swap. 0 means no owner.
 */
#define RSM_INCARNATION_SLOT	0x3fULL

/**
 * struct rsm_window_node - the node in a slot; slot n belongs to the guest whose
 *	device has peer id (IVPosition) n
 * @incarnation: the guest's, 0 while the slot is empty. The guest sets it as the last field, and
 *	sets it to 0 when it leaves; a guest that finds another one dead sets that one's to 0
 * @node_id: its node id
 * @interval_ms: its heartbeat interval. Set, like @node_id, before @incarnation
 * @beat: sign of life: the guest writes another value at least twice per interval
 * @bell: the guest in slot n sets bit n when it has put a message into its queue; the owner
 *	of this slot clears the bit before it reads the queue. A sender that finds the bit set
 *	need not write the doorbell register.
 * @pad1: keeps what others write in a cache line of its own
 * @pad2: likewise
 */
struct rsm_window_node {
	__le64 incarnation;
	__le32 node_id;
	__le32 interval_ms;
	__le64 beat;
	__u8 pad1[40];
	__le64 bell;
	__u8 pad2[56];
};

#define RSM_WINDOW_QUEUE_SLOTS	32

/**
 * struct rsm_window_message - a message on its way
 * @len: bytes in @data
 * @reserved: 0
 * @data: the message
 * @pad: makes it whole cache lines
 */
struct rsm_window_message {
	__le32 len;
	__le32 reserved;
	__u8 data[128];
	__u8 pad[56];
};

/**
 * struct rsm_window_queue - messages from one slot to another
 * @tail: messages put in since the window was new, modulo 2^32; the sender's
 * @head: messages taken out, likewise; the receiver's
 * @pad1: keeps the two ends in cache lines of their own
 * @pad2: likewise
 * @message: message n is in entry n modulo RSM_WINDOW_QUEUE_SLOTS
 */
struct rsm_window_queue {
	__le32 tail;
	__u8 pad1[60];
	__le32 head;
	__u8 pad2[60];
	struct rsm_window_message message[RSM_WINDOW_QUEUE_SLOTS];
};

/**
 * struct rsm_window_layout - a layout, computed from the size of the window
 * @size: bytes in the window
 * @slots: slots in the node table: 16 below 256 MiB, 64 from there on
 * @queues: offset of the queues; the one from slot f to slot t is number
 *	f * @slots + t
 * @chunk_table: offset of the chunk table
 * @data: offset of the data area
 * @chunk_shift: log2 of a chunk's bytes: a page, or more so that there are at
 *	most 262144
 * @chunks: chunks in the data area
 */
struct rsm_window_layout {
	u64 size;
	u32 slots;
	u64 queues;
	u64 chunk_table;
	u64 data;
	u32 chunk_shift;
	u32 chunks;
};

int rsm_window_layout(struct rsm_window_layout *layout, u64 size);
const char *rsm_window_claim(struct rsm_window_super *super, u64 size);

#endif /* RSM_IVSHMEM_LAYOUT_H */
