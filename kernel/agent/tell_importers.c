// SPDX-License-Identifier: GPL-2.0
/*
 * The exporting side: messages to importing nodes about changes of a segment, and waiting for their
 * answers. A node that does not answer within the link's patience has failed.
 */

#include "agent.h"

#include <linux/jiffies.h>

/* Is the importer's turn after that of the one copied to @copy? One link after the other. */
static bool is_after(const struct rsm_remote_importer *importer,
		     const struct rsm_remote_importer *copy)
{
	if (!copy->link)
		return true;
	if (importer->link != copy->link)
		return importer->link->serial > copy->link->serial;
	return importer->serial > copy->serial;
}

/*
 * Copy the importer of @exp that comes next after @copy, of those up to @last; false if there is
 * none.
 */
static bool next_importer(struct rsm_export *exp, u64 last, struct rsm_remote_importer *copy)
{
	struct rsm_remote_importer *importer, *next = NULL;

	mutex_lock(&exp->importers_lock);
	list_for_each_entry(importer, &exp->remote_importers, on_export)
		if (importer->serial <= last && is_after(importer, copy) &&
		    (!next || is_after(next, importer)))
			next = importer;
	if (next)
		*copy = *next;
	mutex_unlock(&exp->importers_lock);
	return next;
}

static int ring_importer(const struct rsm_remote_importer *importer, u32 flags,
			 struct rsm_room_wait *wait)
{
	struct rsm_msg_connection message;

	rsm_connection_init(importer->link, &message, RSM_MSG_BELL, importer->cookie,
			    importer->handle);
	message.value = cpu_to_le32(flags);
	return rsm_send_within(importer->link, importer->peer, &message, wait);
}

/*
 * Ring all importers that there are at this time. The patience with a peer begins with its first
 * importer: a peer that makes room for one message at a time, or whose importers come and go, must
 * not prolong this without end, and no peer is at fault for another one's time.
 */
static void ring_all(struct rsm_export *exp, u32 flags)
{
	u64 last = atomic64_read(&rsm_remote_importer_serial);
	const struct rsm_link *link = NULL;
	struct rsm_remote_importer importer = {};
	struct rsm_room_wait wait;

	while (next_importer(exp, last, &importer)) {
		if (importer.link != link)
			rsm_link_await_room(importer.link, &wait);
		link = importer.link;
		if (ring_importer(&importer, flags, &wait) == -EINTR)
			break;
	}
}

/* No importer is left. The segment is closed, so none comes. */
static bool are_gone(struct rsm_export *exp, u64 last)
{
	bool gone;

	mutex_lock(&exp->importers_lock);
	gone = list_empty(&exp->remote_importers);
	mutex_unlock(&exp->importers_lock);
	return gone;
}

/* Is there a place, of other memory or with fewer rights than the importer must have now? */
static bool is_former(const struct rsm_remote_importer *importer, const struct rsm_lease *lease)
{
	const struct rsm_export *exp = importer->exp;
	u32 rights;

	lockdep_assert_held(&exp->importers_lock);
	if (!lease->mem)
		return false;
	rights = rsm_remote_importer_rights(importer);
	return lease->mem != exp->mem || rights & ~lease->rights;
}

static bool is_to_move(const struct rsm_remote_importer *importer)
{
	return is_former(importer, &importer->now);
}

/*
 * Is a key made for memory that the segment has no more, or with rights that the importer's node
 * has no more? The work that makes the key ends it at once, but until then that node could use it.
 */
static bool has_stale_key(const struct rsm_remote_importer *importer)
{
	const struct rsm_export *exp = importer->exp;
	u32 rights;

	lockdep_assert_held(&exp->importers_lock);
	if (!importer->making)
		return false;
	rights = rsm_remote_importer_rights(importer);
	return importer->making != exp->mem || importer->making_rights & ~rights;
}

