// SPDX-License-Identifier: GPL-2.0
/* The nodes of the parameter, as in "1=10.0.0.1,2=fd00::2", and changes by administrators. */

#include "rdma.h"

#include <linux/jiffies.h>
#include <linux/netlink.h>
#include <linux/slab.h>

/* Set once, when the module is loaded and before the first node is made. */
static struct rsm_controller *controller;
static const struct rsm_link_ops *link_ops;

static struct rsm_rdma_node *node_alloc(u32 id, const struct sockaddr_storage *address)
{
	struct rsm_rdma_node *node = kzalloc(sizeof(*node), GFP_KERNEL);

	if (!node)
		return NULL;
	node->id = id;
	node->address = *address;
	rsm_reconnect_init(&node->reconnect, jiffies, rsm_node_id() < id);
	spin_lock_init(&node->lock);
	init_waitqueue_head(&node->changed);
	INIT_DELAYED_WORK(&node->work, rsm_rdma_node_work);
	return node;
}

static int init_link(struct rsm_rdma_node *node)
{
	int err = rsm_link_init(&node->link, controller, link_ops);

	if (!err)
		rsm_link_expect(&node->link, node->id, rsm_rdma_hwaddr(&node->address));
	return err;
}

/* Make a node that was never configured; for our own id only note @address as ours. */
static int node_make(u32 id, const struct sockaddr_storage *address)
{
	struct rsm_rdma_node *node;
	int err;

	if (id == rsm_node_id()) {
		rsm_rdma_set_own_address(address);
		return 0;
	}
	node = node_alloc(id, address);
	if (!node)
		return -ENOMEM;
	err = init_link(node);
	if (err) {
		kfree(node);
		return err;
	}
	rsm_rdma_node_enter(node);
	return 0;
}

/* Read "ID=ADDRESS". Returns what is wrong with it, or NULL. */
static const char *read_node(const char *text, u16 port, unsigned int *id,
			     struct sockaddr_storage *address)
{
	const char *equals = strchr(text, '=');
	const char *why;
	char number[8];

	if (!equals || equals - text >= sizeof(number))
		return "not of the form ID=ADDRESS";
	strscpy(number, text, equals - text + 1);
	if (kstrtouint(number, 10, id))
		return "the id is not a number";
	why = rsm_rdma_address_read(equals + 1, port, address);
	return why ?: rsm_rdma_newcomer_objection(*id, address);
}

static int read_and_add(const char *text, u16 port)
{
	struct sockaddr_storage address;
	unsigned int id;
	const char *why = read_node(text, port, &id, &address);

	if (why) {
		pr_err("rsm: " RSM_RDMA_NAME ": nodes: \"%s\": %s\n", text, why);
		return -EINVAL;
	}
	return node_make(id, &address);
}

/**
 * rsm_rdma_nodes_read() - read the configuration
 * @ctl: the controller
 * @ops: operations of each node's link
 * @text: all nodes, "ID=ADDRESS" each, separated by commas
 *
 * Return: 0, -EINVAL after a message that names what is wrong, or -ENOMEM.
 */
int rsm_rdma_nodes_read(struct rsm_controller *ctl, const struct rsm_link_ops *ops,
			const char *text)
{
	char *copy = kstrdup(text, GFP_KERNEL);
	char *rest = copy;
	char *piece;
	int err = 0;

	if (!copy)
		return -ENOMEM;
	controller = ctl;
	link_ops = ops;
	while (!err && *text && (piece = strsep(&rest, ",")))
		err = read_and_add(piece, rsm_rdma_port);
	kfree(copy);
	if (err)
		rsm_rdma_nodes_free();
	return err;
}

static struct rsm_rdma_node *configured_node(u32 id)
{
	struct rsm_rdma_node *node = rsm_rdma_node(id);

	lockdep_assert_held(&rsm_rdma_config_lock);
	return node && !rsm_rdma_node_is_leaving(node) ? node : NULL;
}

/* Begin to connect to a node that has no channel, at this address. */
static void node_begin(struct rsm_rdma_node *node, const struct sockaddr_storage *address)
{
	rsm_link_expect(&node->link, node->id, rsm_rdma_hwaddr(address));
	rsm_rdma_node_begin(node, address);
}

