// SPDX-License-Identifier: GPL-2.0
/*
 * The exporting side: keys by which a peer reaches a segment. A key is invalid before its memory
 * is given to others, even if the peer does not cooperate.
 */

#include "memory.h"

#include <linux/bitfield.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

/**
 * struct registered - a registered piece of memory
 * @mr: the registration, NULL if there is none
 * @sgt: its pages as the device knows them
 */
struct registered {
	struct ib_mr *mr;
	struct sg_table sgt;
};

/**
 * struct key_set - the keys of a peer for a segment; all imports of the peer use one set
 * @entry: place in the channel's list; guarded by channel->keys_lock
 * @users: leases that use it; guarded by channel->keys_lock
 * @made: make_set() has tried to make the keys; guarded by channel->making_lock
 * @status: result of that; likewise
 * @mem: the memory; @users keep it
 * @rights: what the peer may do there: RSM_PERM_READ, RSM_PERM_WRITE, both or none
 * @channel: the channel that the keys belong to; entered
 * @chunk_shift: size of a chunk, binary logarithm
 * @table: the keys as the peer reads them
 * @table_bytes: size of @table
 * @table_key: key of @table
 * @count: chunks
 * @key: their keys
 */
struct key_set {
	struct list_head entry;
	unsigned int users;
	bool made;
	rsm_status_t status;
	struct rsm_mem *mem;
	u32 rights;
	struct rsm_rdma_channel *channel;
	unsigned int chunk_shift;
	__le32 *table;
	size_t table_bytes;
	struct registered table_key;
	u64 count;
	struct registered key[];
};

/**
 * struct registration - a work request that registers
 * @cqe: its completion handler
 * @done: completed when the work request has completed
 * @status: status of the completion
 */
struct registration {
	struct ib_cqe cqe;
	struct completion done;
	enum ib_wc_status status;
};

static void registration_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct registration *reg = container_of(wc->wr_cqe, struct registration, cqe);

	reg->status = wc->status;
	complete(&reg->done);
}

/* Fail the channel at once: the device flushes all that is under way, and the keys are invalid. */
static void cut_off(struct rsm_rdma_channel *channel, const char *why)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	rsm_rdma_channel_fail(channel, why);
	ib_modify_qp(channel->qp, &attr, IB_QP_STATE);
}

/*
 * A peer that takes no frames holds up all requests behind them. If the channel has failed for
 * that, the link's work waits for the caller, and ends the queue pair only then.
 */
static void await_registration(struct rsm_rdma_channel *channel, struct registration *reg)
{
	unsigned long beat = msecs_to_jiffies(rsm_heartbeat_ms());

	for (int beats = 0; beats < RSM_RDMA_STUCK_BEATS; beats++) {
		if (wait_for_completion_timeout(&reg->done, beat))
			return;
		if (!rsm_rdma_channel_is_live(channel))
			break;
	}
	cut_off(channel, "takes no messages");
	wait_for_completion(&reg->done);
}

/* Called under making_lock, so one at a time: the send queue has room for it. */
static rsm_status_t make_valid(struct rsm_rdma_channel *channel, struct ib_mr *mr, int access)
{
	struct registration reg = {
		.cqe.done = registration_done,
		.done = COMPLETION_INITIALIZER_ONSTACK(reg.done),
	};
	struct ib_reg_wr wr = {
		.wr = {
			.opcode = IB_WR_REG_MR,
			.send_flags = IB_SEND_SIGNALED,
			.wr_cqe = &reg.cqe,
		},
		.mr = mr,
		.key = mr->rkey,
		.access = access,
	};

	lockdep_assert_held(&channel->making_lock);
	if (ib_post_send(channel->qp, &wr.wr, NULL))
		return RSM_STS_CONN_ABORTED;
	await_registration(channel, &reg);
	if (reg.status == IB_WC_SUCCESS)
		return RSM_STS_SUCCESS;
	rsm_rdma_channel_fail(channel, "memory can't be registered");
	return RSM_STS_CONN_ABORTED;
}

