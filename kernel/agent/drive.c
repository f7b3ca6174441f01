// SPDX-License-Identifier: GPL-2.0
/*
 * Drives links: gives each its events with the time, and carries out what rsm_link_step() returns.
 * Here are a link's timer, its inbox and its work.
 */

#include "agent.h"
#include "../core/compat.h"

#include <linux/jiffies.h>
#include <linux/kcov.h>
#include <linux/slab.h>

/* Let the link take a step, and set its timer and its work as the step wants it. */
static struct rsm_link_output link_feed_locked(struct rsm_link *link,
					       const struct rsm_link_input *input)
{
	struct rsm_link_output output;

	lockdep_assert_held(&link->lock);
	output = rsm_link_step(&link->machine, jiffies, input);
	if (output.arm)
		mod_timer(&link->timer, output.expires);
	if (output.work)
		queue_work(rsm_link_wq, &link->work);
	return output;
}

/* The same for a caller without the lock, in any context. */
static struct rsm_link_output link_feed(struct rsm_link *link, const struct rsm_link_input *input)
{
	struct rsm_link_output output;
	unsigned long flags;

	spin_lock_irqsave(&link->lock, flags);
	output = link_feed_locked(link, input);
	spin_unlock_irqrestore(&link->lock, flags);
	return output;
}

/* A step after which another set of links may be listed. */
static void link_change(struct rsm_link *link, const struct rsm_link_input *input)
{
	lockdep_assert_held(&rsm_agent_lock);
	rsm_links_note_change();
	link_feed(link, input);
}

/* Has something arrived from the peer that is not handled yet? */
bool rsm_link_has_unread(const struct rsm_link *link)
{
	lockdep_assert_held(&link->lock);
	/* A task that sees a message handled sees its effect, too. */
	return smp_load_acquire(&link->handling) || link->inbox_refused ||
	       link->inbox_head != link->inbox_tail;
}

/*
 * Had the peer had its time from @since to @now, in jiffies, to answer? The caller has looked for
 * the answer after @now: the time since then does not count, nor does the time for which this node
 * stood still.
 */
bool rsm_link_answer_is_missed(struct rsm_link *link, unsigned long since, unsigned long now)
{
	unsigned long flags;
	bool missed;

	spin_lock_irqsave(&link->lock, flags);
	missed = rsm_answer_is_missed(&link->machine.silence, now, link->machine.interval, since,
				      !rsm_link_has_unread(link));
	spin_unlock_irqrestore(&link->lock, flags);
	return missed;
}

/* The caller begins to wait for room for a message. */
void rsm_link_await_room(struct rsm_link *link, struct rsm_room_wait *wait)
{
	rsm_room_wait_begin(wait, jiffies, atomic_read(&link->sent_count));
}

/* The caller has found no room after @now, in jiffies: is the peer at fault? */
bool rsm_link_refuses_room(struct rsm_link *link, struct rsm_room_wait *wait, unsigned long now)
{
	unsigned long flags;
	bool refused;

	rsm_room_wait_look(wait, now, atomic_read(&link->sent_count));
	spin_lock_irqsave(&link->lock, flags);
	refused = rsm_room_is_refused(wait, &link->machine.silence, now, link->machine.interval);
	spin_unlock_irqrestore(&link->lock, flags);
	return refused;
}

/* Is the link active, with this incarnation of the peer? */
bool rsm_link_is_active(struct rsm_link *link, u64 peer)
{
	unsigned long flags;
	bool active;

	spin_lock_irqsave(&link->lock, flags);
	active = link->machine.state == RSM_LINK_ACTIVE && link->machine.peer == peer;
	spin_unlock_irqrestore(&link->lock, flags);
	return active;
}

static enum rsm_link_state link_state(struct rsm_link *link)
{
	enum rsm_link_state state;

	spin_lock_irq(&link->lock);
	state = link->machine.state;
	spin_unlock_irq(&link->lock);
	return state;
}

