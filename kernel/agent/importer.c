// SPDX-License-Identifier: GPL-2.0
/*
 * The exporting side: which nodes import segments of this one. The node list
 * is enforced here, user rights by the importing node. An importer holds the
 * segment's memory until its node says that nothing there reaches it, or is
 * down.
 */

#include "agent.h"

#include <linux/cred.h>
#include <linux/jiffies.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

/**
 * struct rsm_importer - a node that imports a segment
 * @link: the way there
 * @peer: incarnation of that node
 * @exp: the segment, referenced
 * @mem: its memory, referenced
 * @cookie: the importer's name for the segment
 * @handle: our name for the importer, its index in the link's xarray
 * @serial: importers of a segment are in the order of their serials
 * @on_export: place among the segment's importers
 */
struct rsm_importer {
	struct rsm_link *link;
	u64 peer;
	struct rsm_export *exp;
	struct rsm_mem *mem;
	u32 cookie;
	u32 handle;
	u64 serial;
	struct list_head on_export;
};

/* Somebody waits for importers to go. */
static DECLARE_WAIT_QUEUE_HEAD(importer_gone);
static atomic64_t last_serial = ATOMIC64_INIT(0);

/* @others: how many other importers the peer has for this segment */
static struct rsm_importer *find_importer(struct rsm_export *exp, struct rsm_link *link,
					  u32 cookie, unsigned int *others)
{
	struct rsm_importer *importer;

	lockdep_assert_held(&exp->importers_lock);
	*others = 0;
	list_for_each_entry(importer, &exp->remote_importers, on_export) {
		if (importer->link != link)
			continue;
		if (importer->cookie == cookie)
			return importer;
		++*others;
	}
	return NULL;
}

static u32 add_importer(struct rsm_export *exp, struct rsm_link *link, u32 cookie,
			struct rsm_importer **added)
{
	struct rsm_importer *importer = kzalloc(sizeof(*importer), GFP_KERNEL);

	lockdep_assert_held(&exp->importers_lock);
	if (!importer)
		return RSMERR_INSUFFICIENT_MEM;
	importer->link = link;
	importer->peer = READ_ONCE(link->peer);
	importer->exp = exp;
	importer->cookie = cookie;
	/* One peer may not use up our memory. */
	if (xa_alloc_cyclic_irq(&link->importers, &importer->handle, importer,
				XA_LIMIT(1, rsm_max_segments), &link->next_handle,
				GFP_KERNEL) < 0) {
		kfree(importer);
		return RSMERR_INSUFFICIENT_RESOURCES;
	}
	kref_get(&exp->seg.ref);
	importer->mem = rsm_mem_get(exp->mem);
	WRITE_ONCE(exp->mem->written, true);
	importer->serial = atomic64_inc_return(&last_serial);
	list_add_tail(&importer->on_export, &exp->remote_importers);
	*added = importer;
	return RSM_SUCCESS;
}

static int mode_for(const struct rsm_export *exp, const struct rsm_link *link)
{
	const struct rsm_acl *acl = exp->acl;

	lockdep_assert_held(&exp->importers_lock);
	return rsm_acl_node_mode(acl ? acl->entry : NULL, acl ? acl->count : 0,
				 exp->owner.umask, link->node);
}

static u32 admit(struct rsm_export *exp, struct rsm_link *link, u32 cookie,
		 struct rsm_msg_connected *answer)
{
	struct rsm_importer *importer;
	struct rsm_place place = {};
	u32 status = RSM_SUCCESS;
	unsigned int others;
	int mode;