static rsm_status_t map_pages(struct ib_device *device, struct page **page, unsigned int npages,
			      struct sg_table *sgt)
{
	if (sg_alloc_table_from_pages_segment(sgt, page, npages, 0, (size_t)npages << PAGE_SHIFT,
					      ib_dma_max_seg_size(device), GFP_KERNEL))
		return RSM_STS_INSUFFICIENT_MEM;
	if (!ib_dma_map_sgtable_attrs(device, sgt, DMA_BIDIRECTIONAL, 0))
		return RSM_STS_SUCCESS;
	sg_free_table(sgt);
	return RSM_STS_INSUFFICIENT_RESOURCES;
}

static void unmap_pages(struct ib_device *device, struct sg_table *sgt)
{
	ib_dma_unmap_sgtable_attrs(device, sgt, DMA_BIDIRECTIONAL, 0);
	sg_free_table(sgt);
}

/*
 * Register mapped pages so that the peer finds the first byte at @address. The array has room for
 * one page more: rdma_rxe up to 6.1 reads, but does not use, the entry behind the last one of a
 * full array.
 */
static rsm_status_t make_key(struct rsm_rdma_channel *channel, struct registered *key,
			     unsigned int npages, u64 address, int access)
{
	struct sg_table *sgt = &key->sgt;
	struct ib_mr *mr = ib_alloc_mr(channel->pd, IB_MR_TYPE_MEM_REG, npages + 1);
	rsm_status_t status = RSM_STS_INSUFFICIENT_RESOURCES;

	if (IS_ERR(mr))
		return status;
	if (ib_map_mr_sg(mr, sgt->sgl, sgt->nents, NULL, PAGE_SIZE) == sgt->nents) {
		/* Addresses in a segment begin at 0: the peer does not learn kernel addresses. */
		mr->iova = address;
		status = make_valid(channel, mr, access);
	}
	if (status)
		ib_dereg_mr(mr);
	else
		key->mr = mr;
	return status;
}

static rsm_status_t register_pages(struct rsm_rdma_channel *channel, struct registered *key,
				   struct page **page, unsigned int npages, u64 address, int access)
{
	rsm_status_t status;

	status = map_pages(channel->device, page, npages, &key->sgt);
	if (status)
		return status;
	status = make_key(channel, key, npages, address, access);
	if (status)
		unmap_pages(channel->device, &key->sgt);
	return status;
}

static void unregister(struct rsm_rdma_channel *channel, struct registered *key)
{
	if (!key->mr)
		return;
	if (ib_dereg_mr(key->mr))
		cut_off(channel, "the device does not give up memory");
	unmap_pages(channel->device, &key->sgt);
	key->mr = NULL;
}

static rsm_status_t register_chunk(struct key_set *set, u64 chunk, struct page **page, int access)
{
	unsigned long chunk_pages = 1UL << (set->chunk_shift - PAGE_SHIFT);
	unsigned long start = chunk * chunk_pages;
	unsigned long n = min(set->mem->npages - start, chunk_pages);
	rsm_status_t status;

	for (unsigned long i = 0; i < n; i++)
		page[i] = set->mem->ops->page(set->mem, start + i);
	status = register_pages(set->channel, &set->key[chunk], page, n,
				chunk << set->chunk_shift, access);
	if (!status)
		set->table[chunk] = cpu_to_le32(set->key[chunk].mr->rkey);
	return status;
}

/* A peer can make each key wait, so the time for all of them has a bound. */
static rsm_status_t may_go_on(const struct key_set *set, unsigned long end)
{
	if (fatal_signal_pending(current))
		return RSM_STS_INTERRUPTED;
	if (!rsm_rdma_channel_is_live(set->channel))
		return RSM_STS_CONN_ABORTED;
	return time_after(jiffies, end) ? RSM_STS_INSUFFICIENT_RESOURCES : RSM_STS_SUCCESS;
}

