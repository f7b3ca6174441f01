// SPDX-License-Identifier: GPL-2.0
/*
 * Requests for connections. This node accepts only configured nodes, from their addresses, that
 * prove the secret if there is one.
 */

#include "rdma.h"

#include <linux/in.h>
#include <linux/in6.h>
#include <net/sock.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cm.h>

#define BACKLOG		16

/* One listener for each address family, on all devices, also on those that are added later. */
static struct rdma_cm_id *listeners[2];

/**
 * struct request - a request for a connection
 * @peer: contents of the sender's greeting
 * @said: the greeting, and the number of the sender's queue pair
 * @secret: the secret that the greeting proves, if @authenticated
 * @authenticated: the greeting proves a secret
 * @code: the reason that the sender gets if the request is refused
 */
struct request {
	struct rsm_rdma_peer peer;
	struct rsm_rdma_transcript said;
	struct rsm_rdma_secret secret;
	bool authenticated;
	enum rsm_rdma_refusal_code code;
};

/*
 * Does a request come from the node's address? The sender writes the address into the request; on
 * Ethernet it writes the GID, too, but our answer goes to that: a sender that does not receive at
 * that address gets no connection.
 */
static bool comes_from(struct rsm_rdma_node *node, struct rdma_cm_id *cm_id)
{
	struct sockaddr_storage address = {};

	if (!rsm_rdma_node_is_at(node, &cm_id->route.addr.dst_addr))
		return false;
	if (!rdma_protocol_roce(cm_id->device, cm_id->port_num))
		return true;
	rdma_gid2ip((struct sockaddr *)&address, &cm_id->route.path_rec->dgid);
	return rsm_rdma_node_is_at(node, &address);
}

/* Is this a port that a connection manager refuses to unprivileged processes? */
static bool is_privileged(const struct sockaddr_storage *address)
{
	return ntohs(((const struct sockaddr_in *)address)->sin_port) < PROT_SOCK;
}

/* The reason to refuse the secret of a request, or the lack of one; or NULL. */
static const char *secret_objection(struct rdma_cm_id *cm_id, struct request *request)
{
	request->code = rsm_rdma_secret_find(&request->said, &request->secret,
					     &request->authenticated);
	switch (request->code) {
	case RSM_RDMA_REFUSED_NO_SECRET:
		return "it has no secret";
	case RSM_RDMA_REFUSED_SECRET:
		return "it has a secret, and this node has none";
	case RSM_RDMA_REFUSED_OTHER_SECRET:
		return "it does not know the secret";
	default:
		break;
	}
	if (!request->authenticated && !is_privileged(&cm_id->route.addr.dst_addr))
		return "there is no secret, and its port is not privileged";
	return NULL;
}

/* The reason to refuse the sender of a request, or NULL. */
static const char *listen_objection(struct rdma_cm_id *cm_id, struct request *request)
{
	struct rsm_rdma_node *node = rsm_rdma_node(request->peer.node);

	if (!node || rsm_rdma_node_is_leaving(node))
		return "no such node is configured";
	if (rsm_rdma_is_active(node))
		return "this node connects to that node, not the other way round";
	if (!comes_from(node, cm_id))
		return "that is not the address of that node";
	return secret_objection(cm_id, request);
}

/*
 * Leave a channel to node->work. False if node->incoming has one already, or if the configuration
 * has changed since the request was checked.
 */
static bool leave_to_node(struct rsm_rdma_node *node, struct rsm_rdma_channel *channel)
{
	const struct sockaddr_storage *from = &channel->cm_id->route.addr.dst_addr;
	bool left = false;

	spin_lock_irq(&node->lock);
	if (!node->incoming && !node->reconnect.leaving &&
	    rsm_rdma_same_address(from, &node->address)) {
		node->incoming = channel;
		left = true;
	}
	spin_unlock_irq(&node->lock);
	return left;
}

static int listen_hand_over(struct rdma_cm_id *cm_id, const struct request *request,
			    const struct rdma_conn_param *param)
{
	struct rsm_rdma_node *node = rsm_rdma_node(request->peer.node);
	struct rsm_rdma_channel *channel = rsm_rdma_channel_alloc(node, cm_id);

	if (!channel)
		return -ENOMEM;
	rsm_rdma_store_greeting(channel, &request->peer);
	channel->said = request->said;
	channel->secret = request->secret;
	channel->authenticated = request->authenticated;
	channel->responder_resources = param->responder_resources;
	channel->initiator_depth = param->initiator_depth;
	/* The handler lock is held, so the next event goes to the channel's handler. */
	cm_id->event_handler = rsm_rdma_event;
	if (!leave_to_node(node, channel)) {
		rsm_rdma_channel_put(channel);
		return -EBUSY;
	}
	rsm_rdma_wake(node);
	return 0;
}

static void listen_refuse(struct rdma_cm_id *cm_id, const struct request *request, const char *why)
{
	struct rsm_rdma_refusal refusal;

	pr_warn_ratelimited("rsm: " RSM_RDMA_NAME ": connection from %pISpc as node %u refused: %s\n",
			    &cm_id->route.addr.dst_addr,
			    request->peer.node, why);
	rsm_rdma_refuse(&refusal, request->code);
	rdma_reject(cm_id, &refusal, sizeof(refusal), IB_CM_REJ_CONSUMER_DEFINED);
}

/* If this returns an error the connection manager destroys the connection. */
static int look_at_request(struct rdma_cm_id *cm_id, const struct rdma_conn_param *param)
{
	struct request request = {};
	const char *why = rsm_rdma_device_objection(cm_id->device, cm_id->port_num);
	int err = -EACCES;

	if (!why)
		why = rsm_rdma_check_greeting(param, &request.said.request, &request.peer);
	request.said.request_qp = cpu_to_le32(param->qp_num);
	if (!why)
		why = listen_objection(cm_id, &request);
	if (why)
		listen_refuse(cm_id, &request, why);
	else
		err = listen_hand_over(cm_id, &request, param);
	memzero_explicit(&request, sizeof(request));
	return err;
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
 * rsm_rdma_unlisten() - accept no connections any more
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
 * rsm_rdma_listen() - accept connections of other nodes
 * @port: port to listen on
 *
 * Starts a listener for each family that a configured node has, unless there is one already.
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