	lockdep_assert_held(&exp->importers_lock);
	if (!exp->open || exp->seg.ctl != link->ctl)
		return RSMERR_SEG_NOT_PUBLISHED;
	mode = mode_for(exp, link);
	if (mode < 0)
		return RSMERR_SEG_NOT_PUBLISHED_TO_NODE;
	importer = find_importer(exp, link, cookie, &others);
	/* It needs one, and has more for the time until it has undone requests. */
	if (!importer && others >= RSM_LINK_REQUESTS)
		return RSMERR_INSUFFICIENT_RESOURCES;
	if (!importer)
		status = add_importer(exp, link, cookie, &importer);
	if (status)
		return status;
	if (link->ops->place)
		link->ops->place(link, exp, &place);
	answer->handle = cpu_to_le32(importer->handle);
	answer->mode = cpu_to_le32(mode);
	answer->uid = cpu_to_le32(from_kuid(&init_user_ns, exp->owner.uid));
	answer->gid = cpu_to_le32(from_kgid(&init_user_ns, exp->owner.gid));
	answer->length = cpu_to_le64(exp->length);
	answer->place[0] = cpu_to_le64(place.word[0]);
	answer->place[1] = cpu_to_le64(place.word[1]);
	return RSM_SUCCESS;
}

/* CONNECT */
void rsm_importer_connect(struct rsm_link *link, const struct rsm_msg_connect *msg)
{
	struct rsm_export *exp = rsm_published_get(le32_to_cpu(msg->id));
	struct rsm_msg_connected answer;
	u32 status = RSMERR_SEG_NOT_PUBLISHED;

	rsm_message_init(link, &answer.header, RSM_MSG_CONNECTED, sizeof(answer));
	if (exp) {
		mutex_lock(&exp->importers_lock);
		status = admit(exp, link, le32_to_cpu(msg->cookie), &answer);
		mutex_unlock(&exp->importers_lock);
		rsm_segment_put(&exp->seg);
	}
	answer.cookie = msg->cookie;
	answer.status = cpu_to_le32(status);
	rsm_answer(link, &answer);
}

/* The link's work only: nobody else takes importers away. */
static void remove_importer(struct rsm_importer *importer)
{
	struct rsm_export *exp = importer->exp;

	mutex_lock(&exp->importers_lock);
	list_del(&importer->on_export);
	mutex_unlock(&exp->importers_lock);
	rsm_mem_put(importer->mem);
	/* After which no event is delivered by it. */
	xa_erase_irq(&importer->link->importers, importer->handle);
	wake_up_all(&importer_gone);
	rsm_segment_put(&exp->seg);
	kfree(importer);
}

/* DISCONNECT */
void rsm_importer_disconnect(struct rsm_link *link, const struct rsm_msg_connection *msg)
{
	struct rsm_importer *importer = xa_load(&link->importers, le32_to_cpu(msg->handle));

	if (importer && importer->cookie == le32_to_cpu(msg->cookie))
		remove_importer(importer);
}

/* BELL from an importer; any context. */
void rsm_importer_bell(struct rsm_link *link, u32 cookie, u32 handle, u32 flags)
{
	struct rsm_importer *importer;
	unsigned long irq_flags;

	xa_lock_irqsave(&link->importers, irq_flags);
	importer = xa_load(&link->importers, handle);
	if (importer && importer->cookie == cookie)
		rsm_event_post(&importer->exp->seg, flags);
	xa_unlock_irqrestore(&link->importers, irq_flags);
}

/* The link is down: nobody there imports anything any more. */
void rsm_importer_link_down(struct rsm_link *link)
{
	struct rsm_importer *importer;
	unsigned long handle;

	xa_for_each(&link->importers, handle, importer)
		remove_importer(importer);
}

/* The first importer of @exp with a serial above copy->serial, copied, or false. */
static bool next_importer(struct rsm_export *exp, const struct rsm_link *link,
			  struct rsm_importer *copy, int *mode)
{
	struct rsm_importer *importer;
	bool found = false;

	mutex_lock(&exp->importers_lock);
	list_for_each_entry(importer, &exp->remote_importers, on_export)
		if (importer->serial > copy->serial && (!link || importer->link == link)) {
			*copy = *importer;
			*mode = mode_for(exp, importer->link);
			found = true;
			break;
		}
	mutex_unlock(&exp->importers_lock);
	return found;
}

