/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Turns: what users wait for, user after user. All users in user namespaces of one owner are one
 * more user besides the owner. So a user with much in a queue, or with many user ids in a user
 * namespace, delays the oldest entry of any other user by two entries at most.
 */
#ifndef _RSM_TURNS_H
#define _RSM_TURNS_H

#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/types.h>

/**
 * struct rsm_turns - a queue in which users take turns
 * @users: the oldest entry of each user, by &rsm_turn.user
 * @oldest: the same entries, in their order
 *
 * The owner has a lock for the queue and its entries. No function takes time in proportion to the
 * number of entries.
 */
struct rsm_turns {
	struct rb_root users;
	struct list_head oldest;
};

/**
 * struct rsm_turn - an entry of such a queue
 * @node: place of a user's oldest entry in &rsm_turns.users; empty for the others
 * @order: place of a user's oldest entry in &rsm_turns.oldest
 * @behind: the entries of this user; a ring without a head
 * @user: whose entry it is, see rsm_turn_init()
 */
struct rsm_turn {
	struct rb_node node;
	struct list_head order;
	struct list_head behind;
	u64 user;
};

/* For limits: are these entries of one user, or of a user and users in namespaces of that user? */
static inline bool rsm_turn_has_owner_of(const struct rsm_turn *turn, const struct rsm_turn *other)
{
	return turn->user / 2 == other->user / 2;
}

void rsm_turns_init(struct rsm_turns *turns);
void rsm_turn_init(struct rsm_turn *turn);
void rsm_turns_add(struct rsm_turns *turns, struct rsm_turn *turn);
void rsm_turns_del(struct rsm_turns *turns, struct rsm_turn *turn);
void rsm_turns_pop(struct rsm_turns *turns, struct rsm_turn *turn);
struct rsm_turn *rsm_turns_first(struct rsm_turns *turns);
struct rsm_turn *rsm_turns_next(struct rsm_turns *turns, struct rsm_turn *turn);

#endif
