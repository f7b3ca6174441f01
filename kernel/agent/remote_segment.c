// SPDX-License-Identifier: GPL-2.0
/*
 * The importing side: segments of other nodes. All imports of a segment on this node share one
 * record, and the exporter's node knows only of the record. The first import sends CONNECT. This
 * node decides whether a user may connect, by the owner and mode that the exporter's node has
 * answered.
 */

#include "agent.h"
#include "remote.h"

#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

/* Most imports of a segment that get events in the interrupt; link->work serves more. */
#define RING_AT_ONCE	8U
/* A mark in link->remotes: link->work has to deliver bells of this segment. */
#define HAS_BELLS	XA_MARK_1

/**
 * struct rsm_remote_segment - a segment of another node
 * @link: the link to that node
 * @peer: incarnation of that node
 * @id: segment id there
 * @by_id: place in the link's tree of records
 * @cookie: number by which this node names it, its index in the link's xarray
 * @machine: its state; one that has ended is not in the xarray any more
 * @changed: woken when its state changes
 * @users: imports, and calls of connect under way
 * @imports: connected ones; changed under the xarray's lock, too
 * @import_count: how many; guarded by the xarray's lock, as is what follows
 * @bells: bells that @imports have not got yet
 * @uid: owner, invalid if there is no such user here
 * @gid: group, likewise
 * @mem: its memory, if the controller has any to show
 * @on_link: place among the link's records that have no user any more
 */
struct rsm_remote_segment {
	struct rsm_link *link;
	u64 peer;
	u32 id;
	struct rb_node by_id;
	u32 cookie;
	struct rsm_remote_machine machine;
	wait_queue_head_t changed;
	unsigned int users;
	struct list_head imports;
	unsigned int import_count;
	struct rsm_bells bells;
	kuid_t uid;
	kgid_t gid;
	struct rsm_mem *mem;
	struct list_head on_link;
};

static struct rsm_link *find_link(const struct rsm_import *imp, rsm_status_t *status)
{
	struct rsm_link *link;

	lockdep_assert_held(&rsm_agent_lock);
	*status = RSM_STS_REMOTE_NODE_UNREACHABLE;
	list_for_each_entry(link, &rsm_links, entry) {
		if (link->ctl != imp->seg.ctl || link->machine.node != imp->node)
			continue;
		if (READ_ONCE(link->machine.state) == RSM_LINK_ACTIVE)
			return link;
		if (READ_ONCE(link->machine.state) == RSM_LINK_GREETING &&
		    READ_ONCE(link->machine.refused))
			*status = RSM_STS_BAD_DRIVER_VERSION;
	}
	return NULL;
}

static int id_compare(const void *id, const struct rb_node *node)
{
	u32 a = *(const u32 *)id, b = rb_entry(node, struct rsm_remote_segment, by_id)->id;

	return a < b ? -1 : a > b;
}

static int remote_compare(struct rb_node *new, const struct rb_node *node)
{
	return id_compare(&rb_entry(new, struct rsm_remote_segment, by_id)->id, node);
}

/* The link's record of a segment, with the caller as a user, or NULL. */
static struct rsm_remote_segment *remote_get(struct rsm_link *link, u32 id)
{
	struct rb_node *node = rb_find(&id, &link->remote_ids, id_compare);
	struct rsm_remote_segment *remote;

	lockdep_assert_held(&rsm_agent_lock);
	if (!node)
		return NULL;
	remote = rb_entry(node, struct rsm_remote_segment, by_id);
	remote->users++;
	return remote;
}

/*
 * Make a record that is not entered yet; its cookie is reserved. The caller holds no lock: in a
 * full cgroup it waits for memory, and other processes must not wait with it.
 */
static struct rsm_remote_segment *remote_alloc(struct rsm_link *link, u32 id)
{
	struct rsm_remote_segment *remote = kzalloc(sizeof(*remote), GFP_KERNEL_ACCOUNT);

	if (!remote)
		return NULL;
	if (xa_alloc_cyclic_irq(&link->remotes, &remote->cookie, NULL, xa_limit_31b,
				&link->next_cookie, GFP_KERNEL) < 0) {
		kfree(remote);
		return NULL;
	}
	remote->link = link;
	remote->id = id;
	init_waitqueue_head(&remote->changed);
	INIT_LIST_HEAD(&remote->imports);
	return remote;
}

