// SPDX-License-Identifier: GPL-2.0
/*
 * Put and get. A transfer is cut into pieces, each of which lies under one key and fits one
 * operation. A few operations are under way at a time.
 */

#include "memory.h"

#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>

#define WINDOW	4U

/**
 * struct transfer - a transfer, and its operations that the caller waits for
 * @imp: the import
 * @local: the local end
 * @direction: to the segment, or from it
 * @op: operations under way, a ring
 * @head: index of the oldest
 * @tail: index for the next one
 */
struct transfer {
	struct rsm_import *imp;
	const struct rsm_local *local;
	enum rsm_direction direction;
	struct rsm_rdma_op *op[WINDOW];
	u32 head;
	u32 tail;
};

/* Memory of the import as it is now, referenced, or NULL. */
static struct rsm_rdma_memory *memory_get(struct rsm_import *imp)
{
	struct rsm_mem *mem;

	down_read(&imp->map_lock);
	mem = rsm_mem_get(imp->mem);
	up_read(&imp->map_lock);
	return mem ? to_rdma_memory(mem) : NULL;
}

static u32 transfer_piece(const struct rsm_rdma_memory *remote, const struct rsm_local *local,
			  u64 done, u64 offset, u64 left)
{
	u64 start = local->mem ? local->offset + done : (unsigned long)local->user + done;
	u64 chunk = BIT_ULL(remote->chunk_shift);

	left = min(left, chunk - (offset & (chunk - 1)));
	return min_t(u64, left, RSM_RDMA_PIECE_BYTES - offset_in_page(start));
}

static rsm_status_t start_op(struct rsm_import *imp, struct rsm_rdma_op *op,
			     struct rsm_rdma_memory *remote, u64 offset, u32 key, bool async)
{
	rsm_status_t status;

	if (!async)
		return rsm_rdma_op_start(imp, op, remote, offset, key);
	status = rsm_rdma_flow_enter(imp->priv, op);
	if (status)
		return status;
	status = rsm_rdma_op_start(imp, op, remote, offset, key);
	if (status)
		rsm_rdma_flow_leave(op);
	return status;
}

/* Start an operation for the next piece, of *@n bytes. */
static rsm_status_t start_in(struct transfer *t, struct rsm_rdma_memory *remote, u64 done,
			     u64 offset, bool async, u32 *n, struct rsm_rdma_op **started)
{
	struct rsm_rdma_op *op;
	rsm_status_t status;
	u32 key;

	/* CAP_IPC_OWNER passes the mode, but not the rights that the exporter gives to a node. */
	if (!(remote->rights & (t->direction == RSM_PUT ? RSM_PERM_WRITE : RSM_PERM_READ)))
		return RSM_STS_PERM_DENIED;
	status = rsm_rdma_op_prepare(t->local, done, *n, t->direction, async, &op);
	if (status)
		return status;
	status = rsm_rdma_key(t->imp, remote, offset >> remote->chunk_shift, &key);
	if (!status)
		status = start_op(t->imp, op, remote, offset, key, async);
	if (status)
		rsm_rdma_op_put(op);
	else
		*started = op;
	return status;
}

/*
 * Start the next piece; if the import gets other memory meanwhile, start it there. An exporter
 * that gives it other memory all the time does not keep a caller who is killed, nor any other one
 * for longer than a peer may take for a message.
 */
static rsm_status_t start_piece(struct transfer *t, u64 done, u64 offset, u64 left, bool async,
				u32 *n, struct rsm_rdma_op **op)
{
	unsigned long patience = msecs_to_jiffies(RSM_RDMA_STUCK_BEATS * rsm_heartbeat_ms());
	struct rsm_rdma_memory *remote;
	unsigned long moved_at = 0;
	bool has_moved = false;
	rsm_status_t status;

	do {
		remote = memory_get(t->imp);
		if (!remote)
			return RSM_STS_CONN_ABORTED;
		*n = transfer_piece(remote, t->local, done, offset, left);
		status = start_in(t, remote, done, offset, async, n, op);
		rsm_mem_put(&remote->mem);
		if (status != RSM_STS_MOVED)
			return status;
		if (fatal_signal_pending(current))
			return RSM_STS_INTERRUPTED;
		if (!has_moved)
			moved_at = jiffies;
		has_moved = true;
	} while (!time_after(jiffies, moved_at + patience));
	return RSM_STS_INSUFFICIENT_RESOURCES;
}

/* Wait for the oldest piece. */
static rsm_status_t transfer_collect(struct transfer *t)
{
	struct rsm_rdma_op *op = t->op[t->head++ % WINDOW];
	rsm_status_t status;

	status = rsm_rdma_op_wait(op);
	if (!status && t->direction == RSM_GET)
		status = rsm_rdma_op_deliver(op);
	rsm_rdma_op_put(op);
	return status;
}

static rsm_status_t transfer_add(struct transfer *t, struct rsm_rdma_op *op)
{
	t->op[t->tail++ % WINDOW] = op;
	return t->tail - t->head == WINDOW ? transfer_collect(t) : RSM_STS_SUCCESS;
}

/* Wait for all operations, also after an error: they use the caller's memory until they end. */
static rsm_status_t collect_all(struct transfer *t, rsm_status_t status)
{
	while (t->head != t->tail) {
		rsm_status_t end = transfer_collect(t);

		status = status ?: end;
	}
	return status;
}

static rsm_status_t run(struct transfer *t, u64 offset, u64 length, bool async)
{
	rsm_status_t status = RSM_STS_SUCCESS;
	u32 n;

	for (u64 done = 0; done < length && !status; done += n) {
		struct rsm_rdma_op *op;

		if (fatal_signal_pending(current))
			status = RSM_STS_INTERRUPTED;
		else
			status = start_piece(t, done, offset + done, length - done, async, &n, &op);
		if (status)
			break;
		if (async)
			rsm_rdma_op_put(op);
		else
			status = transfer_add(t, op);
	}
	return collect_all(t, status);
}

/* &rsm_controller_ops.transfer */
rsm_status_t rsm_rdma_transfer(struct rsm_import *imp, struct rsm_local *local, u64 offset,
			       u64 length, enum rsm_direction direction, u32 flags)
{
	struct transfer t = {
		.imp = imp,
		.local = local,
		.direction = direction,
	};

	if (imp->exporter)
		return rsm_local_transfer(imp, local, offset, length, direction);
	return run(&t, offset, length, direction == RSM_PUT && flags & RSM_TRANSFER_ASYNC);
}
