// SPDX-License-Identifier: GPL-2.0
/* Nodes that reach each other by RDMA, as an RSM controller: the module. */

#include "memory.h"

#include <linux/moduleparam.h>

static char *nodes;
module_param(nodes, charp, 0444);
MODULE_PARM_DESC(nodes, "Nodes to begin with: ID=ADDRESS, IPv4 or IPv6, with commas between them");

module_param_named(port, rsm_rdma_port, ushort, 0444);
MODULE_PARM_DESC(port, "Port on which nodes listen, the same on all (default 18600)");

static const struct rsm_link_ops link_ops = {
	.send = rsm_rdma_send,
	.resume = rsm_rdma_resume,
	.down = rsm_rdma_down,
	.place = rsm_rdma_place,
	.place_ms = RSM_RDMA_PLACE_MS,
	.leave = rsm_rdma_unplace,
	.attach = rsm_rdma_attach,
	.detach = rsm_rdma_detach,
	.address = rsm_rdma_address,
	.complaint = rsm_rdma_complaint,
};

static bool is_known(u32 id)
{
	const struct rsm_rdma_node *node = rsm_rdma_node(id);

	return id == rsm_node_id() || (node && !rsm_rdma_node_is_leaving(node));
}

/* Accept a list if all of its nodes are configured. */
static rsm_status_t check_acl(struct rsm_controller *ctl, const struct rsm_acl *acl)
{
	for (u32 i = 0; i < acl->count; i++)
		if (!is_known(acl->entry[i].node))
			return RSM_STS_BAD_ACL;
	return RSM_STS_SUCCESS;
}

/* On return importers of other nodes reach the new memory. */
static rsm_status_t rebind(struct rsm_export *exp, struct rsm_prepared *prepared)
{
	rsm_status_t status = rsm_pin_rebind(exp, prepared);

	if (!status)
		rsm_agent_rebind(exp);
	return status;
}

static rsm_status_t begin_import(struct rsm_import *imp)
{
	struct rsm_rdma_flow *flow = rsm_rdma_flow_alloc();
	rsm_status_t status;

	if (!flow)
		return RSM_STS_INSUFFICIENT_MEM;
	imp->priv = flow;
	status = rsm_agent_connect(imp);
	if (status)
		rsm_rdma_flow_put(flow);
	return status;
}

static void end_import(struct rsm_import *imp)
{
	rsm_agent_disconnect(imp);
	rsm_rdma_flow_put(imp->priv);
}

/* Without a map operation: import segments can't be mapped. */
static const struct rsm_controller_ops controller_ops = {
	.owner = THIS_MODULE,
	.prepare = rsm_pin_prepare,
	.bind = rsm_pin_bind,
	.rebind = rebind,
	.unbind = rsm_pin_unbind,
	.check_acl = check_acl,
	.republish = rsm_agent_republish,
	.unpublish = rsm_agent_unpublish,
	.connect = begin_import,
	.disconnect = end_import,
	.post = rsm_agent_post,
	.post_importers = rsm_agent_post_importers,
	.transfer = rsm_rdma_transfer,
	.order = rsm_rdma_order,
	.peers = rsm_agent_peers,
	.add_node = rsm_rdma_node_add,
	.move_node = rsm_rdma_node_set,
	.forget_node = rsm_rdma_node_del,
	.set_secret = rsm_rdma_secret_set,
	.has_secret = rsm_rdma_has_secret,
};

static struct rsm_controller controller = {
	.name = RSM_RDMA_NAME,
	.ops = &controller_ops,
	.attr = {
		.page_size = PAGE_SIZE,
	},
};

static void leave_all(void)
{
	for (u32 id = 1; id <= RSM_NODE_MAX; id++)
		if (rsm_rdma_node(id))
			rsm_rdma_leave(rsm_rdma_node(id));
}

static void wake_all_nodes(void)
{
	for (u32 id = 1; id <= RSM_NODE_MAX; id++)
		if (rsm_rdma_node(id))
			rsm_rdma_wake(rsm_rdma_node(id));
}

/* Read the configuration; fails without a node id, which peers would need. */
static int read_config(void)
{
	if (!rsm_node_id()) {
		pr_err("rsm: " RSM_RDMA_NAME ": this node has no id, set rsm.node_id\n");
		return -ENODEV;
	}
	if (!rsm_rdma_port) {
		pr_err("rsm: " RSM_RDMA_NAME ": port: there is no port 0\n");
		return -EINVAL;
	}
	return rsm_rdma_nodes_read(&controller, &link_ops, nodes ?: "");
}

/* Links exist before and after the registration: until they are started they carry nothing. */
static int start_controller(void)
{
	struct sockaddr *own = rsm_rdma_own_address(AF_INET) ?: rsm_rdma_own_address(AF_INET6);

	if (own)
		controller.attr.hwaddr =
			rsm_rdma_hwaddr((struct sockaddr_storage *)own);
	return rsm_register_controller(&controller);
}

static void stop_controller(void)
{
	leave_all();
	rsm_remove_controller(&controller);
}

/* The configuration may be changed once this has returned. */
static int start_nodes(void)
{
	int err;

	mutex_lock(&rsm_rdma_config_lock);
	err = rsm_rdma_listen(rsm_rdma_port);
	if (err)
		pr_err("rsm: " RSM_RDMA_NAME ": can't listen on port %u: %pe\n", rsm_rdma_port,
		       ERR_PTR(err));
	rsm_rdma_ready = !err;
	mutex_unlock(&rsm_rdma_config_lock);
	if (!err)
		wake_all_nodes();
	return err;
}

static int __init rdma_init(void)
{
	int err = read_config();

	if (err)
		return err;
	rsm_rdma_wq = alloc_workqueue("rsm-rdma", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!rsm_rdma_wq) {
		err = -ENOMEM;
		goto err_free_nodes;
	}
	err = start_controller();
	if (err)
		goto err_destroy_wq;
	err = start_nodes();
	if (err)
		goto err_stop_controller;
	return 0;

err_stop_controller:
	rsm_rdma_unlisten();
	stop_controller();
err_destroy_wq:
	destroy_workqueue(rsm_rdma_wq);
err_free_nodes:
	rsm_rdma_nodes_free();
	return err;
}
module_init(rdma_init);

/* No segment uses the controller any more: handles hold the module. */
static void __exit rdma_exit(void)
{
	rsm_rdma_unlisten();
	stop_controller();
	destroy_workqueue(rsm_rdma_wq);
	rsm_rdma_nodes_free();
	rsm_rdma_secrets_forget();
}
module_exit(rdma_exit);

MODULE_ALIAS("rsm-rdma0");
MODULE_DESCRIPTION("RSM between hosts over RDMA: InfiniBand, RoCE");
MODULE_AUTHOR("RSM for Linux contributors");
MODULE_VERSION(RSM_MODULE_VERSION);
MODULE_LICENSE("GPL");
