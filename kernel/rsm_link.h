/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Links: how the kernel agents of two nodes talk through a controller.
 *
 * A controller that reaches other nodes has one link for each node. The controller carries
 * messages over it and reports which nodes are there. The agent (agent/) interprets the messages,
 * decides which nodes are alive, and keeps the segments and connections of a link.
 * Documentation/node-protocol.md describes the protocol.
 */
#ifndef RSM_LINK_H
#define RSM_LINK_H

#include "rsm_status.h"

#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/semaphore.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

struct rsm_controller;
struct rsm_export;
struct rsm_import;
struct rsm_link;
struct rsm_mem;
struct rsm_topology_peer;

/** RSM_MESSAGE_MAX - most bytes of a message. */
#define RSM_MESSAGE_MAX	128

/**
 * struct rsm_place - where the importer's node finds the memory of a segment
 * @word: two words whose meaning the controller defines
 */
struct rsm_place {
	u64 word[2];
};

/**
 * struct rsm_link_ops - a controller's side of its links
 * @send: give a message of at most RSM_MESSAGE_MAX bytes to the peer. Called
 *	in any context, interrupts included; never sleeps. Messages arrive
 *	whole, once and in order, or the link fails. Returns 0, -EAGAIN when there is
 *	no room now, or -ENOTCONN when the peer can't be reached. A caller that has
 *	seen the link active may call it at any time after the link has ended, even
 *	after rsm_link_exit(): the controller waits for such callers before it
 *	frees what @send needs.
 * @resume: rsm_link_receive() has refused a message and may take it now.
 *	Process context.
 * @down: the link is down: every connection over it has been aborted and
 *	every importer at its other end forgotten. @peer is the peer's
 *	incarnation, 0 if it was never learned. Called once for each
 *	rsm_link_start(), in process context. The link may be started again
 *	after the return.
 * @place: let the peer reach @mem with @rights (RSM_PERM_READ, RSM_PERM_WRITE, both or none), and
 *	fill in @place. *@keys is the argument for @leave. On failure the peer gets the
 *	status as its refusal. Process context; the caller holds @mem until @leave has
 *	returned. NULL for a controller that has no places.
 * @place_ms: how long a connect waits for the peer's @place, in milliseconds
 * @leave: undo one @place: on return the peer can't reach the memory any more,
 *	even if it ignores messages. NULL for a controller that can't do that. Process
 *	context. If a controller has @leave, the agent takes @place to be expensive: it calls
 *	@place only when the peer has sent PLACE, several at a time, and never in the link's
 *	work.
 * @attach: make memory of @length bytes at @place of the peer; a reference goes to the
 *	caller. The place is hostile input: the memory must not lead to anything that the
 *	peer may not give away. The memory's pfn and map_page may be NULL if the controller
 *	has a transfer function and no map function. NULL for a controller that does not need
 *	it. RSM_SUCCESS, RSMERR_INSUFFICIENT_MEM, or RSMERR_CONN_ABORTED for a bad place.
 *	Process context.
 * @detach: wait until no transfer on @mem is under way. @attach has made @mem, and no import has it
 *	any more. Must end in bounded time, by failing the link if need be. NULL for a
 *	controller that has no transfers under way after they return. Process context.
 * @stirs: has the peer given a sign of life other than messages since the last
 *	call? The link's timer calls this at least once per interval while the link is
 *	started. Any context. NULL for a controller that sees only messages.
 * @address: write the peer's address as text. NULL for a controller that has only numbers.
 *	Process context.
 * @complaint: why this node can't reach the peer, a constant string, or NULL. The agent calls this
 *	for a link that is down. end: why the link went down, or NULL if it has not been up; a
 *	controller returns it unless a later attempt to reach the peer has failed. Process
 *	context. NULL for a controller that reaches all that it knows.
 */
struct rsm_link_ops {
	int (*send)(struct rsm_link *link, const void *message, size_t len);
	void (*resume)(struct rsm_link *link);
	void (*down)(struct rsm_link *link, u64 peer);
	rsm_status_t (*place)(struct rsm_link *link, struct rsm_mem *mem, u32 rights,
			      struct rsm_place *place, void **keys);
	unsigned int place_ms;
	void (*leave)(struct rsm_link *link, void *keys);
	rsm_status_t (*attach)(struct rsm_link *link, u64 length, const struct rsm_place *place,
			       struct rsm_mem **mem);
	void (*detach)(struct rsm_link *link, struct rsm_mem *mem);
	bool (*stirs)(struct rsm_link *link);
	void (*address)(struct rsm_link *link, char *text, size_t size);
	const char *(*complaint)(struct rsm_link *link, const char *end);
};

/**
 * struct rsm_silence - signs of life of a peer, times in jiffies
 * @heard: time of the last sign that is known
 * @looked: when rsm_silence_is_death() was last called
 * @late: when a look last came late: this node had stood still until then
 */
