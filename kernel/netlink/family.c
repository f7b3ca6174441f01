// SPDX-License-Identifier: GPL-2.0
/* The family: commands, what they take, and how they answer. */

#include "netlink.h"
#include "../core/compat.h"

#define NODE_MAX	NLA_POLICY_MAX(NLA_U32, RSM_NODE_MAX)
#define NAME		{ .type = NLA_NUL_STRING, .len = RSM_NAME_SIZE - 1 }

/* The policy refuses attributes that it does not name. */
static const struct nla_policy controller_policy[RSM_A_CONTROLLER_MAX + 1] = {
	[RSM_A_CONTROLLER_NAME] = NAME,
};

static const struct nla_policy node_policy[RSM_A_NODE_MAX + 1] = {
	[RSM_A_NODE_CONTROLLER] = NAME,
	[RSM_A_NODE_NODE_ID] = NODE_MAX,
};

static const struct nla_policy node_change_policy[RSM_A_NODE_MAX + 1] = {
	[RSM_A_NODE_CONTROLLER] = NAME,
	[RSM_A_NODE_NODE_ID] = NODE_MAX,
	[RSM_A_NODE_ADDRESS] = { .type = NLA_NUL_STRING, .len = 63 },
};

static const struct nla_policy secret_policy[RSM_A_SECRET_MAX + 1] = {
	[RSM_A_SECRET_CONTROLLER] = NAME,
	[RSM_A_SECRET_USE] = NLA_POLICY_EXACT_LEN(RSM_SECRET_SIZE),
	[RSM_A_SECRET_ACCEPT] = NLA_POLICY_EXACT_LEN(RSM_SECRET_SIZE),
};

static const struct nla_policy no_secret_policy[] = {
	[RSM_A_SECRET_CONTROLLER] = NAME,
};

static const struct nla_policy segment_policy[RSM_A_SEGMENT_MAX + 1] = {
	[RSM_A_SEGMENT_NUMBER] = { .type = NLA_U32 },
	[RSM_A_SEGMENT_ID] = { .type = NLA_U32 },
};

static const struct nla_policy import_policy[RSM_A_IMPORT_MAX + 1] = {
	[RSM_A_IMPORT_NUMBER] = { .type = NLA_U32 },
};

static const struct nla_policy process_policy[RSM_A_PROCESS_MAX + 1] = {
	[RSM_A_PROCESS_PID] = { .type = NLA_U32 },
};

static const struct nla_policy stats_policy[RSM_A_STATS_MAX + 1] = {};

#define TAKES(set)	.policy = set##_policy, .maxattr = ARRAY_SIZE(set##_policy) - 1

static const struct genl_ops ops[] = {
	{
		.cmd = RSM_CMD_CONTROLLER_GET,
		.doit = rsm_controller_doit,
		.start = rsm_dump_start,
		.dumpit = rsm_controller_dumpit,
		TAKES(controller),
	},
	{
		.cmd = RSM_CMD_NODE_GET,
		.doit = rsm_node_doit,
		.start = rsm_dump_start,
		.dumpit = rsm_node_dumpit,
		TAKES(node),
	},
	{
		.cmd = RSM_CMD_SEGMENT_GET,
		.doit = rsm_segment_doit,
		.start = rsm_dump_start,
		.dumpit = rsm_segment_dumpit,
		TAKES(segment),
	},
	{
		.cmd = RSM_CMD_IMPORT_GET,
		.doit = rsm_import_doit,
		.start = rsm_dump_start,
		.dumpit = rsm_import_dumpit,
		TAKES(import),
	},
	{
		.cmd = RSM_CMD_PROCESS_GET,
		.doit = rsm_process_doit,
		.start = rsm_dump_start,
		.dumpit = rsm_process_dumpit,
		TAKES(process),
	},
	{
		.cmd = RSM_CMD_STATS_GET,
		.doit = rsm_stats_doit,
		TAKES(stats),
	},
	{
		.cmd = RSM_CMD_NODE_ADD,
		.flags = GENL_ADMIN_PERM,
		.doit = rsm_node_add_doit,
		TAKES(node_change),
	},
	{
		.cmd = RSM_CMD_NODE_SET,
		.flags = GENL_ADMIN_PERM,
		.doit = rsm_node_set_doit,
		TAKES(node_change),
	},
	{
		.cmd = RSM_CMD_NODE_DEL,
		.flags = GENL_ADMIN_PERM,
		.doit = rsm_node_del_doit,
		TAKES(node),
	},
	{
		.cmd = RSM_CMD_SEGMENT_REVOKE,
		.doit = rsm_segment_revoke_doit,
		TAKES(segment),
	},
	{
		.cmd = RSM_CMD_SECRET_SET,
		.flags = GENL_ADMIN_PERM,
		.doit = rsm_secret_set_doit,
		TAKES(secret),
	},
	{
		.cmd = RSM_CMD_SECRET_DEL,
		.flags = GENL_ADMIN_PERM,
		.doit = rsm_secret_del_doit,
		TAKES(no_secret),
	},
};

