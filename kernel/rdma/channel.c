// SPDX-License-Identifier: GPL-2.0
/* Channels: their users, their failure, and their end. */

#include "rdma.h"

#include <linux/netdevice.h>
#include <linux/random.h>
#include <linux/slab.h>

static u64 channel_new_incarnation(void)
{
	u64 incarnation;

	do {
		incarnation = get_random_u64();
	} while (!incarnation);
	return incarnation;
}

/**
 * rsm_rdma_channel_alloc() - make a channel
 * @node: the node at the other end
 * @cm_id: the connection, which the channel takes over
 *
 * Return: the channel, without any resources of the device, or NULL; then the connection still
 * belongs to the caller.
 */
struct rsm_rdma_channel *rsm_rdma_channel_alloc(struct rsm_rdma_node *node,
						struct rdma_cm_id *cm_id)
{
	struct rsm_rdma_channel *channel = kzalloc(sizeof(*channel), GFP_KERNEL);

	if (!channel)
		return NULL;
	kref_init(&channel->ref);
	refcount_set(&channel->users, 1);
	init_completion(&channel->idle);
	mutex_init(&channel->making_lock);
	mutex_init(&channel->keys_lock);
	INIT_LIST_HEAD(&channel->key_sets);
	rsm_rdma_room_init(&channel->room);
	INIT_LIST_HEAD(&channel->sending);
	INIT_LIST_HEAD(&channel->unsent);
	INIT_LIST_HEAD(&channel->received);
	spin_lock_init(&channel->receive_lock);
	channel->node = node;
	channel->cm_id = cm_id;
	channel->incarnation = channel_new_incarnation();
	channel->responder_resources = U8_MAX;
	channel->initiator_depth = U8_MAX;
	/* The agent takes no messages before the link is started. */
	channel->stalled = true;
	cm_id->context = channel;
	return channel;
}

static void channel_free(struct kref *ref)
{
	/* The channel contains a copy of the secret. */
	kfree_sensitive(container_of(ref, struct rsm_rdma_channel, ref));
}

/**
 * rsm_rdma_channel_put() - drop a reference
 * @channel: the channel
 */
void rsm_rdma_channel_put(struct rsm_rdma_channel *channel)
{
	kref_put(&channel->ref, channel_free);
}

/**
 * rsm_rdma_channel_get() - the channel of a link
 * @link: the link
 *
 * Return: a reference on the live channel of a link that is up, or NULL.
 */
struct rsm_rdma_channel *rsm_rdma_channel_get(struct rsm_link *link)
{
	struct rsm_rdma_node *node = to_rdma_node(link);
	struct rsm_rdma_channel *channel;
	unsigned long flags;

	spin_lock_irqsave(&node->lock, flags);
	channel = node->channel;
	if (channel && channel->why)
		channel = NULL;
	if (channel)
		kref_get(&channel->ref);
	spin_unlock_irqrestore(&node->lock, flags);
	return channel;
}

/**
 * rsm_rdma_channel_enter() - begin to use a channel's resources of the device
 * @channel: the channel; the caller has a reference
 *
 * Until it leaves, the caller waits for completions only.
 *
 * Return: false if the channel has failed.
 */
bool rsm_rdma_channel_enter(struct rsm_rdma_channel *channel)
{
	if (!rsm_rdma_channel_is_live(channel))
		return false;
	return refcount_inc_not_zero(&channel->users);
}

/**
 * rsm_rdma_channel_leave() - undo rsm_rdma_channel_enter()
 * @channel: the channel
 *
 * Any context.
 */
void rsm_rdma_channel_leave(struct rsm_rdma_channel *channel)
{
	if (refcount_dec_and_test(&channel->users))
		complete(&channel->idle);
}

/* The caller holds node->lock. The first reason stays. */
void rsm_rdma_channel_fail_locked(struct rsm_rdma_channel *channel, const char *why)
{
	struct rsm_rdma_node *node = channel->node;

	lockdep_assert_held(&node->lock);
	if (channel->why)
		return;
	WRITE_ONCE(channel->why, why);
	if (channel->started)
		rsm_link_fail(&node->link, why);
	wake_up_all(&node->changed);
}

/**
 * rsm_rdma_channel_fail() - end a channel that can't be used any more
 * @channel: the channel
 * @why: reason, a constant string for the log
 *
 * Any context. The link's work or the node's work destroys the channel.
 */
void rsm_rdma_channel_fail(struct rsm_rdma_channel *channel, const char *why)
{
	unsigned long flags;

	spin_lock_irqsave(&channel->node->lock, flags);
	rsm_rdma_channel_fail_locked(channel, why);
	spin_unlock_irqrestore(&channel->node->lock, flags);
}

/*
 * Is the network device up that the connection goes through? Otherwise there is no route, and in
 * some kernels rdma_rxe does not recover from a datagram without a route: the queue pair of its
 * connection manager receives nothing any more.
 */
static bool has_way(const struct rsm_rdma_channel *channel)
{
	const struct net_device *dev;
	bool up;

	rcu_read_lock();
	dev = dev_get_by_index_rcu(&init_net, channel->ifindex);
	up = !dev || netif_running(dev);
	rcu_read_unlock();
	return up;
}

/* Complete all that is under way, with an error if need be. */
static void break_off(struct rsm_rdma_channel *channel)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	if (has_way(channel))
		rdma_disconnect(channel->cm_id);
	/* rdma_disconnect() moves the queue pair to the error state in some states only. */
	ib_modify_qp(channel->qp, &attr, IB_QP_STATE);
}

static void wait_for_users(struct rsm_rdma_channel *channel)
{
	rsm_rdma_channel_leave(channel);
	wait_for_completion(&channel->idle);
}

/* End the connection; tells the peer if it is still connected. */
static void channel_close(struct rsm_rdma_channel *channel)
{
	rdma_destroy_id(channel->cm_id);
	rsm_rdma_channel_put(channel);
}

/* Keep a connection that can't be ended now; node->work ends it later. */
static void park(struct rsm_rdma_channel *channel)
{
	struct rsm_rdma_node *node = channel->node;
	struct rsm_rdma_channel *former;

	spin_lock_irq(&node->lock);
	former = node->parked;
	node->parked = channel;
	spin_unlock_irq(&node->lock);
	if (former)
		channel_close(former);
	/* The device may have been removed before node->parked was set: let the work look. */
	rsm_rdma_wake(node);
}

/**
 * rsm_rdma_unpark() - end a connection that park() has kept
 * @node: its node
 * @always: end it even if there is no route to the peer yet
 */
void rsm_rdma_unpark(struct rsm_rdma_node *node, bool always)
{
	struct rsm_rdma_channel *channel;

	spin_lock_irq(&node->lock);
	channel = node->parked;
	if (channel && (always || READ_ONCE(channel->removed) || has_way(channel)))
		node->parked = NULL;
	else
		channel = NULL;
	spin_unlock_irq(&node->lock);
	if (channel)
		channel_close(channel);
}

/**
 * rsm_rdma_channel_destroy() - end a connection and give back what it has of the device
 * @channel: the channel, which no node has any more; the caller's reference is dropped
 *
 * Waits until all that have entered the channel have left it.
 */
void rsm_rdma_channel_destroy(struct rsm_rdma_channel *channel)
{
	rsm_rdma_channel_fail(channel, "closed");
	if (channel->qp)
		break_off(channel);
	wait_for_users(channel);
	if (channel->qp)
		rsm_rdma_channel_strip(channel);
	if (has_way(channel))
		channel_close(channel);
	else
		park(channel);
}
