/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside rsm_ivshmem.ko: the controller of windows that QEMU's ivshmem device
 * shares between guests.
 *
 * Locking
 * -------
 * The LOOKs of membership belong to the tick, a work item of which one instance runs at a time.
 * remove() takes its last step after the tick has ended for good. A link's down() takes a step
 * beside the tick.
 * remove() sets window->leaving for the tick. window_wake_tick() follows both.
 *
 * window->membership_lock: guards window->membership, which the tick alone may read without it.
 *	Process context; no lock is taken under it.
 * peer->receive_lock: serialises the takers of a peer's messages: the doorbell, the tick, and the
 * agent's resume(). Taken before the agent's link->lock.
 * peer->send_lock: serialises the senders to a peer. No lock is taken under it.
 * RCU: a sender is in a read-side section while it uses the device; window_end_sending() waits
 * for all senders before the device is unmapped.
 * chunks->lock: guards what this node does with each chunk. Innermost mutex.
 * shares->lock: guards how many chunks each user has. Innermost, too: neither mutex is held
 * when the other is taken.
 * Other guests may write to the window at any time. Code reads a value once, with READ_ONCE() or
 * into a copy, checks it, and then uses it. Values that must not be wrong (which chunks this node
 * holds, where its queues stand) are kept in private memory. Other guests are other machines, and a
 * kernel for one processor leaves out smp_*() barriers: so they are virt_*() and sync_*() here.
 */
#ifndef RSM_IVSHMEM_H
#define RSM_IVSHMEM_H

#include "../rsm_controller.h"
#include "../rsm_link.h"
#include "device.h"
#include "layout.h"
#include "membership.h"

#include <linux/kref.h>
#include <linux/uidgid.h>
#include <asm/barrier.h>

/**
 * struct window_chunks - the data area, handed out in chunks
 * @lock: guards all below
 * @table: in the window: each chunk's owner, an incarnation. NULL when the
 *	window is not mapped any more
 * @count: how many chunks there are
 * @hold: what this node does with each: WINDOW_HOLD_OWN, or how many imports
 *	reach it. Nothing in the window can change that.
 * @swept: each chunk's owner as the last sweep has found it
 */
struct window_chunks {
	struct mutex lock; /* see above */
	__le64 *table;
	u32 count;
	u32 *hold;
	u64 *swept;
};

#define WINDOW_HOLD_OWN	BIT(31)

/**
 * struct window_shares - what exports of this node have taken
 * @lock: guards all below
 * @users: users that have chunks
 * @chunks: how many chunks they have together
 */
struct window_shares {
	struct mutex lock; /* see above */
	struct list_head users;
	u32 chunks;
};

/**
 * struct window_refusal - why there are no chunks for an export
 * @wanted: how many chunks there would have been
 * @most: how many there may be: in the share of the user or of the node, or in the window
 */
struct window_refusal {
	u64 wanted;
	u32 most;
};

/**
 * struct window_peer - one slot of the node table
 * @w: the window
 * @slot: number of the slot
 * @link: link to the node there
 * @send_lock: guards @tail
 * @tail: messages put into our queue to this peer, modulo 2^32
 * @receive_lock: guards @head and @stalled
 * @head: messages taken out of this peer's queue to us, likewise
 * @stalled: the agent has refused a message and will call resume()
 * @running: messages of the peer are taken: the link is set up for it and not down yet
 * @started: incarnation that the link was started to
 * @heard_beat: sign of life that the link's timer found last; used by the timer only
 *	while the link is started
 */
struct window_peer {
	struct window *w;
	u32 slot;
	struct rsm_link link;
	spinlock_t send_lock; /* see above */
	u32 tail;
	spinlock_t receive_lock; /* see above */
	u32 head;
	bool stalled;
	bool running;
	u64 started;
	u64 heard_beat;
};

/**
 * struct window - a window and this guest's part in it
 * @ctl: as the core sees it
 * @ref: one for the driver, one for the registry, one for each segment's memory
 * @device: what it comes from
 * @number: N in the controller's name ivshmemN
 * @base: the device's memory
 * @layout: offsets in the window
 * @slot: our slot
 * @incarnation: ours while we are a member and others can see it in our slot, else 0
 * @membership_lock: guards @membership
 * @membership: who is in which slot
 * @view: the node table as the tick has read it; only the tick uses it
 * @leaving: the tick must do nothing any more
 * @closed: no message may be sent any more; read under rcu_read_lock()
 * @tick: watches the node table
 * @chunks: the data area
 * @shares: how much of it each user has
 * @peer: all slots, ours included
 */