/* Undo remote_alloc(). */
static void remote_free(struct rsm_remote_segment *fresh)
{
	xa_erase_irq(&fresh->link->remotes, fresh->cookie);
	kfree(fresh);
}

/*
 * Enter @fresh as the record of the segment that @imp names, unless there is one by now. Returns
 * the record that is entered, with the caller as a user, or NULL.
 */
static struct rsm_remote_segment *enter_remote(struct rsm_remote_segment *fresh,
					       const struct rsm_import *imp, rsm_status_t *status)
{
	struct rsm_link *link = find_link(imp, status);
	struct rsm_remote_segment *remote;

	lockdep_assert_held(&rsm_agent_lock);
	if (!link)
		return NULL;
	/* The node has come back by another link meanwhile. */
	*status = RSM_STS_REMOTE_NODE_UNREACHABLE;
	if (link != fresh->link)
		return NULL;
	remote = remote_get(link, imp->id);
	if (remote)
		return remote;
	fresh->peer = READ_ONCE(link->machine.peer);
	fresh->users = 1;
	rb_find_add(&fresh->by_id, &link->remote_ids, remote_compare);
	/* The entry is reserved, so this needs no memory. */
	xa_store_irq(&link->remotes, fresh->cookie, fresh, 0);
	atomic_inc(&link->remote_count);
	return fresh;
}

static void ring_import(struct rsm_import *imp, const struct rsm_bells *bells)
{
	if (bells->once)
		rsm_event_post(&imp->seg, RSM_SIGPOST_NO_ACCUMULATE);
	if (bells->count)
		rsm_events_post(&imp->seg, bells->count);
}

/* Deliver the bells that the interrupt has left to process context to all imports. */
static void deliver_bells(struct rsm_remote_segment *remote)
{
	struct xarray *remotes = &remote->link->remotes;
	struct rsm_bells bells;
	struct rsm_import *imp;

	lockdep_assert_held(&rsm_agent_lock);
	xa_lock_irq(remotes);
	bells = remote->bells;
	remote->bells = (struct rsm_bells) {};
	__xa_clear_mark(remotes, remote->cookie, HAS_BELLS);
	xa_unlock_irq(remotes);
	if (!bells.once && !bells.count)
		return;
	list_for_each_entry(imp, &remote->imports, link) {
		ring_import(imp, &bells);
		cond_resched();
	}
}

/* The link's work: bells of segments that have many imports. */
void rsm_remote_segment_deliver_bells(struct rsm_link *link)
{
	struct rsm_remote_segment *remote;
	unsigned long cookie;

	if (!xa_marked(&link->remotes, HAS_BELLS))
		return;
	mutex_lock(&rsm_agent_lock);
	xa_for_each_marked(&link->remotes, cookie, remote, HAS_BELLS)
		deliver_bells(remote);
	mutex_unlock(&rsm_agent_lock);
}

/*
 * The record has ended: nothing can connect to it and no event reaches it any more. The caller
 * takes over the reference on its memory, for detach_mem().
 */
static struct rsm_mem *remove_remote(struct rsm_remote_segment *remote)
{
	struct rsm_mem *mem = remote->mem;

	lockdep_assert_held(&rsm_agent_lock);
	deliver_bells(remote);
	xa_erase_irq(&remote->link->remotes, remote->cookie);
	rb_erase(&remote->by_id, &remote->link->remote_ids);
	atomic_dec(&remote->link->remote_count);
	remote->mem = NULL;
	wake_up_all(&remote->changed);
	return mem;
}

/*
 * Take the next import of those to visit, referenced, and put it behind the others: imports may
 * leave meanwhile. The caller holds a use of the record, and drops rsm_agent_lock for the visit:
 * the mappings of an import may be so many that a change of them takes seconds, and the works of
 * all links wait for rsm_agent_lock. Returns NULL if there is none.
 */
static struct rsm_import *next_import(struct rsm_remote_segment *remote, unsigned int *left)
{
	struct rsm_import *imp;

	lockdep_assert_held(&rsm_agent_lock);
	imp = list_first_entry_or_null(&remote->imports, struct rsm_import, link);
	if (!imp || !*left)
		return NULL;
	--*left;
	xa_lock_irq(&remote->link->remotes);
	list_move_tail(&imp->link, &remote->imports);
	xa_unlock_irq(&remote->link->remotes);
	rsm_import_get(imp);
	return imp;
}