static rsm_status_t register_chunks(struct key_set *set)
{
	unsigned long end = jiffies + msecs_to_jiffies(RSM_RDMA_PLACE_MS);
	struct page **page;
	rsm_status_t status = RSM_STS_SUCCESS;
	int access = 0;

	if (set->rights & RSM_PERM_READ)
		access |= IB_ACCESS_REMOTE_READ;
	if (set->rights & RSM_PERM_WRITE)
		access |= IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE;
	page = kvmalloc_array(1UL << (set->chunk_shift - PAGE_SHIFT), sizeof(*page), GFP_KERNEL);
	if (!page)
		return RSM_STS_INSUFFICIENT_MEM;
	for (u64 chunk = 0; chunk < set->count && !status; chunk++) {
		status = may_go_on(set, end);
		/* A caller who was killed may have made the first ones. */
		if (!status && !set->key[chunk].mr)
			status = register_chunk(set, chunk, page, access);
		cond_resched();
	}
	kvfree(page);
	return status;
}

static rsm_status_t register_table(struct key_set *set)
{
	unsigned int npages = set->table_bytes >> PAGE_SHIFT;
	struct page **page = kvmalloc_array(npages, sizeof(*page), GFP_KERNEL);
	rsm_status_t status;

	if (!page)
		return RSM_STS_INSUFFICIENT_MEM;
	for (unsigned int i = 0; i < npages; i++)
		page[i] = virt_to_page((void *)set->table + ((size_t)i << PAGE_SHIFT));
	status = register_pages(set->channel, &set->table_key, page, npages, 0,
				IB_ACCESS_REMOTE_READ);
	kvfree(page);
	return status;
}

static rsm_status_t register_all(struct key_set *set)
{
	rsm_status_t status = register_chunks(set);

	return status ?: register_table(set);
}

static void free_set(struct key_set *set)
{
	for (u64 chunk = 0; chunk < set->count; chunk++) {
		unregister(set->channel, &set->key[chunk]);
		cond_resched();
	}
	unregister(set->channel, &set->table_key);
	free_pages_exact(set->table, set->table_bytes);
	kvfree(set);
}

/* Most pages of a registration; make_key() needs one more entry than that. */
static u32 max_pages(const struct ib_device *device)
{
	u32 pages = device->attrs.max_fast_reg_page_list_len;

	return pages ? pages - 1 : 0;
}

/* Size of the largest chunk that the device registers at once; 0 if it registers none. */
static unsigned int chunk_shift_of(const struct ib_device *device)
{
	u32 pages = max_pages(device);

	return pages ? min(ilog2(pages) + PAGE_SHIFT, RSM_RDMA_CHUNK_MAX) : 0;
}

static rsm_status_t alloc_set(struct rsm_rdma_channel *channel, struct rsm_mem *mem, u32 rights,
			      struct key_set **made)
{
	unsigned int shift = chunk_shift_of(channel->device);
	struct key_set *set;
	size_t bytes;
	u64 count;

	if (shift < RSM_RDMA_CHUNK_MIN)
		return RSM_STS_INSUFFICIENT_RESOURCES;
	count = DIV_ROUND_UP_ULL((u64)mem->npages << PAGE_SHIFT, BIT_ULL(shift));
	if (count > RSM_RDMA_TABLE_MAX / sizeof(*set->table) ||
	    DIV_ROUND_UP(count * sizeof(*set->table), PAGE_SIZE) > max_pages(channel->device))
		return RSM_STS_INSUFFICIENT_RESOURCES;
	set = kvzalloc(struct_size(set, key, count), GFP_KERNEL);
	if (!set)
		return RSM_STS_INSUFFICIENT_MEM;
	bytes = PAGE_ALIGN(count * sizeof(*set->table));
	set->table = alloc_pages_exact(bytes, GFP_KERNEL | __GFP_ZERO);
	if (!set->table) {
		kvfree(set);
		return RSM_STS_INSUFFICIENT_MEM;
	}
	set->table_bytes = bytes;
	set->channel = channel;
	set->mem = mem;
	set->rights = rights;
	set->chunk_shift = shift;
	set->count = count;
	*made = set;
	return RSM_STS_SUCCESS;
}

