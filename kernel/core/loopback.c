// SPDX-License-Identifier: GPL-2.0
/* The controller that reaches its own node only. */

#include "internal.h"

#define ALL_WIDTHS	(1 | 2 | 4 | 8)

/* The controller accepts one entry at most (max_acl), and it must name this node. */
static rsm_status_t loopback_check_acl(struct rsm_controller *ctl, const struct rsm_acl *acl)
{
	if (acl->entry[0].node != rsm_node_id())
		return RSM_STS_BAD_ACL;
	return RSM_STS_SUCCESS;
}

static rsm_status_t loopback_connect(struct rsm_import *imp)
{
	if (imp->node != rsm_node_id())
		return RSM_STS_CTLR_NOT_PRESENT;
	return rsm_local_connect(imp);
}

static const struct rsm_controller_ops loopback_ops = {
	.owner = THIS_MODULE,
	.prepare = rsm_pin_prepare,
	.bind = rsm_pin_bind,
	.rebind = rsm_pin_rebind,
	.unbind = rsm_pin_unbind,
	.check_acl = loopback_check_acl,
	.connect = loopback_connect,
	.disconnect = rsm_local_disconnect,
	.map = rsm_map_mem,
	.post = rsm_local_post,
};

static struct rsm_controller loopback = {
	.name = "loopback",
	.ops = &loopback_ops,
	.attr = {
		.direct_access_sizes = ALL_WIDTHS,
		.atomic_sizes = ALL_WIDTHS,
		.page_size = PAGE_SIZE,
	},
	.max_acl = 1,
	.unlisted = true,
};

int rsm_loopback_register(void)
{
	return rsm_register_controller(&loopback);
}

void rsm_loopback_unregister(void)
{
	rsm_unregister_controller(&loopback);
}