static int tell(const struct rsm_importer *importer, enum rsm_message_type type, u32 value,
		unsigned long end)
{
	struct rsm_msg_connection message;

	rsm_connection_init(importer->link, &message, type, importer->cookie,
			    importer->handle);
	message.value = cpu_to_le32(value);
	return rsm_send_until(importer->link, importer->peer, &message, end);
}

/*
 * Tell all importers that there are at this time. One patience has to do for
 * them together: peers that make room for one message at a time, or come and go
 * all the time, would otherwise make this last.
 */
static void tell_all(struct rsm_export *exp, enum rsm_message_type type, u32 flags)
{
	u64 last = atomic64_read(&last_serial);
	unsigned long start = jiffies;
	struct rsm_importer importer = {};
	int mode;

	while (next_importer(exp, NULL, &importer, &mode) && importer.serial <= last) {
		u32 value = type == RSM_MSG_BELL ? flags : max(mode, 0);

		tell(&importer, type, value, start + rsm_link_patience(importer.link));
	}
}

/**
 * rsm_agent_republish() - &rsm_controller_ops.republish with links
 * @exp: the export, with its new access list
 *
 * Connections go on; importing nodes learn what counts for the next ones.
 */
void rsm_agent_republish(struct rsm_export *exp)
{
	lockdep_assert_held(&exp->lock);
	tell_all(exp, RSM_MSG_REPUBLISH, 0);
}
EXPORT_SYMBOL_GPL(rsm_agent_republish);

/* @copy is one that next_importer() made. Does not sleep. */
static bool is_gone(const struct rsm_importer *copy)
{
	struct xarray *importers = &copy->link->importers;
	struct rsm_importer *importer;
	bool gone;

	xa_lock_irq(importers);
	importer = xa_load(importers, copy->handle);
	gone = !importer || importer->serial != copy->serial;
	xa_unlock_irq(importers);
	return gone;
}

static unsigned long time_left(unsigned long end)
{
	return time_before(jiffies, end) ? end - jiffies : 0;
}

/* Tell one importer, and wait until its node has cut the connection. */
static void part_with(const struct rsm_importer *importer, unsigned long end)
{
	struct rsm_link *link = importer->link;
	long left = 0;

	if (down_timeout(&link->requests, time_left(end))) {
		rsm_link_fail(link, "does not answer");
		return;
	}
	if (!tell(importer, RSM_MSG_UNPUBLISH, 0, end))
		left = wait_event_killable_timeout(importer_gone,
						   is_gone(importer), time_left(end));
	up(&link->requests);
	if (!left && rsm_link_is_active(link, importer->peer))
		rsm_link_fail(link, "does not answer");
}

/* A node that answers for each of many importers just in time is late in the end. */
static void part_with_node(struct rsm_export *exp, struct rsm_link *link)
{
	unsigned long end = jiffies + rsm_link_patience(link);
	struct rsm_importer importer = {};
	int mode;

	while (next_importer(exp, link, &importer, &mode))
		part_with(&importer, end);
}

/**
 * rsm_agent_unpublish() - &rsm_controller_ops.unpublish with links
 * @exp: the export, closed to new connections
 *
 * On return no node that answers reaches the segment. A node that does not
 * answer is down. The caller can be killed; the connections are cut all the
 * same.
 */
void rsm_agent_unpublish(struct rsm_export *exp)
{
	struct rsm_importer importer = {};
	int mode;

	lockdep_assert_held(&exp->lock);
	while (next_importer(exp, NULL, &importer, &mode))
		part_with_node(exp, importer.link);
}
EXPORT_SYMBOL_GPL(rsm_agent_unpublish);

/**
 * rsm_agent_post_importers() - &rsm_controller_ops.post_importers with links
 * @exp: the export that posts
 * @flags: RSM_SIGPOST_NO_ACCUMULATE or 0
 */
void rsm_agent_post_importers(struct rsm_export *exp, u32 flags)
{
	tell_all(exp, RSM_MSG_BELL, flags);
}
EXPORT_SYMBOL_GPL(rsm_agent_post_importers);