/*
 * Is a first place offered whose rights the importer's node has no more? A node that has been told
 * of the place is connected, and connections keep their rights.
 */
static bool is_offered_too_much(const struct rsm_remote_importer *importer)
{
	const struct rsm_importer_machine *machine = &importer->machine;
	const struct rsm_export *exp = importer->exp;
	u32 rights;

	lockdep_assert_held(&exp->importers_lock);
	if (!importer->link->ops->leave || importer->now.mem || !importer->next.mem)
		return false;
	if (READ_ONCE(machine->request) == RSM_MSG_MOVE && READ_ONCE(machine->asked) &&
	    !READ_ONCE(machine->unpublish_next))
		return false;
	rights = rsm_remote_importer_rights(importer);
	return importer->next.rights & ~rights;
}

/*
 * Does an importer that has a place, or is offered a former one, have a request pending, or is it
 * being removed? An importer without a place that asks for one meanwhile is offered what it must
 * have: a peer that lets its importers ask in turn must not prolong the wait.
 */
static bool is_awaited(const struct rsm_remote_importer *importer)
{
	return !rsm_importer_is_idle(&importer->machine) &&
	       (importer->now.mem || is_former(importer, &importer->next) ||
		is_offered_too_much(importer));
}

/* Copy the first importer that has to move and has no request pending; false if there is none. */
static bool next_to_move(struct rsm_export *exp, struct rsm_remote_importer *copy)
{
	struct rsm_remote_importer *importer;
	bool found = false;

	mutex_lock(&exp->importers_lock);
	list_for_each_entry(importer, &exp->remote_importers, on_export)
		if (rsm_importer_is_idle(&importer->machine) && is_to_move(importer)) {
			*copy = *importer;
			copy->now.rights |= rsm_remote_importer_rights(importer);
			found = true;
			break;
		}
	mutex_unlock(&exp->importers_lock);
	return found;
}

/* How far importers are with a change of place. */
enum importers_state {
	IMPORTERS_SETTLED,	/* none reaches a former place */
	IMPORTERS_AWAITED,	/* requests or stale keys are pending, and none has to move */
	IMPORTERS_TO_MOVE,	/* at least one has to move, and has no request pending */
};

/*
 * Importers after @last do not count: they get the new memory and the new rights from the start,
 * and peers that come and go must not prolong the wait without end.
 */
static enum importers_state importers_state(struct rsm_export *exp, u64 last)
{
	enum importers_state state = IMPORTERS_SETTLED;
	struct rsm_remote_importer *importer;

	mutex_lock(&exp->importers_lock);
	list_for_each_entry(importer, &exp->remote_importers, on_export) {
		if (importer->serial > last)
			break;
		if (rsm_importer_is_idle(&importer->machine) && is_to_move(importer)) {
			state = IMPORTERS_TO_MOVE;
			break;
		}
		if (is_awaited(importer) || has_stale_key(importer))
			state = IMPORTERS_AWAITED;
	}
	mutex_unlock(&exp->importers_lock);
	return state;
}

static bool is_wait_over(struct rsm_export *exp, u64 last)
{
	return importers_state(exp, last) != IMPORTERS_AWAITED;
}

/* The importer that @copy is a copy of, or NULL if it is gone or has a request pending. */
static struct rsm_remote_importer *find_again(struct rsm_export *exp,
					      const struct rsm_remote_importer *copy)
{
	struct rsm_remote_importer *importer;

	lockdep_assert_held(&exp->importers_lock);
	list_for_each_entry(importer, &exp->remote_importers, on_export)
		if (importer->serial == copy->serial)
			return rsm_importer_is_idle(&importer->machine) ? importer : NULL;
	return NULL;
}

/*
 * Ask for a MOVE that sends the new place to an importer's node. If there is no place, ask for an
 * UNPUBLISH. Makes keys, so it may take long; the caller holds no importers_lock.
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

/*
 * Move all importers that have to move, also those whose former request is still pending. An
 * importer that ended the wait since it had to move may be gone by now, while others are awaited.
 */
