// SPDX-License-Identifier: GPL-2.0
/* Changes by administrators: the nodes of a controller that takes them, and segments. */

#include "netlink.h"

#include <linux/capability.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>

static int check_node(struct genl_info *info, bool address)
{
	if (GENL_REQ_ATTR_CHECK(info, RSM_A_NODE_CONTROLLER) ||
	    GENL_REQ_ATTR_CHECK(info, RSM_A_NODE_NODE_ID) ||
	    (address && GENL_REQ_ATTR_CHECK(info, RSM_A_NODE_ADDRESS)))
		return -EINVAL;
	return 0;
}

/*
 * The controller that a request names, referenced, or NULL. Does not load the controller's module:
 * the command runs under a lock of generic netlink that other modules want while they are loaded.
 */
static struct rsm_controller *wanted_controller(struct genl_info *info, int attribute)
{
	struct rsm_controller *ctl;

	ctl = rsm_controller_get_present(nla_data(info->attrs[attribute]));
	if (!ctl)
		NL_SET_ERR_MSG(info->extack, "There is no such controller");
	return ctl;
}

/* Refuse a request that the controller has no operation for, and drop the controller. */
static int not_for(struct rsm_controller *ctl, struct genl_info *info)
{
	NL_SET_ERR_MSG(info->extack, "The controller's interconnect says which nodes there are");
	rsm_controller_put(ctl);
	return -EOPNOTSUPP;
}

/**
 * struct reason - a copy of a reason for which a controller has refused a change
 * @entry: place in the list of all
 * @text: the copy
 */
struct reason {
	struct list_head entry;
	char text[];
};

/* The texts of controllers are constants, so the list stays short. */
static LIST_HEAD(reasons);
static DEFINE_MUTEX(reasons_lock); /* guards reasons */

static struct reason *find_reason(const char *text)
{
	struct reason *reason;

	lockdep_assert_held(&reasons_lock);
	list_for_each_entry(reason, &reasons, entry)
		if (!strcmp(reason->text, text))
			return reason;
	return NULL;
}

static struct reason *add_reason(const char *text)
{
	size_t size = strlen(text) + 1;
	struct reason *reason = kmalloc(struct_size(reason, text, size), GFP_KERNEL);

	if (!reason)
		return NULL;
	memcpy(reason->text, text, size);
	list_add(&reason->entry, &reasons);
	return reason;
}

/*
 * Netlink reads the text after the command has returned, when the controller's module, and the
 * text with it, may be gone. So the answer points to a copy that stays.
 */
static void keep_reason(struct netlink_ext_ack *extack)
{
	struct reason *reason;

	if (!extack->_msg)
		return;
	mutex_lock(&reasons_lock);
	reason = find_reason(extack->_msg) ?: add_reason(extack->_msg);
	mutex_unlock(&reasons_lock);
	extack->_msg = reason ? reason->text : NULL;
}

/* Called when the family is unregistered: no command runs any more. */
void rsm_reasons_free(void)
{
	struct reason *reason, *next;

	list_for_each_entry_safe(reason, next, &reasons, entry)
		kfree(reason);
}

typedef int node_change_t(struct rsm_controller *ctl, struct genl_info *info, u32 node);

static int change_node(struct genl_info *info, bool address, node_change_t *change)
{
	struct rsm_controller *ctl;
	int err = check_node(info, address);

	if (err)
		return err;
	ctl = wanted_controller(info, RSM_A_NODE_CONTROLLER);
	if (!ctl)
		return -ENOENT;
	if (!ctl->ops->add_node)
		return not_for(ctl, info);
	err = change(ctl, info, nla_get_u32(info->attrs[RSM_A_NODE_NODE_ID]));
	keep_reason(info->extack);
	rsm_controller_put(ctl);
	return err;
}

static const char *address_of(struct genl_info *info)
{
	return nla_data(info->attrs[RSM_A_NODE_ADDRESS]);
}

static int change_add_node(struct rsm_controller *ctl, struct genl_info *info, u32 node)
{
	return ctl->ops->add_node(ctl, node, address_of(info), info->extack);
}

static int change_move_node(struct rsm_controller *ctl, struct genl_info *info, u32 node)
{
	return ctl->ops->move_node(ctl, node, address_of(info), info->extack);
}

static int change_forget_node(struct rsm_controller *ctl, struct genl_info *info, u32 node)
{
	return ctl->ops->forget_node(ctl, node, info->extack);
}

int rsm_node_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	return change_node(info, true, change_add_node);
}

int rsm_node_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	return change_node(info, true, change_move_node);
}

int rsm_node_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	return change_node(info, false, change_forget_node);
}

/* The secret in a request, or NULL. */
static void *secret_in(struct genl_info *info, int attribute)
{
	struct nlattr *attr = info->attrs[attribute];

	return attr ? nla_data(attr) : NULL;
}

static int change_secret(struct genl_info *info, void *use, void *accept)
{
	struct rsm_controller *ctl;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, RSM_A_SECRET_CONTROLLER))
		return -EINVAL;
	ctl = wanted_controller(info, RSM_A_SECRET_CONTROLLER);
	if (!ctl)
		return -ENOENT;
	if (!ctl->ops->set_secret)
		return not_for(ctl, info);
	err = ctl->ops->set_secret(ctl, use, accept, info->extack);
	keep_reason(info->extack);
	rsm_controller_put(ctl);
	return err;
}

/* Erases the secrets from the message: netlink sends the message back with an error. */
int rsm_secret_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	void *use = secret_in(info, RSM_A_SECRET_USE);
	void *accept = secret_in(info, RSM_A_SECRET_ACCEPT);
	int err;

	if (GENL_REQ_ATTR_CHECK(info, RSM_A_SECRET_USE))
		return -EINVAL;
	err = change_secret(info, use, accept);
	memzero_explicit(use, RSM_SECRET_SIZE);
	if (accept)
		memzero_explicit(accept, RSM_SECRET_SIZE);
	return err;
}

int rsm_secret_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	return change_secret(info, NULL, NULL);
}

int rsm_segment_revoke_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rsm_export *exp;
	int err;

	if (!netlink_capable(skb, CAP_SYS_ADMIN))
		return -EPERM;
	exp = rsm_segment_wanted(info, &err);
	if (!exp)
		return err;
	err = mutex_lock_interruptible(&exp->lock);
	if (!err) {
		rsm_export_kill(exp, RSM_REASON_REVOKED);
		mutex_unlock(&exp->lock);
	}
	rsm_segment_put(&exp->seg);
	return err;
}