static const struct genl_multicast_group groups[] = {
	{ .name = RSM_MCGRP_EVENTS, .flags = GENL_MCAST_CAP_NET_ADMIN },
};

struct genl_family rsm_family = {
	.name = RSM_FAMILY_NAME,
	.version = RSM_FAMILY_VERSION,
	.parallel_ops = true,
	.module = THIS_MODULE,
	.ops = ops,
	.n_ops = ARRAY_SIZE(ops),
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
};

int rsm_netlink_register(void)
{
	return genl_register_family(&rsm_family);
}

/* No command runs afterwards, and none begins. */
void rsm_netlink_unregister(void)
{
	genl_unregister_family(&rsm_family);
	rsm_reasons_free();
}

/* Begin the answer to a command; rsm_answer_end() follows unless this fails. */
int rsm_answer_start(struct genl_info *info, u8 cmd, struct rsm_reply *reply, void **header)
{
	reply->skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!reply->skb)
		return -ENOMEM;
	*header = genlmsg_put_reply(reply->skb, info, &rsm_family, 0, cmd);
	return 0;
}

/* Send it, or let it be if it has come to nothing. */
int rsm_answer_end(struct genl_info *info, struct rsm_reply *reply, void *header, int err)
{
	if (err) {
		nlmsg_free(reply->skb);
		return err;
	}
	genlmsg_end(reply->skb, header);
	return genlmsg_reply(reply->skb, info);
}

/* A dump is of everything. */
int rsm_dump_start(struct netlink_callback *cb)
{
	struct nlattr **attrs = rsm_dump_attrs(cb);

	for (unsigned int i = 0; attrs && i <= genl_dumpit_info(cb)->op.maxattr; i++) {
		if (!attrs[i])
			continue;
		NL_SET_ERR_MSG_ATTR(cb->extack, attrs[i], "A dump takes no attributes");
		return -EINVAL;
	}
	return 0;
}

/* Begin one more message of a dump, or NULL if it does not fit. */
void *rsm_dump_put(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	void *header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				   &rsm_family, NLM_F_MULTI, cmd);

	if (header)
		genl_dump_check_consistent(cb, header);
	return header;
}

/* It is complete, or to be taken back. */
int rsm_dump_end(struct sk_buff *skb, void *header, int err)
{
	if (err)
		genlmsg_cancel(skb, header);
	else
		genlmsg_end(skb, header);
	return err;
}

static int dump_segment(struct rsm_reply *reply, struct netlink_callback *cb, u8 cmd,
			struct rsm_segment *seg,
			int (*put)(struct rsm_reply *reply, struct rsm_segment *seg))
{
	void *header = rsm_dump_put(reply->skb, cb, cmd);
	int err;

	if (!header)
		return -EMSGSIZE;
	err = rsm_dump_end(reply->skb, header, put(reply, seg));
	return err == -ENOENT ? 0 : err;
}

/**
 * rsm_dump_segments() - continue the dump of all segments of a kind
 * @skb: what it goes into
 * @cb: the dump
 * @kind: exports or imports
 * @cmd: of the messages
 * @put: what a message says of a segment, -ENOENT if the viewer may not see it
 *
 * Return: the length of what there is, or an error.
 */
int rsm_dump_segments(struct sk_buff *skb, struct netlink_callback *cb, enum rsm_kind kind,
		      u8 cmd, int (*put)(struct rsm_reply *reply, struct rsm_segment *seg))
{
	struct rsm_viewer viewer = rsm_viewer_of(cb->skb);
	struct rsm_reply reply = { .skb = skb, .viewer = &viewer };
	struct rsm_segment *seg;
	u32 next = cb->args[0];
	int err = 0;

	cb->seq = rsm_segment_changes();
	while (!err && (seg = rsm_segment_next(next))) {
		if (seg->kind == kind)
			err = dump_segment(&reply, cb, cmd, seg, put);
		if (!err)
			next = seg->number + 1;
		rsm_segment_put(seg);
	}
	cb->args[0] = next;
	return skb->len ?: err;
}