/**
 * rsm_link_is_greeting() - is the link started, without a greeting of its node so far?
 * @link: the link
 *
 * Process context. The node may greet at any time: rsm_link_stop_greeting() looks again.
 *
 * Return: true if the link greets.
 */
bool rsm_link_is_greeting(struct rsm_link *link)
{
	bool greeting;

	spin_lock_irq(&link->lock);
	greeting = rsm_link_is_unanswered(&link->machine);
	spin_unlock_irq(&link->lock);
	return greeting;
}
EXPORT_SYMBOL_GPL(rsm_link_is_greeting);

/**
 * rsm_link_fail() - end a link because something is wrong with it
 * @link: the link
 * @why: reason, a constant string for the log
 *
 * Any context. The link's work does the rest.
 */
void rsm_link_fail(struct rsm_link *link, const char *why)
{
	struct rsm_link_input input = { .event = RSM_ON_FAIL, .why = why };

	link_feed(link, &input);
	wake_up_all(&link->changed);
}
EXPORT_SYMBOL_GPL(rsm_link_fail);

/* Start the link if it is down, with an empty inbox. */
static struct rsm_link_output link_greet(struct rsm_link *link, const struct rsm_link_input *input)
{
	struct rsm_link_output output;

	lockdep_assert_held(&rsm_agent_lock);
	spin_lock_irq(&link->lock);
	output = link_feed_locked(link, input);
	if (output.taken) {
		link->hwaddr = input->peer->hwaddr;
		link->inbox_head = link->inbox_tail;
		link->inbox_refused = false;
	}
	spin_unlock_irq(&link->lock);
	if (output.taken)
		rsm_links_note_change();
	return output;
}

/**
 * rsm_link_start() - greet a node that the controller has found
 * @link: the link
 * @peer: the node
 *
 * Return: false if the link is not down; nothing has changed then.
 */
bool rsm_link_start(struct rsm_link *link, const struct rsm_link_peer *peer)
{
	struct rsm_link_input input = {
		.event = RSM_ON_START,
		.heartbeat_ms = rsm_heartbeat_ms(),
		.peer = peer,
	};
	struct rsm_link_output output;

	mutex_lock(&rsm_agent_lock);
	output = link_greet(link, &input);
	mutex_unlock(&rsm_agent_lock);
	if (output.send)
		rsm_send_hello(link, output.send);
	return output.taken;
}
EXPORT_SYMBOL_GPL(rsm_link_start);

/**
 * rsm_link_stop() - send BYE and end a link
 * @link: the link
 * @why: reason, a constant string for the log
 *
 * The link is down on return. Must not be called by the link's work.
 */
void rsm_link_stop(struct rsm_link *link, const char *why)
{
	struct rsm_link_input input = { .event = RSM_ON_LEAVE, .why = why };
	enum rsm_message_type type = link_feed(link, &input).send;

	if (type)
		rsm_send_hello(link, type);
	rsm_link_fail(link, why);
	flush_work(&link->work);
}
EXPORT_SYMBOL_GPL(rsm_link_stop);

/**
 * rsm_link_stop_greeting() - end a link, unless its node has greeted
 * @link: the link
 * @why: reason, a constant string
 *
 * The node gets no BYE: it may have taken this node's greeting, and the next one is the same to it.
 * Must not be called by the link's work.
 *
 * Return: true if the link is down, false if this function has not ended it.
 */
bool rsm_link_stop_greeting(struct rsm_link *link, const char *why)
{
	struct rsm_link_input input = { .event = RSM_ON_STOP_GREETING, .why = why };

	if (!link_feed(link, &input).work)
		return false;
	wake_up_all(&link->changed);
	flush_work(&link->work);
	return true;
}
EXPORT_SYMBOL_GPL(rsm_link_stop_greeting);

/* Returns the type of the message to be sent now, 0 for none. */
static enum rsm_message_type take_tick(struct rsm_link *link)
{
	struct rsm_link_input input = { .event = RSM_ON_TICK };

