// SPDX-License-Identifier: GPL-2.0
/* Making a connection: node->work does it and waits for the connection manager. */

#include "rdma.h"

#include <linux/jiffies.h>

#define RESOLVE_MS	2000
#define CONNECT_MS	5000	/* the peer may be busy with what we had before */
#define RETRIES		7	/* the most there are */
#define ACK_TIMEOUT_MAX	31

/*
 * The transport gives up about when the agent would: 4.096 us * 2^timeout for the first
 * attempt and for each of the others.
 */
static u8 ack_timeout(void)
{
	u64 patience = 2ULL * rsm_heartbeat_ms() * NSEC_PER_MSEC;
	u8 timeout = 1;

	while (timeout < ACK_TIMEOUT_MAX && (RETRIES + 1) * (4096ULL << timeout) < patience)
		timeout++;
	return timeout;
}

static void advance(struct rsm_rdma_channel *channel, enum rsm_rdma_progress progress)
{
	/* Pairs with has_come_to(). */
	smp_store_release(&channel->progress, progress);
	wake_up_all(&channel->node->changed);
}

static bool has_come_to(const struct rsm_rdma_channel *channel,
			enum rsm_rdma_progress progress)
{
	/* Pairs with advance(): what came with the event is there. */
	return smp_load_acquire(&channel->progress) >= progress;
}

/* Wait until connecting has come so far. Returns what went wrong, or NULL. */
static const char *wait_for(struct rsm_rdma_channel *channel,
			    enum rsm_rdma_progress progress, unsigned int ms)
{
	struct rsm_rdma_node *node = channel->node;

	wait_event_timeout(node->changed,
			   has_come_to(channel, progress) || READ_ONCE(channel->why) ||
			   READ_ONCE(node->leaving), msecs_to_jiffies(ms));
	if (READ_ONCE(channel->why))
		return channel->why;
	return has_come_to(channel, progress) ? NULL : "no answer";
}

/**
 * rsm_rdma_meet() - the peer of a channel has greeted
 * @channel: the channel
 * @peer: what it has said
 */
void rsm_rdma_meet(struct rsm_rdma_channel *channel, const struct rsm_rdma_peer *peer)
{
	unsigned long flags;

	spin_lock_irqsave(&channel->node->lock, flags);
	channel->peer = *peer;
	channel->credits = peer->depth;
	spin_unlock_irqrestore(&channel->node->lock, flags);
}

/**
 * rsm_rdma_hear() - look at what a peer says when connecting
 * @param: what it says
 * @peer: what it says of itself
 *
 * Return: what is wrong with it, or NULL.
 */
const char *rsm_rdma_hear(const struct rdma_conn_param *param, struct rsm_rdma_peer *peer)
{
	const char *why = rsm_rdma_greeting_read(param->private_data, param->private_data_len,
						 rsm_node_id(), peer);

	/* Reads would wait forever, and everything after them. */
	if (!why && !param->initiator_depth)
		why = "it lets us read nothing";
	return why;
}

/* What is wrong with the answer to our greeting, or NULL. */
static const char *read_answer(struct rsm_rdma_channel *channel,
			       const struct rdma_conn_param *param)
{
	struct rsm_rdma_peer peer;
	const char *why = rsm_rdma_hear(param, &peer);

	if (!why && peer.node != channel->node->id)
		why = "another node is there";
	if (!why)
		rsm_rdma_meet(channel, &peer);
	return why;
}

/* Both ends have agreed. If we have connected, the other's greeting came with that. */
static void established(struct rsm_rdma_channel *channel, const struct rdma_conn_param *param)
{
	const char *why = rsm_rdma_is_active(channel->node) ? read_answer(channel, param) : NULL;

	if (why)
		rsm_rdma_channel_fail(channel, why);
	else
		advance(channel, RSM_RDMA_ESTABLISHED);
}

/**
 * rsm_rdma_event() - what the connection manager has to say of a channel
 * @cm_id: its connection
 * @event: what
 *
 * Called with the connection's handler lock held: waits for nobody.
 *
 * Return: 0: we destroy connections ourselves.
 */
