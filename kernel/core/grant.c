// SPDX-License-Identifier: GPL-2.0
/*
 * Grants: the holder of a ticket has rights to some bytes of an export that has no id.
 * Controllers take no part.
 */

#include "internal.h"

#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/xarray.h>

/**
 * struct rsm_ticket - a grant
 * @ref: one for the export's list, one for each import that presents it
 * @key: its number in the table, and 96 random bits; a process that knows the key may redeem it
 * @exp: the export, referenced
 * @offset: first byte granted
 * @length: bytes granted
 * @rights: RSM_PERM_READ, RSM_PERM_WRITE, both or none
 * @flags: those of GRANT
 * @live: it has not been revoked; guarded by the export's importers_lock
 * @spent: it was good for one import, which has been made; likewise
 * @link: its place among the export's
 */
struct rsm_ticket {
	struct kref ref;
	u64 key[2];
	struct rsm_export *exp;
	u64 offset;
	u64 length;
	u32 rights;
	u32 flags;
	bool live;
	bool spent;
	struct list_head link;
};

/* The live tickets by number. Lookups take their reference under xa_lock. */
static DEFINE_XARRAY_FLAGS(tickets, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);
static atomic_t grant_count = ATOMIC_INIT(0);

unsigned int rsm_grant_count(void)
{
	return atomic_read(&grant_count);
}

static u32 number_of(const u64 *key)
{
	return lower_32_bits(key[0]);
}

/* Constant time: how long the comparison takes must not tell how much of a guess is right. */
static bool is_key(const struct rsm_ticket *ticket, const u64 *key)
{
	u64 differences = ticket->key[0] ^ key[0];

	OPTIMIZER_HIDE_VAR(differences);
	return !(differences | (ticket->key[1] ^ key[1]));
}

/* The live ticket with this key, referenced, or NULL. */
static struct rsm_ticket *ticket_get(const u64 *key)
{
	struct rsm_ticket *ticket;

	xa_lock(&tickets);
	ticket = xa_load(&tickets, number_of(key));
	if (ticket && is_key(ticket, key))
		kref_get(&ticket->ref);
	else
		ticket = NULL;
	xa_unlock(&tickets);
	return ticket;
}

static void ticket_free(struct kref *ref)
{
	struct rsm_ticket *ticket = container_of(ref, struct rsm_ticket, ref);

	rsm_segment_put(&ticket->exp->seg);
	kfree(ticket);
}

void rsm_ticket_put(struct rsm_ticket *ticket)
{
	if (ticket)
		kref_put(&ticket->ref, ticket_free);
}

/* Fill in number and key before the table has the ticket: a lookup compares the key. */
static int enter_table(struct rsm_ticket *ticket)
{
	u32 number;
	int err;

	get_random_bytes(ticket->key, sizeof(ticket->key));
	xa_lock(&tickets);
	err = __xa_alloc(&tickets, &number, ticket, xa_limit_32b, GFP_KERNEL_ACCOUNT);
	if (!err)
		ticket->key[0] = (u64)upper_32_bits(ticket->key[0]) << 32 | number;
	xa_unlock(&tickets);
	return err;
}

static struct rsm_ticket *ticket_alloc(struct rsm_export *exp, struct rsm_grant *arg)
{
	struct rsm_ticket *ticket = kzalloc(sizeof(*ticket), GFP_KERNEL_ACCOUNT);

	if (!ticket)
		return NULL;
	kref_init(&ticket->ref);
	kref_get(&exp->seg.ref);
	ticket->exp = exp;
	ticket->offset = arg->offset;
	ticket->length = arg->length;
	ticket->rights = arg->permission;
	ticket->flags = arg->flags;
	ticket->live = true;
	return ticket;
}

static rsm_status_t grant_locked(struct rsm_export *exp, struct rsm_grant *arg)
{
	struct rsm_ticket *ticket;
	int err;

	lockdep_assert_held(&exp->lock);
	if (rsm_export_is_over(exp))
		return RSM_STS_BAD_SEG_HNDL;
	if (exp->grants >= RSM_GRANTS_MAX) {
		rsm_limit_hit(RSM_LIMIT_GRANTS, exp->grants + 1, RSM_GRANTS_MAX, NULL);
		return RSM_STS_INSUFFICIENT_RESOURCES;
	}
	ticket = ticket_alloc(exp, arg);
	if (!ticket)
		return RSM_STS_INSUFFICIENT_MEM;
	err = enter_table(ticket);
	if (err) {
		rsm_ticket_put(ticket);
		return err == -EBUSY ? RSM_STS_INSUFFICIENT_RESOURCES :
				       RSM_STS_INSUFFICIENT_MEM;
	}
	list_add(&ticket->link, &exp->tickets);
	exp->grants++;
	atomic_inc(&grant_count);
	memcpy(arg->ticket, ticket->key, sizeof(arg->ticket));
	return RSM_STS_SUCCESS;
}

/* A grant of no bytes makes sense only with RSM_GRANT_SEND. */
static rsm_status_t check_bare_grant(const struct rsm_grant *arg)
{
	if (!(arg->flags & RSM_GRANT_SEND))
		return RSM_STS_PERM_DENIED;
	if (arg->offset)
		return RSM_STS_BAD_OFFSET;
	return arg->length ? RSM_STS_BAD_LENGTH : RSM_STS_SUCCESS;
}

