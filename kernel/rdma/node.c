// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps up the connection to a node. The node with the lower id connects, the other one accepts.
 */

#include "rdma.h"

#include <linux/jiffies.h>
#include <linux/random.h>

#define GOODBYE_MS	100	/* for the last message */

/* Waits twice as long each time, plus a random part: nodes must not all try at the same time. */
static void try_later(struct rsm_rdma_node *node)
{
	unsigned int ms = READ_ONCE(node->backoff);

	WRITE_ONCE(node->backoff, min(2 * ms, RSM_RDMA_BACKOFF_MAX));
	queue_delayed_work(rsm_rdma_wq, &node->work,
			   msecs_to_jiffies(ms + get_random_u32() % ms));
}

static void set_channel(struct rsm_rdma_node *node, struct rsm_rdma_channel *channel)
{
	spin_lock_irq(&node->lock);
	channel->started = true;
	node->channel = channel;
	spin_unlock_irq(&node->lock);
}

static struct rsm_rdma_channel *take_channel(struct rsm_rdma_node *node)
{
	struct rsm_rdma_channel *channel;

	spin_lock_irq(&node->lock);
	channel = node->channel;
	node->channel = NULL;
	spin_unlock_irq(&node->lock);
	return channel;
}

/* Give the channel to the node, and start the link. */
static void start_link(struct rsm_rdma_channel *channel)
{
	struct rsm_rdma_node *node = channel->node;
	struct rsm_link_peer to = {
		.node = node->id,
		.hwaddr = rsm_rdma_hwaddr(&node->address),
		.incarnation = channel->peer.incarnation,
		.own = channel->incarnation,
	};

	node->complaint = NULL;
	kref_get(&channel->ref);
	set_channel(node, channel);
	if (!channel->authenticated)
		pr_warn_ratelimited("rsm: " RSM_RDMA_NAME ": node %u is not authenticated: there is no secret\n",
				    node->id);
	if (!rsm_rdma_channel_is_welcome(channel))
		rsm_rdma_channel_fail(channel, "has shown no secret");
	/* Only this work starts the link, and it was down when the channel was made. */
	WARN_ON_ONCE(!rsm_link_start(&node->link, &to));
	rsm_rdma_resume(&node->link);
	/* A failure before the start has not reached the link. */
	if (!rsm_rdma_channel_is_live(channel))
		rsm_link_fail(&node->link, channel->why);
	rsm_rdma_channel_put(channel);
}

/* Log a reason once, and destroy the channel. */
static void node_give_up(struct rsm_rdma_channel *channel, const char *why)
{
	struct rsm_rdma_node *node = channel->node;

	if (node->complaint != why && !READ_ONCE(node->leaving))
		pr_info_ratelimited("rsm: " RSM_RDMA_NAME ": no connection to node %u: %s\n",
				    node->id, why);
	node->complaint = why;
	rsm_rdma_channel_destroy(channel);
}

/*
 * Accept the connection that the peer has requested. Once the peer has proved that it is the
 * node, this ends the link that there may be: a node connects again only if its own end is gone.
 */
static void accept_connection(struct rsm_rdma_channel *channel)
{
	const char *why = rsm_rdma_accept(channel);

	if (why) {
		node_give_up(channel, why);
		return;
	}
	rsm_link_stop(&channel->node->link, "connected again");
	start_link(channel);
}

static struct rsm_rdma_channel *new_channel(struct rsm_rdma_node *node)
{
	struct rdma_cm_id *cm_id = rdma_create_id(&init_net, rsm_rdma_event, NULL,
						  RDMA_PS_TCP, IB_QPT_RC);
	struct rsm_rdma_channel *channel;

	if (IS_ERR(cm_id))
		return NULL;
	channel = rsm_rdma_channel_alloc(node, cm_id);
	if (!channel)
		rdma_destroy_id(cm_id);
	return channel;
}

static void connect_to_node(struct rsm_rdma_node *node)
{
	struct rsm_rdma_channel *channel = new_channel(node);
	const char *why;

	if (!channel) {
		try_later(node);
		return;
	}
	/* The link's work may not have finished the former connection yet. */
	rsm_link_stop(&node->link, "connected again");
	why = rsm_rdma_connect(channel);
	if (!why) {
		start_link(channel);
		return;
	}
	/* The peer may know only one of the two secrets that this node accepts: try the other. */
	node->other_secret ^= channel->refusal == RSM_RDMA_REFUSED_OTHER_SECRET;
	node_give_up(channel, why);
	try_later(node);
}

static struct rsm_rdma_channel *take_incoming(struct rsm_rdma_node *node)
{
	struct rsm_rdma_channel *channel;

	spin_lock_irq(&node->lock);
	channel = node->incoming;
	node->incoming = NULL;
	spin_unlock_irq(&node->lock);
	return channel;
}

static bool has_channel(struct rsm_rdma_node *node)
{
	bool has;

	spin_lock_irq(&node->lock);
	has = node->channel;
	spin_unlock_irq(&node->lock);
	return has;
}

/**
 * rsm_rdma_node_work() - connect to a node, or accept its connection
 * @work: &rsm_rdma_node.work
 */
void rsm_rdma_node_work(struct work_struct *work)
{
	struct rsm_rdma_node *node = container_of(to_delayed_work(work), struct rsm_rdma_node,
						  work);
	struct rsm_rdma_channel *incoming;

	if (READ_ONCE(node->leaving))
		return;
	rsm_rdma_unpark(node, false);
	incoming = take_incoming(node);
	if (incoming)
		accept_connection(incoming);
	else if (rsm_rdma_is_active(node) && !has_channel(node))
		connect_to_node(node);
}

/* Wait until the device has sent the last message, which tells the peer why the link ends. */
static void say_goodbye(struct rsm_rdma_channel *channel)
{
	wait_event_timeout(channel->node->changed,
			   !READ_ONCE(channel->sending) || READ_ONCE(channel->why),
			   msecs_to_jiffies(GOODBYE_MS));
}

/* &rsm_link_ops.down */
void rsm_rdma_down(struct rsm_link *link, u64 peer)
{
	struct rsm_rdma_node *node = to_rdma_node(link);
	struct rsm_rdma_channel *channel = take_channel(node);

	say_goodbye(channel);
	rsm_rdma_channel_destroy(channel);
	if (rsm_rdma_is_active(node) && !READ_ONCE(node->leaving))
		try_later(node);
}

/**
 * rsm_rdma_leave() - end the connection to a node and begin no other
 * @node: the node; it is marked as leaving, and no request of it is accepted any more
 */
void rsm_rdma_leave(struct rsm_rdma_node *node)
{
	struct rsm_rdma_channel *incoming;

	WRITE_ONCE(node->leaving, true);
	wake_up_all(&node->changed);
	cancel_delayed_work_sync(&node->work);
	incoming = take_incoming(node);
	if (incoming)
		rsm_rdma_channel_destroy(incoming);
	rsm_link_stop(&node->link, "leaving");
	/* The end of the link may have queued the work once more. */
	cancel_delayed_work_sync(&node->work);
	rsm_rdma_unpark(node, true);
}