int rsm_rdma_event(struct rdma_cm_id *cm_id, struct rdma_cm_event *event)
{
	struct rsm_rdma_channel *channel = cm_id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		advance(channel, RSM_RDMA_ADDRESS_RESOLVED);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		advance(channel, RSM_RDMA_ROUTE_RESOLVED);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		established(channel, &event->param.conn);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		WRITE_ONCE(channel->removed, true);
		rsm_rdma_channel_fail(channel, rdma_event_msg(event->event));
		/* Nobody else knows of it if it is parked. */
		rsm_rdma_kick(channel->node);
		break;
	default:
		/* Errors of all kinds, disconnection, loss of the address. */
		rsm_rdma_channel_fail(channel, rdma_event_msg(event->event));
		break;
	}
	return 0;
}

static struct rdma_conn_param conn_param(struct rsm_rdma_channel *channel,
					 struct rsm_rdma_greeting *greeting)
{
	const struct ib_device_attr *limits = &channel->device->attrs;

	rsm_rdma_greet(greeting, rsm_node_id(), channel->node->id, RSM_RDMA_RECEIVES,
		       channel->incarnation);
	return (struct rdma_conn_param) {
		.private_data = greeting,
		.private_data_len = sizeof(*greeting),
		.responder_resources = min_t(int, channel->responder_resources,
					     limits->max_qp_rd_atom),
		.initiator_depth = min_t(int, channel->initiator_depth,
					 limits->max_qp_init_rd_atom),
		.flow_control = 1,
		.retry_count = RETRIES,
		/* Nobody sends what the other has no receive for. */
		.rnr_retry_count = 0,
	};
}

static const char *resolve(struct rsm_rdma_channel *channel)
{
	struct rsm_rdma_node *node = channel->node;
	struct sockaddr *to = (struct sockaddr *)&node->address;
	const char *why;

	if (rdma_resolve_addr(channel->cm_id, rsm_rdma_own_address(to->sa_family), to,
			      RESOLVE_MS))
		return "there is no way to its address";
	why = wait_for(channel, RSM_RDMA_ADDRESS_RESOLVED, RESOLVE_MS);
	if (why)
		return why;
	if (rdma_resolve_route(channel->cm_id, RESOLVE_MS))
		return "there is no route to its address";
	return wait_for(channel, RSM_RDMA_ROUTE_RESOLVED, RESOLVE_MS);
}

/**
 * rsm_rdma_connect() - connect to the node of a channel
 * @channel: the channel, new
 *
 * Return: what went wrong, or NULL.
 */
const char *rsm_rdma_connect(struct rsm_rdma_channel *channel)
{
	struct rsm_rdma_greeting greeting;
	struct rdma_conn_param param;
	const char *why;

	rdma_set_ack_timeout(channel->cm_id, ack_timeout());
	why = resolve(channel);
	if (why)
		return why;
	if (rsm_rdma_channel_equip(channel))
		return "the device does not give us what we need";
	param = conn_param(channel, &greeting);
	if (rdma_connect(channel->cm_id, &param))
		return "connecting fails";
	return wait_for(channel, RSM_RDMA_ESTABLISHED, CONNECT_MS);
}

/**
 * rsm_rdma_accept() - accept the connection of a channel
 * @channel: the channel, new, with a request that was found good
 *
 * Return: what went wrong, or NULL.
 */
const char *rsm_rdma_accept(struct rsm_rdma_channel *channel)
{
	struct rsm_rdma_greeting greeting;
	struct rdma_conn_param param;
	int err;

	rdma_set_ack_timeout(channel->cm_id, ack_timeout());
	if (rsm_rdma_channel_equip(channel))
		return "the device does not give us what we need";
	param = conn_param(channel, &greeting);
	rdma_lock_handler(channel->cm_id);
	err = rdma_accept(channel->cm_id, &param);
	rdma_unlock_handler(channel->cm_id);
	if (err)
		return "accepting fails";
	return wait_for(channel, RSM_RDMA_ESTABLISHED, CONNECT_MS);
}
