// SPDX-License-Identifier: GPL-2.0
/* Load and unload, and the parameters that rsm.conf held on Solaris. */

#include "internal.h"
#include "../netlink/netlink.h"

#include <linux/moduleparam.h>

/*
 * Two settings of rsm.conf that have no meaning here. They are accepted so that administrators can
 * take over their configuration: pinned pages are never hot-removed, and the tables grow by
 * themselves.
 */
static bool enable_dynamic_reconfiguration = true;
module_param(enable_dynamic_reconfiguration, bool, 0444);
MODULE_PARM_DESC(enable_dynamic_reconfiguration, "Accepted for compatibility, without effect");

static unsigned int segment_hashtable_size;
module_param(segment_hashtable_size, uint, 0444);
MODULE_PARM_DESC(segment_hashtable_size, "Accepted for compatibility, without effect");

static int __init check_parameters(void)
{
	unsigned int heartbeat = rsm_heartbeat_ms();

	if (rsm_node_id() > RSM_NODE_MAX) {
		pr_err("rsm: node_id %u is above %u\n", rsm_node_id(), RSM_NODE_MAX);
		return -EINVAL;
	}
	if (heartbeat < RSM_HEARTBEAT_MIN || heartbeat > RSM_HEARTBEAT_MAX) {
		pr_err("rsm: heartbeat_ms %u is not from %u to %u\n", heartbeat, RSM_HEARTBEAT_MIN,
		       RSM_HEARTBEAT_MAX);
		return -EINVAL;
	}
	return 0;
}

static int __init rsm_init(void)
{
	int err;

	err = check_parameters();
	if (err)
		return err;
	rsm_notify_listen(&rsm_netlink_listener);
	err = rsm_pin_init();
	if (err)
		return err;
	err = rsm_watch_init();
	if (err)
		goto err_pin_exit;
	err = rsm_agent_init();
	if (err)
		goto err_watch_exit;
	err = rsm_loopback_register();
	if (err)
		goto err_agent_exit;

	rsm_debugfs_create();
	err = rsm_netlink_register();
	if (err)
		goto err_unregister_loopback;
	err = rsm_device_register();
	if (err)
		goto err_unregister_netlink;
	return 0;

err_unregister_netlink:
	rsm_netlink_unregister();
err_unregister_loopback:
	rsm_debugfs_remove();
	rsm_loopback_unregister();
err_agent_exit:
	rsm_agent_exit();
err_watch_exit:
	rsm_watch_exit();
err_pin_exit:
	rsm_pin_exit();
	return err;
}
module_init(rsm_init);

/* Each open handle holds a reference on the module, so no handle is open here. */
static void __exit rsm_exit(void)
{
	rsm_device_unregister();
	rsm_netlink_unregister();
	rsm_debugfs_remove();
	rsm_loopback_unregister();
	rsm_agent_exit();
	rsm_watch_exit();
	rsm_pin_exit();
	/* Wait until the entries that process.c has freed are freed by RCU. */
	rcu_barrier();
}
module_exit(rsm_exit);

MODULE_DESCRIPTION("Remote Shared Memory kernel agent");
MODULE_AUTHOR("RSM for Linux contributors");
MODULE_VERSION(RSM_MODULE_VERSION);
MODULE_LICENSE("GPL");
