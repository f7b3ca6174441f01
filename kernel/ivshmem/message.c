// SPDX-License-Identifier: GPL-2.0
/* Messages to and from the other slots, and the bells that announce them. */

#include "ivshmem.h"

#include <linux/bitops.h>
#include <linux/rcupdate.h>
#include <asm/sync_bitops.h>

/* set_bit() and xchg() work on native longs; the bell in the window is a little-endian u64. */
static_assert(BITS_PER_LONG == 64 && !IS_ENABLED(CONFIG_CPU_BIG_ENDIAN));

/* Messages that one interrupt takes, of all peers together. The tick takes the others. */
#define INTERRUPT_BUDGET	16U
/* In process context: messages taken with interrupts off, and batches in a row from one peer. */
#define BATCH			8U
#define BATCHES			8

static bool set_bell(struct window_peer *peer)
{
	struct rsm_window_node *node = window_node(peer->w, peer->slot);

	return !sync_test_and_set_bit(peer->w->slot, (__force unsigned long *)&node->bell);
}

static void ring_doorbell(struct window_peer *peer)
{
	struct window_device *device = peer->w->device;

	device->ops->ring(device, peer->slot);
}

/**
 * window_ring() - interrupt a guest, whatever its bell says
 * @peer: its slot
 */
void window_ring(struct window_peer *peer)
{
	set_bell(peer);
	ring_doorbell(peer);
}

static int put_message(struct window_peer *peer, const void *message, size_t len)
{
	struct window *w = peer->w;
	unsigned long flags;
	int err;

	spin_lock_irqsave(&peer->send_lock, flags);
	err = window_queue_put(window_queue(w, w->slot, peer->slot), peer->tail, message, len);
	if (!err)
		peer->tail++;
	spin_unlock_irqrestore(&peer->send_lock, flags);
	/*
	 * If the bit was set already, an interrupt is pending: the receiver clears the
	 * bit before it reads the queue. The test-and-set is a full barrier, also where
	 * it finds the bit set; pairs with window_answer_bells() and window_look().
	 */
	if (!err && set_bell(peer))
		ring_doorbell(peer);
	return err;
}

/*
 * &rsm_link_ops.send. A process that posts has seen the link active before and may get here long
 * after the link has ended: window_end_sending() waits for it.
 */
int window_send(struct rsm_link *link, const void *message, size_t len)
{
	struct window_peer *peer = to_peer(link);
	int err = -ENOTCONN;

	rcu_read_lock();
	if (!READ_ONCE(peer->w->closed))
		err = put_message(peer, message, len);
	rcu_read_unlock();
	if (err == -EPROTO) {
		rsm_link_fail(link, "its queue's head makes no sense");
		return -ENOTCONN;
	}
	return err;
}

/**
 * window_end_sending() - let no message into the window any more
 * @w: the window; its links are down and its tick has ended
 *
 * On return no window_send() uses the memory or the doorbells of the device, and
 * none ever will. May sleep.
 */
void window_end_sending(struct window *w)
{
	WRITE_ONCE(w->closed, true);
	synchronize_rcu();
}

/*
 * Take messages, at most *@budget. Returns 0 if the queue is empty, 1 if it may have more, or
 * -EPROTO if the queue is malformed.
 */
static int take_messages(struct window_peer *peer, unsigned int *budget)
{
	struct rsm_window_queue *queue = window_queue(peer->w, peer->slot, peer->w->slot);
	u64 message[RSM_MESSAGE_MAX / sizeof(u64)];
	int len;

	lockdep_assert_held(&peer->receive_lock);
	for (; *budget && !peer->stalled; --*budget) {
		len = window_queue_get(queue, peer->head, message);
		if (len <= 0)
			return len;
		peer->stalled = !rsm_link_receive(&peer->link, message, len);
		if (!peer->stalled)
			window_queue_done(queue, ++peer->head);
	}
	return !peer->stalled;
}

/* Take messages, at most *@budget; returns true if the queue may have more. */
static bool receive(struct window_peer *peer, unsigned int *budget)
{
	unsigned long flags;
	int result;

	spin_lock_irqsave(&peer->receive_lock, flags);
	result = take_messages(peer, budget);
	spin_unlock_irqrestore(&peer->receive_lock, flags);
	if (result < 0)
		rsm_link_fail(&peer->link, "its queue makes no sense");
	return result > 0;
}