/* The record has ended; abort all imports of the segment. */
static void abort_imports(struct rsm_remote_segment *remote, enum rsm_reason reason)
{
	unsigned int left = remote->import_count;
	struct rsm_import *imp;

	lockdep_assert_held(&rsm_agent_lock);
	while ((imp = next_import(remote, &left))) {
		mutex_unlock(&rsm_agent_lock);
		rsm_import_abort(imp, reason);
		rsm_import_put(imp);
		mutex_lock(&rsm_agent_lock);
	}
}

/* The record has other memory. Put it behind all imports; those that join meanwhile have it. */
static void move_imports(struct rsm_remote_segment *remote, struct rsm_mem *old)
{
	unsigned int left = remote->import_count;
	struct rsm_import *imp;

	lockdep_assert_held(&rsm_agent_lock);
	while ((imp = next_import(remote, &left))) {
		mutex_unlock(&rsm_agent_lock);
		rsm_import_replace_mem(imp, old, remote->mem);
		rsm_import_put(imp);
		mutex_lock(&rsm_agent_lock);
	}
}

/*
 * remove_remote() with all imports of the segment. Drops rsm_agent_lock meanwhile: the caller must
 * not use the record any more.
 */
static struct rsm_mem *abort_remote(struct rsm_remote_segment *remote, enum rsm_reason reason)
{
	struct rsm_mem *mem = remove_remote(remote);

	remote->users++;
	abort_imports(remote, reason);
	if (!--remote->users)
		kfree(remote);
	return mem;
}

/* Returns true if the record had not ended before. */
static bool end_remote(struct rsm_remote_segment *remote)
{
	struct rsm_remote_input input = { .event = RSM_REMOTE_END };

	lockdep_assert_held(&rsm_agent_lock);
	return rsm_remote_step(&remote->machine, &input).ended;
}

/* No import reaches the memory any more. Wait for transfers, before the exporter is notified. */
static void detach_mem(struct rsm_link *link, struct rsm_mem *mem)
{
	if (mem && link->ops->detach)
		link->ops->detach(link, mem);
	rsm_mem_put_later(mem);
}

static int send_disconnect(const struct rsm_remote_segment *remote)
{
	struct rsm_msg_connection message;

	/* A later incarnation of that node knows nothing of the segment. */
	if (!rsm_link_is_active(remote->link, remote->peer))
		return 0;
	rsm_connection_init(remote->link, &message, RSM_MSG_DISCONNECT, remote->cookie,
			    remote->machine.handle);
	return rsm_send_in_turn(remote->link, &message);
}

/* Leave the record to the link's work, which runs until the link has ended; false if it has. */
static bool leave_to_work(struct rsm_remote_segment *remote)
{
	struct rsm_link *link = remote->link;
	bool active;

	spin_lock_irq(&link->lock);
	active = link->machine.state == RSM_LINK_ACTIVE && link->machine.peer == remote->peer;
	if (active) {
		list_add_tail(&remote->on_link, &link->unused);
		queue_work(rsm_link_wq, &link->work);
	}
	spin_unlock_irq(&link->lock);
	return active;
}

/*
 * Notify the exporter's node that this one has no use for the segment. If there is no room, the
 * link's work does that: a process that exits must not wait for the node.
 */
static void disconnect(struct rsm_remote_segment *remote)
{
	if (send_disconnect(remote) != -EAGAIN || !leave_to_work(remote))
		kfree(remote);
}

static struct rsm_remote_segment *first_unused(struct rsm_link *link)
{
	struct rsm_remote_segment *remote;

	spin_lock_irq(&link->lock);
	remote = list_first_entry_or_null(&link->unused, struct rsm_remote_segment, on_link);
	spin_unlock_irq(&link->lock);
	return remote;
}

/**
 * rsm_remote_segments_disconnect() - notify the peer of segments that have no user any more
 * @link: the link
 *
 * Called by the link's work, or after its end. A link that is not active only forgets the segments.
 */
void rsm_remote_segments_disconnect(struct rsm_link *link)
{
	struct rsm_remote_segment *remote;

	while ((remote = first_unused(link))) {
		if (!rsm_link_note_sent(link, send_disconnect(remote)))
			return;
		spin_lock_irq(&link->lock);
		list_del(&remote->on_link);
		spin_unlock_irq(&link->lock);
		kfree(remote);
	}
}

