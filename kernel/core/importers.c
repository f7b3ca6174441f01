// SPDX-License-Identifier: GPL-2.0
/*
 * The importers of a segment on the segment's own node. There may be tens of thousands, each with
 * many mappings. The works of links and other importers wait for importers_lock, so a visit of all
 * importers holds it for a few of them at a time, and not while mappings change.
 */

#include "internal.h"

#include <linux/sched.h>

/* Importers visited before importers_lock is dropped for a moment. */
#define VISIT_BATCH	64U

/* @imp becomes an importer of @exp, and takes over the caller's reference on it. */
void rsm_local_join(struct rsm_import *imp, struct rsm_export *exp)
{
	lockdep_assert_held(&exp->importers_lock);
	imp->exp = exp;
	imp->exporter = exp->seg.number;
	imp->length = exp->length;
	rsm_import_set_mem(imp, exp->mem);
	list_add_tail(&imp->member.entry, &exp->importers);
	exp->importer_count++;
}

/*
 * @imp is no importer any more; the caller holds a reference of its own on @exp. Once @imp has
 * forgotten its export, the close of its handle no longer waits for importers_lock and may
 * drop the last reference on @imp.
 */
static void importers_remove(struct rsm_export *exp, struct rsm_import *imp)
{
	lockdep_assert_held(&exp->importers_lock);
	if (list_empty(&imp->member.entry))
		return;
	list_del_init(&imp->member.entry);
	exp->importer_count--;
	rsm_import_get(imp);
	rsm_import_forget_export(imp);
	if (imp->granted)
		rsm_letter_drop(exp, imp);
	rsm_import_put(imp);
	rsm_segment_put(&exp->seg);
}

/**
 * rsm_local_disconnect() - undo rsm_local_connect()
 * @imp: the import; an aborted one has left its export already
 */
void rsm_local_disconnect(struct rsm_import *imp)
{
	struct rsm_export *exp = rsm_import_export_get(imp);

	if (!exp)
		return;
	mutex_lock(&exp->importers_lock);
	importers_remove(exp, imp);
	mutex_unlock(&exp->importers_lock);
	rsm_segment_put(&exp->seg);
}
EXPORT_SYMBOL_GPL(rsm_local_disconnect);

/**
 * rsm_importer_abort() - break a connection that does not end with its export
 * @imp: the import, of this node or another
 * @reason: why
 */
void rsm_importer_abort(struct rsm_import *imp, enum rsm_reason reason)
{
	struct rsm_export *exp = rsm_import_export_get(imp);

	rsm_import_abort(imp, reason);
	if (!exp)
		return;
	mutex_lock(&exp->importers_lock);
	importers_remove(exp, imp);
	mutex_unlock(&exp->importers_lock);
	rsm_segment_put(&exp->seg);
}

/* Acts on an importer of @exp; may make the importer leave, and drop importers_lock meanwhile. */
typedef void visit_t(struct rsm_export *exp, struct rsm_import *imp, void *data);

/**
 * struct tour - a visit of all importers of an export
 * @mark: in the list, behind the importers that were visited
 * @left: most importers that are still to visit; later ones were not there at the start
 * @visit: called for each
 * @data: for @visit
 */
struct tour {
	struct rsm_member mark;
	unsigned int left;
	visit_t *visit;
	void *data;
};

/* One step: visit an importer, or pass the mark of another tour. */
static void tour_step(struct rsm_export *exp, struct tour *tour)
{
	struct rsm_member *next = list_next_entry(&tour->mark, entry);

	list_move(&tour->mark.entry, &next->entry);
	if (next->is_mark)
		return;
	tour->left--;
	tour->visit(exp, container_of(next, struct rsm_import, member), tour->data);
}

static bool tour_is_over(const struct rsm_export *exp, const struct tour *tour)
{
	lockdep_assert_held(&exp->importers_lock);
	return !tour->left || list_is_last(&tour->mark.entry, &exp->importers);
}

/*
 * Visit all importers that there are at this time. Those that join meanwhile are added behind
 * them, and are not visited.
 */
