// SPDX-License-Identifier: GPL-2.0
/* Flows: the operations of an import that run without a task that waits for them. */

#include "memory.h"

#include <linux/sched/signal.h>
#include <linux/slab.h>

/* Bytes of user memory that operations of one import may hold copies of. */
#define COPIED_MAX	SZ_4M

static void flow_free(struct kref *ref)
{
	kfree(container_of(ref, struct rsm_rdma_flow, ref));
}

void rsm_rdma_flow_put(struct rsm_rdma_flow *flow)
{
	kref_put(&flow->ref, flow_free);
}

/* The flow of an import that is about to be connected, or NULL. */
struct rsm_rdma_flow *rsm_rdma_flow_alloc(void)
{
	struct rsm_rdma_flow *flow = kzalloc(sizeof(*flow), GFP_KERNEL_ACCOUNT);

	if (!flow)
		return NULL;
	kref_init(&flow->ref);
	init_waitqueue_head(&flow->changed);
	return flow;
}

/* Count the bytes; false if that is too much. The first copy is always allowed. */
static bool charge(struct rsm_rdma_flow *flow, u32 bytes)
{
	int before = atomic_fetch_add(bytes, &flow->copied);

	if (!before || before + bytes <= COPIED_MAX)
		return true;
	atomic_sub(bytes, &flow->copied);
	return false;
}

static u32 copied_bytes(const struct rsm_rdma_op *op)
{
	return op->kind == RSM_RDMA_OWN ? op->length : 0;
}

/**
 * rsm_rdma_flow_enter() - count an operation for which no task will wait
 * @flow: flow of the import
 * @op: the operation, not yet started
 *
 * Waits while the copies of the flow's operations use too much memory.
 *
 * Return: RSM_SUCCESS or RSMERR_INTERRUPTED.
 */
rsm_status_t rsm_rdma_flow_enter(struct rsm_rdma_flow *flow, struct rsm_rdma_op *op)
{
	if (wait_event_killable(flow->changed, charge(flow, copied_bytes(op))))
		return RSM_STS_INTERRUPTED;
	kref_get(&flow->ref);
	atomic_inc(&flow->pending);
	op->flow = flow;
	return RSM_STS_SUCCESS;
}

/* The operation has ended, or was not started after all. Any context. */
void rsm_rdma_flow_leave(struct rsm_rdma_op *op)
{
	struct rsm_rdma_flow *flow = op->flow;

	if (!flow)
		return;
	if (op->failed)
		WRITE_ONCE(flow->failed, true);
	atomic_sub(copied_bytes(op), &flow->copied);
	/* A reader that sees no pending operation also sees @failed. */
	atomic_dec_return_release(&flow->pending);
	wake_up_all(&flow->changed);
}

static bool is_idle(void *flow)
{
	return !atomic_read_acquire(&((struct rsm_rdma_flow *)flow)->pending);
}

static void poll_until_idle(struct rsm_import *imp, struct rsm_rdma_flow *flow)
{
	struct rsm_mem *mem;

	down_read(&imp->map_lock);
	mem = rsm_mem_get(imp->mem);
	up_read(&imp->map_lock);
	if (!mem)
		return;
	rsm_rdma_poll(to_rdma_memory(mem)->channel, is_idle, flow);
	rsm_mem_put(mem);
}

/* Wait for all operations. An import of a segment of this node never has any under way. */
static rsm_status_t finish_all(struct rsm_import *imp, struct rsm_rdma_flow *flow)
{
	if (!is_idle(flow))
		poll_until_idle(imp, flow);
	if (wait_event_killable(flow->changed, is_idle(flow)))
		return RSM_STS_INTERRUPTED;
	return READ_ONCE(flow->failed) ? RSM_STS_BARRIER_FAILURE : RSM_STS_SUCCESS;
}

/* &rsm_controller_ops.order */
rsm_status_t rsm_rdma_order(struct rsm_import *imp, enum rsm_barrier_op op)
{
	struct rsm_rdma_flow *flow = imp->priv;

	if (op != RSM_BARRIER_OPEN)
		return finish_all(imp, flow);
	WRITE_ONCE(flow->failed, false);
	return RSM_STS_SUCCESS;
}
