// SPDX-License-Identifier: GPL-2.0
/* Memory of segments: runs of chunks of this node and of other nodes. */

#include "ivshmem.h"

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>

static int segment_set_share(const char *val, const struct kernel_param *kp)
{
	return param_set_uint_minmax(val, kp, 1, 100);
}

static const struct kernel_param_ops share_ops = {
	.set = segment_set_share,
	.get = param_get_uint,
};

static unsigned int node_share = 100;
module_param_cb(node_share, &share_ops, &node_share, 0644);
MODULE_PARM_DESC(node_share,
		 "Most of a window that exports of this node may take, in percent (default 100)");

static unsigned int user_share = 50;
module_param_cb(user_share, &share_ops, &user_share, 0644);
MODULE_PARM_DESC(user_share,
		 "Most of a window that exports of one user of this node may take, in percent, CAP_SYS_RESOURCE excepted (default 50)");

/**
 * struct window_mem - memory of a segment
 * @mem: as the core sees it
 * @w: the window, referenced
 * @owner: our incarnation when the chunks were taken, 0 if they are another node's
 * @uid: user whose share they count for, if they are ours
 * @first: first chunk
 * @count: chunks
 */
struct window_mem {
	struct rsm_mem mem;
	struct window *w;
	u64 owner;
	kuid_t uid;
	u32 first;
	u32 count;
};

static struct window *to_window(const struct rsm_controller *ctl)
{
	return container_of(ctl, struct window, ctl);
}

static struct window_mem *to_window_mem(const struct rsm_mem *mem)
{
	return container_of(mem, struct window_mem, mem);
}

static u64 offset_of(const struct window_mem *m)
{
	const struct rsm_window_layout *layout = &m->w->layout;

	return layout->data + ((u64)m->first << layout->chunk_shift);
}

static unsigned long window_pfn(const struct rsm_mem *mem, unsigned long index)
{
	struct window_mem *m = to_window_mem(mem);

	return PHYS_PFN(m->w->device->phys + offset_of(m)) + index;
}

static void *window_map_page(const struct rsm_mem *mem, unsigned long index)
{
	struct window_mem *m = to_window_mem(mem);

	return m->w->base + offset_of(m) + (index << PAGE_SHIFT);
}

static void window_unmap_page(const struct rsm_mem *mem, void *addr)
{
}

/*
 * If this node has left the window or was taken for dead, some importers may not have noticed yet.
 * The table then keeps our former incarnation as the owner until the remaining members sweep it.
 */
static void give_back(struct window_mem *m)
{
	struct window *w = m->w;
	bool member = m->owner == READ_ONCE(w->incarnation);

	if (window_chunks_give(&w->chunks, member ? m->owner : 0, m->first, m->count))
		pr_warn_once("rsm: %s: another guest has changed the owner of this node's chunks\n",
			     w->ctl.name);
	window_shares_give(&w->shares, m->uid, m->count);
}

static void window_mem_release(struct rsm_mem *mem)
{
	struct window_mem *m = to_window_mem(mem);

	if (m->owner)
		give_back(m);
	else
		window_chunks_detach(&m->w->chunks, m->first, m->count);
	window_put(m->w);
	kfree(m);
}

static const struct rsm_mem_ops window_mem_ops = {
	.owner = THIS_MODULE,
	.pfn = window_pfn,
	.map_page = window_map_page,
	.unmap_page = window_unmap_page,
	.release = window_mem_release,
};

static struct window_mem *mem_alloc(struct window *w, u64 length)
{
	struct window_mem *m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);

	if (!m)
		return NULL;
	m->w = w;
	m->count = DIV_ROUND_UP_ULL(length, 1ULL << w->layout.chunk_shift);
	return m;
}

/* Nothing can fail any more: the memory holds its window and this module from now on. */
static void mem_complete(struct window_mem *m, u64 length)
{
	kref_get(&m->w->ref);
	rsm_mem_init(&m->mem, &window_mem_ops, length >> PAGE_SHIFT);
}

static u32 segment_percent_of(const struct window *w, unsigned int percent)
{
	return mult_frac(w->layout.chunks, percent, 100);
}

static int take_share(struct window *w, struct window_mem *m, struct window_refusal *refusal)
{
	u32 node_most = segment_percent_of(w, READ_ONCE(node_share));
	u32 user_most = segment_percent_of(w, READ_ONCE(user_share));

	m->uid = rsm_outermost_user();
	return window_shares_take(&w->shares, m->uid, m->count,
				  capable(CAP_SYS_RESOURCE) ? node_most : user_most, node_most,
				  refusal);
}

/* Chunks for @m, counted for the caller. */
static int take_chunks(struct window *w, struct window_mem *m, struct window_refusal *refusal)
{
	s64 first;
	int err;

	err = take_share(w, m, refusal);
	if (err)
		return err;
	first = window_chunks_take(&w->chunks, m->owner, m->count);
	if (first < 0) {
		window_shares_give(&w->shares, m->uid, m->count);
		refusal->wanted = (u64)window_chunks_taken(&w->chunks) + m->count;
		refusal->most = w->layout.chunks;
		return first;
	}
	m->first = first;
	return 0;
}

