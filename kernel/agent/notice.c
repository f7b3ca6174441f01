// SPDX-License-Identifier: GPL-2.0
/*
 * The exporting side: what importing nodes are told, and what is waited for. A
 * node that does not answer within the link's patience has failed.
 */

#include "agent.h"

#include <linux/jiffies.h>
#include <linux/wait.h>

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
			*mode = rsm_importer_mode(exp, importer->link);
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
	u64 last = atomic64_read(&rsm_importer_serial);
	unsigned long start = jiffies;
	struct rsm_importer importer = {};
	int mode;

	while (next_importer(exp, NULL, &importer, &mode) && importer.serial <= last) {
		u32 value = type == RSM_MSG_BELL ? flags : max(mode, 0);

		tell(&importer, type, value, start + rsm_link_patience(importer.link));
	}
}

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

/* Likewise. */
static bool has_moved(const struct rsm_importer *copy)
{
	struct xarray *importers = &copy->link->importers;
	struct rsm_importer *importer;
	bool moved;

	xa_lock_irq(importers);
	importer = xa_load(importers, copy->handle);
	moved = !importer || importer->serial != copy->serial || !READ_ONCE(importer->moving);
	xa_unlock_irq(importers);
	return moved;
}

static unsigned long time_left(unsigned long end)
{
	return time_before(jiffies, end) ? end - jiffies : 0;
}

/*
 * Send a request to an importer's node and wait until it has been fulfilled, or the
 * node has failed. Whoever is killed meanwhile waits all the same: it is not
 * long, and somebody has to see whether the node answers.
 */
static void request(const struct rsm_importer *importer, void *message,
		    bool (*is_done)(const struct rsm_importer *copy), unsigned long end)
{
	struct rsm_link *link = importer->link;
	bool done = false;

	if (!down_timeout(&link->requests, time_left(end))) {
		if (!rsm_send_until(link, importer->peer, message, end))
			done = wait_event_timeout(rsm_importer_changed, is_done(importer),
						  time_left(end));
		up(&link->requests);
	}
	if (done)
		return;
	if (rsm_link_is_active(link, importer->peer))
		rsm_link_fail(link, "does not answer");
	/* The end of the link takes all importers away. */
	wait_event(rsm_importer_changed, is_gone(importer));
}

/* Tell one importer, and wait until its node has cut the connection. */
static void part_with(const struct rsm_importer *importer, unsigned long end)
{
	struct rsm_msg_connection message;

	rsm_connection_init(importer->link, &message, RSM_MSG_UNPUBLISH, importer->cookie,
			    importer->handle);
	request(importer, &message, is_gone, end);
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

/* The importer that @copy is one of, if it is still there. */
static struct rsm_importer *find_again(struct rsm_export *exp, const struct rsm_importer *copy)
{
	struct rsm_importer *importer;

	lockdep_assert_held(&exp->importers_lock);
	list_for_each_entry(importer, &exp->remote_importers, on_export)
		if (importer->serial == copy->serial)
			return importer;
	return NULL;
}

/* Note what an importer's node is going to be told; false if that can't be. */
static bool begin_move(struct rsm_export *exp, const struct rsm_importer *copy,
		       const struct rsm_lease *lease)
{
	struct rsm_importer *importer;
	bool begun = false;

	mutex_lock(&exp->importers_lock);
	importer = find_again(exp, copy);
	if (importer && !importer->moving) {
		importer->next = *lease;
		WRITE_ONCE(importer->moving, true);
		begun = true;
	}
	mutex_unlock(&exp->importers_lock);
	return begun;
}

/*
 * Tell an importer's node where the memory is now, and wait until it uses nothing
 * else. A connection for which that can't be arranged is cut.
 */
static void move(struct rsm_export *exp, const struct rsm_importer *importer, int mode)
{
	bool writable = importer->now.writable || rsm_mode_writes(mode);
	struct rsm_link *link = importer->link;
	unsigned long end = jiffies + rsm_link_patience(link);
	struct rsm_msg_move message;
	struct rsm_lease lease;

	if (rsm_lease_take(link, exp->mem, writable, &lease)) {
		part_with(importer, end);
		return;
	}
	if (!begin_move(exp, importer, &lease)) {
		rsm_lease_end(link, &lease);
		part_with(importer, end);
		return;
	}
	rsm_message_init(link, &message.header, RSM_MSG_MOVE, sizeof(message));
	message.cookie = cpu_to_le32(importer->cookie);
	message.handle = cpu_to_le32(importer->handle);
	message.place[0] = cpu_to_le64(lease.place.word[0]);
	message.place[1] = cpu_to_le64(lease.place.word[1]);
	request(importer, &message, has_moved, end);
}

/* Move the importers that reach other memory, or less of it, than they are to. */
static void move_all(struct rsm_export *exp)
{
	struct rsm_importer importer = {};
	int mode;

	lockdep_assert_held(&exp->lock);
	while (next_importer(exp, NULL, &importer, &mode))
		if (importer.now.mem != exp->mem ||
		    (rsm_mode_writes(mode) && !importer.now.writable))
			move(exp, &importer, mode);
}

/**
 * rsm_agent_rebind() - the second half of &rsm_controller_ops.rebind with links
 * @exp: the export; it has its new memory
 *
 * On return the importers of all nodes that answer reach the new memory and
 * none reaches the old one. A node that does not answer is down.
 */
void rsm_agent_rebind(struct rsm_export *exp)
{
	move_all(exp);
}
EXPORT_SYMBOL_GPL(rsm_agent_rebind);

/**
 * rsm_agent_republish() - &rsm_controller_ops.republish with links
 * @exp: the export, with its new access list
 *
 * Connections go on; importing nodes learn what counts for the next ones.
 */
void rsm_agent_republish(struct rsm_export *exp)
{
	/* Whoever may write from now on finds that its node can. */
	move_all(exp);
	tell_all(exp, RSM_MSG_REPUBLISH, 0);
}
EXPORT_SYMBOL_GPL(rsm_agent_republish);

/**
 * rsm_agent_unpublish() - &rsm_controller_ops.unpublish with links
 * @exp: the export, closed to new connections
 *
 * On return no node reaches the segment. A node that does not answer is down.
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