static rsm_status_t check_grant(const struct rsm_export *exp, const struct rsm_grant *arg)
{
	u32 most = exp->flags & RSM_BIND_READ ? RSM_PERM_READ : RSM_PERM_RDWR;

	if (!rsm_is_local(exp))
		return RSM_STS_BAD_SEG_HNDL;
	if (arg->permission & ~most)
		return RSM_STS_PERM_DENIED;
	if (!arg->permission)
		return check_bare_grant(arg);
	if (arg->offset > exp->length)
		return RSM_STS_BAD_OFFSET;
	if (!arg->length || !rsm_range_ok(arg->offset, arg->length, exp->length))
		return RSM_STS_BAD_LENGTH;
	return RSM_STS_SUCCESS;
}

/* RSM_IOC_GRANT */
rsm_status_t rsm_grant(struct rsm_export *exp, struct rsm_grant *arg)
{
	rsm_status_t status;

	if (!rsm_is_creator(exp))
		return RSM_STS_NOT_CREATOR;
	status = check_grant(exp, arg);
	if (status)
		return status;
	if (mutex_lock_interruptible(&exp->lock))
		return RSM_STS_INTERRUPTED;
	status = grant_locked(exp, arg);
	mutex_unlock(&exp->lock);
	return status;
}

/* Take the ticket, which is not live any more, out of the table and of the export's list. */
static void leave_table(struct rsm_export *exp, struct rsm_ticket *ticket)
{
	lockdep_assert_held(&exp->lock);
	xa_erase(&tickets, number_of(ticket->key));
	list_del(&ticket->link);
	exp->grants--;
	atomic_dec(&grant_count);
	rsm_ticket_put(ticket);
}

static rsm_status_t revoke_locked(struct rsm_export *exp, struct rsm_ticket *ticket)
{
	lockdep_assert_held(&exp->lock);
	/* A dead export has revoked its tickets, or rsm_grants_end() is about to. */
	if (ticket->exp != exp || !ticket->live || exp->state == RSM_DEAD)
		return RSM_STS_SEG_NOT_PUBLISHED;
	mutex_lock(&exp->importers_lock);
	ticket->live = false;
	mutex_unlock(&exp->importers_lock);
	rsm_importers_abort(exp, ticket, RSM_REASON_REVOKED);
	leave_table(exp, ticket);
	return RSM_STS_SUCCESS;
}

/* RSM_IOC_REVOKE */
rsm_status_t rsm_revoke(struct rsm_export *exp, struct rsm_revoke *arg)
{
	struct rsm_ticket *ticket;
	rsm_status_t status;

	if (!rsm_is_creator(exp))
		return RSM_STS_NOT_CREATOR;
	ticket = ticket_get(arg->ticket);
	if (!ticket)
		return RSM_STS_SEG_NOT_PUBLISHED;
	status = RSM_STS_INTERRUPTED;
	if (!mutex_lock_interruptible(&exp->lock)) {
		status = revoke_locked(exp, ticket);
		mutex_unlock(&exp->lock);
	}
	rsm_ticket_put(ticket);
	return status;
}

/**
 * rsm_grants_end() - revoke all grants of an export
 * @exp: the export, dead: none of its tickets is good any more
 */
void rsm_grants_end(struct rsm_export *exp)
{
	struct rsm_ticket *ticket, *next;

	lockdep_assert_held(&exp->lock);
	if (list_empty(&exp->tickets))
		return;
	rsm_importers_abort(exp, NULL, RSM_REASON_EXPORTER);
	list_for_each_entry_safe(ticket, next, &exp->tickets, link) {
		leave_table(exp, ticket);
		cond_resched();
	}
}

static rsm_status_t granted_connect(struct rsm_import *imp)
{
	struct rsm_export *exp = imp->ticket->exp;
	rsm_status_t status = RSM_STS_SEG_NOT_PUBLISHED;

	mutex_lock(&exp->importers_lock);
	if (imp->ticket->live && !imp->ticket->spent && exp->state != RSM_DEAD) {
		imp->ticket->spent = imp->ticket->flags & RSM_GRANT_ONCE;
		kref_get(&exp->seg.ref);
		rsm_local_join(imp, exp);
		status = RSM_STS_SUCCESS;
	}
	mutex_unlock(&exp->importers_lock);
	return status;
}

/* Imports by ticket use these instead of the operations of a controller. */
static const struct rsm_controller_ops granted_ops = {
	.connect = granted_connect,
	.disconnect = rsm_local_disconnect,
	.map = rsm_map_mem,
	.post = rsm_local_post,
};

/**
 * rsm_ticket_present() - prepare an import for its connect by ticket
 * @imp: the import
 * @key: of the ticket
 *
 * Return: RSM_SUCCESS or RSMERR_SEG_NOT_PUBLISHED.
 */
rsm_status_t rsm_ticket_present(struct rsm_import *imp, const u64 *key)
{
	struct rsm_ticket *ticket = ticket_get(key);

	if (!ticket)
		return RSM_STS_SEG_NOT_PUBLISHED;
	imp->ticket = ticket;
	imp->granted = true;
	imp->may_send = ticket->flags & RSM_GRANT_SEND;
	imp->ops = &granted_ops;
	imp->node = rsm_node_id();
	imp->rights = ticket->rights;
	imp->start = ticket->offset;
	imp->end = ticket->offset + ticket->length;
	return RSM_STS_SUCCESS;
}

/* Name of the controller of the export that granted it. */
const char *rsm_ticket_controller(const struct rsm_ticket *ticket)
{
	return ticket->exp->seg.ctl->name;
}
