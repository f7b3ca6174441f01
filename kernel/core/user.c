// SPDX-License-Identifier: GPL-2.0
/*
 * How much of the node's limits each user has taken, in all of the user's processes. A user is a
 * user id together with the owners of the user namespaces that it is from: what a user of a
 * namespace takes counts for the namespace's owner, too. So a process cannot get more by
 * making up user ids.
 */

#include "internal.h"

#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

/* The kernel nests user namespaces no deeper than this. */
#define NESTED_MAX	34

/**
 * struct rsm_user - a user who has handles or pages
 * @node: its place among all
 * @uid: user id
 * @owner: owner of the user namespace, referenced; NULL in the initial one
 * @refs: handles and address spaces that hold it, and users whose owner it is
 * @handles: open segment handles
 * @pages: pages charged
 * @lent: those of @pages that were charged to loans; limits.c has the lock
 */
struct rsm_user {
	struct hlist_node node;
	kuid_t uid;
	struct rsm_user *owner;
	unsigned int refs;
	atomic_t handles;
	atomic_long_t pages;
	atomic_long_t lent;
};

static DEFINE_MUTEX(users_lock); /* guards the table and each user's refs */
static DEFINE_HASHTABLE(users, 6);

static void user_put_locked(struct rsm_user *user)
{
	lockdep_assert_held(&users_lock);
	while (user && !--user->refs) {
		struct rsm_user *owner = user->owner;

		hash_del(&user->node);
		kfree(user);
		user = owner;
	}
}

static struct rsm_user *user_find(kuid_t uid, const struct rsm_user *owner)
{
	struct rsm_user *user;

	hash_for_each_possible(users, user, node, __kuid_val(uid))
		if (uid_eq(user->uid, uid) && user->owner == owner)
			return user;
	return NULL;
}

/* Take a reference on the user; if there is none enter @fresh, or return NULL without @fresh. */
static struct rsm_user *user_use(kuid_t uid, struct rsm_user *owner, struct rsm_user *fresh)
{
	struct rsm_user *user;

	mutex_lock(&users_lock);
	user = user_find(uid, owner);
	if (user) {
		user->refs++;
		user_put_locked(owner);
	} else if (fresh) {
		hash_add(users, &fresh->node, __kuid_val(uid));
		user = fresh;
	}
	mutex_unlock(&users_lock);
	return user;
}

/*
 * The user, referenced, or NULL without memory; takes over the reference on @owner. The allocation
 * is made without users_lock: in a full cgroup it makes the caller wait, and other processes must
 * not wait with it.
 */
static struct rsm_user *user_enter(kuid_t uid, struct rsm_user *owner)
{
	struct rsm_user *fresh, *user = user_use(uid, owner, NULL);

	if (user)
		return user;
	fresh = kzalloc(sizeof(*fresh), GFP_KERNEL_ACCOUNT);
	if (!fresh) {
		rsm_user_put(owner);
		return NULL;
	}
	fresh->uid = uid;
	fresh->owner = owner;
	fresh->refs = 1;
	user = user_use(uid, owner, fresh);
	if (user != fresh)
		kfree(fresh);
	return user;
}

/**
 * rsm_user_get() - the caller as a user
 *
 * Return: the user, referenced, or NULL without memory.
 */
struct rsm_user *rsm_user_get(void)
{
	struct user_namespace *ns = current_user_ns();
	struct rsm_user *user = NULL;
	kuid_t uid[NESTED_MAX];
	int depth = 0;

	for (uid[0] = current_uid(); ns->parent && depth < NESTED_MAX - 1; ns = ns->parent)
		uid[++depth] = ns->owner;
	for (; depth >= 0; depth--) {
		if (user && uid_eq(user->uid, uid[depth]))
			continue;
		user = user_enter(uid[depth], user);
		if (!user)
			break;
	}
	return user;
}

void rsm_user_put(struct rsm_user *user)
{
	mutex_lock(&users_lock);
	user_put_locked(user);
	mutex_unlock(&users_lock);
}

/* How many handles the user has, or an owner of its namespaces if that has more. */
unsigned int rsm_user_handles(const struct rsm_user *user)
{
	unsigned int most = 0;

	for (; user; user = user->owner)
		most = max_t(unsigned int, most, atomic_read(&user->handles));
	return most;
}

void rsm_user_add_handle(struct rsm_user *user)
{
	for (; user; user = user->owner)
		atomic_inc(&user->handles);
}

void rsm_user_sub_handle(struct rsm_user *user)
{
	for (; user; user = user->owner)
		atomic_dec(&user->handles);
}

/* Likewise for pages; those that a rebind is about to give back do not count. */
long rsm_user_pages(const struct rsm_user *user)
{
	long most = LONG_MIN;

	for (; user; user = user->owner)
		most = max(most, atomic_long_read(&user->pages) - atomic_long_read(&user->lent));
	return most;
}

/* Negative: gives pages back. */
void rsm_user_add_pages(struct rsm_user *user, long npages)
{
	for (; user; user = user->owner)
		atomic_long_add(npages, &user->pages);
}

/* The limits do not count @npages more of the user's pages, or, if negative, count them again. */
void rsm_user_add_lent(struct rsm_user *user, long npages)
{
	for (; user; user = user->owner)
		atomic_long_add(npages, &user->lent);
}

/**
 * rsm_outermost_user() - the user of the initial user namespace who stands for the caller
 *
 * A user can have many user ids in a user namespace, so all users of a namespace are as one where
 * each user gets a share.
 *
 * Return: the caller's user id, or that of the owner of the outermost namespace that the caller
 * is in.
 */
kuid_t rsm_outermost_user(void)
{
	const struct user_namespace *ns = current_user_ns();
	kuid_t uid = current_uid();

	for (; ns->parent; ns = ns->parent)
		uid = ns->owner;
	return uid;
}
EXPORT_SYMBOL_GPL(rsm_outermost_user);
