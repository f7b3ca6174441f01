// SPDX-License-Identifier: GPL-2.0
/* Publishing: segment ids, access lists, withdrawal. */

#include "internal.h"

#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/pid.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/xarray.h>

/* Published segments by id. Lookups take their reference under xa_lock. */
static DEFINE_XARRAY_FLAGS(published, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);
static u32 next_system_id = RSM_USER_APP_ID_BASE;
static atomic_t published_count = ATOMIC_INIT(0);

unsigned int rsm_published_count(void)
{
	return atomic_read(&published_count);
}

/* The segment published under @id, referenced, or NULL. */
struct rsm_export *rsm_published_get(u32 id)
{
	struct rsm_export *exp;

	xa_lock(&published);
	exp = xa_load(&published, id);
	if (exp && !kref_get_unless_zero(&exp->seg.ref))
		exp = NULL;
	xa_unlock(&published);
	return exp;
}

static rsm_status_t id_take(struct rsm_export *exp, u32 *id)
{
	int err;

	if (*id)
		err = xa_insert(&published, *id, exp, GFP_KERNEL_ACCOUNT);
	else
		err = xa_alloc_cyclic(&published, id, exp,
				      XA_LIMIT(RSM_USER_APP_ID_BASE, RSM_USER_APP_ID_END),
				      &next_system_id, GFP_KERNEL_ACCOUNT);
	if (err < 0)
		return err == -EBUSY && *id ? RSM_STS_SEGID_IN_USE :
		       err == -EBUSY ? RSM_STS_INSUFFICIENT_RESOURCES :
				       RSM_STS_INSUFFICIENT_MEM;
	atomic_inc(&published_count);
	return RSM_STS_SUCCESS;
}

static void id_give_back(u32 id)
{
	xa_erase(&published, id);
	atomic_dec(&published_count);
}

static rsm_status_t acl_check(struct rsm_export *exp, const struct rsm_acl *acl)
{
	if (!rsm_acl_valid(acl->entry, acl->count))
		return RSM_STS_BAD_ACL;
	return exp->seg.ctl->ops->check_acl(exp->seg.ctl, acl);
}

/* Copy and check an access list; *@list is NULL for the default. */
static rsm_status_t acl_read(struct rsm_export *exp, struct rsm_publish *arg, struct rsm_acl **list)
{
	size_t bytes = array_size(arg->acl_count, sizeof(struct rsm_acl_entry));
	struct rsm_acl *acl;
	rsm_status_t status;

	*list = NULL;
	if (!arg->acl_count)
		return RSM_STS_SUCCESS;
	if (arg->acl_count > (exp->seg.ctl->max_acl ?: RSM_ACL_MAX))
		return RSM_STS_BAD_ACL;
	acl = kmalloc(struct_size(acl, entry, arg->acl_count), GFP_KERNEL_ACCOUNT);
	if (!acl)
		return RSM_STS_INSUFFICIENT_MEM;
	acl->count = arg->acl_count;
	status = RSM_STS_BAD_ADDR;
	if (!copy_from_user(acl->entry, u64_to_user_ptr(arg->acl), bytes))
		status = acl_check(exp, acl);
	if (status) {
		kfree(acl);
		return status;
	}
	*list = acl;
	return RSM_STS_SUCCESS;
}

static void set_acl(struct rsm_export *exp, struct rsm_acl *acl)
{
	struct rsm_acl *old;

	mutex_lock(&exp->importers_lock);
	old = exp->acl;
	exp->acl = acl;
	mutex_unlock(&exp->importers_lock);
	kfree(old);
}

static void set_open(struct rsm_export *exp, bool open)
{
	mutex_lock(&exp->importers_lock);
	exp->open = open;
	mutex_unlock(&exp->importers_lock);
}

/*
 * Enter the id before asking the controller, so that no other export can take the id. Open the
 * export to connects last.
 */
static rsm_status_t publish_under_id(struct rsm_export *exp, u32 *id, struct rsm_acl *acl)
{
	rsm_status_t status;

	status = id_take(exp, id);
	if (status)
		return status;
	exp->id = *id;
	set_acl(exp, acl);
	if (exp->ops->publish)
		status = exp->ops->publish(exp);
	if (status) {
		mutex_lock(&exp->importers_lock);
		exp->acl = NULL;
		mutex_unlock(&exp->importers_lock);
		id_give_back(*id);
		return status;
	}
	WRITE_ONCE(exp->state, RSM_PUBLISHED);
	rsm_notify_publish(exp);
	set_open(exp, true);
	return RSM_STS_SUCCESS;
}

static rsm_status_t publish_locked(struct rsm_export *exp, struct rsm_publish *arg,
				   struct rsm_acl *acl)
{
	u32 id = arg->id;
	rsm_status_t status;

