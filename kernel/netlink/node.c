// SPDX-License-Identifier: GPL-2.0
/* node-get */

#include "netlink.h"
#include "../agent/agent.h"

/**
 * struct node_view - a link as it was at one moment
 * @node: node id
 * @hwaddr: address on the interconnect
 * @incarnation: 0 if it is not known
 * @state: of the link
 * @why: reason of its end, of a refusal while it greets, or why it does not begin, or NULL
 */
struct node_view {
	u32 node;
	u64 hwaddr;
	u64 incarnation;
	enum rsm_link_state state;
	const char *why;
};

static_assert(RSM_NODE_STATE_DOWN == (int)RSM_LINK_DOWN &&
	      RSM_NODE_STATE_GREETING == (int)RSM_LINK_GREETING &&
	      RSM_NODE_STATE_ACTIVE == (int)RSM_LINK_ACTIVE &&
	      RSM_NODE_STATE_ENDING == (int)RSM_LINK_ENDING);

static struct node_view node_look_at(struct rsm_link *link)
{
	struct node_view node;

	spin_lock_irq(&link->lock);
	node = (struct node_view) {
		.node = link->machine.node,
		.hwaddr = link->hwaddr,
		.incarnation = link->machine.peer,
		.state = link->machine.state,
		.why = link->machine.why,
	};
	if (node.state == RSM_LINK_GREETING)
		node.why = link->machine.objection;
	spin_unlock_irq(&link->lock);
	if (node.state == RSM_LINK_ACTIVE)
		node.why = NULL;
	if (node.state == RSM_LINK_DOWN && link->ops->complaint)
		node.why = link->ops->complaint(link, node.why);
	return node;
}

static int put_address(struct sk_buff *skb, struct rsm_link *link)
{
	char text[64];

	if (!link->ops->address)
		return 0;
	link->ops->address(link, text, sizeof(text));
	return nla_put_string(skb, RSM_A_NODE_ADDRESS, text);
}

static int put_secret(struct sk_buff *skb, struct rsm_link *link)
{
	const struct rsm_controller_ops *ops = link->ctl->ops;

	return ops->has_secret ? nla_put_u8(skb, RSM_A_NODE_SECRET, ops->has_secret(link->ctl)) :
				 0;
}

/* Put the attributes of a node. The caller keeps the link from going away. */
int rsm_node_put(struct sk_buff *skb, struct rsm_link *link)
{
	struct node_view node = node_look_at(link);

	if (nla_put_string(skb, RSM_A_NODE_CONTROLLER, link->ctl->name) ||
	    nla_put_u32(skb, RSM_A_NODE_NODE_ID, node.node) ||
	    nla_put_u32(skb, RSM_A_NODE_STATE, node.state) ||
	    nla_put_u64_64bit(skb, RSM_A_NODE_HWADDR, node.hwaddr, RSM_A_NODE_PAD) ||
	    put_address(skb, link) ||
	    (node.incarnation && nla_put_u64_64bit(skb, RSM_A_NODE_INCARNATION,
						   node.incarnation, RSM_A_NODE_PAD)) ||
	    nla_put_u32(skb, RSM_A_NODE_SEGMENTS, atomic_read(&link->remote_count)) ||
	    nla_put_u32(skb, RSM_A_NODE_IMPORTERS, atomic_read(&link->importer_count)) ||
	    (node.why && nla_put_string(skb, RSM_A_NODE_REASON, node.why)) ||
	    put_secret(skb, link))
		return -EMSGSIZE;
	return 0;
}

static bool node_is_wanted(const struct rsm_link *link, struct genl_info *info)
{
	return rsm_link_is_listed(link) &&
	       link->machine.node == nla_get_u32(info->attrs[RSM_A_NODE_NODE_ID]) &&
	       !strcmp(link->ctl->name, nla_data(info->attrs[RSM_A_NODE_CONTROLLER]));
}

static int put_wanted(struct sk_buff *skb, struct genl_info *info)
{
	struct rsm_link *link;
	int err = -ENOENT;

	mutex_lock(&rsm_agent_lock);
	list_for_each_entry(link, &rsm_links, entry)
		if (node_is_wanted(link, info)) {
			err = rsm_node_put(skb, link);
			break;
		}
	mutex_unlock(&rsm_agent_lock);
	return err;
}

int rsm_node_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rsm_reply reply;
	void *header;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, RSM_A_NODE_CONTROLLER) ||
	    GENL_REQ_ATTR_CHECK(info, RSM_A_NODE_NODE_ID))
		return -EINVAL;
	err = rsm_answer_start(info, RSM_CMD_NODE_GET, &reply, &header);
	if (err)
		return err;
	err = put_wanted(reply.skb, info);
	if (err == -ENOENT)
		NL_SET_ERR_MSG(info->extack, "The controller knows no such node");
	return rsm_answer_end(info, &reply, header, err);
}

static int node_dump_one(struct sk_buff *skb, struct netlink_callback *cb, struct rsm_link *link)
{
	void *header = rsm_dump_put(skb, cb, RSM_CMD_NODE_GET);

	return header ? rsm_dump_end(skb, header, rsm_node_put(skb, link)) : -EMSGSIZE;
}

int rsm_node_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	unsigned long done = cb->args[0];
	struct rsm_link *link;
	int err = 0;

	mutex_lock(&rsm_agent_lock);
	cb->seq = rsm_link_changes();
	list_for_each_entry(link, &rsm_links, entry) {
		if (link->serial <= done || !rsm_link_is_listed(link))
			continue;
		err = node_dump_one(skb, cb, link);
		if (err)
			break;
		done = link->serial;
	}
	mutex_unlock(&rsm_agent_lock);
	cb->args[0] = done;
	return skb->len ?: err;
}