static void move_all(struct rsm_export *exp)
{
	u64 last = atomic64_read(&rsm_remote_importer_serial);
	struct rsm_remote_importer copy;

	lockdep_assert_held(&exp->lock);
	do {
		while (next_to_move(exp, &copy))
			move_importer(exp, &copy);
	} while (rsm_remote_importers_wait(exp, last, is_wait_over) &&
		 importers_state(exp, last) != IMPORTERS_SETTLED);
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

/*
 * The offer of a place may wait for its turn for long. Those who connect there hear that the
 * connection has ended.
 */
static void take_back_offers(struct rsm_export *exp)
{
	struct rsm_remote_importer *importer;

	mutex_lock(&exp->importers_lock);
	list_for_each_entry(importer, &exp->remote_importers, on_export)
		if (!importer->machine.leaving && is_offered_too_much(importer))
			rsm_request(importer, RSM_MSG_UNPUBLISH);
	mutex_unlock(&exp->importers_lock);
}

/* A node that is leaving the segment, or has failed, need not hear of it. */
static void tell_modes(struct rsm_export *exp)
{
	struct rsm_remote_importer *importer;
	int mode;

	mutex_lock(&exp->importers_lock);
	list_for_each_entry(importer, &exp->remote_importers, on_export) {
		mode = rsm_remote_importer_mode(exp, importer->link);
		if (!importer->machine.leaving)
			rsm_tell_mode(importer, mode < 0 ? RSM_MODE_CLOSED : mode);
	}
	mutex_unlock(&exp->importers_lock);
}

/**
 * rsm_agent_republish() - &rsm_controller_ops.republish with links
 * @exp: the export, with its new access list
 *
 * Connections stay; importing nodes get the mode for later connects, as soon as they make room.
 */
void rsm_agent_republish(struct rsm_export *exp)
{
	/* First the rights of a node, then the rights of its users. */
	take_back_offers(exp);
	move_all(exp);
	tell_modes(exp);
}
EXPORT_SYMBOL_GPL(rsm_agent_republish);

/**
 * rsm_agent_withdraw() - &rsm_controller_ops.withdraw with links
 * @exp: the export, closed to new connections
 *
 * The work of each link asks its node; rsm_agent_unpublish() waits for the answers.
 */
void rsm_agent_withdraw(struct rsm_export *exp)
{
	struct rsm_remote_importer *importer;

	lockdep_assert_held(&exp->lock);
	mutex_lock(&exp->importers_lock);
	list_for_each_entry(importer, &exp->remote_importers, on_export)
		if (!importer->machine.leaving)
			rsm_request(importer, RSM_MSG_UNPUBLISH);
	mutex_unlock(&exp->importers_lock);
}
EXPORT_SYMBOL_GPL(rsm_agent_withdraw);

/**
 * rsm_agent_unpublish() - &rsm_controller_ops.unpublish with links
 * @exp: the export, closed to new connections
 *
 * On return no node reaches the segment: a node that does not answer is down. A caller that is
 * killed, is exiting or is a kernel thread does not wait: the importers are then removed when their
 * nodes answer or are down.
 */
void rsm_agent_unpublish(struct rsm_export *exp)
{
	rsm_agent_withdraw(exp);
	rsm_remote_importers_wait(exp, U64_MAX, are_gone);
}
EXPORT_SYMBOL_GPL(rsm_agent_unpublish);

/**
 * rsm_agent_post_importers() - &rsm_controller_ops.post_importers with links
 * @exp: the export that posts
 * @flags: RSM_SIGPOST_NO_ACCUMULATE or 0
 *
 * Waits for peers without room, until the caller is killed.
 */
void rsm_agent_post_importers(struct rsm_export *exp, u32 flags)
{
	ring_all(exp, flags);
}
EXPORT_SYMBOL_GPL(rsm_agent_post_importers);