	lockdep_assert_held(&exp->lock);
	if (exp->state == RSM_PUBLISHED)
		return RSM_STS_SEG_ALREADY_PUBLISHED;
	if (rsm_export_is_over(exp) || rsm_is_local(exp))
		return RSM_STS_BAD_SEG_HNDL;
	status = publish_under_id(exp, &id, acl);
	if (!status)
		arg->id = id;
	return status;
}

/* Uses an access list that was read, and takes it over unless that fails. */
typedef rsm_status_t acl_user_t(struct rsm_export *exp, struct rsm_publish *arg,
				struct rsm_acl *acl);

static rsm_status_t use_acl(struct rsm_export *exp, struct rsm_publish *arg, acl_user_t *use)
{
	struct rsm_acl *acl;
	rsm_status_t status;

	status = acl_read(exp, arg, &acl);
	if (status)
		return status;
	status = RSM_STS_INTERRUPTED;
	if (!mutex_lock_interruptible(&exp->lock)) {
		status = use(exp, arg, acl);
		mutex_unlock(&exp->lock);
	}
	if (status)
		kfree(acl);
	return status;
}

/* RSM_IOC_PUBLISH */
rsm_status_t rsm_publish(struct rsm_export *exp, struct rsm_publish *arg)
{
	if (READ_ONCE(exp->state) == RSM_PUBLISHED)
		return RSM_STS_SEG_ALREADY_PUBLISHED;
	if (arg->id && !rsm_segid_requestable(arg->id))
		return RSM_STS_RESERVED_SEGID;
	if (!rsm_is_creator(exp))
		return RSM_STS_NOT_CREATOR;
	return use_acl(exp, arg, publish_locked);
}

static rsm_status_t republish_locked(struct rsm_export *exp, struct rsm_publish *arg,
				     struct rsm_acl *acl)
{
	lockdep_assert_held(&exp->lock);
	if (exp->state != RSM_PUBLISHED || rsm_export_lost_range(exp))
		return RSM_STS_SEG_NOT_PUBLISHED;
	set_acl(exp, acl);
	if (exp->ops->republish)
		exp->ops->republish(exp);
	return RSM_STS_SUCCESS;
}

/* RSM_IOC_REPUBLISH */
rsm_status_t rsm_republish(struct rsm_export *exp, struct rsm_publish *arg)
{
	if (READ_ONCE(exp->state) != RSM_PUBLISHED)
		return RSM_STS_SEG_NOT_PUBLISHED;
	if (!rsm_is_creator(exp))
		return RSM_STS_NOT_CREATOR;
	return use_acl(exp, arg, republish_locked);
}

/* Events give importers and exporters different reasons for one change. */
static enum rsm_reason reason_for_importers(enum rsm_reason reason)
{
	return reason == RSM_REASON_ASKED || reason == RSM_REASON_RANGE_GONE ?
		       RSM_REASON_EXPORTER : reason;
}

/**
 * rsm_export_withdraw_begin() - refuse new connections, and ask other nodes to let go
 * @exp: an export, published or not
 *
 * Waits for no node. rsm_export_withdraw() follows.
 */
void rsm_export_withdraw_begin(struct rsm_export *exp)
{
	lockdep_assert_held(&exp->lock);
	if (exp->state != RSM_PUBLISHED)
		return;
	set_open(exp, false);
	if (exp->ops->withdraw)
		exp->ops->withdraw(exp);
}

/**
 * rsm_export_withdraw() - abort all connections and free the id
 * @exp: an export, published or not
 * @reason: why
 *
 * A published export is bound afterwards. On return no local importer reaches its memory.
 */
void rsm_export_withdraw(struct rsm_export *exp, enum rsm_reason reason)
{
	lockdep_assert_held(&exp->lock);
	if (exp->state != RSM_PUBLISHED)
		return;
	set_open(exp, false);
	rsm_importers_abort(exp, NULL, reason_for_importers(reason));
	id_give_back(exp->id);
	if (exp->ops->unpublish)
		exp->ops->unpublish(exp);
	rsm_notify_unpublish(exp, reason);
	set_acl(exp, NULL);
	WRITE_ONCE(exp->state, RSM_BOUND);
}

/* RSM_IOC_UNPUBLISH */
rsm_status_t rsm_unpublish(struct rsm_export *exp)
{
	rsm_status_t status = RSM_STS_SEG_NOT_PUBLISHED;

	if (READ_ONCE(exp->state) != RSM_PUBLISHED)
		return RSM_STS_SEG_NOT_PUBLISHED;
	if (!rsm_is_creator(exp))
		return RSM_STS_NOT_CREATOR;
	if (mutex_lock_interruptible(&exp->lock))
		return RSM_STS_INTERRUPTED;
	if (exp->state == RSM_PUBLISHED) {
		rsm_export_withdraw(exp, RSM_REASON_ASKED);
		status = RSM_STS_SUCCESS;
	}
	mutex_unlock(&exp->lock);
	return status;
}
