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
 * node->work makes channels, one thing at a time for a node: it connects, or
 * accepts what listen.c has left in node->incoming, waits until the peer has proved
 * who it is, ends the link that there may still be, gives the channel to the
 * node and starts the link. The agent ends the link and calls down(), which takes
 * the channel from the node and destroys it. So there is either work that deals
 * with a channel that nobody else knows, or a link that is up.
 *
 * A user that notices that a channel is of no use any more (events of the connection
 * manager or the device, completions, the peer's nonsense) calls
 * rsm_rdma_channel_fail(), in any context, and leaves the rest to the above.
 *
 * A channel is counted twice. Its memory stays for who holds a reference
 * (rsm_rdma_channel_get()), for as long as they like. Its part of the device
 * stays for who has entered it (rsm_rdma_channel_enter()): destruction moves the
 * queue pair to the error state, waits for all completions, and then for all to
 * leave. They must not wait for anything but completions, so that a device can be
 * removed in bounded time.
 *
 * Locking
 * -------
 * node->work and down() may sleep and hold no lock of ours. The connection
 * manager's handler lock is taken around rdma_accept(); our handlers run under it
 * and therefore wait for nobody. rdma_destroy_id() waits for them.
 *
 * channel->making_lock, channel->keys_lock: keys.c's, mutexes, below everything of
 *	internal.h. Memory is registered under the former; nobody who holds the latter
 *	waits for anything but memory.
 * channel->receive_lock: one at a time hands messages to the agent: completions
 *	and the agent's resume(). Above node->lock.
 * node->lock: which channel the node has, what is coming in, and all of sending.
 *	Taken in interrupts. Above link->lock, since a channel that fails takes the
 *	link with it, and the device's own locks; below everything else.
 */
#ifndef RSM_RDMA_H
#define RSM_RDMA_H

#include "../rsm_controller.h"
#include "../rsm_link.h"
#include "frame.h"

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/sizes.h>
#include <linux/socket.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#define RSM_RDMA_NAME		"rdma0"	/* of the controller */
#define RSM_RDMA_RECEIVES	64U	/* frames that the peer may have under way */
#define RSM_RDMA_SENDS		64U	/* frames that we may have under way */
#define RSM_RDMA_TRANSFERS	32U	/* struct rdma_rw_ctx in use at a time */
#define RSM_RDMA_TRANSFER_WRS	256U	/* work requests of those, if the device has so many */
#define RSM_RDMA_TRANSFER_BYTES	SZ_1M	/* that these may move: heartbeats wait behind them */
#define RSM_RDMA_KEY_WRS	16U	/* work requests of keys.c at a time */
#define RSM_RDMA_SGES		16U	/* pieces of memory in a work request, likewise */
#define RSM_RDMA_PLACE_MS	60000U	/* for the keys to a segment, other segments' first */
#define RSM_RDMA_BACKOFF_MIN	100U	/* between attempts to connect, in milliseconds */
#define RSM_RDMA_BACKOFF_MAX	5000U

struct rsm_rdma_channel;

/**
 * struct rsm_rdma_frame - room for a frame that is sent or received
 * @cqe: whom its completion goes to
 * @channel: whose it is
 * @next: next one in a list: free to be sent, or received and not yet taken
 * @dma: address of @wire for the device
 * @len: bytes received
 * @wire: what travels
 */
struct rsm_rdma_frame {
	struct ib_cqe cqe;
	struct rsm_rdma_channel *channel;
	struct list_head next;
	u64 dma;
	u32 len;
	struct rsm_rdma_wire wire ____cacheline_aligned;
};

/**
 * enum rsm_rdma_progress - steps of connecting, in their order
 * @RSM_RDMA_BEGUN: nothing has happened yet
 * @RSM_RDMA_ADDRESS_RESOLVED: the device is known
 * @RSM_RDMA_ROUTE_RESOLVED: the way is known
 * @RSM_RDMA_ESTABLISHED: both sides have agreed
 */
enum rsm_rdma_progress {
	RSM_RDMA_BEGUN,
	RSM_RDMA_ADDRESS_RESOLVED,
	RSM_RDMA_ROUTE_RESOLVED,
	RSM_RDMA_ESTABLISHED,
};

/**
 * struct rsm_rdma_room - what transfers use of the send queue
 * @lock: guards the rest; taken in interrupts
 * @contexts: operations under way, at most RSM_RDMA_TRANSFERS
 * @wrs: work requests that these may need, at most &rsm_rdma_channel.transfer_wrs
 * @bytes: that these move, at most RSM_RDMA_TRANSFER_BYTES
 * @waiting: &struct rsm_rdma_waiter that want some, in their order. A later one does not overtake
 *	them, even if it needs less
 */
struct rsm_rdma_room {
	spinlock_t lock; /* see above */
	u32 contexts;
	u32 wrs;
	u32 bytes;
	struct list_head waiting;
};

/**
 * struct rsm_rdma_channel - a connection to a node
 * @ref: its memory
 * @users: what it has of the device: one of its own until it is destroyed, one for
 *	each who has entered
 * @idle: completed when @users is 0
 * @node: at the other end
 * @cm_id: the connection
 * @device: what it goes through; like all that follows only for who has entered
 * @port: port of @device
 * @ifindex: network device below that, 0 if there is none
 * @pd: protection domain of this channel alone, so that keys given to one peer
 *	are of no use to another
 * @send_cq: completions of everything that we start. It is polled in softirq;
 *	who waits for one of its own may poll it by ib_process_cq_direct()
 * @receive_cq: completions of receives
 * @qp: the queue pair. Messages and transfers share it, so that a bell arrives
 *	after the puts before it
 * @transfer_wrs: work requests that transfers may have under way; those of
 *	RSM_RDMA_KEY_WRS and of messages are beside them
 * @room: how much of that is in use
 * @making_lock: held while memory is registered, by one at a time
 * @keys_lock: guards which keys there are for which memory
 * @key_sets: keys that the peer has. keys_lock
 * @incarnation: ours, for this connection
 * @peer: what the peer has said of itself when connecting
 * @said: what both have said while connecting; complete before a frame is received
 * @secret: with which that is proved, if @authenticated
 * @authenticated: it is made with a secret
 * @proven: the peer has proved that it knows @secret; without one, the same in form
 * @refusal: why the peer has refused the connection, if it has
 * @responder_resources: reads that the peer may have under way
 * @initiator_depth: reads that we may have under way
 * @progress: how far connecting has come
 * @why: reason for which it is of no use any more, a constant string; NULL while
 *	there is none. Changes once, under node->lock
 * @removed: the device is to go away
 * @started: the link has been started. node->lock
 * @credits: receives of the peer that we may use up. node->lock
 * @owed: receives that we have posted again and not told the peer. node->lock
 * @sending: frames under way. node->lock
 * @moved: when the last of them went, or the first was posted, in jiffies. node->lock
 * @unsent: frames free to be sent. node->lock
 * @receive_lock: guards @received and @stalled
 * @received: frames that have arrived and were not taken by the agent yet
 * @stalled: the agent does not take messages now and calls resume() when it does
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
	u32 transfer_wrs;
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
	u32 sending;
	unsigned long moved;
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
 * @address: its address; the port is the one that we connect to. Changes under @lock
 *	while @leaving
 * @lock: see above
 * @channel: while the link is up. @lock
 * @incoming: a connection that it wants and that @work is to look at. @lock
 * @parked: a connection that is still to be ended when there is a way again. @lock
 * @changed: woken when progress or failure of one of its channels changes, and when
 *	all frames of one have been sent
 * @leaving: it is not configured any more, or we go: nothing is to be begun
 * @work: makes channels
 * @backoff: how long @work waits after the next failure, in milliseconds
 * @complaint: reason of the last failure that was logged, NULL since the last
 *	success
 * @other_secret: the node does not know the secret that we use: try the other one that we
 *	accept. @work's alone
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
	bool leaving;
	struct delayed_work work;
	unsigned int backoff;
	const char *complaint;
	bool other_secret;
};

static inline struct rsm_rdma_node *to_rdma_node(struct rsm_link *link)
{
	return container_of(link, struct rsm_rdma_node, link);
}

/* Do we connect, or does the other node? */
static inline bool rsm_rdma_is_active(const struct rsm_rdma_node *node)
{
	return rsm_node_id() < node->id;
}

/* config.c */
extern struct mutex rsm_rdma_config_lock;
extern bool rsm_rdma_ready;
extern ushort rsm_rdma_port;
extern struct workqueue_struct *rsm_rdma_wq;
void rsm_rdma_wake(struct rsm_rdma_node *node);
void rsm_rdma_set_own_address(const struct sockaddr_storage *address);
void rsm_rdma_node_enter(struct rsm_rdma_node *node);
const char *rsm_rdma_newcomer_objection(unsigned int id, const struct sockaddr_storage *address);
const char *rsm_rdma_address_read(const char *text, u16 port, struct sockaddr_storage *address);
const char *rsm_rdma_node_objection(u32 id, const struct sockaddr_storage *address);
bool rsm_rdma_node_is_at(struct rsm_rdma_node *node, const struct sockaddr_storage *address);
void rsm_rdma_address(struct rsm_link *link, char *text, size_t size);
void rsm_rdma_nodes_free(void);
struct rsm_rdma_node *rsm_rdma_node(u32 id);
struct sockaddr *rsm_rdma_own_address(sa_family_t family);
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
void rsm_rdma_meet(struct rsm_rdma_channel *channel, const struct rsm_rdma_peer *peer);
int rsm_rdma_event(struct rdma_cm_id *cm_id, struct rdma_cm_event *event);

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

/* For keys and transfers. */
struct rsm_rdma_channel *rsm_rdma_channel_get(struct rsm_link *link);
void rsm_rdma_channel_put(struct rsm_rdma_channel *channel);
bool rsm_rdma_channel_enter(struct rsm_rdma_channel *channel);
void rsm_rdma_channel_leave(struct rsm_rdma_channel *channel);

/* The secret that a channel is made with, or NULL. */
static inline const struct rsm_rdma_secret *
rsm_rdma_secret_of(const struct rsm_rdma_channel *channel)
{
	return channel->authenticated ? &channel->secret : NULL;
}

/* Is it still good for something? Any context; the answer may be old. */
static inline bool rsm_rdma_channel_is_live(const struct rsm_rdma_channel *channel)
{
	return !READ_ONCE(channel->why);
}

#endif /* RSM_RDMA_H */
