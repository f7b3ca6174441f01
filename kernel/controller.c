// SPDX-License-Identifier: GPL-2.0
/* The registry of controllers. */

#include "internal.h"

#include <linux/ctype.h>
#include <linux/kmod.h>
#include <linux/string.h>

LIST_HEAD(rsm_controllers);
/* Guards the list and, of each controller, the users and the segments. */
DEFINE_MUTEX(rsm_controllers_lock);
static unsigned long last_serial;
/* Another number, never 0, each time that one has come or gone. */
u32 rsm_controller_changes = 1;

static struct rsm_controller *find(const char *name)
{
	struct rsm_controller *ctl;

	lockdep_assert_held(&rsm_controllers_lock);
	list_for_each_entry(ctl, &rsm_controllers, link)
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
		ctl->users = 0;
		ctl->removed = false;
		init_rwsem(&ctl->gate);
		INIT_LIST_HEAD(&ctl->segments);
		list_add_tail(&ctl->link, &rsm_controllers);
		note_change();
		err = 0;
	}
	mutex_unlock(&rsm_controllers_lock);
	return err;
}
EXPORT_SYMBOL_GPL(rsm_register_controller);

/**
 * rsm_unregister_controller() - withdraw a controller
 * @ctl: the controller
 *
 * Return: 0, or -EBUSY while a segment uses it.
 */
int rsm_unregister_controller(struct rsm_controller *ctl)
{
	int err = -EBUSY;

	mutex_lock(&rsm_controllers_lock);
	if (!ctl->users) {
		list_del(&ctl->link);
		note_change();
		err = 0;
	}
	mutex_unlock(&rsm_controllers_lock);
	return err;
}
EXPORT_SYMBOL_GPL(rsm_unregister_controller);

/**
 * rsm_controller_get_present() - find a controller by name and keep it
 * @name: its name
 *
 * Asks for no module, for who holds something that its loading may wait for.
 *
 * Return: the controller, to be given back by rsm_controller_put(), or NULL.
 */
struct rsm_controller *rsm_controller_get_present(const char *name)
{
	struct rsm_controller *ctl;

	mutex_lock(&rsm_controllers_lock);
	ctl = find(name);
	if (ctl && !try_module_get(ctl->ops->owner))
		ctl = NULL;
	if (ctl)
		ctl->users++;
	mutex_unlock(&rsm_controllers_lock);
	return ctl;
}

/* Only such names reach the module loader. */
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

void rsm_controller_put(struct rsm_controller *ctl)
{
	const struct rsm_controller_ops *ops = ctl->ops;
	bool last;

	mutex_lock(&rsm_controllers_lock);
	last = !--ctl->users && ctl->removed;
	mutex_unlock(&rsm_controllers_lock);
	if (last && ops->release)
		ops->release(ctl);
	module_put(ops->owner);
}

/* A segment is about to use @ctl; false if that has been removed. */
bool rsm_controller_enter(struct rsm_controller *ctl)
{
	down_read(&ctl->gate);
	if (!ctl->removed)
		return true;
	up_read(&ctl->gate);
	return false;
}

/* The segment does, or will not. */
void rsm_controller_leave(struct rsm_controller *ctl)
{
	up_read(&ctl->gate);
}

void rsm_controller_add(struct rsm_segment *seg)
{
	mutex_lock(&rsm_controllers_lock);
	list_add_tail(&seg->on_ctl, &seg->ctl->segments);
	mutex_unlock(&rsm_controllers_lock);
}

void rsm_controller_del(struct rsm_segment *seg)
{
	mutex_lock(&rsm_controllers_lock);
	list_del_init(&seg->on_ctl);
	mutex_unlock(&rsm_controllers_lock);
}

static bool is_export(const struct rsm_segment *seg)
{
	return seg->kind == RSM_EXPORT;
}

static void kill_segment(struct rsm_segment *seg)
{
	struct rsm_export *exp;

	if (!is_export(seg)) {
		rsm_import_abort(to_import(seg), RSM_REASON_CONTROLLER_GONE);
		return;
	}
	exp = to_export(seg);
	mutex_lock(&exp->lock);
	rsm_export_kill(exp, RSM_REASON_CONTROLLER_GONE);
	mutex_unlock(&exp->lock);
}

/*
 * Take the segments off the list, one by one, and end them. One that is being
 * freed has nothing left to end.
 */
static void kill_segments(struct list_head *victims)
{
	struct rsm_segment *seg;

	mutex_lock(&rsm_controllers_lock);
	while (!list_empty(victims)) {
		seg = list_first_entry(victims, struct rsm_segment, on_ctl);
		list_move_tail(&seg->on_ctl, &seg->ctl->segments);
		if (!kref_get_unless_zero(&seg->ref))
			continue;
		mutex_unlock(&rsm_controllers_lock);
		kill_segment(seg);
		rsm_segment_put(seg);
		mutex_lock(&rsm_controllers_lock);
	}
	mutex_unlock(&rsm_controllers_lock);
}

static void kill_all(struct rsm_controller *ctl, bool imports)
{
	struct rsm_segment *seg, *next;
	LIST_HEAD(victims);

	mutex_lock(&rsm_controllers_lock);
	list_for_each_entry_safe(seg, next, &ctl->segments, on_ctl)
		if (imports || is_export(seg))
			list_move_tail(&seg->on_ctl, &victims);
	mutex_unlock(&rsm_controllers_lock);
	kill_segments(&victims);
}

/**
 * rsm_abort_exports() - end every export of a controller
 * @ctl: the controller, which goes on
 *
 * Their handles are good for closing only. Process context.
 */
void rsm_abort_exports(struct rsm_controller *ctl)
{
	kill_all(ctl, false);
}
EXPORT_SYMBOL_GPL(rsm_abort_exports);

/**
 * rsm_remove_controller() - take a controller away, used or not
 * @ctl: the controller; its links are down
 *
 * On return nobody finds it any more, its exports are dead, its imports
 * aborted, and no mapping reaches memory of its own. What is left are handles
 * that can only be closed, and transfers under way, which may hold memory of
 * its own a little longer. Its release() is called when they have gone, before
 * the return if there are none.
 */
void rsm_remove_controller(struct rsm_controller *ctl)
{
	bool unused;

	mutex_lock(&rsm_controllers_lock);
	list_del(&ctl->link);
	note_change();
	/* Whoever comes to use it while we are busy here is counted, too. */
	ctl->users++;
	mutex_unlock(&rsm_controllers_lock);

	down_write(&ctl->gate);
	mutex_lock(&rsm_controllers_lock);
	ctl->removed = true;
	mutex_unlock(&rsm_controllers_lock);
	up_write(&ctl->gate);
	kill_all(ctl, true);

	mutex_lock(&rsm_controllers_lock);
	unused = !--ctl->users;
	mutex_unlock(&rsm_controllers_lock);
	if (unused && ctl->ops->release)
		ctl->ops->release(ctl);
}
EXPORT_SYMBOL_GPL(rsm_remove_controller);

u32 rsm_controller_attr(struct rsm_attr *attr)
{
	struct rsm_controller *ctl = rsm_controller_get(attr->controller);

	if (!ctl)
		return RSMERR_CTLR_NOT_PRESENT;
	*attr = ctl->attr;
	strscpy(attr->controller, ctl->name, sizeof(attr->controller));
	attr->mappable = !!ctl->ops->map;
	rsm_controller_put(ctl);
	return RSM_SUCCESS;
}