/* Give up a use; after the last one notify the exporter's node. */
static void remote_put(struct rsm_remote_segment *remote)
{
	struct rsm_mem *mem = NULL;
	bool notify;

	mutex_lock(&rsm_agent_lock);
	if (--remote->users) {
		mutex_unlock(&rsm_agent_lock);
		return;
	}
	notify = remote->machine.state == RSM_REMOTE_CONNECTED;
	if (end_remote(remote))
		mem = remove_remote(remote);
	mutex_unlock(&rsm_agent_lock);
	detach_mem(remote->link, mem);
	if (notify)
		disconnect(remote);
	else
		kfree(remote);
}

static bool is_connecting(struct rsm_remote_segment *remote)
{
	return READ_ONCE(remote->machine.state) == RSM_REMOTE_CONNECTING;
}

/*
 * Send CONNECT until the exporter's node answers. A repeated CONNECT only repeats the answer, so
 * each task that waits for the answer sends it. The link to a node that lives and does not answer
 * fails, so that no task waits for that node once more.
 */
static rsm_status_t ask(struct rsm_remote_segment *remote)
{
	struct rsm_link *link = remote->link;
	struct rsm_msg_connect message;
	unsigned long now, start = 0;
	bool asked = false;
	long left;

	rsm_message_init(link, &message.header, RSM_MSG_CONNECT, sizeof(message));
	message.id = cpu_to_le32(remote->id);
	message.cookie = cpu_to_le32(remote->cookie);
	for (;;) {
		now = jiffies;
		if (!is_connecting(remote))
			return RSM_STS_SUCCESS;
		if (asked && rsm_link_answer_is_missed(link, start, now) && is_connecting(remote))
			rsm_link_fail(link, "does not answer");
		if (rsm_send(link, remote->peer, &message))
			return RSM_STS_REMOTE_NODE_UNREACHABLE;
		if (!asked)
			start = jiffies;
		asked = true;
		left = wait_event_interruptible_timeout(remote->changed,
							!is_connecting(remote),
							READ_ONCE(link->machine.interval));
		if (left < 0)
			return RSM_STS_INTERRUPTED;
	}
}

static rsm_status_t negotiate(struct rsm_remote_segment *remote)
{
	rsm_status_t status;

	if (!is_connecting(remote))
		return RSM_STS_SUCCESS;
	if (down_interruptible(&remote->link->connects))
		return RSM_STS_INTERRUPTED;
	status = ask(remote);
	up(&remote->link->connects);
	return status;
}

/* Do owner and mode of the connected segment let the caller have the import? */
static rsm_status_t may_join(struct rsm_remote_segment *remote, struct rsm_import *imp)
{
	lockdep_assert_held(&rsm_agent_lock);
	if (remote->machine.state == RSM_REMOTE_ENDED)
		return remote->machine.status;
	if (remote->machine.closed)
		return RSM_STS_SEG_NOT_PUBLISHED_TO_NODE;
	return rsm_import_admit(imp, remote->uid, remote->gid, remote->machine.mode) ?
		       RSM_STS_SUCCESS : RSM_STS_PERM_DENIED;
}

static bool is_placed(const struct rsm_remote_segment *remote)
{
	return READ_ONCE(remote->machine.placed) ||
	       READ_ONCE(remote->machine.state) == RSM_REMOTE_ENDED;
}

/*
 * Ask for the place of the memory, after may_join(). The peer may have to make keys, which takes
 * time in proportion to the memory. If that takes too long, only this connect fails.
 */
static rsm_status_t get_placed(struct rsm_remote_segment *remote)
{
	struct rsm_link *link = remote->link;
	struct rsm_msg_connection message;
	long left;

	if (is_placed(remote))
		return RSM_STS_SUCCESS;
	rsm_connection_init(link, &message, RSM_MSG_PLACE, remote->cookie, remote->machine.handle);
	if (rsm_send(link, remote->peer, &message))
		return RSM_STS_REMOTE_NODE_UNREACHABLE;
	left = wait_event_interruptible_timeout(remote->changed, is_placed(remote),
						msecs_to_jiffies(link->ops->place_ms));
	if (left < 0)
		return RSM_STS_INTERRUPTED;
	return left ? RSM_STS_SUCCESS : RSM_STS_REMOTE_NODE_UNREACHABLE;
}

