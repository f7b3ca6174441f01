// SPDX-License-Identifier: GPL-2.0
/* Common parts of the test controllers, and their registration. */

#include "testctl.h"

#include <linux/moduleparam.h>
#include <linux/string.h>

rsm_status_t testctl_check_acl(struct rsm_controller *ctl, const struct rsm_acl *acl)
{
	for (u32 i = 0; i < acl->count; i++)
		if (acl->entry[i].node != rsm_node_id() &&
		    acl->entry[i].node != TESTCTL_PEER_NODE)
			return RSM_STS_BAD_ACL;
	return RSM_STS_SUCCESS;
}

rsm_status_t testctl_connect(struct rsm_import *imp)
{
	if (imp->node != rsm_node_id())
		return RSM_STS_REMOTE_NODE_UNREACHABLE;
	return rsm_local_connect(imp);
}

unsigned int testctl_peers(struct rsm_controller *ctl,
			   struct rsm_topology_peer *peers, unsigned int max)
{
	if (max) {
		memset(peers, 0, sizeof(*peers));
		strscpy(peers->name, ctl->name, sizeof(peers->name));
		peers->node_id = TESTCTL_PEER_NODE;
		peers->hwaddr = 0x77;
		peers->state = 1;
	}
	return 1;
}

/* Written to once: window0 goes away, used or not, as one that is unplugged. */
static bool window_removed;

static int remove_window(const char *val, const struct kernel_param *kp)
{
	if (window_removed)
		return -ENODEV;
	window_removed = true;
	rsm_remove_controller(&testctl_window);
	return 0;
}

static const struct kernel_param_ops remove_window_ops = {
	.set = remove_window,
};
module_param_cb(remove_window, &remove_window_ops, NULL, 0200);
MODULE_PARM_DESC(remove_window, "Anything written here removes window0");

static int __init testctl_init(void)
{
	int err;

	err = rsm_register_controller(&testctl_nomap);
	if (err)
		return err;
	err = rsm_register_controller(&testctl_window);
	if (err)
		goto err_unregister_nomap;
	err = testctl_linked_init();
	if (err)
		goto err_unregister_window;
	err = testctl_nodes_init();
	if (err)
		goto err_exit_linked;
	err = testctl_hanging_init();
	if (err)
		goto err_exit_nodes;
	err = testctl_end_init();
	if (err)
		goto err_exit_hanging;
	return 0;

err_exit_hanging:
	testctl_hanging_exit();
err_exit_nodes:
	testctl_nodes_exit();
err_exit_linked:
	testctl_linked_exit();
err_unregister_window:
	rsm_unregister_controller(&testctl_window);
err_unregister_nomap:
	rsm_unregister_controller(&testctl_nomap);
	return err;
}
module_init(testctl_init);

/* The core holds this module while a segment uses a controller. */
static void __exit testctl_exit(void)
{
	testctl_hanging_exit();
	testctl_nodes_exit();
	testctl_linked_exit();
	if (!window_removed)
		rsm_unregister_controller(&testctl_window);
	rsm_unregister_controller(&testctl_nomap);
}
module_exit(testctl_exit);

MODULE_DESCRIPTION("RSM controllers for tests");
MODULE_LICENSE("GPL");
