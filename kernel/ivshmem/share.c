// SPDX-License-Identifier: GPL-2.0
/*
 * Limits on how much of a window the exports of this node may take, and those of one of its users.
 * Each node limits itself: no node can limit the kernel of another one.
 */

#include "ivshmem.h"

#include <linux/slab.h>

/**
 * struct window_user - a user's share of a window
 * @entry: place among the users that have something
 * @uid: the user
 * @chunks: how many chunks the user's exports have
 */
struct window_user {
	struct list_head entry;
	kuid_t uid;
	u32 chunks;
};

void window_shares_init(struct window_shares *shares)
{
	mutex_init(&shares->lock);
	INIT_LIST_HEAD(&shares->users);
	shares->chunks = 0;
}

/* All chunks were given back, so no user is left. */
void window_shares_free(struct window_shares *shares)
{
	WARN_ON_ONCE(!list_empty(&shares->users));
	mutex_destroy(&shares->lock);
}

static struct window_user *window_user_find(struct window_shares *shares, kuid_t uid)
{
	struct window_user *user;

	lockdep_assert_held(&shares->lock);
	list_for_each_entry(user, &shares->users, entry)
		if (uid_eq(user->uid, uid))
			return user;
	return NULL;
}

static struct window_user *window_user_get(struct window_shares *shares, kuid_t uid)
{
	struct window_user *user = window_user_find(shares, uid);

	if (user)
		return user;
	user = kzalloc(sizeof(*user), GFP_KERNEL);
	if (!user)
		return NULL;
	user->uid = uid;
	list_add(&user->entry, &shares->users);
	return user;
}

static void window_user_put(struct window_user *user)
{
	if (user->chunks)
		return;
	list_del(&user->entry);
	kfree(user);
}

/* Does the number of chunks stay within @most with @n more? */
static bool fits(u32 chunks, u32 n, u32 most)
{
	return n <= most && chunks <= most - n;
}

static int refuse(struct window_refusal *refusal, u32 chunks, u32 n, u32 most)
{
	refusal->wanted = (u64)chunks + n;
	refusal->most = most;
	return -EDQUOT;
}

static int take(struct window_shares *shares, kuid_t uid, u32 n, u32 user_most, u32 node_most,
		struct window_refusal *refusal)
{
	struct window_user *user;
	int err = 0;

	lockdep_assert_held(&shares->lock);
	if (!fits(shares->chunks, n, node_most))
		return refuse(refusal, shares->chunks, n, node_most);
	user = window_user_get(shares, uid);
	if (!user)
		return -ENOMEM;
	if (fits(user->chunks, n, user_most)) {
		user->chunks += n;
		shares->chunks += n;
	} else {
		err = refuse(refusal, user->chunks, n, user_most);
	}
	window_user_put(user);
	return err;
}

/**
 * window_shares_take() - count chunks that a user is about to take
 * @shares: the shares of all users
 * @uid: the user
 * @n: how many chunks, at least 1
 * @user_most: how many the user may have
 * @node_most: how many all users together may have
 * @refusal: which of both is in the way, if the result is -EDQUOT
 *
 * Return: 0, -EDQUOT or -ENOMEM.
 */
int window_shares_take(struct window_shares *shares, kuid_t uid, u32 n, u32 user_most,
		       u32 node_most, struct window_refusal *refusal)
{
	int err;

	mutex_lock(&shares->lock);
	err = take(shares, uid, n, user_most, node_most, refusal);
	mutex_unlock(&shares->lock);
	return err;
}

/**
 * window_shares_give() - undo window_shares_take()
 * @shares: the shares of all users
 * @uid: the user
 * @n: how many chunks
 */
void window_shares_give(struct window_shares *shares, kuid_t uid, u32 n)
{
	struct window_user *user;

	mutex_lock(&shares->lock);
	user = window_user_find(shares, uid);
	if (!WARN_ON_ONCE(!user)) {
		user->chunks -= n;
		shares->chunks -= n;
		window_user_put(user);
	}
	mutex_unlock(&shares->lock);
}
