// SPDX-License-Identifier: GPL-2.0
/* Connecting: node->work does this, and waits for the connection manager. */

#include "rdma.h"

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include <net/ipv6.h>

#define RESOLVE_MS	2000
#define CONNECT_MS	5000	/* the peer may still be ending the former connection */
#define PROOF_MS	2000	/* the proof was sent when the peer agreed */
#define PORT_FIRST	1023	/* privileged ports that we connect from, downwards */
#define PORT_LAST	512
#define RETRIES		7	/* the most that the transport allows */
#define ACK_TIMEOUT_MAX	31

/*
 * The time after which the transport gives up should be about that of the agent. It is
 * 4.096 us * 2^timeout for the first attempt and again for each retry.
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
	/* Pairs with advance(): the results of the event were stored before. */
	return smp_load_acquire(&channel->progress) >= progress;
}

/* Wait for a step of connecting. Returns the reason why it was not reached, or NULL. */
static const char *wait_for(struct rsm_rdma_channel *channel,
			    enum rsm_rdma_progress progress, unsigned int ms)
{
	struct rsm_rdma_node *node = channel->node;

	wait_event_timeout(node->changed,
			   has_come_to(channel, progress) || READ_ONCE(channel->why) ||
			   rsm_rdma_node_is_leaving(node), msecs_to_jiffies(ms));
	if (READ_ONCE(channel->why))
		return channel->why;
	return has_come_to(channel, progress) ? NULL : "no answer";
}

/* Wait for the peer's proof. Returns the reason why it has not come, or NULL. */
static const char *wait_for_proof(struct rsm_rdma_channel *channel)
{
	struct rsm_rdma_node *node = channel->node;

	wait_event_timeout(node->changed,
			   READ_ONCE(channel->proven) || READ_ONCE(channel->why) ||
			   rsm_rdma_node_is_leaving(node), msecs_to_jiffies(PROOF_MS));
	if (READ_ONCE(channel->why))
		return channel->why;
	return READ_ONCE(channel->proven) ? NULL : "it does not prove who it is";
}

/**
 * rsm_rdma_device_objection() - can a device carry our connections?
 * @device: the device
 * @port: port of the device
 *
 * iWARP devices can't. An iWARP device reports a write as done when the local TCP has the bytes:
 * a put would succeed that never arrives. And its connection manager does not tell the number of
 * the peer's queue pair, which the MAC of a proof includes.
 *
 * Return: what is wrong with it, or NULL.
 */
const char *rsm_rdma_device_objection(const struct ib_device *device, u32 port)
{
	return rdma_ib_or_roce(device, port) ? NULL :
	       "iWARP devices are not supported, they don't say when data has arrived";
}

/**
 * rsm_rdma_store_greeting() - store what the greeting of a channel's peer says
 * @channel: the channel
 * @peer: the contents of the greeting
 */
void rsm_rdma_store_greeting(struct rsm_rdma_channel *channel, const struct rsm_rdma_peer *peer)
{
	unsigned long flags;

	spin_lock_irqsave(&channel->node->lock, flags);
	channel->peer = *peer;
	channel->credits = peer->depth;
	spin_unlock_irqrestore(&channel->node->lock, flags);
}

/**
 * rsm_rdma_check_greeting() - read and check the greeting of a peer
 * @param: the private data that came with the connection, and its parameters
 * @greeting: where to put the greeting
 * @peer: where to put its contents
 *
 * Return: what is wrong with it, or NULL.
 */
const char *rsm_rdma_check_greeting(const struct rdma_conn_param *param,
				    struct rsm_rdma_greeting *greeting, struct rsm_rdma_peer *peer)
{
	const char *why = rsm_rdma_greeting_read(param->private_data, param->private_data_len,
						 rsm_node_id(), greeting, peer);

	/* The peer allows no reads: they would wait for ever, and all later requests with them. */
	if (!why && !param->initiator_depth)
		why = "it allows no RDMA reads";
	return why;
}

/* Does the accepting node's MAC prove our secret? Completes the transcript. */
static bool reply_fits(struct rsm_rdma_channel *channel, const struct rsm_rdma_greeting *reply,
		       u32 qp_num)
{
	struct rsm_rdma_transcript *said = &channel->said;

	said->reply = *reply;
	memset(said->reply.mac, 0, sizeof(said->reply.mac));
	said->reply_qp = cpu_to_le32(qp_num);
	if (reply->flags != said->request.flags ||
	    !rsm_rdma_mac_fits(rsm_rdma_secret_of(channel), RSM_RDMA_ROLE_REPLY, said, reply->mac))
		return false;
	said->reply = *reply;
	return true;
}