/* Take all messages; process context, with interrupts on between batches. */
static void receive_all(struct window_peer *peer)
{
	bool more = true;

	for (int i = 0; i < BATCHES && more; i++) {
		unsigned int budget = BATCH;

		more = receive(peer, &budget);
		cond_resched();
	}
	if (more)
		window_wake_tick(peer->w);
}

/**
 * window_look() - take messages that have arrived, announced or not
 * @peer: the peer; its link is running
 *
 * If a bell is set and its interrupt was lost, the peer does not send an interrupt again: without
 * this look the messages would stay in the queue for good.
 */
void window_look(struct window_peer *peer)
{
	struct rsm_window_node *own = window_node(peer->w, peer->w->slot);

	sync_clear_bit(peer->slot, (__force unsigned long *)&own->bell);
	/* Clear the bell before reading the queue; pairs with put_message(). */
	virt_mb();
	receive_all(peer);
}

/* &rsm_link_ops.resume */
void window_resume(struct rsm_link *link)
{
	struct window_peer *peer = to_peer(link);

	spin_lock_irq(&peer->receive_lock);
	peer->stalled = false;
	spin_unlock_irq(&peer->receive_lock);
	receive_all(peer);
}

/**
 * window_answer_bells() - take the messages of peers whose bells are set
 * @w: the window
 *
 * Runs in the interrupt, so that bells are delivered at once; takes a bounded number of messages
 * therefore. A bell of a peer without a running link may mean that the peer has just joined.
 */
void window_answer_bells(struct window *w)
{
	/* Clear the bells first: a message that arrives later sets its bell again. */
	u64 bells = le64_to_cpu(xchg(&window_node(w, w->slot)->bell, 0));
	unsigned int budget = INTERRUPT_BUDGET;
	bool wake = false;

	for (u32 slot = 0; slot < w->layout.slots; slot++) {
		if (!(bells & BIT_ULL(slot)))
			continue;
		if (window_is_running(&w->peer[slot]))
			wake |= receive(&w->peer[slot], &budget);
		else
			wake = true;
	}
	if (wake)
		window_wake_tick(w);
}

/**
 * window_queues_reset() - drop the messages that were meant for our former incarnation
 * @w: the window, while no link is running
 *
 * The receive index of each queue to us is set to the sender's.
 */
void window_queues_reset(struct window *w)
{
	struct rsm_window_queue *to, *from;
	struct window_peer *peer;

	for (u32 slot = 0; slot < w->layout.slots; slot++) {
		peer = &w->peer[slot];
		to = window_queue(w, w->slot, slot);
		from = window_queue(w, slot, w->slot);
		peer->tail = le32_to_cpu(READ_ONCE(to->tail));
		peer->head = le32_to_cpu(READ_ONCE(from->tail));
		window_queue_done(from, peer->head);
	}
	xchg(&window_node(w, w->slot)->bell, 0);
}

/**
 * window_queues_repair() - take over a peer's view of our common queues
 * @peer: the peer, before its link is started
 *
 * The peer has begun with the indices that it found, which may differ from ours. Messages in its
 * queue belong to former incarnations and may be the malformed ones that ended them, so they are
 * dropped. If a HELLO is dropped with them, the peer answers ours. If the former link had misread
 * the peer's node id, a WELCOME or CONNECT may be among them: the peer sends those again.
 */
void window_queues_repair(struct window_peer *peer)
{
	struct window *w = peer->w;
	struct rsm_window_queue *to = window_queue(w, w->slot, peer->slot);
	struct rsm_window_queue *from = window_queue(w, peer->slot, w->slot);

	/* The interrupt may still handle messages of the former link. */
	spin_lock_irq(&peer->receive_lock);
	peer->head = le32_to_cpu(READ_ONCE(from->tail));
	peer->stalled = false;
	window_queue_done(from, peer->head);
	spin_unlock_irq(&peer->receive_lock);

	spin_lock_irq(&peer->send_lock);
	WRITE_ONCE(to->tail, cpu_to_le32(peer->tail));
	spin_unlock_irq(&peer->send_lock);
}
