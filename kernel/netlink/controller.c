// SPDX-License-Identifier: GPL-2.0
/* controller-get */

#include "netlink.h"
#include "../agent/agent.h"

/* How many links the controller has that lead to known or configured nodes. */
unsigned int rsm_link_count(const struct rsm_controller *ctl)
{
	unsigned int count = 0;
	struct rsm_link *link;

	mutex_lock(&rsm_agent_lock);
	list_for_each_entry(link, &rsm_links, entry)
		if (link->ctl == ctl && rsm_link_is_listed(link))
			count++;
	mutex_unlock(&rsm_agent_lock);
	return count;
}

static int controller_put_all(struct sk_buff *skb, struct rsm_controller *ctl)
{
	unsigned int segments = rsm_controller_segments(ctl, RSM_EXPORT);
	unsigned int imports = rsm_controller_segments(ctl, RSM_IMPORT);
	u64 bytes = ctl->attr.total_export_size;

	if (nla_put_string(skb, RSM_A_CONTROLLER_NAME, ctl->name) ||
	    nla_put_u32(skb, RSM_A_CONTROLLER_NODE_ID, rsm_node_id()) ||
	    nla_put_u64_64bit(skb, RSM_A_CONTROLLER_HWADDR, ctl->attr.hwaddr,
			      RSM_A_CONTROLLER_PAD) ||
	    nla_put_u8(skb, RSM_A_CONTROLLER_MAPPABLE, !!ctl->ops->map) ||
	    nla_put_u8(skb, RSM_A_CONTROLLER_CONFIGURABLE, !!ctl->ops->add_node) ||
	    (bytes && nla_put_u64_64bit(skb, RSM_A_CONTROLLER_WINDOW_BYTES, bytes,
					RSM_A_CONTROLLER_PAD)) ||
	    nla_put_u32(skb, RSM_A_CONTROLLER_SEGMENTS, segments) ||
	    nla_put_u32(skb, RSM_A_CONTROLLER_IMPORTS, imports) ||
	    nla_put_u32(skb, RSM_A_CONTROLLER_LINKS, rsm_link_count(ctl)))
		return -EMSGSIZE;
	return 0;
}

static int put_named(struct sk_buff *skb, const char *name)
{
	struct rsm_controller *ctl;
	int err = -ENOENT;

	mutex_lock(&rsm_controllers_lock);
	list_for_each_entry(ctl, &rsm_controllers, link)
		if (!strcmp(ctl->name, name)) {
			err = controller_put_all(skb, ctl);
			break;
		}
	mutex_unlock(&rsm_controllers_lock);
	return err;
}

int rsm_controller_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rsm_reply reply;
	void *header;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, RSM_A_CONTROLLER_NAME))
		return -EINVAL;
	err = rsm_answer_start(info, RSM_CMD_CONTROLLER_GET, &reply, &header);
	if (err)
		return err;
	err = put_named(reply.skb, nla_data(info->attrs[RSM_A_CONTROLLER_NAME]));
	if (err == -ENOENT)
		NL_SET_ERR_MSG(info->extack, "There is no such controller");
	return rsm_answer_end(info, &reply, header, err);
}

static int controller_dump_one(struct sk_buff *skb, struct netlink_callback *cb,
			       struct rsm_controller *ctl)
{
	void *header = rsm_dump_put(skb, cb, RSM_CMD_CONTROLLER_GET);

	return header ? rsm_dump_end(skb, header, controller_put_all(skb, ctl)) : -EMSGSIZE;
}

int rsm_controller_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	unsigned long done = cb->args[0];
	struct rsm_controller *ctl;
	int err = 0;

	mutex_lock(&rsm_controllers_lock);
	cb->seq = rsm_controller_changes;
	list_for_each_entry(ctl, &rsm_controllers, link) {
		if (ctl->serial <= done)
			continue;
		err = controller_dump_one(skb, cb, ctl);
		if (err)
			break;
		done = ctl->serial;
	}
	mutex_unlock(&rsm_controllers_lock);
	cb->args[0] = done;
	return skb->len ?: err;
}