/* Add @imp to the imports of a segment that is placed. */
static rsm_status_t join(struct rsm_remote_segment *remote, struct rsm_import *imp)
{
	rsm_status_t status = may_join(remote, imp);

	lockdep_assert_held(&rsm_agent_lock);
	if (status)
		return status;
	imp->length = remote->machine.length;
	imp->remote = remote;
	rsm_import_set_mem(imp, remote->mem);
	/* @imp must not get bells that were rung before it joined. */
	deliver_bells(remote);
	xa_lock_irq(&remote->link->remotes);
	remote->import_count++;
	list_add_tail(&imp->link, &remote->imports);
	xa_unlock_irq(&remote->link->remotes);
	return RSM_STS_SUCCESS;
}

typedef rsm_status_t join_step_t(struct rsm_remote_segment *remote, struct rsm_import *imp);

static rsm_status_t step_locked(join_step_t *step, struct rsm_remote_segment *remote,
				struct rsm_import *imp)
{
	rsm_status_t status;

	mutex_lock(&rsm_agent_lock);
	status = step(remote, imp);
	mutex_unlock(&rsm_agent_lock);
	return status;
}

/*
 * The record of the segment that @imp names, with the caller as a user, or NULL. A controller with
 * a caller in its connect() keeps its links.
 */
static struct rsm_remote_segment *remote_use(const struct rsm_import *imp, rsm_status_t *status)
{
	struct rsm_remote_segment *remote = NULL, *fresh;
	struct rsm_link *link;

	mutex_lock(&rsm_agent_lock);
	link = find_link(imp, status);
	if (link)
		remote = remote_get(link, imp->id);
	mutex_unlock(&rsm_agent_lock);
	if (remote || !link)
		return remote;
	*status = RSM_STS_INSUFFICIENT_MEM;
	fresh = remote_alloc(link, imp->id);
	if (!fresh)
		return NULL;
	mutex_lock(&rsm_agent_lock);
	remote = enter_remote(fresh, imp, status);
	mutex_unlock(&rsm_agent_lock);
	if (remote != fresh)
		remote_free(fresh);
	return remote;
}

static rsm_status_t connect_remote(struct rsm_import *imp)
{
	struct rsm_remote_segment *remote;
	rsm_status_t status;

	remote = remote_use(imp, &status);
	if (!remote)
		return status;
	status = negotiate(remote);
	if (!status)
		status = step_locked(may_join, remote, imp);
	if (!status)
		status = get_placed(remote);
	if (!status)
		status = step_locked(join, remote, imp);
	if (status)
		remote_put(remote);
	return status;
}

/**
 * rsm_agent_connect() - &rsm_controller_ops.connect of a controller with links
 * @imp: the import
 *
 * Return: as rsm_local_connect(), and RSMERR_REMOTE_NODE_UNREACHABLE,
 * RSMERR_CONN_ABORTED, RSMERR_BAD_DRIVER_VERSION, RSMERR_INSUFFICIENT_MEM or
 * RSMERR_INTERRUPTED.
 */
rsm_status_t rsm_agent_connect(struct rsm_import *imp)
{
	return imp->node == rsm_node_id() ? rsm_local_connect(imp) : connect_remote(imp);
}
EXPORT_SYMBOL_GPL(rsm_agent_connect);

/**
 * rsm_agent_disconnect() - undo rsm_agent_connect()
 * @imp: the import
 */
void rsm_agent_disconnect(struct rsm_import *imp)
{
	struct rsm_remote_segment *remote = imp->remote;

	if (!remote) {
		rsm_local_disconnect(imp);
		return;
	}
	mutex_lock(&rsm_agent_lock);
	xa_lock_irq(&remote->link->remotes);
	remote->import_count--;
	list_del_init(&imp->link);
	xa_unlock_irq(&remote->link->remotes);
	mutex_unlock(&rsm_agent_lock);
	imp->remote = NULL;
	/* Before remote_put() lets the exporter's node give the memory to others. */
	rsm_import_set_mem(imp, NULL);
	remote_put(remote);
}
EXPORT_SYMBOL_GPL(rsm_agent_disconnect);

/**
 * rsm_agent_post() - &rsm_controller_ops.post of a controller with links
 * @imp: the import that posts
 * @flags: RSM_SIGPOST_NO_ACCUMULATE or 0
 *
 * Return: RSM_SUCCESS or RSMERR_CONN_ABORTED.
 */
