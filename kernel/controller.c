// SPDX-License-Identifier: GPL-2.0
/* The registry of controllers. */

#include "internal.h"

#include <linux/ctype.h>
#include <linux/kmod.h>
#include <linux/string.h>

LIST_HEAD(rsm_controllers);
/* Guards the list and the users of each controller. */
DEFINE_MUTEX(rsm_controllers_lock);

static struct rsm_controller *find(const char *name)
{
	struct rsm_controller *ctl;

	lockdep_assert_held(&rsm_controllers_lock);
	list_for_each_entry(ctl, &rsm_controllers, link)
		if (!strcmp(ctl->name, name))
			return ctl;
	return NULL;
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
		ctl->users = 0;
		list_add_tail(&ctl->link, &rsm_controllers);
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
		err = 0;
	}
	mutex_unlock(&rsm_controllers_lock);
	return err;
}
EXPORT_SYMBOL_GPL(rsm_unregister_controller);

static struct rsm_controller *get_present(const char *name)
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
	struct rsm_controller *ctl = get_present(name);

	if (ctl || !is_loadable(name))
		return ctl;
	request_module("rsm-%s", name);
	return get_present(name);
}

void rsm_controller_put(struct rsm_controller *ctl)
{
	struct module *owner = ctl->ops->owner;

	mutex_lock(&rsm_controllers_lock);
	ctl->users--;
	mutex_unlock(&rsm_controllers_lock);
	module_put(owner);
}

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
