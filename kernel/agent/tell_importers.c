// SPDX-License-Identifier: GPL-2.0
/*
 * The exporting side: what importing nodes are told, and what is waited for. A
 * node that does not answer within the link's patience has failed.
 */

#include "agent.h"

#include <linux/jiffies.h>

/* The first importer of @exp with a serial above copy->serial, copied, or false. */
static bool next_importer(struct rsm_export *exp, struct rsm_remote_importer *copy, int *mode)
{
	struct rsm_remote_importer *importer;
	bool found = false;

	mutex_lock(&exp->importers_lock);
	list_for_each_entry(importer, &exp->remote_importers, on_export)
		if (importer->serial > copy->serial) {
			*copy = *importer;
			*mode = rsm_remote_importer_mode(exp, importer->link);
			found = true;
			break;
		}
	mutex_unlock(&exp->importers_lock);
	return found;
}

static int send_to_importer(const struct rsm_remote_importer *importer,
			    enum rsm_message_type type, u32 value, unsigned long since)
{
	struct rsm_msg_connection message;

	rsm_connection_init(importer->link, &message, type, importer->cookie,
			    importer->handle);
	message.value = cpu_to_le32(value);
	return rsm_send_until(importer->link, importer->peer, &message, since);
}

/*
 * Tell all importers that there are at this time. One patience has to do for
 * them together: peers that make room for one message at a time, or come and go
 * all the time, would otherwise make this last.
 */
static void tell_all(struct rsm_export *exp, enum rsm_message_type type, u32 flags)
{
	u64 last = atomic64_read(&rsm_remote_importer_serial);
	unsigned long start = jiffies;
	struct rsm_remote_importer importer = {};
	int mode;

	while (next_importer(exp, &importer, &mode) && importer.serial <= last) {
		u32 value = type == RSM_MSG_BELL ? flags :
			    mode < 0 ? RSM_MODE_CLOSED : mode;

		send_to_importer(&importer, type, value, start);
	}
}

/* No importer is left. */
static bool are_gone(struct rsm_export *exp)
{
	bool gone;

	mutex_lock(&exp->importers_lock);
	gone = list_empty(&exp->remote_importers);
	mutex_unlock(&exp->importers_lock);
	return gone;
}

/* Does an importer that reaches memory reach other memory, or less of it, than it is to? */
static bool is_to_move(const struct rsm_remote_importer *importer)
{
	const struct rsm_export *exp = importer->exp;
	u32 rights;

	lockdep_assert_held(&exp->importers_lock);
	if (!importer->now.mem)
		return false;
	rights = rsm_mode_rights(rsm_remote_importer_mode(exp, importer->link));
	return importer->now.mem != exp->mem || rights & ~importer->now.rights;
}

/* The first importer that is to move and whose node is asked nothing, copied, or false. */
static bool next_to_move(struct rsm_export *exp, struct rsm_remote_importer *copy)
{
	struct rsm_remote_importer *importer;
	bool found = false;

	mutex_lock(&exp->importers_lock);
	list_for_each_entry(importer, &exp->remote_importers, on_export)
		if (!importer->leaving && !READ_ONCE(importer->request) &&
		    is_to_move(importer)) {
			*copy = *importer;
			copy->now.rights |=
				rsm_mode_rights(rsm_remote_importer_mode(exp, importer->link));
			found = true;
			break;
		}
	mutex_unlock(&exp->importers_lock);
	return found;
}

/* No importer is asked anything, or there is one that is to move and can. */
static bool is_wait_over(struct rsm_export *exp)
{
	struct rsm_remote_importer *importer;
	bool over = true;

	mutex_lock(&exp->importers_lock);
	list_for_each_entry(importer, &exp->remote_importers, on_export) {
		if (importer->leaving || READ_ONCE(importer->request))
			over = false;
		else if (is_to_move(importer))
			break;
	}
	over |= !list_entry_is_head(importer, &exp->remote_importers, on_export);
	mutex_unlock(&exp->importers_lock);
	return over;
}

/* The importer that @copy is one of, if it is still there and its node is asked nothing. */
static struct rsm_remote_importer *find_again(struct rsm_export *exp,
					      const struct rsm_remote_importer *copy)
{
	struct rsm_remote_importer *importer;

	lockdep_assert_held(&exp->importers_lock);
	list_for_each_entry(importer, &exp->remote_importers, on_export)
		if (importer->serial == copy->serial)
			return importer->leaving || READ_ONCE(importer->request) ? NULL : importer;
	return NULL;
}

/*
 * Have an importer's node told where the memory is now. A connection for which that
 * can't be arranged is cut. Keys are made here, on the caller's time.
 */
static void move_importer(struct rsm_export *exp, const struct rsm_remote_importer *copy)
{
	struct rsm_remote_importer *importer;
	struct rsm_lease lease;
	rsm_status_t status;

	status = rsm_lease_take(copy->link, exp->mem, copy->now.rights, &lease);
	mutex_lock(&exp->importers_lock);
	importer = find_again(exp, copy);
	if (importer && !status)
		swap(importer->next, lease);
	if (importer)
		rsm_request(importer, status ? RSM_MSG_UNPUBLISH : RSM_MSG_MOVE);
	mutex_unlock(&exp->importers_lock);
	if (!status)
		rsm_lease_end(copy->link, &lease);
}

/* Move all importers that are to move, those too that something else was asked of before. */
static void move_all(struct rsm_export *exp)
{
	struct rsm_remote_importer copy;

	lockdep_assert_held(&exp->lock);
	do {
		while (next_to_move(exp, &copy))
			move_importer(exp, &copy);
	} while (rsm_remote_importers_wait(exp, is_wait_over) && next_to_move(exp, &copy));
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
	/* A user who may write from now on finds that its node can. */
	move_all(exp);
	tell_all(exp, RSM_MSG_REPUBLISH, 0);
}
EXPORT_SYMBOL_GPL(rsm_agent_republish);

/**
 * rsm_agent_withdraw() - &rsm_controller_ops.withdraw with links
 * @exp: the export, closed to new connections
 *
 * The links' works ask the importing nodes, and rsm_agent_unpublish() waits for them.
 */
void rsm_agent_withdraw(struct rsm_export *exp)
{
	struct rsm_remote_importer *importer;

	lockdep_assert_held(&exp->lock);
	mutex_lock(&exp->importers_lock);
	list_for_each_entry(importer, &exp->remote_importers, on_export)
		if (!importer->leaving)
			rsm_request(importer, RSM_MSG_UNPUBLISH);
	mutex_unlock(&exp->importers_lock);
}
EXPORT_SYMBOL_GPL(rsm_agent_withdraw);

/**
 * rsm_agent_unpublish() - &rsm_controller_ops.unpublish with links
 * @exp: the export, closed to new connections
 *
 * On return no node reaches the segment: a node that does not answer is down. Unless the caller is
 * killed, is exiting or is a kernel thread: then importing nodes are asked, and their importers go
 * when they answer or are down.
 */
void rsm_agent_unpublish(struct rsm_export *exp)
{
	rsm_agent_withdraw(exp);
	rsm_remote_importers_wait(exp, are_gone);
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