rsm_status_t rsm_agent_post(struct rsm_import *imp, u32 flags)
{
	struct rsm_remote_segment *remote = imp->remote;
	struct rsm_msg_connection message;

	if (!remote)
		return rsm_local_post(imp, flags);
	rsm_connection_init(remote->link, &message, RSM_MSG_BELL, remote->cookie,
			    remote->machine.handle);
	message.value = cpu_to_le32(flags);
	message.to_exporter = cpu_to_le32(1);
	return rsm_send(remote->link, remote->peer, &message) ? RSM_STS_CONN_ABORTED :
								RSM_STS_SUCCESS;
}
EXPORT_SYMBOL_GPL(rsm_agent_post);

/* Answer that no import here uses the segment with this cookie and handle. */
static void decline(struct rsm_link *link, __le32 cookie, __le32 handle)
{
	struct rsm_msg_connection message;

	rsm_connection_init(link, &message, RSM_MSG_DISCONNECT, le32_to_cpu(cookie),
			    le32_to_cpu(handle));
	rsm_answer(link, &message);
}

static rsm_status_t attach(struct rsm_remote_segment *remote, const __le64 *words,
			   struct rsm_mem **mem)
{
	struct rsm_place place = { { le64_to_cpu(words[0]), le64_to_cpu(words[1]) } };
	struct rsm_link *link = remote->link;

	*mem = NULL;
	return link->ops->attach ? link->ops->attach(link, remote->machine.length, &place, mem) :
				   RSM_STS_SUCCESS;
}

/* Let the controller look at the place of the memory, and use the memory if the place is good. */
static struct rsm_remote_output attach_at(struct rsm_remote_segment *remote, const __le64 *words)
{
	struct rsm_remote_input input = { .event = RSM_REMOTE_ATTACHED };
	struct rsm_mem *mem;

	lockdep_assert_held(&rsm_agent_lock);
	input.status = attach(remote, words, &mem);
	if (!input.status)
		remote->mem = mem;
	return rsm_remote_step(&remote->machine, &input);
}

static void note_owner(struct rsm_remote_segment *remote, const struct rsm_msg_connected *msg)
{
	lockdep_assert_held(&rsm_agent_lock);
	remote->uid = make_kuid(&init_user_ns, le32_to_cpu(msg->uid));
	remote->gid = make_kgid(&init_user_ns, le32_to_cpu(msg->gid));
}

/* Handle CONNECTED; false if the caller has to decline the connection. */
static bool take_answer(struct rsm_link *link, const struct rsm_msg_connected *msg)
{
	struct rsm_remote_segment *remote = xa_load(&link->remotes, le32_to_cpu(msg->cookie));
	struct rsm_remote_input input = {
		.event = RSM_REMOTE_ANSWER, .has_keys = link->ops->leave, .connected = msg,
	};
	struct rsm_remote_output output;

	lockdep_assert_held(&rsm_agent_lock);
	if (!remote)
		return false;
	output = rsm_remote_step(&remote->machine, &input);
	if (output.accepted)
		note_owner(remote, msg);
	if (output.attach)
		output = attach_at(remote, msg->place);
	/* A segment that is not placed yet has no memory. */
	if (output.ended)
		rsm_mem_put(remove_remote(remote));
	else if (output.changed)
		wake_up_all(&remote->changed);
	return !output.decline;
}

void rsm_remote_segment_connected(struct rsm_link *link, const struct rsm_msg_connected *msg)
{
	bool taken;

	mutex_lock(&rsm_agent_lock);
	taken = take_answer(link, msg);
	mutex_unlock(&rsm_agent_lock);
	if (!taken && !msg->status)
		decline(link, msg->cookie, msg->handle);
}

/*
 * A message of the exporter's node has come. Returns the record if it is there; *@output says what
 * to do with it.
 */
static struct rsm_remote_segment *remote_receive(struct rsm_link *link, __le32 cookie,
						 const struct rsm_remote_input *input,
						 struct rsm_remote_output *output)
{
	struct rsm_remote_segment *remote = xa_load(&link->remotes, le32_to_cpu(cookie));

	lockdep_assert_held(&rsm_agent_lock);
	*output = (struct rsm_remote_output) {};
	if (remote)
		*output = rsm_remote_step(&remote->machine, input);
	return remote;
}