struct window {
	struct rsm_controller ctl;
	struct kref ref;
	struct window_device *device;
	int number;
	void *base;
	struct rsm_window_layout layout;
	u32 slot;
	u64 incarnation;
	spinlock_t membership_lock; /* see above */
	struct rsm_membership membership;
	struct rsm_slot_view view[RSM_WINDOW_SLOTS_MAX];
	bool leaving;
	bool closed;
	struct delayed_work tick;
	struct window_chunks chunks;
	struct window_shares shares;
	struct window_peer peer[];
};

static inline struct rsm_window_node *window_node(const struct window *w, u32 slot)
{
	return (struct rsm_window_node *)(w->base + RSM_WINDOW_NODES) + slot;
}

/* The incarnation in a slot, 0 for none. Hostile input, but read in one access. */
static inline u64 window_incarnation(const struct window *w, u32 slot)
{
	/* Pairs with member_join(): the rest of the slot is that node's, too. */
	return le64_to_cpu(virt_load_acquire(&window_node(w, slot)->incarnation));
}

/* The sign of life of the guest in a slot: any change of this value is one. */
static inline u64 window_beat(const struct window *w, u32 slot)
{
	return le64_to_cpu(READ_ONCE(window_node(w, slot)->beat));
}

static inline struct rsm_window_queue *window_queue(const struct window *w, u32 from, u32 to)
{
	struct rsm_window_queue *queues = w->base + w->layout.queues;

	return &queues[from * w->layout.slots + to];
}

static inline struct window_peer *to_peer(struct rsm_link *link)
{
	return container_of(link, struct window_peer, link);
}

static inline bool window_is_running(const struct window_peer *peer)
{
	/* Pairs with the releases in member.c: a running peer is set up completely. */
	return smp_load_acquire(&peer->running);
}

/* window.c */
void window_put(struct window *w);

/* chunk.c: pure but for its lock, tested by KUnit */
int window_chunks_init(struct window_chunks *chunks, __le64 *table, u32 count);
void window_chunks_close(struct window_chunks *chunks);
void window_chunks_free(struct window_chunks *chunks);
s64 window_chunks_take(struct window_chunks *chunks, u64 owner, u32 n);
u32 window_chunks_give(struct window_chunks *chunks, u64 owner, u32 first, u32 n);
bool window_chunks_are(struct window_chunks *chunks, u64 owner, u32 first, u32 n);
bool window_chunks_attach(struct window_chunks *chunks, u64 owner, u32 first, u32 n);
void window_chunks_detach(struct window_chunks *chunks, u32 first, u32 n);
u32 window_chunks_taken(struct window_chunks *chunks);
u32 window_chunks_sweep(struct window_chunks *chunks,
			bool (*is_orphan)(const void *arg, u64 owner, bool known),
			const void *arg);

/* share.c: pure but for its lock, tested by KUnit */
void window_shares_init(struct window_shares *shares);
void window_shares_free(struct window_shares *shares);
int window_shares_take(struct window_shares *shares, kuid_t uid, u32 n, u32 user_most,
		       u32 node_most, struct window_refusal *refusal);
void window_shares_give(struct window_shares *shares, kuid_t uid, u32 n);

/* queue.c: the first three are pure, tested by KUnit */
int window_queue_put(struct rsm_window_queue *queue, u32 tail, const void *message,
		     size_t len);
int window_queue_get(const struct rsm_window_queue *queue, u32 head, void *message);
void window_queue_done(struct rsm_window_queue *queue, u32 head);

/* message.c */
int window_send(struct rsm_link *link, const void *message, size_t len);
void window_end_sending(struct window *w);
void window_resume(struct rsm_link *link);
void window_look(struct window_peer *peer);
void window_ring(struct window_peer *peer);
void window_queues_reset(struct window *w);
void window_queues_repair(struct window_peer *peer);

/* member.c */
void window_link_down(struct rsm_link *link, u64 incarnation);
bool window_stirs(struct rsm_link *link);
void window_wake_tick(struct window *w);
void window_tick(struct work_struct *work);
void window_leave(struct window *w);

/* sweep.c */
void window_sweep(struct window *w, unsigned long grace);

/* segment.c */
rsm_status_t window_place(struct rsm_link *link, struct rsm_mem *mem, u32 rights,
			  struct rsm_place *place, void **keys);
rsm_status_t window_attach(struct rsm_link *link, u64 length, const struct rsm_place *place,
			   struct rsm_mem **mem);
extern const struct rsm_controller_ops window_ops;

#endif /* RSM_IVSHMEM_H */
