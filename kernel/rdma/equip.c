// SPDX-License-Identifier: GPL-2.0
/* The resources of the device that a channel uses. */

#include "memory.h"

#include <linux/netdevice.h>
#include <rdma/ib_cache.h>

/* Work requests for frames and keys, and one that drains the queue pair. */
#define OTHER_WRS	(RSM_RDMA_SENDS + RSM_RDMA_KEY_WRS + 1)
/* For each transfer the RDMA core may add a registration and an invalidation. */
#define WRS_OF_CONTEXT	3

/* An event of the device about a queue pair. Any context. */
static void queue_pair_event(struct ib_event *event, void *context)
{
	struct rsm_rdma_channel *channel = context;

	switch (event->event) {
	case IB_EVENT_COMM_EST:
		rdma_notify(channel->cm_id, event->event);
		break;
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
	case IB_EVENT_PATH_MIG_ERR:
		rsm_rdma_channel_fail(channel, ib_event_msg(event->event));
		break;
	default:
		break;
	}
}

/*
 * Work requests that transfers may use; 0 if the device has too few for three operations. With
 * fewer a user whose threads wait for a processor could keep all others waiting.
 */
static u32 room_for_transfers(const struct ib_device *device)
{
	u32 needed = OTHER_WRS + WRS_OF_CONTEXT * RSM_RDMA_TRANSFERS;
	u32 max = min(device->attrs.max_qp_wr, device->attrs.max_cqe);

	if (max < needed + 3 * RSM_RDMA_PIECE_PAGES)
		return 0;
	return min(RSM_RDMA_TRANSFER_WRS, max - needed);
}

/* The completion queues have room for everything posted, which a flush completes at once. */
static int alloc_queues(struct rsm_rdma_channel *channel)
{
	u32 wrs = OTHER_WRS + WRS_OF_CONTEXT * RSM_RDMA_TRANSFERS + channel->room.most_wrs;

	channel->send_cq = ib_alloc_cq_any(channel->device, channel, wrs, IB_POLL_SOFTIRQ);
	if (IS_ERR(channel->send_cq))
		return PTR_ERR(channel->send_cq);
	channel->receive_cq = ib_alloc_cq_any(channel->device, channel, RSM_RDMA_RECEIVES + 1,
					      IB_POLL_SOFTIRQ);
	if (IS_ERR(channel->receive_cq)) {
		ib_free_cq(channel->send_cq);
		return PTR_ERR(channel->receive_cq);
	}
	return 0;
}

static int create_queue_pair(struct rsm_rdma_channel *channel)
{
	const struct ib_device_attr *limits = &channel->device->attrs;
	struct ib_qp_init_attr attr = {
		.event_handler = queue_pair_event,
		.qp_context = channel,
		.send_cq = channel->send_cq,
		.recv_cq = channel->receive_cq,
		.cap = {
			.max_send_wr = OTHER_WRS + channel->room.most_wrs,
			.max_recv_wr = RSM_RDMA_RECEIVES + 1,
			.max_send_sge = min_t(u32, RSM_RDMA_SGES, limits->max_send_sge),
			.max_recv_sge = 1,
			.max_rdma_ctxs = RSM_RDMA_TRANSFERS,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
		.port_num = channel->port,
	};
	int err = rdma_create_qp(channel->cm_id, channel->pd, &attr);

	if (!err)
		channel->qp = channel->cm_id->qp;
	return err;
}

static void free_queues(struct rsm_rdma_channel *channel)
{
	ib_free_cq(channel->receive_cq);
	ib_free_cq(channel->send_cq);
}

static int equip(struct rsm_rdma_channel *channel)
{
	int err;

	channel->pd = ib_alloc_pd(channel->device, 0);
	if (IS_ERR(channel->pd))
		return PTR_ERR(channel->pd);
	err = alloc_queues(channel);
	if (err)
		goto err_dealloc_pd;
	err = rsm_rdma_frames_alloc(channel);
	if (err)
		goto err_free_queues;
	err = create_queue_pair(channel);
	if (err)
		goto err_free_frames;
	return 0;

err_free_frames:
	rsm_rdma_frames_free(channel);
err_free_queues:
	free_queues(channel);
err_dealloc_pd:
	ib_dealloc_pd(channel->pd);
	return err;
}

/* Index of the network device that the RDMA device uses; 0 if there is none. */
static int find_netdev(const struct rsm_rdma_channel *channel)
{
	const struct ib_gid_attr *attr = channel->cm_id->route.addr.dev_addr.sgid_attr;
	const struct net_device *dev;
	int ifindex = 0;

	if (!attr)
		return 0;
	rcu_read_lock();
	dev = rdma_read_gid_attr_ndev_rcu(attr);
	if (!IS_ERR(dev))
		ifindex = dev->ifindex;
	rcu_read_unlock();
	return ifindex;
}

/**
 * rsm_rdma_channel_equip() - allocate a channel's resources of the device
 * @channel: the channel; its connection knows the device
 *
 * Receives are posted on return. The caller destroys the channel later, also if this fails.
 *
 * Return: 0 or an error.
 */
int rsm_rdma_channel_equip(struct rsm_rdma_channel *channel)
{
	int err;

	channel->device = channel->cm_id->device;
	channel->port = channel->cm_id->port_num;
	channel->ifindex = find_netdev(channel);
	channel->room.most_wrs = room_for_transfers(channel->device);
	if (!channel->room.most_wrs)
		return -EOPNOTSUPP;
	err = equip(channel);
	if (err)
		return err;
	return rsm_rdma_receive_all(channel);
}

/**
 * rsm_rdma_channel_strip() - undo rsm_rdma_channel_equip()
 * @channel: the channel; no other task posts work requests any more
 */
void rsm_rdma_channel_strip(struct rsm_rdma_channel *channel)
{
	ib_drain_qp(channel->qp);
	rdma_destroy_qp(channel->cm_id);
	free_queues(channel);
	/* No completion handler runs any more. */
	rsm_rdma_frames_free(channel);
	ib_dealloc_pd(channel->pd);
}