	lockdep_assert_held(&link->lock);
	/* A peer of which messages are refused for want of room here is not silent. */
	input.stirred = (link->ops->stirs && link->ops->stirs(link)) || link->inbox_refused;
	if (!rsm_outbox_is_empty(link) || rsm_link_has_news(link) ||
	    !list_empty(&link->unsent) || !list_empty(&link->unanswered))
		queue_work(rsm_link_wq, &link->work);
	return link_feed_locked(link, &input).send;
}

static void link_timer(struct timer_list *timer)
{
	struct rsm_link *link = timer_container_of(link, timer, timer);
	enum rsm_message_type type;
	unsigned long flags;

	spin_lock_irqsave(&link->lock, flags);
	type = take_tick(link);
	spin_unlock_irqrestore(&link->lock, flags);
	if (type)
		rsm_send_hello(link, type);
}

/*
 * Copy the oldest message of the inbox; false if there is none. Messages that are left when the
 * link ends are dropped: a CONNECT would leave an importer behind that nothing removes.
 */
static bool take_message(struct rsm_link *link, struct rsm_link_message *message)
{
	bool found = false;

	spin_lock_irq(&link->lock);
	if (!rsm_link_is_started(&link->machine))
		link->inbox_head = link->inbox_tail;
	if (link->inbox_head != link->inbox_tail) {
		*message = link->inbox[link->inbox_head++ % RSM_LINK_INBOX];
		link->handling = true;
		found = true;
	}
	spin_unlock_irq(&link->lock);
	return found;
}

/*
 * Handle messages, no more than the inbox holds: a peer that goes on sending does not keep the
 * link from its other work. Returns true if the inbox was emptied.
 */
static bool handle_messages(struct rsm_link *link)
{
	unsigned long last = jiffies;
	struct rsm_link_message message;

	for (int i = 0; i < RSM_LINK_INBOX; i++) {
		if (!rsm_answer_flush(link))
			return false;
		if (!take_message(link, &message))
			return true;
		rsm_message_handle(link, message.data);
		/* Pairs with rsm_link_has_unread(): the message has had its effect. */
		smp_store_release(&link->handling, false);
		cond_resched();
		/* A MOVE waits for transfers, which the peer can hold up. */
		if (time_after(jiffies, last + READ_ONCE(link->machine.interval))) {
			rsm_requests_run(link, false);
			last = jiffies;
		}
	}
	queue_work(rsm_link_wq, &link->work);
	return false;
}

/* Returns true if all messages that have arrived were handled. */
static bool handle_inbox(struct rsm_link *link)
{
	bool emptied = handle_messages(link);
	bool refused;

	spin_lock_irq(&link->lock);
	refused = link->inbox_refused;
	link->inbox_refused = false;
	/* The controller still has messages. */
	link->handling = refused;
	spin_unlock_irq(&link->lock);
	if (refused)
		link->ops->resume(link);
	/* Pairs with rsm_link_has_unread(): what the controller had is in the inbox. */
	smp_store_release(&link->handling, false);
	return emptied && !refused;
}

static void become_down(struct rsm_link *link)
{
	struct rsm_link_input input = { .event = RSM_ON_CLEARED };

	mutex_lock(&rsm_agent_lock);
	rsm_links_note_change();
	spin_lock_irq(&link->lock);
	link->blocked = false;
	link_feed_locked(link, &input);
	spin_unlock_irq(&link->lock);
	mutex_unlock(&rsm_agent_lock);
}

/* End all imports, importers and messages of the link. */
static void finish(struct rsm_link *link)
{
	u64 peer = link->machine.peer ?: link->machine.expected;
	bool was_up = link->up;

	timer_delete_sync(&link->timer);
	WRITE_ONCE(link->outbox_head, link->outbox_tail);
	link->up = false;
	rsm_remote_segment_link_down(link);
	rsm_remote_importer_link_down(link);
	pr_info_ratelimited("rsm: %s: node %u is down: %s\n", link->ctl->name, link->machine.node,
			    link->machine.why);
	if (was_up)
		rsm_notify_node_down(link, link->machine.why);
	link->ops->down(link, peer);
	become_down(link);
	wake_up_all(&link->changed);
}