/* UNPUBLISH: abort all imports, then answer that nothing here reaches the segment any more. */
void rsm_remote_segment_unpublished(struct rsm_link *link, const struct rsm_msg_connection *msg)
{
	struct rsm_remote_input input = {
		.event = RSM_REMOTE_UNPUBLISH, .handle = le32_to_cpu(msg->handle),
	};
	struct rsm_remote_segment *remote;
	struct rsm_remote_output output;
	struct rsm_mem *mem = NULL;

	mutex_lock(&rsm_agent_lock);
	remote = remote_receive(link, msg->cookie, &input, &output);
	if (output.ended)
		mem = abort_remote(remote, RSM_REASON_EXPORTER);
	mutex_unlock(&rsm_agent_lock);
	detach_mem(link, mem);
	decline(link, msg->cookie, msg->handle);
}

/*
 * Put other memory behind all imports; a bad place ends the connection, otherwise the caller gets a
 * use of the record. Returns the old memory, for detach_mem().
 */
static struct rsm_mem *move(struct rsm_remote_segment *remote, const __le64 *words, bool *moved)
{
	struct rsm_mem *old = remote->mem;

	lockdep_assert_held(&rsm_agent_lock);
	*moved = !attach_at(remote, words).ended;
	if (!*moved)
		return abort_remote(remote, RSM_REASON_PEER_ERROR);
	wake_up_all(&remote->changed);
	remote->users++;
	if (old)
		move_imports(remote, old);
	return old;
}

/* MOVE: change the memory, then answer that nothing here reaches the former memory. */
void rsm_remote_segment_move(struct rsm_link *link, const struct rsm_msg_move *msg)
{
	struct rsm_remote_input input = {
		.event = RSM_REMOTE_MOVE, .handle = le32_to_cpu(msg->handle),
	};
	struct rsm_msg_connection answer;
	struct rsm_remote_segment *remote;
	struct rsm_remote_output output;
	struct rsm_mem *old = NULL;
	bool moved = false;

	mutex_lock(&rsm_agent_lock);
	remote = remote_receive(link, msg->cookie, &input, &output);
	if (output.attach)
		old = move(remote, msg->place, &moved);
	else if (output.ended)
		old = abort_remote(remote, RSM_REASON_PEER_ERROR);
	mutex_unlock(&rsm_agent_lock);
	detach_mem(link, old);
	if (moved)
		remote_put(remote);
	rsm_connection_init(link, &answer, moved ? RSM_MSG_MOVED : RSM_MSG_DISCONNECT,
			    le32_to_cpu(msg->cookie), le32_to_cpu(msg->handle));
	rsm_answer(link, &answer);
}

/* REPUBLISH: the new mode holds for later connects. */
void rsm_remote_segment_republished(struct rsm_link *link, const struct rsm_msg_connection *msg)
{
	struct rsm_remote_input input = {
		.event = RSM_REMOTE_REPUBLISH, .handle = le32_to_cpu(msg->handle),
		.mode = le32_to_cpu(msg->value),
	};
	struct rsm_remote_output output;

	mutex_lock(&rsm_agent_lock);
	remote_receive(link, msg->cookie, &input, &output);
	mutex_unlock(&rsm_agent_lock);
}

static void ring(struct rsm_remote_segment *remote, u32 flags)
{
	struct rsm_link *link = remote->link;
	struct rsm_import *imp;

	if (remote->import_count > RING_AT_ONCE) {
		rsm_bells_add(&remote->bells, flags);
		__xa_set_mark(&link->remotes, remote->cookie, HAS_BELLS);
		queue_work(rsm_link_wq, &link->work);
		return;
	}
	list_for_each_entry(imp, &remote->imports, link)
		rsm_event_post(&imp->seg, flags);
}

/* BELL from the exporter; any context. */
void rsm_remote_segment_bell(struct rsm_link *link, u32 cookie, u32 handle, u32 flags)
{
	struct rsm_remote_segment *remote;
	unsigned long irq_flags;

	xa_lock_irqsave(&link->remotes, irq_flags);
	remote = xa_load(&link->remotes, cookie);
	if (remote && remote->machine.handle == handle)
		ring(remote, flags);
	xa_unlock_irqrestore(&link->remotes, irq_flags);
}

/* The link is down: every connection over it is gone. */
void rsm_remote_segment_link_down(struct rsm_link *link)
{
	struct rsm_remote_segment *remote;
	unsigned long cookie;

	mutex_lock(&rsm_agent_lock);
	xa_for_each(&link->remotes, cookie, remote)
		if (end_remote(remote))
			rsm_mem_put_later(abort_remote(remote, RSM_REASON_NODE_DOWN));
	mutex_unlock(&rsm_agent_lock);
}
