// SPDX-License-Identifier: GPL-2.0
/* The family: its commands, and the attributes that each of them takes. */

#include "netlink.h"
#include "../core/compat.h"

#define NODE_MAX	NLA_POLICY_MAX(NLA_U32, RSM_NODE_MAX)
#define NAME		{ .type = NLA_NUL_STRING, .len = RSM_NAME_SIZE - 1 }

/* Attributes that a policy does not name are refused. */
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
	rsm_answer_init(&rsm_family);
	return genl_register_family(&rsm_family);
}

/* On return no command runs, and none can begin. */
void rsm_netlink_unregister(void)
{
	genl_unregister_family(&rsm_family);
	rsm_reasons_free();
}
