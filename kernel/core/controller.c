// SPDX-License-Identifier: GPL-2.0
/* The registry of controllers. */

#include "compat.h"
#include "internal.h"

#include <linux/ctype.h>
#include <linux/kmod.h>
#include <linux/rculist.h>
#include <linux/string.h>

/*
 * Writers hold rsm_controllers_lock. Readers hold it, too, if they sleep while they go
 * through the list; others hold rcu_read_lock(): a controller that was taken off the list is
 * freed after a grace period at the earliest.
 */
LIST_HEAD(rsm_controllers);
DEFINE_MUTEX(rsm_controllers_lock); /* guards the list */
static unsigned long last_serial;
/* Changes each time a controller is registered or removed; never 0. */
u32 rsm_controller_changes = 1;

/* The caller holds rsm_controllers_lock or is an RCU reader. */
static struct rsm_controller *find(const char *name)
{
	struct rsm_controller *ctl;

	list_for_each_entry_rcu(ctl, &rsm_controllers, link,
				lockdep_is_held(&rsm_controllers_lock))
		if (!strcmp(ctl->name, name))
			return ctl;
	return NULL;
}

static void note_change(void)
{
	lockdep_assert_held(&rsm_controllers_lock);
	rsm_controller_changes = rsm_controller_changes + 1 ?: 1;
}

/**
 * rsm_register_controller() - offer a controller to users
 * @ctl: the controller; stays where it is until it is unregistered
 *
 * Return: 0, or -EEXIST when the name is taken.
 */
int rsm_register_controller(struct rsm_controller *ctl)
{
	int err = -EEXIST;

	mutex_lock(&rsm_controllers_lock);
	if (!find(ctl->name)) {
		ctl->serial = ++last_serial;
		refcount_set(&ctl->users, 1);
		ctl->removed = false;
		init_rwsem(&ctl->gate);
		spin_lock_init(&ctl->lock);
		INIT_LIST_HEAD(&ctl->segments);
		memset(ctl->segment_count, 0, sizeof(ctl->segment_count));
		list_add_tail_rcu(&ctl->link, &rsm_controllers);
		note_change();
		err = 0;
	}
	mutex_unlock(&rsm_controllers_lock);
	return err;
}
EXPORT_SYMBOL_GPL(rsm_register_controller);

/* On return no lookup finds the controller any more. */
static void leave_registry(struct rsm_controller *ctl)
{
	mutex_lock(&rsm_controllers_lock);
	list_del_rcu(&ctl->link);
	note_change();
	mutex_unlock(&rsm_controllers_lock);
	synchronize_rcu();
}

/**
 * rsm_unregister_controller() - withdraw a controller
 * @ctl: the controller
 *
 * Return: 0, or -EBUSY while a segment uses it.
 */
int rsm_unregister_controller(struct rsm_controller *ctl)
{
	if (!refcount_dec_if_one(&ctl->users))
		return -EBUSY;
	leave_registry(ctl);
	return 0;
}
EXPORT_SYMBOL_GPL(rsm_unregister_controller);

/*
 * Does the module still initialize itself? If that fails, the kernel frees the module however many
 * references there are. The core lets users in by the last of its steps that can fail; dumps, which
 * netlink would let in before, see to it themselves (rsm_dump_start()).
 */
static bool may_fail_to_load(struct module *owner)
{
	return owner != THIS_MODULE && rsm_module_is_coming(owner);
}

/* Take a use of the controller and of its module; false if either is about to go or to come. */
static bool controller_use(struct rsm_controller *ctl)
{
	if (may_fail_to_load(ctl->ops->owner) || !try_module_get(ctl->ops->owner))
		return false;
	if (refcount_inc_not_zero(&ctl->users))
		return true;
	module_put(ctl->ops->owner);
	return false;
}

/**
 * rsm_controller_get_present() - find a controller by name and keep it
 * @name: its name
 *
 * Loads no module: for callers that hold a lock which loading a module may wait for.
 *
 * Return: the controller, to be given back by rsm_controller_put(), or NULL.
 */
struct rsm_controller *rsm_controller_get_present(const char *name)
{
	struct rsm_controller *ctl;

	rcu_read_lock();
	ctl = find(name);
	if (ctl && !controller_use(ctl))
		ctl = NULL;
	rcu_read_unlock();
	return ctl;
}

/* May the module loader be asked for a controller of this name? */
static bool is_loadable(const char *name)
{
	if (!isalpha(*name))
		return false;
	for (; *name; name++)
		if (!isalnum(*name) && *name != '_')
			return false;
	return true;
}

/**
 * rsm_controller_get() - find a controller by name and keep it
 * @name: its name
 *
 * Asks for the module "rsm-NAME" if there is none.
 *
 * Return: the controller, to be given back by rsm_controller_put(), or NULL.
 */
struct rsm_controller *rsm_controller_get(const char *name)
{
	struct rsm_controller *ctl = rsm_controller_get_present(name);

	if (ctl || !is_loadable(name))
		return ctl;
	request_module("rsm-%s", name);
	return rsm_controller_get_present(name);
}

