/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside rsm_rdma.ko: the controller of nodes that reach each other by RDMA.
 *
 * A node of the configuration has a link; a link that is up has a channel, a
 * reliable connection (RC queue pair) of its own. Documentation/rdma.md has the
 * wire format and the state machine.
 *
 * Life of a channel
 * -----------------
 * node->work makes channels, one at a time for a node. It connects, or accepts the request that
 * listen.c has left in node->incoming; waits until the peer has proved that it is the node; ends
 * the former link if there is one; gives the channel to the node, and starts the link. The agent
 * ends the link and calls down(), which takes the channel from the node and destroys it. So a
 * channel is known to node->work alone, or it belongs to a link that is up.
 *
 * Code that finds a channel unusable (events of the connection manager or the device,
 * completions, malformed frames) calls rsm_rdma_channel_fail(), in any context, and the link's
 * work or node->work does the rest.
 *
 * A channel has two counts. References (rsm_rdma_channel_get()) keep its memory, for any time.
 * Users (rsm_rdma_channel_enter()) keep its resources of the device: the destruction moves the
 * queue pair to the error state, waits for all completions, and then until all users have left. A
 * user must wait for completions only, so that a device can be removed in bounded time.
 *
 * Locking
 * -------
 * node->work and down() may sleep and hold no lock of this module. rdma_accept() takes the
 * connection manager's handler lock; event handlers run under that lock, so they must not wait.
 * rdma_destroy_id() waits for them.
 *
 * channel->making_lock, channel->keys_lock: mutexes of keys.c, taken after all locks of internal.h.
 *	Memory is registered under making_lock. Under keys_lock a task waits for memory only.
 * channel->receive_lock: serialises the hand-over of messages to the agent, by completions and
 *	by the agent's resume(). Taken before node->lock.
 * node->lock: guards the node's channel, the incoming request, and all of sending. Taken in
 *	interrupts. Taken before link->lock, since the failure of a channel fails its link, and
 *	before the device's own locks; after all others.
 * channel->room.lock: guards the room for transfers. Taken in interrupts. A leaf.
 */
#ifndef RSM_RDMA_H
#define RSM_RDMA_H

#include "../rsm_controller.h"
#include "../rsm_link.h"
#include "frame.h"
#include "reconnect.h"
#include "room.h"

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/sizes.h>
#include <linux/socket.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#define RSM_RDMA_NAME		"rdma0"	/* of the controller */
#define RSM_RDMA_RECEIVES	64U	/* frames that the peer may have under way */
#define RSM_RDMA_SENDS		64U	/* frames that we may have under way */
#define RSM_RDMA_TRANSFER_WRS	256U	/* work requests of transfers, if the device has so many */
#define RSM_RDMA_KEY_WRS	16U	/* work requests of keys.c at a time */
#define RSM_RDMA_SGES		16U	/* pieces of memory in a work request, likewise */
/* Heartbeat intervals in which a frame must be sent: twice the patience of the transport. */
#define RSM_RDMA_STUCK_BEATS	4
#define RSM_RDMA_PLACE_MS	60000U	/* for the keys to a segment, other segments' first */

struct rsm_rdma_channel;

/**
 * struct rsm_rdma_frame - room for a frame that is sent or received
 * @cqe: its completion handler
 * @channel: the channel that it belongs to
 * @next: place in a list: of frames that are free, that are under way, or that were received and
 *	not taken yet
 * @posted: when it was posted to be sent, in jiffies
 * @dma: address of @wire for the device
 * @len: bytes received
 * @wire: the contents
 */
struct rsm_rdma_frame {
	struct ib_cqe cqe;
	struct rsm_rdma_channel *channel;
	struct list_head next;
	unsigned long posted;
	u64 dma;
	u32 len;
	struct rsm_rdma_wire wire ____cacheline_aligned;
};

/**
 * enum rsm_rdma_progress - steps of connecting, in their order
 * @RSM_RDMA_BEGUN: nothing was reached yet
 * @RSM_RDMA_ADDRESS_RESOLVED: the device is known
 * @RSM_RDMA_ROUTE_RESOLVED: the route is known
 * @RSM_RDMA_ESTABLISHED: both nodes have agreed
 */
