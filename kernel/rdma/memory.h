/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of segments: the keys by which peers reach memory of this node, the keys by which this
 * node reaches theirs, and the operations that move data.
 *
 * An exporter registers a segment in chunks of 2^n bytes. Each chunk has a key; the peer addresses
 * bytes of a chunk by their offset in the segment. The keys are in a table, which is registered as
 * well. The place that the importer's node gets (struct rsm_place) has the table's key and the size
 * of a chunk; that node reads the table, one page at a time, when it needs a key.
 *
 * Locking: the start of an operation takes import->map_lock for reading, so that the import keeps
 * its memory, and counts the operation in that memory. A caller that has put other memory behind
 * the imports, under map_lock for writing, waits until the count of the old memory is 0
 * (rsm_rdma_detach()). No task waits for the peer under map_lock.
 */
#ifndef RSM_RDMA_MEMORY_H
#define RSM_RDMA_MEMORY_H

#include "rdma.h"

#include <linux/llist.h>
#include <linux/scatterlist.h>
#include <linux/xarray.h>
#include <rdma/rw.h>

#define RSM_RDMA_CHUNK_MIN	16	/* bytes of a chunk, binary logarithm */
#define RSM_RDMA_CHUNK_MAX	30
#define RSM_RDMA_TABLE_MAX	SZ_1M	/* bytes; keys for 256 GiB in chunks of 1 MiB */
#define RSM_RDMA_PIECE_PAGES	64U	/* most pages of an operation */
/* Most bytes of it, if it begins with a page; several fit into the room, also with large pages. */
#define RSM_RDMA_PIECE_BYTES \
	min_t(u64, RSM_RDMA_PIECE_PAGES * PAGE_SIZE, RSM_RDMA_TRANSFER_BYTES / 4)

/* First word of a place: a table's key, the size of chunks, and rights; the second word is 0. */
#define RSM_RDMA_PLACE_KEY	GENMASK_ULL(31, 0)
#define RSM_RDMA_PLACE_SHIFT	GENMASK_ULL(39, 32)
#define RSM_RDMA_PLACE_RIGHTS	GENMASK_ULL(41, 40)
#define RSM_RDMA_RIGHTS_SHIFT	7	/* of RSM_PERM_READ and RSM_PERM_WRITE, to bits 1 and 0 */

/**
 * struct rsm_rdma_memory - a segment of a peer
 * @mem: the core's part; the CPU can't reach its pages
 * @channel: the channel for which the keys are valid, referenced
 * @rights: rights that the keys give. A transfer that needs more would break the connection
 * @table_key: key of the table
 * @chunk_shift: size of a chunk, binary logarithm
 * @busy: operations under way on it
 * @idle: woken when @busy becomes 0
 * @keys: pages of the table that have been read, by their number. Each is charged to the process
 *	that has read it
 */
struct rsm_rdma_memory {
	struct rsm_mem mem;
	struct rsm_rdma_channel *channel;
	u32 rights;
	u32 table_key;
	unsigned int chunk_shift;
	atomic_t busy;
	wait_queue_head_t idle;
	struct xarray keys;
};

static inline struct rsm_rdma_memory *to_rdma_memory(struct rsm_mem *mem)
{
	return container_of(mem, struct rsm_rdma_memory, mem);
}

/**
 * struct rsm_rdma_flow - the operations of an import for which no task waits
 * @ref: one for the import, one for each operation
 * @pending: operations under way
 * @copied: bytes of user memory that they hold copies of
 * @failed: an operation has failed since the last OPEN
 * @changed: woken when an operation completes
 */
struct rsm_rdma_flow {
	struct kref ref;
	atomic_t pending;
	atomic_t copied;
	bool failed;
	wait_queue_head_t changed;
};

/**
 * enum rsm_rdma_pages - the pages of an operation
 * @RSM_RDMA_OWN: allocated for it; the CPU copies data from or to the caller's memory
 * @RSM_RDMA_PINNED: the caller's, pinned for this operation
 * @RSM_RDMA_HELD: those of a local segment, which is referenced
 */
enum rsm_rdma_pages { RSM_RDMA_OWN, RSM_RDMA_PINNED, RSM_RDMA_HELD };