/* Give up a use. The registry has one, so only a controller that was removed loses its last. */
static void controller_unuse(struct rsm_controller *ctl)
{
	if (refcount_dec_and_test(&ctl->users) && ctl->ops->release)
		ctl->ops->release(ctl);
}

void rsm_controller_put(struct rsm_controller *ctl)
{
	struct module *owner = ctl->ops->owner;

	controller_unuse(ctl);
	module_put(owner);
}

/*
 * A segment is about to use @ctl: holds off the removal of @ctl until rsm_controller_leave().
 * False if @ctl was removed already.
 */
bool rsm_controller_enter(struct rsm_controller *ctl)
{
	down_read(&ctl->gate);
	if (!ctl->removed)
		return true;
	up_read(&ctl->gate);
	return false;
}

/* The segment is in the controller's list now, or could not be made. */
void rsm_controller_leave(struct rsm_controller *ctl)
{
	up_read(&ctl->gate);
}

void rsm_controller_add(struct rsm_segment *seg)
{
	struct rsm_controller *ctl = seg->ctl;

	spin_lock(&ctl->lock);
	list_add_tail(&seg->on_ctl, &ctl->segments);
	ctl->segment_count[seg->ops->kind]++;
	spin_unlock(&ctl->lock);
}

void rsm_controller_del(struct rsm_segment *seg)
{
	struct rsm_controller *ctl = seg->ctl;

	spin_lock(&ctl->lock);
	list_del_init(&seg->on_ctl);
	ctl->segment_count[seg->ops->kind]--;
	spin_unlock(&ctl->lock);
}

/* How many segments of a kind use the controller, dead and aborted ones included. */
unsigned int rsm_controller_segments(struct rsm_controller *ctl, enum rsm_kind kind)
{
	return READ_ONCE(ctl->segment_count[kind]);
}

/*
 * Move the first of @candidates back to the controller's list. Returns that segment, referenced,
 * or NULL if there is none. A segment that is being freed is skipped: it has no mapping, no
 * memory and no connection any more.
 */
static struct rsm_segment *next_segment(struct rsm_controller *ctl,
					struct list_head *candidates)
{
	struct rsm_segment *seg, *found = NULL;

	spin_lock(&ctl->lock);
	while (!found && !list_empty(candidates)) {
		seg = list_first_entry(candidates, struct rsm_segment, on_ctl);
		list_move_tail(&seg->on_ctl, &ctl->segments);
		if (kref_get_unless_zero(&seg->ref))
			found = seg;
	}
	spin_unlock(&ctl->lock);
	return found;
}

static void kill_segment(struct rsm_segment *seg)
{
	seg->ops->kill(seg, RSM_REASON_CONTROLLER_GONE);
}

static void ask_export(struct rsm_segment *seg)
{
	if (seg->ops->withdraw)
		seg->ops->withdraw(seg);
}

static void kill_export(struct rsm_segment *seg)
{
	if (seg->ops->kind == RSM_EXPORT)
		kill_segment(seg);
}

static void visit_all(struct rsm_controller *ctl, void (*visit)(struct rsm_segment *seg))
{
	struct rsm_segment *seg;
	LIST_HEAD(candidates);

	spin_lock(&ctl->lock);
	list_splice_init(&ctl->segments, &candidates);
	spin_unlock(&ctl->lock);
	while ((seg = next_segment(ctl, &candidates))) {
		visit(seg);
		rsm_segment_put(seg);
		cond_resched();
	}
}

/**
 * rsm_abort_exports() - end every export of a controller
 * @ctl: the controller, which goes on
 *
 * Programs can only close the handles of these exports afterwards. All importing nodes are
 * asked to let go before the caller waits for the first of them, so that the times which
 * silent nodes take do not add up. Process context.
 */
void rsm_abort_exports(struct rsm_controller *ctl)
{
	visit_all(ctl, ask_export);
	visit_all(ctl, kill_export);
}
EXPORT_SYMBOL_GPL(rsm_abort_exports);

/**
 * rsm_remove_controller() - take a controller away, used or not
 * @ctl: the controller; its links are down
 *
 * On return no lookup finds the controller, its exports are dead, its imports are aborted, and
 * no mapping reaches its memory. Two things may keep the controller and its memory a little
 * longer: handles, which programs can only close, and transfers under way. The last of them
 * calls release(); if there are none, this function does.
 */
void rsm_remove_controller(struct rsm_controller *ctl)
{
	leave_registry(ctl);
	down_write(&ctl->gate);
	ctl->removed = true;
	up_write(&ctl->gate);
	visit_all(ctl, kill_segment);
	controller_unuse(ctl);
}
EXPORT_SYMBOL_GPL(rsm_remove_controller);

rsm_status_t rsm_controller_attr(struct rsm_attr *attr)
{
	struct rsm_controller *ctl = rsm_controller_get(attr->controller);

	if (!ctl)
		return RSM_STS_CTLR_NOT_PRESENT;
	*attr = ctl->attr;
	strscpy(attr->controller, ctl->name, sizeof(attr->controller));
	attr->mappable = !!ctl->ops->map;
	rsm_controller_put(ctl);
	return RSM_STS_SUCCESS;
}