static struct key_set *find_set(struct rsm_rdma_channel *channel, const struct rsm_mem *mem,
				u32 rights)
{
	struct key_set *set;

	lockdep_assert_held(&channel->keys_lock);
	list_for_each_entry(set, &channel->key_sets, entry)
		if (set->mem == mem && set->rights == rights)
			return set;
	return NULL;
}

static void set_put(struct key_set *set)
{
	struct mutex *lock = &set->channel->keys_lock;

	mutex_lock(lock);
	if (--set->users) {
		mutex_unlock(lock);
		return;
	}
	list_del(&set->entry);
	mutex_unlock(lock);
	free_set(set);
}

/* The set of keys for @mem, new or the one that the peer has for another import of the segment. */
static rsm_status_t set_get(struct rsm_rdma_channel *channel, struct rsm_mem *mem, u32 rights,
			    struct key_set **set)
{
	rsm_status_t status = RSM_STS_SUCCESS;

	mutex_lock(&channel->keys_lock);
	*set = find_set(channel, mem, rights);
	if (!*set) {
		status = alloc_set(channel, mem, rights, set);
		if (!status)
			list_add(&(*set)->entry, &channel->key_sets);
	}
	if (!status)
		(*set)->users++;
	mutex_unlock(&channel->keys_lock);
	return status;
}

/*
 * Make the keys, unless that was tried before. Takes time in proportion to the memory, under
 * making_lock: only other callers that need keys of this channel wait for it. If a caller is
 * killed, the next one goes on.
 */
static rsm_status_t make_set(struct key_set *set)
{
	struct mutex *lock = &set->channel->making_lock;
	rsm_status_t status;

	if (mutex_lock_killable(lock))
		return RSM_STS_INTERRUPTED;
	if (!set->made) {
		set->status = register_all(set);
		set->made = set->status != RSM_STS_INTERRUPTED;
	}
	status = set->status;
	mutex_unlock(lock);
	return status;
}

/* &rsm_link_ops.place. The keys hold the channel: it is destroyed after them. */
rsm_status_t rsm_rdma_place(struct rsm_link *link, struct rsm_mem *mem, u32 rights,
			    struct rsm_place *place, void **keys)
{
	struct rsm_rdma_channel *channel = rsm_rdma_channel_get(link);
	rsm_status_t status = RSM_STS_CONN_ABORTED;
	struct key_set *set;

	if (!channel)
		return status;
	if (!rsm_rdma_channel_enter(channel))
		goto err_put;
	status = set_get(channel, mem, rights, &set);
	if (status)
		goto err_leave;
	status = make_set(set);
	if (status)
		goto err_put_set;
	place->word[0] = FIELD_PREP(RSM_RDMA_PLACE_KEY, set->table_key.mr->rkey) |
			 FIELD_PREP(RSM_RDMA_PLACE_SHIFT, set->chunk_shift) |
			 FIELD_PREP(RSM_RDMA_PLACE_RIGHTS, rights >> RSM_RDMA_RIGHTS_SHIFT);
	place->word[1] = 0;
	*keys = set;
	return RSM_STS_SUCCESS;

err_put_set:
	set_put(set);
err_leave:
	rsm_rdma_channel_leave(channel);
err_put:
	rsm_rdma_channel_put(channel);
	return status;
}

/* &rsm_link_ops.leave */
void rsm_rdma_unplace(struct rsm_link *link, void *keys)
{
	struct key_set *set = keys;
	struct rsm_rdma_channel *channel = set->channel;

	set_put(set);
	rsm_rdma_channel_leave(channel);
	rsm_rdma_channel_put(channel);
}