static void link_work(struct work_struct *work)
{
	struct rsm_link *link = container_of(work, struct rsm_link, work);
	bool drained;

	kcov_remote_start(kcov_remote_handle(KCOV_SUBSYSTEM_COMMON,
					     READ_ONCE(link->kcov_handle)));
	drained = handle_inbox(link);
	rsm_remote_segment_deliver_bells(link);
	rsm_requests_run(link, drained);
	if (link_state(link) == RSM_LINK_ENDING)
		finish(link);
	kcov_remote_stop();
}

/*
 * Handle HELLO or WELCOME of the peer: answer HELLO, and make the link active. No task sends other
 * messages before the link is active, so the answer goes first.
 */
void rsm_greeting_handle(struct rsm_link *link, const struct rsm_msg_hello *hello)
{
	struct rsm_link_input input = { .event = RSM_ON_GREETED };

	if (le16_to_cpu(hello->header.type) == RSM_MSG_HELLO)
		rsm_answer_hello(link);
	if (!link_feed(link, &input).taken)
		return;
	pr_info_ratelimited("rsm: %s: node %u is up\n", link->ctl->name, link->machine.node);
	link->up = true;
	wake_up_all(&link->changed);
	rsm_notify_node_up(link);
}

/* Append a message to the inbox; false if there is no room. */
static bool put_into_inbox(struct rsm_link *link, const void *message, size_t len)
{
	struct rsm_link_message *entry;

	lockdep_assert_held(&link->lock);
	if (link->inbox_tail - link->inbox_head >= RSM_LINK_INBOX) {
		link->inbox_refused = true;
		return false;
	}
	entry = &link->inbox[link->inbox_tail++ % RSM_LINK_INBOX];
	entry->len = len;
	memcpy(entry->data, message, len);
	queue_work(rsm_link_wq, &link->work);
	return true;
}

static void link_log(const struct rsm_link *link, enum rsm_link_remark remark,
		     const struct rsm_msg_hello *hello)
{
	switch (remark) {
	case RSM_REMARK_NONE:
		break;
	case RSM_REMARK_VERSION:
		pr_warn_ratelimited("rsm: %s: node %u speaks version %u of the protocol, not %u\n",
				    link->ctl->name, link->machine.node,
				    le16_to_cpu(hello->header.version), RSM_PROTOCOL_VERSION);
		break;
	case RSM_REMARK_INTERVAL:
		pr_warn_ratelimited("rsm: %s: node %u is refused: its heartbeat_ms is %u and ours %u, more than %u times apart\n",
				    link->ctl->name, link->machine.node,
				    le32_to_cpu(hello->interval_ms), rsm_heartbeat_ms(),
				    RSM_INTERVAL_FACTOR);
		break;
	}
}

/* Returns false if the inbox has no room for the message. */
static bool take_in(struct rsm_link *link, const struct rsm_link_output *output,
		    const void *message, size_t len)
{
	lockdep_assert_held(&link->lock);
	link_log(link, output->remark, message);
	link->dropped += output->verdict == RSM_MESSAGE_FOREIGN;
	return output->verdict != RSM_MESSAGE_QUEUE || put_into_inbox(link, message, len);
}

/**
 * rsm_link_receive() - a message has arrived
 * @link: the link
 * @message: a copy in private memory, aligned to 8 bytes
 * @len: bytes in it
 *
 * Any context; one call at a time for a link.
 *
 * Return: false if the link can't take the message now. The controller keeps this message and those
 * behind it until the agent calls its resume().
 */
