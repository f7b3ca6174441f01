// SPDX-License-Identifier: GPL-2.0
/* Who connects to us: only nodes of the configuration, from their addresses. */

#include "rdma.h"

#include <linux/in.h>
#include <linux/in6.h>

#define BACKLOG		16

/* One for each family; on all devices, those that come later included. */
static struct rdma_cm_id *listeners[2];

/* What is wrong with who has sent a request, or NULL. */
static const char *objection(struct rdma_cm_id *cm_id, const struct rsm_rdma_peer *peer)
{
	struct rsm_rdma_node *node = rsm_rdma_node(peer->node);

	if (!node || READ_ONCE(node->leaving))
		return "no such node is configured";
	if (rsm_rdma_is_active(node))
		return "it is ours to connect to that node";
	if (!rsm_rdma_node_is_at(node, &cm_id->route.addr.dst_addr))
		return "that is not the address of that node";
	return NULL;
}

/*
 * False if there is one already that nobody has looked at, or if the configuration
 * has changed since we looked.
 */
static bool leave_to_node(struct rsm_rdma_node *node, struct rsm_rdma_channel *channel)
{
	const struct sockaddr_storage *from = &channel->cm_id->route.addr.dst_addr;
	bool left = false;

	spin_lock_irq(&node->lock);
	if (!node->incoming && !node->leaving &&
	    rsm_rdma_same_address(from, &node->address)) {
		node->incoming = channel;
		left = true;
	}
	spin_unlock_irq(&node->lock);
	return left;
}

static int hand_over(struct rdma_cm_id *cm_id, const struct rsm_rdma_peer *peer,
		     const struct rdma_conn_param *param)
{
	struct rsm_rdma_node *node = rsm_rdma_node(peer->node);
	struct rsm_rdma_channel *channel = rsm_rdma_channel_alloc(node, cm_id);

	if (!channel)
		return -ENOMEM;
	rsm_rdma_meet(channel, peer);
	channel->responder_resources = param->responder_resources;
	channel->initiator_depth = param->initiator_depth;
	/* The handler lock is held: the next event is the channel's. */
	cm_id->event_handler = rsm_rdma_event;
	if (!leave_to_node(node, channel)) {
		rsm_rdma_channel_put(channel);
		return -EBUSY;
	}
	rsm_rdma_kick(node);
	return 0;
}

/* An error makes the connection manager refuse and destroy the connection. */
static int look_at_request(struct rdma_cm_id *cm_id, const struct rdma_conn_param *param)
{
	struct rsm_rdma_peer peer = {};
	const char *why = rsm_rdma_hear(param, &peer);

	if (!why)
		why = objection(cm_id, &peer);
	if (!why)
		return hand_over(cm_id, &peer, param);
	pr_warn_ratelimited("rsm: %s: connection from %pISpc as node %u refused: %s\n",
			    rsm_rdma_controller.name, &cm_id->route.addr.dst_addr, peer.node,
			    why);
	return -EACCES;
}

static int listener_event(struct rdma_cm_id *cm_id, struct rdma_cm_event *event)
{
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return 0;
	return look_at_request(cm_id, &event->param.conn);
}

static int start_listener(struct rdma_cm_id *listener, struct sockaddr *address)
{
	int err = rdma_set_afonly(listener, 1);

	if (!err)
		err = rdma_bind_addr(listener, address);
	if (!err)
		err = rdma_listen(listener, BACKLOG);
	return err;
}

static struct rdma_cm_id *make_listener(struct sockaddr *address)
{
	struct rdma_cm_id *listener = rdma_create_id(&init_net, listener_event, NULL,
						     RDMA_PS_TCP, IB_QPT_RC);
	int err;

	if (IS_ERR(listener))
		return listener;
	err = start_listener(listener, address);
	if (err) {
		rdma_destroy_id(listener);
		return ERR_PTR(err);
	}
	return listener;
}

/**
 * rsm_rdma_unlisten() - let nobody connect any more
 */
void rsm_rdma_unlisten(void)
{
	for (int i = 0; i < ARRAY_SIZE(listeners); i++) {
		if (listeners[i])
			rdma_destroy_id(listeners[i]);
		listeners[i] = NULL;
	}
}

/**
 * rsm_rdma_listen() - let other nodes connect
 * @port: where
 *
 * Does what is still to be done, since there are nodes of a family that had none.
 *
 * Return: 0 or an error.
 */
int rsm_rdma_listen(u16 port)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};
	struct sockaddr_in6 in6 = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(port),
	};
	struct sockaddr *address[] = { (struct sockaddr *)&in, (struct sockaddr *)&in6 };

	for (int i = 0; i < ARRAY_SIZE(listeners); i++) {
		struct rdma_cm_id *listener;

		if (listeners[i] || !rsm_rdma_has_family(address[i]->sa_family))
			continue;
		listener = make_listener(address[i]);
		if (IS_ERR(listener))
			return PTR_ERR(listener);
		listeners[i] = listener;
	}
	return 0;
}