/* The reason why the accepting node's greeting is refused, or NULL. */
static const char *read_answer(struct rsm_rdma_channel *channel,
			       const struct rdma_conn_param *param)
{
	struct rsm_rdma_greeting reply;
	struct rsm_rdma_peer peer;
	const char *why = rsm_rdma_check_greeting(param, &reply, &peer);

	if (!why && peer.node != channel->node->id)
		why = "another node is there";
	if (!why && !reply_fits(channel, &reply, param->qp_num))
		why = "it does not know the secret";
	if (why)
		return why;
	rsm_rdma_store_greeting(channel, &peer);
	WRITE_ONCE(channel->proven, true);
	return NULL;
}

/* Both ends have agreed. The connecting node gets the other's greeting with this event. */
static void established(struct rsm_rdma_channel *channel, const struct rdma_conn_param *param)
{
	const char *why = rsm_rdma_is_active(channel->node) ? read_answer(channel, param) : NULL;

	if (why)
		rsm_rdma_channel_fail(channel, why);
	else
		advance(channel, RSM_RDMA_ESTABLISHED);
}

/* The peer refuses the connection, perhaps with a reason. */
static void rejected(struct rsm_rdma_channel *channel, struct rdma_cm_event *event)
{
	static const char *const reasons[] = {
		[RSM_RDMA_REFUSED] = "refused",
		[RSM_RDMA_REFUSED_NO_SECRET] = "refused: this node has no secret",
		[RSM_RDMA_REFUSED_SECRET] = "refused: that node has no secret",
		[RSM_RDMA_REFUSED_OTHER_SECRET] = "refused: that node has another secret",
	};
	const void *data;
	u8 len = 0;

	data = rdma_consumer_reject_data(channel->cm_id, event, &len);
	channel->refusal = rsm_rdma_refusal_read(data, len);
	rsm_rdma_channel_fail(channel, data ? reasons[channel->refusal] :
					      rdma_event_msg(event->event));
}

/**
 * rsm_rdma_event() - handle an event of the connection manager for a channel
 * @cm_id: the channel's connection
 * @event: the event
 *
 * Called with the handler lock of the connection held, so it must not wait.
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
	case RDMA_CM_EVENT_REJECTED:
		rejected(channel, event);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		WRITE_ONCE(channel->removed, true);
		rsm_rdma_channel_fail(channel, rdma_event_msg(event->event));
		/* Only node->work knows a parked channel. */
		rsm_rdma_wake(channel->node);
		break;
	default:
		/* Errors of all kinds, disconnection, removal of the address. */
		rsm_rdma_channel_fail(channel, rdma_event_msg(event->event));
		break;
	}
	return 0;
}

/* Fill in our greeting, except for the MAC. */
static void greet(const struct rsm_rdma_channel *channel, struct rsm_rdma_greeting *greeting)
{
	rsm_rdma_greet(greeting, rsm_node_id(), channel->node->id, RSM_RDMA_RECEIVES,
		       channel->incarnation);
	greeting->nonce = cpu_to_le64(get_random_u64());
	if (channel->authenticated)
		greeting->flags = cpu_to_le32(RSM_RDMA_HAS_SECRET);
}

static struct rdma_conn_param conn_param(const struct rsm_rdma_channel *channel,
					 const struct rsm_rdma_greeting *greeting)
{
	const struct ib_device_attr *limits = &channel->device->attrs;

	return (struct rdma_conn_param) {
		.private_data = greeting,
		.private_data_len = sizeof(*greeting),
		.responder_resources = min_t(int, channel->responder_resources,
					     limits->max_qp_rd_atom),
		.initiator_depth = min_t(int, channel->initiator_depth,
					 limits->max_qp_init_rd_atom),
		.flow_control = 1,
		.retry_count = RETRIES,
		/* Credits keep a sender from sending a frame for which there is no receive. */
		.rnr_retry_count = 0,
	};
}

/* The configured address of this node if it is of that family, or the wildcard address. */
static void set_source(struct rsm_rdma_channel *channel, const struct sockaddr_storage *to,
		       struct sockaddr_storage *from)
{
	const struct sockaddr *own = rsm_rdma_own_address(to->ss_family);
	const struct sockaddr_in6 *to6 = (const struct sockaddr_in6 *)to;

	*from = (struct sockaddr_storage) { .ss_family = to->ss_family };
	if (own)
		*from = *(const struct sockaddr_storage *)own;
	else if (to->ss_family == AF_INET6 &&
		 ipv6_addr_type(&to6->sin6_addr) & IPV6_ADDR_LINKLOCAL)
		channel->cm_id->route.addr.dev_addr.bound_dev_if = to6->sin6_scope_id;
}