struct rsm_silence {
	unsigned long heard;
	unsigned long looked;
	unsigned long late;
};

/**
 * RSM_INTERVAL_FACTOR - how many times longer one of two nodes' heartbeat intervals
 *	may be: a node does not wait any longer for another than that
 */
#define RSM_INTERVAL_FACTOR	4U

/* Bounds of an interval, in milliseconds */
#define RSM_HEARTBEAT_MIN	10U
#define RSM_HEARTBEAT_MAX	60000U

/**
 * enum rsm_link_state - life of a link
 * @RSM_LINK_DOWN: not started: the controller has found no node, or no suitable one
 * @RSM_LINK_GREETING: started; the peer has not answered our HELLO yet
 * @RSM_LINK_ACTIVE: both have greeted each other
 * @RSM_LINK_ENDING: failed, left or stopped; being cleared in process context
 */
enum rsm_link_state {
	RSM_LINK_DOWN,
	RSM_LINK_GREETING,
	RSM_LINK_ACTIVE,
	RSM_LINK_ENDING,
};

#define RSM_LINK_ROOM		32U	/* messages for which a way to a peer has room, at least */
#define RSM_LINK_INBOX		64	/* messages that wait for process context */
#define RSM_LINK_OUTBOX		64	/* answers that wait for room */
#define RSM_LINK_REQUESTS	32	/* requests that wait for an answer */
#define RSM_LINK_CONNECTS	16	/* of these: connects, which users ask for */

/**
 * struct rsm_link_message - a message that waits
 * @len: bytes in @data
 * @data: the message
 */
struct rsm_link_message {
	u32 len;
	u8 data[RSM_MESSAGE_MAX] __aligned(8);
};

/**
 * struct rsm_link_machine - what a link knows of its peer; only rsm_link_step() changes it
 * @state: see there
 * @node: the peer's node id, valid unless DOWN for the first time
 * @expected_node: the node is there by configuration, whether it was seen or not
 * @known: has ever been started
 * @refused: the peer uses another version of the protocol
 * @objection: reason for which the peer's greeting is refused, a constant string
 *	or NULL; the link stays GREETING for as long as the peer lives
 * @leaving: reason for which this node is about to end the link, a constant string or NULL
 * @why: reason of its end, a constant string
 * @incarnation: ours for this link
 * @peer: the peer's; 0 until it has greeted
 * @expected: the only incarnation that is accepted as @peer; 0: any
 * @silence: when the peer gave its last sign of life
 * @sent: when the last heartbeat went out, in jiffies
 * @interval: heartbeat interval of this link, in jiffies
 */
struct rsm_link_machine {
	enum rsm_link_state state;
	u32 node;
	bool expected_node;
	bool known;
	bool refused;
	const char *objection;
	const char *leaving;
	const char *why;
	u64 incarnation;
	u64 peer;
	u64 expected;
	struct rsm_silence silence;
	unsigned long sent;
	unsigned long interval;
};

/**
 * struct rsm_room_wait - a wait for room for a message
 * @first: since when, in jiffies
 * @since: since when other messages have not had the room, in jiffies
 * @sent: messages that had found room by then
 */
struct rsm_room_wait {
	unsigned long first;
	unsigned long since;
	u32 sent;
};

/**
 * struct rsm_link - a link; embed it, and let only the agent touch it
 * @ctl: the controller
 * @ops: its functions
 * @entry: its place among all links
 * @serial: links are in the order of their serials
 * @hwaddr: the peer's address, for the topology; guarded by rsm_agent_lock
 * @lock: guards all below; taken in interrupts
 * @machine: the state of the link
 * @timer: runs for the next heartbeat and when the peer has been silent for too long
 * @work: does all that needs process context, one thing at a time
 * @changed: woken when the state changes
 * @requests: limits outstanding requests of @work; together with @connects to RSM_LINK_REQUESTS, so
 *	inbox and outbox cannot overflow and two nodes cannot deadlock on full boxes
 * @connects: limits outstanding connects. Users who connect all the time must not keep the turns
 *	that @work needs: the peer would seem to answer too slowly
 * @unsent: requests to importers that wait to be sent, in their order
 * @unanswered: those that have been sent, likewise
 * @placing: the importer that rsm_keys_wq makes keys for, or NULL: one at a time, so that a peer
 *	that delays its own keys keeps one worker
 * @to_place: importers that wait for their turn, in their order
 * @untold: importers whose node has to hear of their new mode, in their order
 * @unused: segments of the peer that have no user here any more, of which the peer has to hear
 * @blocked: the peer has no room for @unsent, @untold or @unused
 * @blocked_wait: since when
 * @up: listeners were notified that the node is up; used by @work only
 * @inbox: ring of messages for @work
 * @inbox_head: next to be handled
 * @inbox_tail: next to be filled
 * @inbox_refused: a message was refused for want of room
 * @handling: @work handles a message that it has taken from the inbox
 * @outbox: ring of answers for which there was no room; changed by @work only
 * @outbox_head: next to be sent
 * @outbox_tail: next to be filled
 * @outbox_wait: since an answer was last sent, or first had to wait
 * @sent_count: messages that have found room
 * @remotes: segments of the peer that are imported here, by our cookie. A connect reserves an entry
 *	before it takes rsm_agent_lock
 * @remote_ids: the same as a tree, by segment id; guarded by rsm_agent_lock
 * @importers: importers at the peer of segments exported here, by our handle
 * @remote_count: how many entries @remotes has, without reserved ones
 * @importer_count: how many entries @importers has
 * @next_cookie: where the search for a free cookie begins: a cookie that was just given up
 *	must not be used again while messages with it are on their way
 * @next_handle: the same for handles
 * @dropped: messages that were malformed or of another incarnation
 * @kcov_handle: handle for which @work collects coverage, set by a fuzzer's controller; else 0
 */
