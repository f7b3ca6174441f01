// SPDX-License-Identifier: GPL-2.0
/* Links: the state of each, its timer, its inbox, and its work. */

#include "agent.h"
#include "../core/compat.h"

#include <linux/jiffies.h>
#include <linux/kcov.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>

static unsigned int heartbeat_ms = 1000;
module_param(heartbeat_ms, uint, 0444);
MODULE_PARM_DESC(heartbeat_ms,
		 "A node that is silent for twice as many milliseconds is down (10 to 60000, default 1000)");

DEFINE_MUTEX(rsm_agent_lock); /* see agent.h */
LIST_HEAD(rsm_links);
struct workqueue_struct *rsm_link_wq;
struct workqueue_struct *rsm_keys_wq;
static unsigned long last_serial;
/* Changes each time another set of links may be listed; never 0. */
static u32 changes = 1;

/* Peers take a node with late heartbeats for dead, so the links' work has a high priority. */
int rsm_agent_init(void)
{
	rsm_link_wq = alloc_workqueue("rsm-links", WQ_UNBOUND | WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	if (!rsm_link_wq)
		return -ENOMEM;
	rsm_keys_wq = alloc_workqueue("rsm-keys", WQ_UNBOUND, 0);
	if (!rsm_keys_wq) {
		destroy_workqueue(rsm_link_wq);
		return -ENOMEM;
	}
	return 0;
}

void rsm_agent_exit(void)
{
	destroy_workqueue(rsm_keys_wq);
	destroy_workqueue(rsm_link_wq);
}

/**
 * rsm_heartbeat_ms() - the heartbeat interval
 *
 * Return: milliseconds.
 */
unsigned int rsm_heartbeat_ms(void)
{
	return clamp(heartbeat_ms, RSM_HEARTBEAT_MIN, RSM_HEARTBEAT_MAX);
}
EXPORT_SYMBOL_GPL(rsm_heartbeat_ms);

/* A dump that began with the old number has not seen the change, which the caller now makes. */
static void link_note_change(void)
{
	lockdep_assert_held(&rsm_agent_lock);
	changes = changes + 1 ?: 1;
}

/*
 * Has the peer had two intervals since then, in jiffies, to answer or to make room? The time for
 * which this node stood still does not count.
 */
bool rsm_link_patience_is_over(struct rsm_link *link, unsigned long since)
{
	unsigned long flags;
	bool over;

	spin_lock_irqsave(&link->lock, flags);
	over = rsm_patience_is_over(&link->silence, jiffies, link->interval, since, 1);
	spin_unlock_irqrestore(&link->lock, flags);
	return over;
}

static bool is_started(const struct rsm_link *link)
{
	return link->state == RSM_LINK_GREETING || link->state == RSM_LINK_ACTIVE;
}

/* Is the link active, with this incarnation of the peer? */
bool rsm_link_is_active(struct rsm_link *link, u64 peer)
{
	unsigned long flags;
	bool active;

	spin_lock_irqsave(&link->lock, flags);
	active = link->state == RSM_LINK_ACTIVE && link->peer == peer;
	spin_unlock_irqrestore(&link->lock, flags);
	return active;
}

static void begin_end(struct rsm_link *link, const char *why)
{
	lockdep_assert_held(&link->lock);
	if (!is_started(link))
		return;
	link->state = RSM_LINK_ENDING;
	link->why = why;
	queue_work(rsm_link_wq, &link->work);
}

/**
 * rsm_link_fail() - end a link because something is wrong with it
 * @link: the link
 * @why: reason, a constant string for the log
 *
 * Any context. The link's work does the rest.
 */
void rsm_link_fail(struct rsm_link *link, const char *why)
{
	unsigned long flags;

	spin_lock_irqsave(&link->lock, flags);
	begin_end(link, why);
	spin_unlock_irqrestore(&link->lock, flags);
	wake_up_all(&link->changed);
}
EXPORT_SYMBOL_GPL(rsm_link_fail);

/* Heartbeats go out twice per interval, so that a late one does no harm. */
static void next_tick(struct rsm_link *link)
{
	unsigned long beat = link->sent + link->interval / 2;
	unsigned long end = link->silence.heard + 2 * link->interval;

	lockdep_assert_held(&link->lock);
	mod_timer(&link->timer, time_before(end, beat) ? end : beat);
}

static const char *death(const struct rsm_link *link)
{
	if (link->state == RSM_LINK_ACTIVE)
		return "heartbeat lost";
	return link->objection ?: "no answer";
}

static bool has_requests(const struct rsm_link *link)
{
	lockdep_assert_held(&link->lock);
	return !list_empty(&link->unsent) || !list_empty(&link->unanswered);
}

/* Returns the type of the message to be sent now, 0 for none. */
static enum rsm_message_type tick(struct rsm_link *link)
{
	bool stirred = link->ops->stirs && link->ops->stirs(link);
	enum rsm_message_type type = 0;

	lockdep_assert_held(&link->lock);
	if (!rsm_outbox_is_empty(link) || has_requests(link))
		queue_work(rsm_link_wq, &link->work);
	if (!is_started(link))
		return 0;
	if (rsm_silence_is_death(&link->silence, jiffies, link->interval, stirred)) {
		begin_end(link, death(link));
		return 0;
	}
	if (time_after_eq(jiffies, link->sent + link->interval / 2)) {
		link->sent = jiffies;
		type = link->state == RSM_LINK_ACTIVE ? RSM_MSG_HEARTBEAT :
							RSM_MSG_HELLO;
	}
	next_tick(link);
	return type;
}

static void link_timer(struct timer_list *timer)
{
	struct rsm_link *link = timer_container_of(link, timer, timer);
	enum rsm_message_type type;
	unsigned long flags;

	spin_lock_irqsave(&link->lock, flags);
	type = tick(link);
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
	if (!is_started(link))
		link->inbox_head = link->inbox_tail;
	if (link->inbox_head != link->inbox_tail) {
		*message = link->inbox[link->inbox_head++ % RSM_LINK_INBOX];
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
	struct rsm_link_message message;

	for (int i = 0; i < RSM_LINK_INBOX; i++) {
		if (!rsm_answer_flush(link))
			return false;
		if (!take_message(link, &message))
			return true;
		rsm_message_handle(link, message.data);
		cond_resched();
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
	spin_unlock_irq(&link->lock);
	if (refused)
		link->ops->resume(link);
	return emptied && !refused;
}

static void become_down(struct rsm_link *link)
{
	mutex_lock(&rsm_agent_lock);
	link_note_change();
	spin_lock_irq(&link->lock);
	link->state = RSM_LINK_DOWN;
	link->peer = 0;
	link->blocked = false;
	spin_unlock_irq(&link->lock);
	mutex_unlock(&rsm_agent_lock);
}

/* End all imports, importers and messages of the link. */
static void finish(struct rsm_link *link)
{
	u64 peer = link->peer ?: link->expected;
	bool was_up = link->up;

	timer_delete_sync(&link->timer);
	WRITE_ONCE(link->outbox_head, link->outbox_tail);
	link->up = false;
	rsm_remote_segment_link_down(link);
	rsm_remote_importer_link_down(link);
	pr_info_ratelimited("rsm: %s: node %u is down: %s\n", link->ctl->name, link->node,
			    link->why);
	if (was_up)
		rsm_notify_node_down(link, link->why);
	link->ops->down(link, peer);
	become_down(link);
	wake_up_all(&link->changed);
}

static void link_work(struct work_struct *work)
{
	struct rsm_link *link = container_of(work, struct rsm_link, work);
	enum rsm_link_state state;
	bool drained;

	kcov_remote_start(kcov_remote_handle(KCOV_SUBSYSTEM_COMMON,
					     READ_ONCE(link->kcov_handle)));
	drained = handle_inbox(link);
	rsm_remote_segment_deliver_bells(link);
	rsm_requests_run(link, drained);
	spin_lock_irq(&link->lock);
	state = link->state;
	spin_unlock_irq(&link->lock);
	if (state == RSM_LINK_ENDING)
		finish(link);
	kcov_remote_stop();
}

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
	sema_init(&link->requests, RSM_LINK_REQUESTS);
	INIT_LIST_HEAD(&link->unsent);
	INIT_LIST_HEAD(&link->unanswered);
	xa_init_flags(&link->remotes, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ | XA_FLAGS_ACCOUNT);
	xa_init_flags(&link->remote_ids, XA_FLAGS_LOCK_IRQ | XA_FLAGS_ACCOUNT);
	xa_init_flags(&link->importers, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
	mutex_lock(&rsm_agent_lock);
	link->serial = ++last_serial;
	list_add_tail(&link->entry, &rsm_links);
	link_note_change();
	mutex_unlock(&rsm_agent_lock);
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
	mutex_lock(&rsm_agent_lock);
	list_del(&link->entry);
	link_note_change();
	mutex_unlock(&rsm_agent_lock);
	cancel_work_sync(&link->work);
	xa_destroy(&link->remotes);
	xa_destroy(&link->remote_ids);
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
	mutex_lock(&rsm_agent_lock);
	link_note_change();
	spin_lock_irq(&link->lock);
	link->node = node;
	link->hwaddr = hwaddr;
	link->expected_node = true;
	spin_unlock_irq(&link->lock);
	mutex_unlock(&rsm_agent_lock);
}
EXPORT_SYMBOL_GPL(rsm_link_expect);

/**
 * rsm_link_forget() - the configuration has no node at the other end any more
 * @link: the link, down
 */
void rsm_link_forget(struct rsm_link *link)
{
	mutex_lock(&rsm_agent_lock);
	link_note_change();
	spin_lock_irq(&link->lock);
	link->expected_node = false;
	link->known = false;
	link->why = NULL;
	spin_unlock_irq(&link->lock);
	mutex_unlock(&rsm_agent_lock);
}
EXPORT_SYMBOL_GPL(rsm_link_forget);

/*
 * Both nodes use the longer interval. Before the peer's greeting, @theirs is what the controller
 * knows, if anything; an interval that does not fit is refused when the greeting comes.
 */
static unsigned long common_interval(u32 theirs)
{
	return msecs_to_jiffies(clamp(theirs, rsm_heartbeat_ms(), RSM_HEARTBEAT_MAX));
}

static void set_up(struct rsm_link *link, const struct rsm_link_peer *peer)
{
	lockdep_assert_held(&link->lock);
	link->node = peer->node;
	link->hwaddr = peer->hwaddr;
	link->incarnation = peer->own;
	link->expected = peer->incarnation;
	link->peer = 0;
	link->known = true;
	link->refused = false;
	link->objection = NULL;
	link->interval = common_interval(peer->interval_ms);
	rsm_silence_begin(&link->silence, jiffies);
	link->sent = jiffies;
	link->inbox_head = link->inbox_tail;
	link->inbox_refused = false;
	link->state = RSM_LINK_GREETING;
	next_tick(link);
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
	bool started = false;

	mutex_lock(&rsm_agent_lock);
	spin_lock_irq(&link->lock);
	if (link->state == RSM_LINK_DOWN) {
		link_note_change();
		set_up(link, peer);
		started = true;
	}
	spin_unlock_irq(&link->lock);
	mutex_unlock(&rsm_agent_lock);
	if (started)
		rsm_send_hello(link, RSM_MSG_HELLO);
	return started;
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
	bool active;

	spin_lock_irq(&link->lock);
	active = link->state == RSM_LINK_ACTIVE;
	spin_unlock_irq(&link->lock);
	if (active)
		rsm_send_hello(link, RSM_MSG_BYE);
	rsm_link_fail(link, why);
	flush_work(&link->work);
}
EXPORT_SYMBOL_GPL(rsm_link_stop);

/* Note the peer's incarnation and interval: its messages are current from now on. */
static void note_peer(struct rsm_link *link, const struct rsm_msg_hello *hello)
{
	lockdep_assert_held(&link->lock);
	link->peer = le64_to_cpu(hello->header.from);
	link->interval = common_interval(le32_to_cpu(hello->interval_ms));
}

static void note_other_version(struct rsm_link *link, const struct rsm_msg_hello *hello)
{
	lockdep_assert_held(&link->lock);
	if (!link->refused)
		pr_warn_ratelimited("rsm: %s: node %u speaks version %u of the protocol, not %u\n",
				    link->ctl->name, link->node,
				    le16_to_cpu(hello->header.version),
				    RSM_PROTOCOL_VERSION);
	link->refused = true;
	link->objection = "speaks another version of the protocol";
}

/*
 * Nodes whose intervals do not fit would disagree about how long a peer may be silent. Each gets
 * the other's HELLO, and refuses it.
 */
static bool has_fitting_interval(struct rsm_link *link, const struct rsm_msg_hello *hello)
{
	u32 ms = le32_to_cpu(hello->interval_ms);

	lockdep_assert_held(&link->lock);
	if (rsm_intervals_fit(ms, rsm_heartbeat_ms()))
		return true;
	if (!link->objection)
		pr_warn_ratelimited("rsm: %s: node %u is refused: its heartbeat_ms is %u and ours %u, more than %u times apart\n",
				    link->ctl->name, link->node, ms, rsm_heartbeat_ms(),
				    RSM_INTERVAL_FACTOR);
	link->objection = "its heartbeat_ms does not fit";
	/* The peer repeats its HELLO at its own interval. */
	link->interval = common_interval(ms);
	return false;
}

/* A HELLO or WELCOME has arrived; false if link->work need not handle it. */
static bool take_greeting(struct rsm_link *link, const struct rsm_msg_hello *hello)
{
	lockdep_assert_held(&link->lock);
	switch (rsm_greeting_classify(link, hello)) {
	case RSM_GREETING_PEER:
		if (!has_fitting_interval(link, hello))
			return false;
		note_peer(link, hello);
		return true;
	case RSM_GREETING_RESTARTED:
		begin_end(link, "restarted");
		return false;
	case RSM_GREETING_OTHER_VERSION:
		note_other_version(link, hello);
		return false;
	default:
		return false;
	}
}

/* Make a greeting link active; false if it was active already, or is ending. */
static bool become_active(struct rsm_link *link)
{
	bool up = false;

	spin_lock_irq(&link->lock);
	if (link->state == RSM_LINK_GREETING) {
		link->state = RSM_LINK_ACTIVE;
		next_tick(link);
		up = true;
	}
	spin_unlock_irq(&link->lock);
	return up;
}

/*
 * Handle HELLO or WELCOME of the peer: answer HELLO, and make the link active. No task sends other
 * messages before the link is active, so the answer goes first.
 */
void rsm_greeting_handle(struct rsm_link *link, const struct rsm_msg_hello *hello)
{
	if (le16_to_cpu(hello->header.type) == RSM_MSG_HELLO)
		rsm_answer_hello(link);
	if (!become_active(link))
		return;
	pr_info_ratelimited("rsm: %s: node %u is up\n", link->ctl->name, link->node);
	link->up = true;
	wake_up_all(&link->changed);
	rsm_notify_node_up(link);
}

/* Is the message one between this link's two incarnations, or a greeting? */
static bool is_current(struct rsm_link *link, const struct rsm_msg_header *header)
{
	lockdep_assert_held(&link->lock);
	if (!is_started(link))
		return false;
	if (le16_to_cpu(header->type) == RSM_MSG_HELLO)
		return true;
	if (le64_to_cpu(header->to) != link->incarnation)
		return false;
	return le16_to_cpu(header->type) == RSM_MSG_WELCOME ||
	       (link->peer && le64_to_cpu(header->from) == link->peer);
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

/*
 * Classes of messages: drop it, deliver it at once, leave it to link->work, or refuse it because
 * the inbox has no room.
 */
enum link_message_class { DROP, DELIVER, LEAVE, NO_ROOM };

static enum link_message_class classify(struct rsm_link *link,
					const struct rsm_msg_header *header, size_t len)
{
	lockdep_assert_held(&link->lock);
	if (!rsm_message_is_sound(header, len) || !is_current(link, header)) {
		link->dropped++;
		return DROP;
	}
	link->silence.heard = jiffies;
	switch (le16_to_cpu(header->type)) {
	case RSM_MSG_HEARTBEAT:
		return DROP;
	case RSM_MSG_BELL:
		return DELIVER;
	case RSM_MSG_HELLO:
	case RSM_MSG_WELCOME:
		if (!take_greeting(link, (const void *)header))
			return DROP;
		fallthrough;
	default:
		return put_into_inbox(link, header, len) ? LEAVE : NO_ROOM;
	}
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
	enum link_message_class class;
	unsigned long flags;

	spin_lock_irqsave(&link->lock, flags);
	class = classify(link, message, len);
	spin_unlock_irqrestore(&link->lock, flags);
	if (class == DELIVER)
		rsm_bell_ring(link, message);
	return class != NO_ROOM;
}
EXPORT_SYMBOL_GPL(rsm_link_receive);

static void describe(struct rsm_link *link, struct rsm_topology_peer *peer)
{
	memset(peer, 0, sizeof(*peer));
	strscpy(peer->name, link->ctl->name, sizeof(peer->name));
	spin_lock_irq(&link->lock);
	peer->node_id = link->node;
	peer->hwaddr = link->hwaddr;
	peer->state = link->state + 1;
	spin_unlock_irq(&link->lock);
}

/* The states of the topology: down, up, active, going down. */
static_assert(RSM_LINK_DOWN + 1 == 1 && RSM_LINK_GREETING + 1 == 2 &&
	      RSM_LINK_ACTIVE + 1 == 3 && RSM_LINK_ENDING + 1 == 4);

/* The link is down: does another link lead to the same node? */
static bool is_superseded(const struct rsm_link *link)
{
	const struct rsm_link *other;

	lockdep_assert_held(&rsm_agent_lock);
	if (READ_ONCE(link->state) != RSM_LINK_DOWN)
		return false;
	list_for_each_entry(other, &rsm_links, entry)
		if (other != link && other->ctl == link->ctl && other->known &&
		    other->node == link->node &&
		    (READ_ONCE(other->state) != RSM_LINK_DOWN || other->hwaddr < link->hwaddr))
			return true;
	return false;
}

/* The number of the present set of links: see link_note_change(). */
u32 rsm_link_changes(void)
{
	lockdep_assert_held(&rsm_agent_lock);
	return changes;
}

/* Does node-get list the link? The topology has only links that were started once. */
bool rsm_link_is_listed(const struct rsm_link *link)
{
	lockdep_assert_held(&rsm_agent_lock);
	return (link->known || link->expected_node) && !is_superseded(link);
}

/**
 * rsm_agent_peers() - &rsm_controller_ops.peers of a controller with links
 * @ctl: the controller
 * @peers: where to put them
 * @max: how many there is room for
 *
 * Return: how many there are.
 */
unsigned int rsm_agent_peers(struct rsm_controller *ctl,
			     struct rsm_topology_peer *peers, unsigned int max)
{
	unsigned int count = 0;
	struct rsm_link *link;

	mutex_lock(&rsm_agent_lock);
	list_for_each_entry(link, &rsm_links, entry) {
		if (link->ctl != ctl || !link->known || is_superseded(link))
			continue;
		if (count < max)
			describe(link, &peers[count]);
		count++;
	}
	mutex_unlock(&rsm_agent_lock);
	return count;
}
EXPORT_SYMBOL_GPL(rsm_agent_peers);
