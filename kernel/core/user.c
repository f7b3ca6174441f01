// SPDX-License-Identifier: GPL-2.0
/*
 * The share of the node that each user has, in all of the user's processes. A user is a
 * user id together with those who own the user namespaces that it is from: what
 * a user of a namespace takes counts for the namespace's owner, too. So nobody
 * gets more by making user ids up.
 */

#include "internal.h"

#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

/* User namespaces are nested no deeper than that. */
#define NESTED_MAX	34

/**
 * struct rsm_user - a user who has something
 * @node: its place among all
 * @uid: user id
 * @owner: owner of the user namespace, referenced; NULL in the initial one
 * @refs: handles and address spaces that hold it, and users whose owner it is
 * @handles: open segment handles
 * @pages: pages charged
 * @leaving: pages among them that a rebind is about to give back
 */
struct rsm_user {
	struct hlist_node node;
	kuid_t uid;
	struct rsm_user *owner;
	unsigned int refs;
	atomic_t handles;
	atomic_long_t pages;
	atomic_long_t leaving;
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

/* The user with a reference more, or @fresh if there is none, or NULL. */
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
 * The user, referenced, or NULL without memory; takes over the reference on @owner. Memory
 * is allocated without users_lock: a cgroup that is full makes its own processes wait.
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

/* Returns the most handles that the user, or one who owns its namespace, has now. */
unsigned int rsm_user_add_handle(struct rsm_user *user)
{
	unsigned int most = 0;

	for (; user; user = user->owner)
		most = max_t(unsigned int, most, atomic_inc_return(&user->handles));
	return most;
}

void rsm_user_sub_handle(struct rsm_user *user)
{
	for (; user; user = user->owner)
		atomic_dec(&user->handles);
}

/* Returns the most pages that the user, or an owner, is left with, those that leave apart. */
long rsm_user_add_pages(struct rsm_user *user, unsigned long npages)
{
	long most = LONG_MIN;

	for (; user; user = user->owner)
		most = max(most, atomic_long_add_return(npages, &user->pages) -
				 atomic_long_read(&user->leaving));
	return most;
}

void rsm_user_sub_pages(struct rsm_user *user, unsigned long npages)
{
	for (; user; user = user->owner)
		atomic_long_sub(npages, &user->pages);
}

/* @npages more of the user's pages are about to be given back; fewer if negative. */
void rsm_user_leaving(struct rsm_user *user, long npages)
{
	for (; user; user = user->owner)
		atomic_long_add(npages, &user->leaving);
}