enum rsm_rdma_progress {
	RSM_RDMA_BEGUN,
	RSM_RDMA_ADDRESS_RESOLVED,
	RSM_RDMA_ROUTE_RESOLVED,
	RSM_RDMA_ESTABLISHED,
};

/**
 * struct rsm_rdma_channel - a connection to a node
 * @ref: references on its memory
 * @users: users of its resources of the device: the channel itself until it is destroyed, and each
 *	that has entered
 * @idle: completed when @users is 0
 * @node: at the other end
 * @cm_id: the connection
 * @device: the RDMA device; only users may use this and what follows
 * @port: port of @device
 * @ifindex: network device that @device uses, 0 if there is none
 * @pd: protection domain of this channel alone, so that the keys of one peer are invalid for
 *	another
 * @send_cq: completions of work requests that we post. Polled in softirq; a task that waits for
 *	one of its own may poll it by ib_process_cq_direct()
 * @receive_cq: completions of receives
 * @qp: the queue pair. Messages and transfers share it, so that a bell arrives
 *	after the puts before it
 * @room: for transfers in the send queue
 * @making_lock: held while memory is registered
 * @keys_lock: guards @key_sets
 * @key_sets: the keys of the peer
 * @incarnation: ours, for this connection
 * @peer: contents of the peer's greeting
 * @said: transcript of the connection; complete before a frame is received
 * @secret: the secret that the MACs are made with, if @authenticated
 * @authenticated: the MACs are made with a secret
 * @proven: the peer has sent the MAC that it has to send; without a secret, zeros
 * @refusal: why the peer has refused the connection, if it has
 * @responder_resources: reads that the peer may have under way
 * @initiator_depth: reads that we may have under way
 * @progress: the last step of connecting that was reached
 * @why: reason of its failure, a constant string, or NULL. Changes once, under node->lock
 * @removed: the device is being removed
 * @started: the link was started; guarded by node->lock, as are the following five
 * @credits: receives of the peer that we may use
 * @owed: receives that we have posted again and not reported yet
 * @sending: frames under way, in their order
 * @unsent: frames that are free
 * @receive_lock: guards @received and @stalled
 * @received: frames that have arrived and that the agent has not taken yet
 * @stalled: the agent has refused a message and will call resume()
 * @sends: RSM_RDMA_SENDS frames
 * @receives: RSM_RDMA_RECEIVES frames
 */
struct rsm_rdma_channel {
	struct kref ref;
	refcount_t users;
	struct completion idle;
	struct rsm_rdma_node *node;
	struct rdma_cm_id *cm_id;
	struct ib_device *device;
	u32 port;
	int ifindex;
	struct ib_pd *pd;
	struct ib_cq *send_cq;
	struct ib_cq *receive_cq;
	struct ib_qp *qp;
	struct rsm_rdma_room room;
	struct mutex making_lock; /* see above */
	struct mutex keys_lock; /* likewise */
	struct list_head key_sets;
	u64 incarnation;
	struct rsm_rdma_peer peer;
	struct rsm_rdma_transcript said;
	struct rsm_rdma_secret secret;
	bool authenticated;
	bool proven;
	enum rsm_rdma_refusal_code refusal;
	u8 responder_resources;
	u8 initiator_depth;
	enum rsm_rdma_progress progress;
	const char *why;
	bool removed;
	bool started;
	u32 credits;
	u32 owed;
	struct list_head sending;
	struct list_head unsent;
	spinlock_t receive_lock; /* see above */
	struct list_head received;
	bool stalled;
	struct rsm_rdma_frame *sends;
	struct rsm_rdma_frame *receives;
};