struct rsm_link {
	struct rsm_controller *ctl;
	const struct rsm_link_ops *ops;
	struct list_head entry;
	unsigned long serial;
	u64 hwaddr;
	spinlock_t lock; /* see above */
	struct rsm_link_machine machine;
	struct timer_list timer;
	struct work_struct work;
	wait_queue_head_t changed;
	struct semaphore requests;
	struct semaphore connects;
	struct list_head unsent;
	struct list_head unanswered;
	struct rsm_remote_importer *placing;
	struct list_head to_place;
	struct list_head untold;
	struct list_head unused;
	bool blocked;
	struct rsm_room_wait blocked_wait;
	bool up;
	struct rsm_link_message *inbox;
	u32 inbox_head;
	u32 inbox_tail;
	bool inbox_refused;
	bool handling;
	struct rsm_link_message *outbox;
	u32 outbox_head;
	u32 outbox_tail;
	struct rsm_room_wait outbox_wait;
	atomic_t sent_count;
	struct xarray remotes;
	struct rb_root remote_ids;
	struct xarray importers;
	atomic_t remote_count;
	atomic_t importer_count;
	u32 next_cookie;
	u32 next_handle;
	u64 dropped;
	u64 kcov_handle;
};

/**
 * struct rsm_link_peer - the node that a link is started to
 * @node: node id, 0 to RSM_NODE_MAX, not ours
 * @hwaddr: address on the interconnect
 * @incarnation: the peer's if the controller knows it, else 0
 * @own: our incarnation: random, and another one each time this node joins
 * @interval_ms: the peer's heartbeat interval if the controller knows it, else 0; hostile input
 */
struct rsm_link_peer {
	u32 node;
	u64 hwaddr;
	u64 incarnation;
	u64 own;
	u32 interval_ms;
};

/* For controllers. All but receive and fail are for process context. */
int rsm_link_init(struct rsm_link *link, struct rsm_controller *ctl,
		  const struct rsm_link_ops *ops);
void rsm_link_exit(struct rsm_link *link);
void rsm_link_expect(struct rsm_link *link, u32 node, u64 hwaddr);
void rsm_link_forget(struct rsm_link *link);
bool rsm_link_start(struct rsm_link *link, const struct rsm_link_peer *peer);
bool rsm_link_receive(struct rsm_link *link, const void *message, size_t len);
bool rsm_link_is_greeting(struct rsm_link *link);
void rsm_link_fail(struct rsm_link *link, const char *why);
void rsm_link_stop(struct rsm_link *link, const char *why);
bool rsm_link_stop_greeting(struct rsm_link *link, const char *why);
unsigned int rsm_heartbeat_ms(void);
void rsm_silence_begin(struct rsm_silence *silence, unsigned long now);
bool rsm_silence_is_death(struct rsm_silence *silence, unsigned long now,
			  unsigned long interval, bool stirred);
bool rsm_patience_is_over(const struct rsm_silence *silence, unsigned long now,
			  unsigned long interval, unsigned long since, unsigned int patiences);
bool rsm_intervals_fit(u32 a, u32 b);

/* Ready-made functions for struct rsm_controller_ops. */
rsm_status_t rsm_agent_connect(struct rsm_import *imp);
void rsm_agent_disconnect(struct rsm_import *imp);
void rsm_agent_rebind(struct rsm_export *exp);
void rsm_agent_republish(struct rsm_export *exp);
void rsm_agent_withdraw(struct rsm_export *exp);
void rsm_agent_unpublish(struct rsm_export *exp);
rsm_status_t rsm_agent_post(struct rsm_import *imp, u32 flags);
void rsm_agent_post_importers(struct rsm_export *exp, u32 flags);
unsigned int rsm_agent_peers(struct rsm_controller *ctl,
			     struct rsm_topology_peer *peers, unsigned int max);

#endif /* RSM_LINK_H */
