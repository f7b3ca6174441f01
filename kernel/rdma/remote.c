// SPDX-License-Identifier: GPL-2.0
/* The importing side: segments of peers, and the keys to them. */

#include "memory.h"

#include <linux/bitfield.h>
#include <linux/mm.h>
#include <linux/slab.h>

#define KEYS_PER_PAGE	(PAGE_SIZE / sizeof(__le32))

static void memory_release(struct rsm_mem *mem)
{
	struct rsm_rdma_memory *remote = to_rdma_memory(mem);
	unsigned long index;
	__le32 *keys;

	xa_for_each(&remote->keys, index, keys)
		free_page((unsigned long)keys);
	xa_destroy(&remote->keys);
	rsm_rdma_channel_put(remote->channel);
	kfree(remote);
}

/* The CPU can't reach the pages, so the memory has no operation to map or copy them. */
static const struct rsm_mem_ops memory_ops = {
	.owner = THIS_MODULE,
	.release = memory_release,
};

/* The size of this does not depend on the length of the segment, which the peer chooses. */
static struct rsm_rdma_memory *memory_alloc(unsigned int shift)
{
	struct rsm_rdma_memory *remote = kzalloc(sizeof(*remote), GFP_KERNEL);

	if (!remote)
		return NULL;
	remote->chunk_shift = shift;
	xa_init_flags(&remote->keys, XA_FLAGS_ACCOUNT);
	init_waitqueue_head(&remote->idle);
	return remote;
}

static bool is_good_place(const struct rsm_place *place, u64 length, unsigned int shift)
{
	const u64 known = RSM_RDMA_PLACE_KEY | RSM_RDMA_PLACE_SHIFT | RSM_RDMA_PLACE_RIGHTS;

	if (place->word[0] & ~known || place->word[1] ||
	    shift < RSM_RDMA_CHUNK_MIN || shift > RSM_RDMA_CHUNK_MAX)
		return false;
	/* An exporter makes no table larger than RSM_RDMA_TABLE_MAX. */
	return DIV_ROUND_UP_ULL(length, BIT_ULL(shift)) <= RSM_RDMA_TABLE_MAX / sizeof(__le32);
}

/* &rsm_link_ops.attach. A wrong key makes the peer's device break the connection. */
rsm_status_t rsm_rdma_attach(struct rsm_link *link, u64 length, const struct rsm_place *place,
			     struct rsm_mem **mem)
{
	unsigned int shift = FIELD_GET(RSM_RDMA_PLACE_SHIFT, place->word[0]);
	struct rsm_rdma_memory *remote;

	if (!is_good_place(place, length, shift))
		return RSM_STS_CONN_ABORTED;
	remote = memory_alloc(shift);
	if (!remote)
		return RSM_STS_INSUFFICIENT_MEM;
	remote->rights = FIELD_GET(RSM_RDMA_PLACE_RIGHTS, place->word[0]) << RSM_RDMA_RIGHTS_SHIFT;
	remote->table_key = FIELD_GET(RSM_RDMA_PLACE_KEY, place->word[0]);
	remote->channel = rsm_rdma_channel_get(link);
	if (!remote->channel) {
		kfree(remote);
		return RSM_STS_CONN_ABORTED;
	}
	rsm_mem_init(&remote->mem, &memory_ops, length >> PAGE_SHIFT);
	*mem = &remote->mem;
	return RSM_STS_SUCCESS;
}

/*
 * &rsm_link_ops.detach. Each transfer under way ends when the peer's device answers, or when the
 * transport gives up.
 */
void rsm_rdma_detach(struct rsm_link *link, struct rsm_mem *mem)
{
	struct rsm_rdma_memory *remote = to_rdma_memory(mem);

	if (!wait_event_timeout(remote->idle, !atomic_read(&remote->busy),
				msecs_to_jiffies(2 * rsm_heartbeat_ms())))
		rsm_rdma_channel_fail(remote->channel, "transfers don't end");
}

/* Read a page of the peer's table of keys. */
static rsm_status_t read_keys(struct rsm_import *imp, struct rsm_rdma_memory *remote, u64 index,
			      __le32 *keys)
{
	struct rsm_rdma_op *op = rsm_rdma_op_alloc(1, RSM_GET);
	rsm_status_t status = RSM_STS_INSUFFICIENT_MEM;

	if (!op)
		return status;
	op->length = PAGE_SIZE;
	status = rsm_rdma_op_own_pages(op);
	if (!status)
		status = rsm_rdma_op_start(imp, op, remote, index << PAGE_SHIFT,
					   remote->table_key);
	if (!status)
		status = rsm_rdma_op_wait(op);
	if (!status)
		copy_page(keys, page_address(op->page[0]));
	rsm_rdma_op_put(op);
	return status;
}

/* Store a page of keys, unless another task has stored the same page meanwhile. */
static rsm_status_t keep_keys(struct rsm_rdma_memory *remote, u64 index, __le32 *keys)
{
	int err = xa_insert(&remote->keys, index, keys, GFP_KERNEL_ACCOUNT);

	if (err)
		free_page((unsigned long)keys);
	return err && err != -EBUSY ? RSM_STS_INSUFFICIENT_MEM : RSM_STS_SUCCESS;
}

static rsm_status_t fetch_keys(struct rsm_import *imp, struct rsm_rdma_memory *remote, u64 index)
{
	__le32 *keys = (__le32 *)__get_free_page(GFP_KERNEL_ACCOUNT);
	rsm_status_t status;

	if (!keys)
		return RSM_STS_INSUFFICIENT_MEM;
	status = read_keys(imp, remote, index, keys);
	if (!status)
		return keep_keys(remote, index, keys);
	free_page((unsigned long)keys);
	return status;
}

/**
 * rsm_rdma_key() - the key to a chunk
 * @imp: the import by which the table is read if need be
 * @remote: the segment
 * @chunk: number of the chunk, which is in the segment
 * @key: where to put the key
 *
 * Return: as rsm_rdma_op_start() and rsm_rdma_op_wait().
 */
rsm_status_t rsm_rdma_key(struct rsm_import *imp, struct rsm_rdma_memory *remote, u64 chunk,
			  u32 *key)
{
	__le32 *keys = xa_load(&remote->keys, chunk / KEYS_PER_PAGE);
	rsm_status_t status;

	if (!keys) {
		status = fetch_keys(imp, remote, chunk / KEYS_PER_PAGE);
		if (status)
			return status;
		keys = xa_load(&remote->keys, chunk / KEYS_PER_PAGE);
	}
	*key = le32_to_cpu(keys[chunk % KEYS_PER_PAGE]);
	return RSM_STS_SUCCESS;
}