/**
 * struct rsm_rdma_node - a node of the configuration
 * @link: link to it
 * @id: its node id
 * @address: its address and the port to connect to. Changes under @lock while the node leaves
 * @lock: see above
 * @channel: its channel while the link is up; guarded by @lock
 * @incoming: an accepted request that @work has to look at; likewise
 * @parked: a connection to be ended when there is a route again; likewise
 * @changed: woken when a channel of the node makes progress or fails, and when all of its frames
 *	were sent
 * @reconnect: when to connect; changes under @lock
 * @work: makes channels
 */
struct rsm_rdma_node {
	struct rsm_link link;
	u32 id;
	struct sockaddr_storage address;
	spinlock_t lock; /* see above */
	struct rsm_rdma_channel *channel;
	struct rsm_rdma_channel *incoming;
	struct rsm_rdma_channel *parked;
	wait_queue_head_t changed;
	struct rsm_reconnect reconnect;
	struct delayed_work work;
};

static inline struct rsm_rdma_node *to_rdma_node(struct rsm_link *link)
{
	return container_of(link, struct rsm_rdma_node, link);
}

/* Does this node connect, or does the other one? */
static inline bool rsm_rdma_is_active(const struct rsm_rdma_node *node)
{
	return node->reconnect.connects;
}

/* Is the node configured no more, or does the module go? Any context. */
static inline bool rsm_rdma_node_is_leaving(const struct rsm_rdma_node *node)
{
	return READ_ONCE(node->reconnect.leaving);
}

/* config.c */
extern struct mutex rsm_rdma_config_lock;
extern bool rsm_rdma_ready;
extern ushort rsm_rdma_port;
extern struct workqueue_struct *rsm_rdma_wq;
void rsm_rdma_set_own_address(const struct sockaddr_storage *address);
void rsm_rdma_node_enter(struct rsm_rdma_node *node);
const char *rsm_rdma_newcomer_objection(unsigned int id, const struct sockaddr_storage *address);
const char *rsm_rdma_address_read(const char *text, u16 port, struct sockaddr_storage *address);
const char *rsm_rdma_node_objection(u32 id, const struct sockaddr_storage *address);
bool rsm_rdma_node_is_at(struct rsm_rdma_node *node, const struct sockaddr_storage *address);
void rsm_rdma_address(struct rsm_link *link, char *text, size_t size);
const char *rsm_rdma_complaint(struct rsm_link *link, const char *end);
void rsm_rdma_nodes_free(void);
struct rsm_rdma_node *rsm_rdma_node(u32 id);
struct sockaddr *rsm_rdma_own_address(sa_family_t family);
bool rsm_rdma_is_own_address(const struct sockaddr_storage *address);
bool rsm_rdma_same_address(const struct sockaddr_storage *a, const struct sockaddr_storage *b);
bool rsm_rdma_has_family(sa_family_t family);
u64 rsm_rdma_hwaddr(const struct sockaddr_storage *address);

/* secret.c */
unsigned int rsm_rdma_secret_count(void);
bool rsm_rdma_secret_get(bool other, struct rsm_rdma_secret *secret);
enum rsm_rdma_refusal_code rsm_rdma_secret_find(const struct rsm_rdma_transcript *said,
						struct rsm_rdma_secret *secret, bool *found);
bool rsm_rdma_channel_is_welcome(const struct rsm_rdma_channel *channel);
int rsm_rdma_secret_set(struct rsm_controller *ctl, const void *use, const void *accept,
			struct netlink_ext_ack *extack);
bool rsm_rdma_has_secret(struct rsm_controller *ctl);
void rsm_rdma_secrets_forget(void);

/* nodes.c */
int rsm_rdma_nodes_read(struct rsm_controller *ctl, const struct rsm_link_ops *ops,
			const char *text);
int rsm_rdma_node_add(struct rsm_controller *ctl, u32 id, const char *text,
		      struct netlink_ext_ack *extack);
int rsm_rdma_node_set(struct rsm_controller *ctl, u32 id, const char *text,
		      struct netlink_ext_ack *extack);
int rsm_rdma_node_del(struct rsm_controller *ctl, u32 id, struct netlink_ext_ack *extack);

/* listen.c */
int rsm_rdma_listen(u16 port);
void rsm_rdma_unlisten(void);

