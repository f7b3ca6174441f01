// SPDX-License-Identifier: GPL-2.0
/* Open handles by number, for dumps and for lookups by number. */

#include "internal.h"

#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/xarray.h>

/*
 * While a handle is being closed its number stays taken and has no entry: listeners identify the
 * segment that ends by this number. Lookups take their reference on a segment under xa_lock.
 */
static DEFINE_XARRAY_FLAGS(handles, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
static atomic_t handle_count = ATOMIC_INIT(0);
static atomic_t segment_count[2];
static atomic_t changes = ATOMIC_INIT(1);

/* A blank handle of @file without a number, or NULL. */
struct rsm_handle *rsm_handle_alloc(struct file *file)
{
	struct rsm_handle *h = kzalloc(sizeof(*h), GFP_KERNEL_ACCOUNT);

	if (!h)
		return NULL;
	kref_init(&h->ref);
	init_waitqueue_head(&h->wq);
	mutex_init(&h->lock);
	rsm_mapping_init(&h->mapping, file);
	return h;
}

static void handle_free(struct kref *ref)
{
	struct rsm_handle *h = container_of(ref, struct rsm_handle, ref);

	mutex_destroy(&h->lock);
	kfree(h);
}

void rsm_handle_put(struct rsm_handle *h)
{
	kref_put(&h->ref, handle_free);
}

static int take_number(struct rsm_handle *h)
{
	u32 most = rsm_highest_handle();
	int err = xa_alloc(&handles, &h->number, h, XA_LIMIT(1, most), GFP_KERNEL_ACCOUNT);

	if (!err)
		atomic_inc(&handle_count);
	if (err != -EBUSY)
		return err;
	rsm_limit_hit(RSM_LIMIT_SEGMENTS, most + 1ULL, most, NULL);
	return -EAGAIN;
}

/* Give a handle its number; -EAGAIN when the node or the user has too many, or -ENOMEM. */
int rsm_handle_enter(struct rsm_handle *h)
{
	int err;

	h->user = rsm_user_get();
	if (!h->user)
		return -ENOMEM;
	err = rsm_charge_handle(h->user);
	if (err)
		goto err_put_user;
	err = take_number(h);
	if (err)
		goto err_uncharge;
	return 0;

err_uncharge:
	rsm_user_sub_handle(h->user);
err_put_user:
	rsm_user_put(h->user);
	return err;
}

/* From now on no lookup finds the handle's segment. */
void rsm_handle_hide(struct rsm_handle *h)
{
	/* Replaces the entry by NULL without freeing the index, so it allocates nothing. */
	xa_store(&handles, h->number, NULL, 0);
	if (!h->seg)
		return;
	atomic_dec(&segment_count[h->seg->ops->kind]);
	atomic_dec(&h->seg->process->segments[h->seg->ops->kind]);
	atomic_inc(&changes);
}

void rsm_handle_leave(struct rsm_handle *h)
{
	xa_erase(&handles, h->number);
	atomic_dec(&handle_count);
	rsm_user_sub_handle(h->user);
	rsm_user_put(h->user);
}

unsigned int rsm_handle_count(void)
{
	return atomic_read(&handle_count);
}

/* A handle has become a segment. */
void rsm_segment_count_in(const struct rsm_segment *seg)
{
	atomic_inc(&segment_count[seg->ops->kind]);
	atomic_inc(&seg->process->segments[seg->ops->kind]);
	atomic_inc(&changes);
}

unsigned int rsm_segment_count(enum rsm_kind kind)
{
	return atomic_read(&segment_count[kind]);
}

/* A number that changes each time a segment is made or closed; never 0. */
u32 rsm_segment_changes(void)
{
	return (u32)atomic_read(&changes) ?: U32_MAX;
}

/* The handle's own reference keeps the segment while the table has the handle. */
static struct rsm_segment *segment_of(struct rsm_handle *h)
{
	struct rsm_segment *seg = h ? rsm_handle_segment(h) : NULL;

	if (seg)
		kref_get(&seg->ref);
	return seg;
}

/* The segment with this number and of this kind, referenced, or NULL. */
struct rsm_segment *rsm_segment_get(u32 number, enum rsm_kind kind)
{
	struct rsm_segment *seg;

	xa_lock(&handles);
	seg = segment_of(xa_load(&handles, number));
	xa_unlock(&handles);
	if (!seg || seg->ops->kind == kind)
		return seg;
	rsm_segment_put(seg);
	return NULL;
}

/**
 * rsm_segment_next() - go through all segments
 * @number: the least number to look at
 *
 * Return: the segment with that number or the next higher one, referenced, or
 * NULL behind the last one.
 */
struct rsm_segment *rsm_segment_next(u32 number)
{
	struct rsm_segment *seg = NULL;
	unsigned long index = number;
	struct rsm_handle *h;

	do {
		xa_lock(&handles);
		h = xa_find(&handles, &index, ULONG_MAX, XA_PRESENT);
		seg = segment_of(h);
		xa_unlock(&handles);
		index++;
		cond_resched();
	} while (h && !seg);
	return seg;
}

/* The export that a handle has become, or NULL; @h is NULL for a control handle. */
struct rsm_export *rsm_handle_export(struct rsm_handle *h)
{
	struct rsm_segment *seg = h ? rsm_handle_segment(h) : NULL;

	return seg && seg->ops->kind == RSM_EXPORT ? to_export(seg) : NULL;
}

/* The import that a handle has become, or NULL; @h is NULL for a control handle. */
struct rsm_import *rsm_handle_import(struct rsm_handle *h)
{
	struct rsm_segment *seg = h ? rsm_handle_segment(h) : NULL;

	return seg && seg->ops->kind == RSM_IMPORT ? to_import(seg) : NULL;
}