/*
 * Connect from a privileged port: the peer's connection manager refuses such ports to unprivileged
 * processes, and without a secret nothing else distinguishes a node from its users. Try the next
 * port if one is in use.
 */
static int resolve_address(struct rsm_rdma_channel *channel)
{
	struct sockaddr_storage *to = &channel->node->address;
	struct sockaddr_storage from;
	int err = -EADDRINUSE;

	set_source(channel, to, &from);
	for (unsigned int port = PORT_FIRST - channel->node->id;
	     port >= PORT_LAST && (err == -EADDRINUSE || err == -EADDRNOTAVAIL); port -= 64) {
		((struct sockaddr_in *)&from)->sin_port = htons(port);
		err = rdma_resolve_addr(channel->cm_id, (struct sockaddr *)&from,
					(struct sockaddr *)to, RESOLVE_MS);
	}
	return err;
}

static const char *resolve(struct rsm_rdma_channel *channel)
{
	const char *why;

	if (resolve_address(channel))
		return "there is no way to its address";
	why = wait_for(channel, RSM_RDMA_ADDRESS_RESOLVED, RESOLVE_MS);
	if (why)
		return why;
	why = rsm_rdma_device_objection(channel->cm_id->device, channel->cm_id->port_num);
	if (why)
		return why;
	if (rdma_resolve_route(channel->cm_id, RESOLVE_MS))
		return "there is no route to its address";
	return wait_for(channel, RSM_RDMA_ROUTE_RESOLVED, RESOLVE_MS);
}

/* Send a request with our greeting. */
static int request(struct rsm_rdma_channel *channel)
{
	struct rsm_rdma_transcript *said = &channel->said;
	struct rdma_conn_param param;

	channel->authenticated =
		rsm_rdma_secret_get(READ_ONCE(channel->node->reconnect.other_secret),
				    &channel->secret);
	greet(channel, &said->request);
	said->request_qp = cpu_to_le32(channel->qp->qp_num);
	rsm_rdma_mac(rsm_rdma_secret_of(channel), RSM_RDMA_ROLE_REQUEST, said,
		     said->request.mac);
	param = conn_param(channel, &said->request);
	return rdma_connect(channel->cm_id, &param);
}

/* Accept with our greeting. */
static int reply(struct rsm_rdma_channel *channel)
{
	struct rsm_rdma_transcript *said = &channel->said;
	struct rdma_conn_param param;
	int err;

	greet(channel, &said->reply);
	said->reply_qp = cpu_to_le32(channel->qp->qp_num);
	rsm_rdma_mac(rsm_rdma_secret_of(channel), RSM_RDMA_ROLE_REPLY, said, said->reply.mac);
	param = conn_param(channel, &said->reply);
	rdma_lock_handler(channel->cm_id);
	err = rdma_accept(channel->cm_id, &param);
	rdma_unlock_handler(channel->cm_id);
	return err;
}

/* Send the first frame, the proof. The peer accepts no other frame before. */
static const char *prove(struct rsm_rdma_channel *channel)
{
	u8 mac[RSM_RDMA_MAC_SIZE];

	rsm_rdma_mac(rsm_rdma_secret_of(channel), RSM_RDMA_ROLE_PROOF, &channel->said, mac);
	return rsm_rdma_prove(channel, mac) ? "nothing can be sent" : NULL;
}

/**
 * rsm_rdma_connect() - connect to the node of a channel
 * @channel: the channel, new
 *
 * Return: NULL when the peer has proved that it is the node, or the reason of the failure.
 */
const char *rsm_rdma_connect(struct rsm_rdma_channel *channel)
{
	const char *why;

	rdma_set_ack_timeout(channel->cm_id, ack_timeout());
	why = resolve(channel);
	if (why)
		return why;
	if (rsm_rdma_channel_equip(channel))
		return "the device has no resources for the connection";
	if (request(channel))
		return "connecting fails";
	why = wait_for(channel, RSM_RDMA_ESTABLISHED, CONNECT_MS);
	return why ?: prove(channel);
}

/**
 * rsm_rdma_accept() - accept the connection of a channel
 * @channel: the channel, new; its request was checked
 *
 * Return: NULL when the peer has proved that it is the node, or the reason of the failure.
 */
const char *rsm_rdma_accept(struct rsm_rdma_channel *channel)
{
	const char *why;

	rdma_set_ack_timeout(channel->cm_id, ack_timeout());
	if (rsm_rdma_channel_equip(channel))
		return "the device has no resources for the connection";
	if (reply(channel))
		return "accepting fails";
	why = wait_for(channel, RSM_RDMA_ESTABLISHED, CONNECT_MS);
	return why ?: wait_for_proof(channel);
}