/* connect.c */
const char *rsm_rdma_connect(struct rsm_rdma_channel *channel);
const char *rsm_rdma_accept(struct rsm_rdma_channel *channel);
const char *rsm_rdma_check_greeting(const struct rdma_conn_param *param,
				    struct rsm_rdma_greeting *greeting, struct rsm_rdma_peer *peer);
const char *rsm_rdma_device_objection(const struct ib_device *device, u32 port);
void rsm_rdma_store_greeting(struct rsm_rdma_channel *channel, const struct rsm_rdma_peer *peer);
int rsm_rdma_event(struct rdma_cm_id *cm_id, struct rdma_cm_event *event);

/* drive.c */
void rsm_rdma_wake(struct rsm_rdma_node *node);
struct rsm_reconnect_output rsm_rdma_node_step_locked(struct rsm_rdma_node *node,
						      const struct rsm_reconnect_input *input);
struct rsm_reconnect_output rsm_rdma_node_step(struct rsm_rdma_node *node,
					       const struct rsm_reconnect_input *input);
void rsm_rdma_node_queue(struct rsm_rdma_node *node,
			 const struct rsm_reconnect_output *output);
void rsm_rdma_node_begin(struct rsm_rdma_node *node, const struct sockaddr_storage *address);
void rsm_rdma_node_notify(struct rsm_rdma_node *node, enum rsm_reconnect_event event);

/* node.c */
void rsm_rdma_node_work(struct work_struct *work);
void rsm_rdma_down(struct rsm_link *link, u64 peer);
void rsm_rdma_leave(struct rsm_rdma_node *node);

/* pool.c */
int rsm_rdma_frames_alloc(struct rsm_rdma_channel *channel);
void rsm_rdma_frames_free(struct rsm_rdma_channel *channel);

/* message.c */
void rsm_rdma_frame_sent(struct ib_cq *cq, struct ib_wc *wc);
void rsm_rdma_frame_received(struct ib_cq *cq, struct ib_wc *wc);
int rsm_rdma_receive_all(struct rsm_rdma_channel *channel);
void rsm_rdma_deliver(struct rsm_rdma_channel *channel);
int rsm_rdma_prove(struct rsm_rdma_channel *channel, const u8 *mac);
int rsm_rdma_send(struct rsm_link *link, const void *message, size_t len);
void rsm_rdma_resume(struct rsm_link *link);

/* equip.c */
int rsm_rdma_channel_equip(struct rsm_rdma_channel *channel);
void rsm_rdma_channel_strip(struct rsm_rdma_channel *channel);

/* channel.c */
struct rsm_rdma_channel *rsm_rdma_channel_alloc(struct rsm_rdma_node *node,
						struct rdma_cm_id *cm_id);
void rsm_rdma_channel_destroy(struct rsm_rdma_channel *channel);
void rsm_rdma_unpark(struct rsm_rdma_node *node, bool always);
void rsm_rdma_channel_fail_locked(struct rsm_rdma_channel *channel, const char *why);
void rsm_rdma_channel_fail(struct rsm_rdma_channel *channel, const char *why);

/* For keys.c, operation.c, flow.c. */
struct rsm_rdma_channel *rsm_rdma_channel_get(struct rsm_link *link);
void rsm_rdma_channel_put(struct rsm_rdma_channel *channel);
bool rsm_rdma_channel_enter(struct rsm_rdma_channel *channel);
void rsm_rdma_channel_leave(struct rsm_rdma_channel *channel);

/* The secret with which a channel's MACs are made, or NULL. */
static inline const struct rsm_rdma_secret *
rsm_rdma_secret_of(const struct rsm_rdma_channel *channel)
{
	return channel->authenticated ? &channel->secret : NULL;
}

/* Has the channel not failed? Any context; it may fail at any time. */
static inline bool rsm_rdma_channel_is_live(const struct rsm_rdma_channel *channel)
{
	return !READ_ONCE(channel->why);
}

#endif /* RSM_RDMA_H */