static rsm_status_t take_mem(struct window *w, u64 length, struct window_mem **mem)
{
	struct window_mem *m = mem_alloc(w, length);
	struct window_refusal refusal = {};
	int err = -ENODEV;

	if (!m)
		return RSM_STS_INSUFFICIENT_MEM;
	m->owner = READ_ONCE(w->incarnation);
	if (m->owner)
		err = take_chunks(w, m, &refusal);
	if (err) {
		kfree(m);
		if (err == -ENOSPC || err == -EDQUOT)
			rsm_limit_hit(RSM_LIMIT_CONTROLLER_MEMORY,
				      refusal.wanted << w->layout.chunk_shift,
				      (u64)refusal.most << w->layout.chunk_shift, &w->ctl);
		return err == -ENOMEM ? RSM_STS_INSUFFICIENT_MEM : RSM_STS_INSUFFICIENT_RESOURCES;
	}
	mem_complete(m, length);
	*mem = m;
	return RSM_STS_SUCCESS;
}

/*
 * This node may lose its membership meanwhile: the code that ends the membership clears the
 * incarnation before it ends all exports, and ends them once more before the node joins again.
 */
static rsm_status_t window_bind(struct rsm_export *exp, struct rsm_prepared *prepared)
{
	struct window *w = to_window(exp->seg.ctl);
	struct window_mem *m;
	rsm_status_t status;

	status = take_mem(w, exp->length, &m);
	if (status)
		return status;
	status = rsm_window_bind(exp, prepared, &m->mem);
	if (status) {
		rsm_mem_put(&m->mem);
		return status;
	}
	if (m->owner != READ_ONCE(w->incarnation)) {
		rsm_window_unbind(exp);
		return RSM_STS_INSUFFICIENT_RESOURCES;
	}
	return RSM_STS_SUCCESS;
}

/*
 * If the table has another owner by now, other nodes may have written to the chunks: the exporter
 * must not see their data as the contents of its segment.
 */
static void window_unbind(struct rsm_export *exp)
{
	struct window_mem *m = to_window_mem(exp->mem);

	if (!window_chunks_are(&m->w->chunks, m->owner, m->first, m->count))
		WRITE_ONCE(exp->mem->lost, true);
	rsm_window_unbind(exp);
}

/* &rsm_link_ops.place. Every node in the window can reach all of it anyway. */
rsm_status_t window_place(struct rsm_link *link, struct rsm_mem *mem, u32 rights,
			  struct rsm_place *place, void **keys)
{
	place->word[0] = offset_of(to_window_mem(mem));
	place->word[1] = 0;
	return RSM_STS_SUCCESS;
}

/* Is the place a run of whole chunks? The segment may end within the last one. */
static bool place_is_sound(const struct rsm_window_layout *layout, u64 length,
			   const struct rsm_place *place)
{
	u64 bytes = (u64)layout->chunks << layout->chunk_shift;
	u64 offset = place->word[0] - layout->data;

	if (place->word[0] < layout->data || place->word[1])
		return false;
	if (!length || !PAGE_ALIGNED(length) || length > bytes || offset > bytes - length)
		return false;
	return !(offset & (BIT_ULL(layout->chunk_shift) - 1));
}

/* &rsm_link_ops.attach */
rsm_status_t window_attach(struct rsm_link *link, u64 length, const struct rsm_place *place,
			   struct rsm_mem **mem)
{
	struct window_peer *peer = to_peer(link);
	struct window *w = peer->w;
	struct window_mem *m;

	if (!place_is_sound(&w->layout, length, place))
		goto bad_place;
	m = mem_alloc(w, length);
	if (!m)
		return RSM_STS_INSUFFICIENT_MEM;
	m->first = (place->word[0] - w->layout.data) >> w->layout.chunk_shift;
	if (!window_chunks_attach(&w->chunks, peer->started, m->first, m->count)) {
		kfree(m);
		goto bad_place;
	}
	mem_complete(m, length);
	*mem = &m->mem;
	return RSM_STS_SUCCESS;

bad_place:
	pr_warn_ratelimited("rsm: %s: slot %u offers %llu bytes at %#llx, which it doesn't own\n",
			    w->ctl.name, peer->slot, length, place->word[0]);
	return RSM_STS_CONN_ABORTED;
}

/* Accept every list: any node may join the window later. */
static rsm_status_t window_check_acl(struct rsm_controller *ctl, const struct rsm_acl *acl)
{
	return RSM_STS_SUCCESS;
}

static void window_release(struct rsm_controller *ctl)
{
	window_put(to_window(ctl));
}

const struct rsm_controller_ops window_ops = {
	.owner = THIS_MODULE,
	.prepare = rsm_window_prepare,
	.bind = window_bind,
	.rebind = rsm_window_rebind,
	.unbind = window_unbind,
	.check_acl = window_check_acl,
	.republish = rsm_agent_republish,
	.withdraw = rsm_agent_withdraw,
	.unpublish = rsm_agent_unpublish,
	.connect = rsm_agent_connect,
	.disconnect = rsm_agent_disconnect,
	.map = rsm_map_mem,
	.post = rsm_agent_post,
	.post_importers = rsm_agent_post_importers,
	.peers = rsm_agent_peers,
	.release = window_release,
};
