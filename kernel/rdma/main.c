// SPDX-License-Identifier: GPL-2.0
/* Nodes that reach each other by RDMA, as an RSM controller: the module. */

#include "memory.h"

#include <linux/moduleparam.h>

static char *nodes;
module_param(nodes, charp, 0444);
MODULE_PARM_DESC(nodes, "All nodes: ID=ADDRESS, IPv4 or IPv6, with commas between them");

static ushort port = 18600;
module_param(port, ushort, 0444);
MODULE_PARM_DESC(port, "Port on which nodes listen, the same on all (default 18600)");

struct workqueue_struct *rsm_rdma_wq;

static const struct rsm_link_ops link_ops = {
	.send = rsm_rdma_send,
	.resume = rsm_rdma_resume,
	.down = rsm_rdma_down,
	.place = rsm_rdma_place,
	.leave = rsm_rdma_unplace,
	.attach = rsm_rdma_attach,
	.detach = rsm_rdma_detach,
};

/* A node that is not configured may be one day. */
static u32 check_acl(struct rsm_controller *ctl, const struct rsm_acl *acl)
{
	return RSM_SUCCESS;
}

/* Other nodes learn of it before the return. */
static u32 rebind(struct rsm_export *exp, u64 vaddr)
{
	u32 status = rsm_pin_rebind(exp, vaddr);

	if (!status)
		rsm_agent_rebind(exp);
	return status;
}

/* There is no map: an import segment can't be mapped. */
static const struct rsm_controller_ops controller_ops = {
	.owner = THIS_MODULE,
	.bind = rsm_pin_bind,
	.rebind = rebind,
	.unbind = rsm_pin_unbind,
	.check_acl = check_acl,
	.republish = rsm_agent_republish,
	.unpublish = rsm_agent_unpublish,
	.connect = rsm_rdma_begin_import,
	.disconnect = rsm_rdma_end_import,
	.post = rsm_agent_post,
	.post_importers = rsm_agent_post_importers,
	.transfer = rsm_rdma_transfer,
	.order = rsm_rdma_order,
	.peers = rsm_agent_peers,
};

struct rsm_controller rsm_rdma_controller = {
	.name = "rdma0",
	.ops = &controller_ops,
	.attr = {
		.page_size = PAGE_SIZE,
	},
};

static void exit_links(u32 behind)
{
	for (u32 id = 1; id < behind; id++)
		if (rsm_rdma_node(id))
			rsm_link_exit(&rsm_rdma_node(id)->link);
}

static int init_links(void)
{
	for (u32 id = 1; id <= RSM_NODE_MAX; id++) {
		struct rsm_rdma_node *node = rsm_rdma_node(id);
		int err = node ? rsm_link_init(&node->link, &rsm_rdma_controller, &link_ops) : 0;

		if (err) {
			exit_links(id);
			return err;
		}
	}
	return 0;
}

static void leave_all(void)
{
	for (u32 id = 1; id <= RSM_NODE_MAX; id++)
		if (rsm_rdma_node(id))
			rsm_rdma_leave(rsm_rdma_node(id));
}

static void kick_all(void)
{
	for (u32 id = 1; id <= RSM_NODE_MAX; id++)
		if (rsm_rdma_node(id))
			rsm_rdma_kick(rsm_rdma_node(id));
}

/* Is there something that tells us who is who? */
static int read_config(void)
{
	if (!rsm_node_id()) {
		pr_err("rsm: rdma0: this node has no id, set rsm.node_id\n");
		return -ENODEV;
	}
	if (!nodes || !*nodes) {
		pr_err("rsm: rdma0: no nodes, set rsm_rdma.nodes to ID=ADDRESS,ID=ADDRESS\n");
		return -EINVAL;
	}
	if (!port) {
		pr_err("rsm: rdma0: port: there is no port 0\n");
		return -EINVAL;
	}
	return rsm_rdma_nodes_read(nodes, port);
}

/*
 * The controller's links are made after it is registered and taken away after it
 * is removed: until they are started nobody gets through them anyway.
 */
static int start_controller(void)
{
	struct sockaddr *own = rsm_rdma_own_address(AF_INET) ?: rsm_rdma_own_address(AF_INET6);
	int err;

	if (own)
		rsm_rdma_controller.attr.hwaddr =
			rsm_rdma_hwaddr((struct sockaddr_storage *)own);
	err = rsm_register_controller(&rsm_rdma_controller);
	if (err)
		return err;
	err = init_links();
	if (err)
		rsm_remove_controller(&rsm_rdma_controller);
	return err;
}

static void stop_controller(void)
{
	leave_all();
	rsm_remove_controller(&rsm_rdma_controller);
	exit_links(RSM_NODE_MAX + 1);
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
	err = rsm_rdma_listen(port);
	if (err) {
		pr_err("rsm: rdma0: can't listen on port %u: %pe\n", port, ERR_PTR(err));
		goto err_stop_controller;
	}
	kick_all();
	return 0;

err_stop_controller:
	stop_controller();
err_destroy_wq:
	destroy_workqueue(rsm_rdma_wq);
err_free_nodes:
	rsm_rdma_nodes_free();
	return err;
}
module_init(rdma_init);

/* Nobody uses a segment of ours: handles keep the module loaded. */
static void __exit rdma_exit(void)
{
	rsm_rdma_unlisten();
	stop_controller();
	destroy_workqueue(rsm_rdma_wq);
	rsm_rdma_nodes_free();
}
module_exit(rdma_exit);

MODULE_ALIAS("rsm-rdma0");
MODULE_DESCRIPTION("RSM between hosts over RDMA: InfiniBand, RoCE, iWARP");
MODULE_LICENSE("GPL");