bool rsm_link_receive(struct rsm_link *link, const void *message, size_t len)
{
	struct rsm_link_input input = {
		.event = RSM_ON_MESSAGE,
		.heartbeat_ms = rsm_heartbeat_ms(),
		.message = message,
	};
	struct rsm_link_output output = { .verdict = RSM_MESSAGE_FOREIGN };
	bool sound = rsm_message_is_sound(message, len);
	unsigned long flags;
	bool taken;

	spin_lock_irqsave(&link->lock, flags);
	if (sound)
		output = link_feed_locked(link, &input);
	taken = take_in(link, &output, message, len);
	spin_unlock_irqrestore(&link->lock, flags);
	if (output.verdict == RSM_MESSAGE_DELIVER)
		rsm_bell_ring(link, message);
	return taken;
}
EXPORT_SYMBOL_GPL(rsm_link_receive);

static struct rsm_link_message *make_box(unsigned int entries)
{
	return kcalloc(entries, sizeof(struct rsm_link_message), GFP_KERNEL);
}

/**
 * rsm_link_init() - make a link of a controller
 * @link: the link, zeroed
 * @ctl: the controller
 * @ops: its functions
 *
 * Return: 0 or -ENOMEM.
 */
int rsm_link_init(struct rsm_link *link, struct rsm_controller *ctl,
		  const struct rsm_link_ops *ops)
{
	link->inbox = make_box(RSM_LINK_INBOX);
	link->outbox = make_box(RSM_LINK_OUTBOX);
	if (!link->inbox || !link->outbox) {
		kfree(link->inbox);
		kfree(link->outbox);
		return -ENOMEM;
	}
	link->ctl = ctl;
	link->ops = ops;
	spin_lock_init(&link->lock);
	timer_setup(&link->timer, link_timer, 0);
	INIT_WORK(&link->work, link_work);
	init_waitqueue_head(&link->changed);
	sema_init(&link->requests, RSM_LINK_REQUESTS - RSM_LINK_CONNECTS);
	sema_init(&link->connects, RSM_LINK_CONNECTS);
	INIT_LIST_HEAD(&link->unsent);
	INIT_LIST_HEAD(&link->unanswered);
	INIT_LIST_HEAD(&link->to_place);
	INIT_LIST_HEAD(&link->untold);
	INIT_LIST_HEAD(&link->unused);
	xa_init_flags(&link->remotes, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ | XA_FLAGS_ACCOUNT);
	link->remote_ids = RB_ROOT;
	xa_init_flags(&link->importers, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
	rsm_links_add(link);
	return 0;
}
EXPORT_SYMBOL_GPL(rsm_link_init);

/**
 * rsm_link_exit() - undo rsm_link_init()
 * @link: the link, stopped or never started
 *
 * The controller has been removed, so that no import knows the link.
 */
void rsm_link_exit(struct rsm_link *link)
{
	rsm_links_remove(link);
	cancel_work_sync(&link->work);
	rsm_remote_segments_disconnect(link);
	xa_destroy(&link->remotes);
	xa_destroy(&link->importers);
	kfree(link->inbox);
	kfree(link->outbox);
}
EXPORT_SYMBOL_GPL(rsm_link_exit);

/**
 * rsm_link_expect() - the configuration has a node at the other end
 * @link: the link, down
 * @node: node id
 * @hwaddr: address on the interconnect
 */
void rsm_link_expect(struct rsm_link *link, u32 node, u64 hwaddr)
{
	struct rsm_link_input input = { .event = RSM_ON_EXPECT, .node = node };

	mutex_lock(&rsm_agent_lock);
	link->hwaddr = hwaddr;
	link_change(link, &input);
	mutex_unlock(&rsm_agent_lock);
}
EXPORT_SYMBOL_GPL(rsm_link_expect);

/**
 * rsm_link_forget() - the configuration has no node at the other end any more
 * @link: the link, down
 */
void rsm_link_forget(struct rsm_link *link)
{
	struct rsm_link_input input = { .event = RSM_ON_FORGET };

	mutex_lock(&rsm_agent_lock);
	link_change(link, &input);
	mutex_unlock(&rsm_agent_lock);
}
EXPORT_SYMBOL_GPL(rsm_link_forget);
