// SPDX-License-Identifier: GPL-2.0
/*
 * Letters: short messages from the holders of a ticket to the creator of the export
 * that granted it. Only the creator can read them, and no sender can remove or replace
 * the letter of another. The creator gets the letters of all users in turn (rsm_turns.h).
 */

#include "internal.h"

#include <linux/slab.h>

/**
 * struct rsm_letter - a message that the exporter has not received yet
 * @turn: its place in &rsm_inbox.letters
 * @imp: the import through which it was sent; it has no other letter
 * @word: the contents
 */
struct rsm_letter {
	struct rsm_turn turn;
	struct rsm_import *imp;
	u64 word[RSM_MESSAGE_WORDS];
};

void rsm_inbox_init(struct rsm_inbox *inbox)
{
	spin_lock_init(&inbox->lock);
	rsm_turns_init(&inbox->letters);
}

static void letter_add(struct rsm_inbox *inbox, struct rsm_letter *letter)
{
	lockdep_assert_held(&inbox->lock);
	letter->imp->letter = letter;
	rsm_turns_add(&inbox->letters, &letter->turn);
}

/* The letter whose turn it is, taken out, or NULL. */
static struct rsm_letter *letter_next(struct rsm_inbox *inbox)
{
	struct rsm_letter *letter = NULL;
	struct rsm_turn *turn;

	spin_lock(&inbox->lock);
	turn = rsm_turns_first(&inbox->letters);
	if (turn) {
		letter = container_of(turn, struct rsm_letter, turn);
		letter->imp->letter = NULL;
		rsm_turns_pop(&inbox->letters, turn);
	}
	spin_unlock(&inbox->lock);
	return letter;
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
	if (letter) {
		imp->letter = NULL;
		rsm_turns_del(&inbox->letters, &letter->turn);
	}
	spin_unlock(&inbox->lock);
	kfree(letter);
}

static struct rsm_letter *letter_alloc(struct rsm_import *imp, const struct rsm_message *arg)
{
	struct rsm_letter *letter = kmalloc(sizeof(*letter), GFP_KERNEL_ACCOUNT);

	if (!letter)
		return NULL;
	rsm_turn_init(&letter->turn);
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
	struct rsm_letter *letter;

	if (!rsm_is_creator(exp))
		return RSM_STS_NOT_CREATOR;
	letter = letter_next(&exp->inbox);
	if (!letter)
		return RSM_STS_TIMEOUT;
	memcpy(arg->word, letter->word, sizeof(arg->word));
	kfree(letter);
	return RSM_STS_SUCCESS;
}
