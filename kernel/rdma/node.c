// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps up the connection to a node. The node with the lower id connects, the other one accepts.
 */

#include "rdma.h"

#include <linux/jiffies.h>
#include <linux/random.h>

#define GOODBYE_MS	100	/* for the last message */

static void set_channel(struct rsm_rdma_node *node, struct rsm_rdma_channel *channel)
{
	const struct rsm_reconnect_input input = { .event = RSM_RECONNECT_UP };

	spin_lock_irq(&node->lock);
	channel->started = true;
	node->channel = channel;
	rsm_rdma_node_step_locked(node, &input);
	spin_unlock_irq(&node->lock);
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

/* An attempt has failed: log a new reason, and destroy the channel before the next attempt. */
static void node_give_up(struct rsm_rdma_node *node, struct rsm_rdma_channel *channel,
			 const char *why)
{
	const struct rsm_reconnect_input input = {
		.event = RSM_RECONNECT_FAILED,
		.random = get_random_u32(),
		.why = why,
		.other_secret = channel && channel->refusal == RSM_RDMA_REFUSED_OTHER_SECRET,
	};
	const struct rsm_reconnect_output output = rsm_rdma_node_step(node, &input);

	if (output.log)
		pr_info_ratelimited("rsm: " RSM_RDMA_NAME ": no connection to node %u: %s\n",
				    node->id, why);
	if (channel)
		rsm_rdma_channel_destroy(channel);
	rsm_rdma_node_queue(node, &output);
}

/*
 * Accept the connection that the peer has requested. Once the peer has proved that it is the
 * node, this ends the link that there may be: a node connects again only if its own end is gone.
 */
static void accept_connection(struct rsm_rdma_channel *channel)
{
	const char *why = rsm_rdma_accept(channel);

	if (why) {
		node_give_up(channel->node, channel, why);
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
		node_give_up(node, NULL, "there is no memory");
		return;
	}
	/* The link's work may not have finished the former connection yet. */
	rsm_link_stop(&node->link, "connected again");
	why = rsm_rdma_connect(channel);
	if (why)
		node_give_up(node, channel, why);
	else
		start_link(channel);
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

/* Decide what has to be done. *incoming is the request of the peer if that is to be accepted. */
static struct rsm_reconnect_output node_look(struct rsm_rdma_node *node,
					     struct rsm_rdma_channel **incoming)
{
	struct rsm_reconnect_input input = { .event = RSM_RECONNECT_LOOK };
	struct rsm_reconnect_output output;

	spin_lock_irq(&node->lock);
	input.requested = node->incoming;
	output = rsm_rdma_node_step_locked(node, &input);
	*incoming = NULL;
	if (output.action == RSM_RECONNECT_ACCEPT)
		swap(*incoming, node->incoming);
	spin_unlock_irq(&node->lock);
	return output;
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
	struct rsm_reconnect_output output;

	if (rsm_rdma_node_is_leaving(node))
		return;
	rsm_rdma_unpark(node, false);
	output = node_look(node, &incoming);
	if (output.action == RSM_RECONNECT_ACCEPT)
		accept_connection(incoming);
	else if (output.action == RSM_RECONNECT_CONNECT)
		connect_to_node(node);
	rsm_rdma_node_queue(node, &output);
}

/* Wait until the device has sent the last message, which tells the peer why the link ends. */
static void say_goodbye(struct rsm_rdma_channel *channel)
{
	wait_event_timeout(channel->node->changed,
			   list_empty_careful(&channel->sending) || READ_ONCE(channel->why),
			   msecs_to_jiffies(GOODBYE_MS));
}

static struct rsm_reconnect_output take_channel(struct rsm_rdma_node *node,
						struct rsm_rdma_channel **channel)
{
	const struct rsm_reconnect_input input = {
		.event = RSM_RECONNECT_DOWN,
		.random = get_random_u32(),
	};
	struct rsm_reconnect_output output;

	spin_lock_irq(&node->lock);
	*channel = node->channel;
	node->channel = NULL;
	output = rsm_rdma_node_step_locked(node, &input);
	spin_unlock_irq(&node->lock);
	return output;
}

/* &rsm_link_ops.down */
void rsm_rdma_down(struct rsm_link *link, u64 peer)
{
	struct rsm_rdma_node *node = to_rdma_node(link);
	struct rsm_rdma_channel *channel;
	const struct rsm_reconnect_output output = take_channel(node, &channel);

	say_goodbye(channel);
	rsm_rdma_channel_destroy(channel);
	/* That takes time, and the attempt may be due by now: the work knows how long to wait. */
	if (output.wake)
		rsm_rdma_wake(node);
}

/**
 * rsm_rdma_leave() - end the connection to a node and begin no other
 * @node: the node; it is marked as leaving, and no request of it is accepted any more
 */
void rsm_rdma_leave(struct rsm_rdma_node *node)
{
	struct rsm_rdma_channel *incoming;

	rsm_rdma_node_notify(node, RSM_RECONNECT_LEAVE);
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