static void visit_importers(struct rsm_export *exp, visit_t *visit, void *data)
{
	struct tour tour = { .mark.is_mark = true, .visit = visit, .data = data };
	unsigned int steps;

	mutex_lock(&exp->importers_lock);
	tour.left = exp->importer_count;
	list_add(&tour.mark.entry, &exp->importers);
	while (!tour_is_over(exp, &tour)) {
		for (steps = 0; steps < VISIT_BATCH && !tour_is_over(exp, &tour); steps++)
			tour_step(exp, &tour);
		mutex_unlock(&exp->importers_lock);
		cond_resched();
		mutex_lock(&exp->importers_lock);
	}
	list_del(&tour.mark.entry);
	mutex_unlock(&exp->importers_lock);
}

static void post_visit(struct rsm_export *exp, struct rsm_import *imp, void *flags)
{
	rsm_event_post(&imp->seg, *(u32 *)flags);
}

/* Deliver an event to all importers of this node. */
void rsm_importers_post(struct rsm_export *exp, u32 flags)
{
	visit_importers(exp, post_visit, &flags);
}

/*
 * The mappings of an importer may be so many that a change of them takes seconds. The works of
 * links wait for importers_lock, so the caller drops importers_lock for that.
 */
static void leave_lock(struct rsm_export *exp, struct rsm_import *imp)
{
	rsm_import_get(imp);
	mutex_unlock(&exp->importers_lock);
}

static void return_to_lock(struct rsm_export *exp, struct rsm_import *imp)
{
	rsm_import_put(imp);
	mutex_lock(&exp->importers_lock);
}

/**
 * struct exchange - memory that takes the place of other memory
 * @old: the former memory, not NULL
 * @mem: the memory, or NULL
 */
struct exchange {
	struct rsm_mem *old;
	struct rsm_mem *mem;
};

static void replace_mem_visit(struct rsm_export *exp, struct rsm_import *imp, void *data)
{
	const struct exchange *exchange = data;

	leave_lock(exp, imp);
	rsm_import_replace_mem(imp, exchange->old, exchange->mem);
	return_to_lock(exp, imp);
}

/**
 * rsm_export_set_mem() - put other memory, or none, behind an export
 * @exp: the export
 * @mem: its new memory; takes over the caller's reference
 *
 * On return importers reach the new memory and none reaches the old one.
 */
void rsm_export_set_mem(struct rsm_export *exp, struct rsm_mem *mem)
{
	struct exchange exchange = { .old = exp->mem, .mem = mem };

	lockdep_assert_held(&exp->lock);
	/* Importers that join from now on get the new memory. */
	mutex_lock(&exp->importers_lock);
	exp->mem = mem;
	mutex_unlock(&exp->importers_lock);
	if (exchange.old)
		visit_importers(exp, replace_mem_visit, &exchange);
	rsm_mem_put(exchange.old);
}
EXPORT_SYMBOL_GPL(rsm_export_set_mem);

/**
 * struct abortion - which connections to abort, and why
 * @granted: the grant whose connections they are, NULL for all of them
 * @reason: why
 */
struct abortion {
	const struct rsm_ticket *granted;
	enum rsm_reason reason;
};

static void abort_visit(struct rsm_export *exp, struct rsm_import *imp, void *data)
{
	const struct abortion *abortion = data;

	if (abortion->granted && imp->ticket != abortion->granted)
		return;
	leave_lock(exp, imp);
	rsm_import_abort(imp, abortion->reason);
	mutex_lock(&exp->importers_lock);
	importers_remove(exp, imp);
	rsm_import_put(imp);
}

/**
 * rsm_importers_abort() - abort connections of this node
 * @exp: the export; it has been closed to importers of this kind
 * @granted: the grant whose connections they are, NULL for all of them
 * @reason: why
 */
void rsm_importers_abort(struct rsm_export *exp, const struct rsm_ticket *granted,
			 enum rsm_reason reason)
{
	struct abortion abortion = { .granted = granted, .reason = reason };

	lockdep_assert_held(&exp->lock);
	visit_importers(exp, abort_visit, &abortion);
}