/**
 * struct rsm_rdma_op - an RDMA write or read under way
 * @cqe: its completion handler
 * @ref: one for the task that starts it, one for the device
 * @direction: RSM_PUT: a write, RSM_GET: a read
 * @failed: its completion had an error
 * @done: completed when it has ended
 * @remote: memory at the other end, referenced
 * @flow: the flow that counts it, referenced, if no task waits for it; else NULL
 * @rw: context of the RDMA core
 * @claim: to room in the send queue
 * @length: bytes
 * @first: offset of the first byte in the first page
 * @user: OWN: the user memory that gets the data of a read, if any
 * @local: OWN: else the memory that gets it. HELD: the segment that has the pages. Referenced
 * @offset: of the first byte in @local
 * @kind: which pages it has
 * @npages: number of pages
 * @page: the pages, in the room behind @sg
 * @freeing: place in the list of operations that wait for process context to be freed
 * @nents: entries of @sg in use
 * @sg: the pages as the device gets them
 */
struct rsm_rdma_op {
	struct ib_cqe cqe;
	refcount_t ref;
	enum rsm_direction direction;
	bool failed;
	struct completion done;
	struct rsm_rdma_memory *remote;
	struct rsm_rdma_flow *flow;
	struct rdma_rw_ctx rw;
	struct rsm_rdma_claim claim;
	u32 length;
	u32 first;
	void __user *user;
	struct rsm_mem *local;
	u64 offset;
	enum rsm_rdma_pages kind;
	u32 npages;
	struct page **page;
	struct llist_node freeing;
	u32 nents;
	struct scatterlist sg[];
};

/* keys.c */
rsm_status_t rsm_rdma_place(struct rsm_link *link, struct rsm_mem *mem, u32 rights,
			    struct rsm_place *place, void **keys);
void rsm_rdma_unplace(struct rsm_link *link, void *keys);

/* remote.c */
rsm_status_t rsm_rdma_attach(struct rsm_link *link, u64 length, const struct rsm_place *place,
			     struct rsm_mem **mem);
void rsm_rdma_detach(struct rsm_link *link, struct rsm_mem *mem);
rsm_status_t rsm_rdma_key(struct rsm_import *imp, struct rsm_rdma_memory *remote, u64 chunk,
			  u32 *key);

/* pages.c */
rsm_status_t rsm_rdma_op_prepare(const struct rsm_local *local, u64 done, u32 length,
				 enum rsm_direction direction, bool copy, struct rsm_rdma_op **op);
struct rsm_rdma_op *rsm_rdma_op_alloc(u32 npages, enum rsm_direction direction);
rsm_status_t rsm_rdma_op_own_pages(struct rsm_rdma_op *op);
rsm_status_t rsm_rdma_op_deliver(struct rsm_rdma_op *op);
void rsm_rdma_op_free(struct rsm_rdma_op *op);

/* operation.c */
rsm_status_t rsm_rdma_op_start(struct rsm_import *imp, struct rsm_rdma_op *op,
			       struct rsm_rdma_memory *remote, u64 address, u32 key);
rsm_status_t rsm_rdma_op_wait(struct rsm_rdma_op *op);
void rsm_rdma_op_put(struct rsm_rdma_op *op);
void rsm_rdma_poll(struct rsm_rdma_channel *channel, bool (*is_over)(void *what), void *what);

/* transfer.c */
rsm_status_t rsm_rdma_transfer(struct rsm_import *imp, struct rsm_local *local, u64 offset,
			       u64 length, enum rsm_direction direction, u32 flags);

/* flow.c */
struct rsm_rdma_flow *rsm_rdma_flow_alloc(void);
rsm_status_t rsm_rdma_order(struct rsm_import *imp, enum rsm_barrier_op op);
rsm_status_t rsm_rdma_flow_enter(struct rsm_rdma_flow *flow, struct rsm_rdma_op *op);
void rsm_rdma_flow_leave(struct rsm_rdma_op *op);
void rsm_rdma_flow_put(struct rsm_rdma_flow *flow);

#endif /* RSM_RDMA_MEMORY_H */
