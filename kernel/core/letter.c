// SPDX-License-Identifier: GPL-2.0
/*
 * Letters: short messages from the holders of a ticket to the creator of the export
 * that granted it. Only the creator can read them, and no sender can remove or replace
 * the letter of another. The creator gets the letters of all users in turn, so a user with
 * many letters, and many user ids in a user namespace, delays any other user by two letters at
 * most.
 */

#include "internal.h"

#include <linux/cred.h>
#include <linux/rbtree.h>
#include <linux/slab.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

/**
 * struct rsm_letter - a message that the exporter has not received yet
 * @node: place of a user's oldest letter among those of all users, by @uid; empty for
 *	the others
 * @turn: place of a user's oldest letter in the order of delivery
 * @behind: the letters of this user; a ring without a head
 * @uid: the sender; users of a user namespace are as one
 * @nested: the sender is in a user namespace that @uid owns
 * @imp: the import through which it was sent; it has no other letter
 * @word: the contents
 */
struct rsm_letter {
	struct rb_node node;
	struct list_head turn;
	struct list_head behind;
	kuid_t uid;
	bool nested;
	struct rsm_import *imp;
	u64 word[RSM_MESSAGE_WORDS];
};

void rsm_inbox_init(struct rsm_inbox *inbox)
{
	spin_lock_init(&inbox->lock);
	inbox->users = RB_ROOT;
	INIT_LIST_HEAD(&inbox->turns);
}

/* An owner of namespaces does not wait behind letters from these. */
static u64 letter_sender(const struct rsm_letter *letter)
{
	return (u64)__kuid_val(letter->uid) << 1 | letter->nested;
}

static int letter_compare(struct rb_node *new, const struct rb_node *node)
{
	u64 a = letter_sender(rb_entry(new, struct rsm_letter, node));
	u64 b = letter_sender(rb_entry(node, struct rsm_letter, node));

	return a < b ? -1 : a > b;
}

static void letter_add(struct rsm_inbox *inbox, struct rsm_letter *letter)
{
	struct rb_node *oldest;

	lockdep_assert_held(&inbox->lock);
	letter->imp->letter = letter;
	oldest = rb_find_add(&letter->node, &inbox->users, letter_compare);
	if (!oldest) {
		list_add_tail(&letter->turn, &inbox->turns);
		return;
	}
	RB_CLEAR_NODE(&letter->node);
	list_add_tail(&letter->behind, &rb_entry(oldest, struct rsm_letter, node)->behind);
}

/* The next letter of the same user, if any, takes its turn behind all other users. */
static void letter_del(struct rsm_inbox *inbox, struct rsm_letter *letter)
{
	struct rsm_letter *next;

	lockdep_assert_held(&inbox->lock);
	letter->imp->letter = NULL;
	if (!RB_EMPTY_NODE(&letter->node)) {
		list_del(&letter->turn);
		if (list_empty(&letter->behind)) {
			rb_erase(&letter->node, &inbox->users);
			return;
		}
		next = list_next_entry(letter, behind);
		rb_replace_node(&letter->node, &next->node, &inbox->users);
		list_add_tail(&next->turn, &inbox->turns);
	}
	list_del(&letter->behind);
}

/**
 * rsm_letter_drop() - an import has left its export: so does its letter
 * @exp: the export; @imp->exp is NULL already, so rsm_letter_send() adds no other
 * @imp: the import
 */
void rsm_letter_drop(struct rsm_export *exp, struct rsm_import *imp)
{
	struct rsm_inbox *inbox = &exp->inbox;
	struct rsm_letter *letter;

	spin_lock(&inbox->lock);
	letter = imp->letter;
	if (letter)
		letter_del(inbox, letter);
	spin_unlock(&inbox->lock);
	kfree(letter);
}

static struct rsm_letter *letter_alloc(struct rsm_import *imp, const struct rsm_message *arg)
{
	struct rsm_letter *letter = kmalloc(sizeof(*letter), GFP_KERNEL_ACCOUNT);

	if (!letter)
		return NULL;
	INIT_LIST_HEAD(&letter->behind);
	letter->uid = rsm_outermost_user();
	letter->nested = current_user_ns()->parent;
	letter->imp = imp;
	memcpy(letter->word, arg->word, sizeof(letter->word));
	return letter;
}

/* Takes over @letter if the import still belongs to the export and has no letter there. */
static rsm_status_t letter_deliver(struct rsm_export *exp, struct rsm_letter *letter)
{
	struct rsm_import *imp = letter->imp;
	rsm_status_t status = RSM_STS_SUCCESS;

	spin_lock(&exp->inbox.lock);
	if (READ_ONCE(imp->exp) != exp)
		status = RSM_STS_CONN_ABORTED;
	else if (imp->letter)
		status = RSM_STS_QUEUE_FULL;
	else
		letter_add(&exp->inbox, letter);
	spin_unlock(&exp->inbox.lock);
	return status;
}

/* RSM_IOC_SEND */
rsm_status_t rsm_letter_send(struct rsm_import *imp, const struct rsm_message *arg)
{
	struct rsm_letter *letter;
	struct rsm_export *exp;
	rsm_status_t status;

	if (!imp->may_send)
		return RSM_STS_PERM_DENIED;
	exp = rsm_import_export_get(imp);
	if (!exp)
		return RSM_STS_CONN_ABORTED;
	status = RSM_STS_INSUFFICIENT_MEM;
	letter = letter_alloc(imp, arg);
	if (letter)
		status = letter_deliver(exp, letter);
	if (status)
		kfree(letter);
	else
		rsm_event_post(&exp->seg, RSM_SIGPOST_NO_ACCUMULATE);
	rsm_segment_put(&exp->seg);
	return status;
}

/* RSM_IOC_RECEIVE */
rsm_status_t rsm_letter_receive(struct rsm_export *exp, struct rsm_message *arg)
{
	struct rsm_inbox *inbox = &exp->inbox;
	struct rsm_letter *letter;

	if (!rsm_is_creator(exp))
		return RSM_STS_NOT_CREATOR;
	spin_lock(&inbox->lock);
	letter = list_first_entry_or_null(&inbox->turns, struct rsm_letter, turn);
	if (letter)
		letter_del(inbox, letter);
	spin_unlock(&inbox->lock);
	if (!letter)
		return RSM_STS_TIMEOUT;
	memcpy(arg->word, letter->word, sizeof(arg->word));
	kfree(letter);
	return RSM_STS_SUCCESS;
}
