// SPDX-License-Identifier: GPL-2.0
/* Queues in which users take turns (rsm_turns.h). */

#include "../rsm_controller.h"
#include "../rsm_turns.h"

#include <linux/cred.h>
#include <linux/export.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

void rsm_turns_init(struct rsm_turns *turns)
{
	turns->users = RB_ROOT;
	INIT_LIST_HEAD(&turns->oldest);
}
EXPORT_SYMBOL_GPL(rsm_turns_init);

/**
 * rsm_turn_init() - an entry of the caller's, in no queue yet
 * @turn: the entry
 *
 * Users of user namespaces are one user for each owner of the outermost namespace, besides the
 * owner, who does not wait behind them.
 */
void rsm_turn_init(struct rsm_turn *turn)
{
	bool nested = current_user_ns()->parent;

	INIT_LIST_HEAD(&turn->behind);
	turn->user = (u64)__kuid_val(rsm_outermost_user()) * 2 + nested;
}
EXPORT_SYMBOL_GPL(rsm_turn_init);

static int turn_compare(struct rb_node *new, const struct rb_node *node)
{
	u64 a = rb_entry(new, struct rsm_turn, node)->user;
	u64 b = rb_entry(node, struct rsm_turn, node)->user;

	return a < b ? -1 : a > b;
}

/**
 * rsm_turns_add() - enter an entry behind all others of its user
 * @turns: the queue, locked
 * @turn: the entry
 */
void rsm_turns_add(struct rsm_turns *turns, struct rsm_turn *turn)
{
	struct rb_node *oldest = rb_find_add(&turn->node, &turns->users, turn_compare);

	if (!oldest) {
		list_add_tail(&turn->order, &turns->oldest);
		return;
	}
	RB_CLEAR_NODE(&turn->node);
	list_add_tail(&turn->behind, &rb_entry(oldest, struct rsm_turn, node)->behind);
}
EXPORT_SYMBOL_GPL(rsm_turns_add);

/* The entry behind the oldest one of a user becomes the oldest; NULL if there is none. */
static struct rsm_turn *turn_promote(struct rsm_turns *turns, struct rsm_turn *oldest)
{
	struct rsm_turn *next;

	if (list_empty(&oldest->behind)) {
		rb_erase(&oldest->node, &turns->users);
		return NULL;
	}
	next = list_next_entry(oldest, behind);
	rb_replace_node(&oldest->node, &next->node, &turns->users);
	list_del(&oldest->behind);
	return next;
}

/**
 * rsm_turns_del() - take an entry out before its turn; the next one of its user has its place
 * @turns: the queue, locked
 * @turn: an entry in it
 */
void rsm_turns_del(struct rsm_turns *turns, struct rsm_turn *turn)
{
	struct rsm_turn *next;

	if (RB_EMPTY_NODE(&turn->node)) {
		list_del(&turn->behind);
		return;
	}
	next = turn_promote(turns, turn);
	if (next)
		list_replace(&turn->order, &next->order);
	else
		list_del(&turn->order);
}
EXPORT_SYMBOL_GPL(rsm_turns_del);

/**
 * rsm_turns_pop() - take an entry out whose turn it is
 * @turns: the queue, locked
 * @turn: the oldest entry of its user
 *
 * The next entry of the same user comes behind all other users.
 */
void rsm_turns_pop(struct rsm_turns *turns, struct rsm_turn *turn)
{
	struct rsm_turn *next = turn_promote(turns, turn);

	list_del(&turn->order);
	if (next)
		list_add_tail(&next->order, &turns->oldest);
}
EXPORT_SYMBOL_GPL(rsm_turns_pop);

/**
 * rsm_turns_first() - the entry whose turn it is
 * @turns: the queue, locked
 *
 * Return: the entry, which stays in the queue, or NULL.
 */
struct rsm_turn *rsm_turns_first(struct rsm_turns *turns)
{
	return list_first_entry_or_null(&turns->oldest, struct rsm_turn, order);
}
EXPORT_SYMBOL_GPL(rsm_turns_first);

/**
 * rsm_turns_next() - the entry whose turn it is if that of another user is passed over
 * @turns: the queue, locked
 * @turn: the oldest entry of the other user
 *
 * Return: the entry, which stays in the queue, or NULL.
 */
struct rsm_turn *rsm_turns_next(struct rsm_turns *turns, struct rsm_turn *turn)
{
	return list_is_last(&turn->order, &turns->oldest) ? NULL : list_next_entry(turn, order);
}
EXPORT_SYMBOL_GPL(rsm_turns_next);