static int node_refuse(struct netlink_ext_ack *extack, int err, const char *why)
{
	extack->_msg = why;
	return err;
}

/* Configure a node: one that was configured before comes back, another one is made. */
static int enter(u32 id, const struct sockaddr_storage *address)
{
	struct rsm_rdma_node *node = rsm_rdma_node(id);
	int err;

	if (!node) {
		err = node_make(id, address);
		node = rsm_rdma_node(id);
		if (err || !node)
			return err;
	}
	node_begin(node, address);
	return 0;
}

/* Listen for a node of this family, which may be the first of its family. */
static int listen_for(u32 id, struct netlink_ext_ack *extack)
{
	int err = rsm_rdma_listen(rsm_rdma_port);

	if (!err)
		return 0;
	if (configured_node(id)) {
		rsm_rdma_leave(configured_node(id));
		rsm_link_forget(&rsm_rdma_node(id)->link);
	}
	return node_refuse(extack, err, "Can't listen on the port for addresses of this family");
}

static int node_add(u32 id, const char *text, struct netlink_ext_ack *extack)
{
	struct sockaddr_storage address;
	const char *why = rsm_rdma_address_read(text, rsm_rdma_port, &address);
	bool own = id == rsm_node_id();
	int err;

	/* A list of nodes that all nodes have is read again and again. */
	if (!why && own && rsm_rdma_is_own_address(&address))
		return 0;
	if (!why)
		why = id ? rsm_rdma_node_objection(id, &address) : "there is no such node id";
	if (configured_node(id) || (own && (rsm_rdma_own_address(AF_INET) ||
					    rsm_rdma_own_address(AF_INET6))))
		return node_refuse(extack, -EEXIST, "that node is there already");
	if (why)
		return node_refuse(extack, -EINVAL, why);
	err = enter(id, &address);
	return err ?: listen_for(id, extack);
}

/* &rsm_controller_ops.add_node */
int rsm_rdma_node_add(struct rsm_controller *ctl, u32 id, const char *text,
		      struct netlink_ext_ack *extack)
{
	int err;

	mutex_lock(&rsm_rdma_config_lock);
	err = rsm_rdma_ready ? node_add(id, text, extack) : -EBUSY;
	mutex_unlock(&rsm_rdma_config_lock);
	return err;
}

static int node_move(struct rsm_rdma_node *node, const char *text, struct netlink_ext_ack *extack)
{
	struct sockaddr_storage address;
	const char *why = rsm_rdma_address_read(text, rsm_rdma_port, &address);

	if (!why && rsm_rdma_node_is_at(node, &address))
		return 0;
	if (!why)
		why = rsm_rdma_node_objection(node->id, &address);
	if (why)
		return node_refuse(extack, -EINVAL, why);
	rsm_rdma_leave(node);
	node_begin(node, &address);
	return listen_for(node->id, extack);
}

/* &rsm_controller_ops.move_node */
int rsm_rdma_node_set(struct rsm_controller *ctl, u32 id, const char *text,
		      struct netlink_ext_ack *extack)
{
	struct rsm_rdma_node *node;
	int err;

	mutex_lock(&rsm_rdma_config_lock);
	node = configured_node(id);
	err = node ? node_move(node, text, extack) :
		     node_refuse(extack, -ENOENT, "The controller knows no such node");
	mutex_unlock(&rsm_rdma_config_lock);
	return err;
}

/* &rsm_controller_ops.forget_node */
int rsm_rdma_node_del(struct rsm_controller *ctl, u32 id, struct netlink_ext_ack *extack)
{
	struct rsm_rdma_node *node;
	int err = 0;

	mutex_lock(&rsm_rdma_config_lock);
	node = configured_node(id);
	if (node) {
		rsm_rdma_leave(node);
		rsm_link_forget(&node->link);
	} else {
		err = node_refuse(extack, -ENOENT, "The controller knows no such node");
	}
	mutex_unlock(&rsm_rdma_config_lock);
	return err;
}
