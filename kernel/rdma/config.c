// SPDX-License-Identifier: GPL-2.0
/* Which nodes there are, and where: "1=10.0.0.1,2=fd00::2". */

#include "rdma.h"

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/inet.h>
#include <linux/slab.h>
#include <net/ipv6.h>

/* By node id. Written before anybody else is there. */
static struct rsm_rdma_node *nodes[RSM_NODE_MAX + 1];
static struct sockaddr_storage own_address;

/**
 * rsm_rdma_node() - find a node
 * @id: its node id, any number
 *
 * Return: the node, or NULL if it is not configured.
 */
struct rsm_rdma_node *rsm_rdma_node(u32 id)
{
	return id <= RSM_NODE_MAX ? nodes[id] : NULL;
}

/**
 * rsm_rdma_own_address() - the address that others know us by
 * @family: AF_INET or AF_INET6
 *
 * Return: the address, or NULL if none of that family is configured.
 */
struct sockaddr *rsm_rdma_own_address(sa_family_t family)
{
	return own_address.ss_family == family ? (struct sockaddr *)&own_address : NULL;
}

static const struct in_addr *ipv4(const struct sockaddr_storage *address)
{
	return &((const struct sockaddr_in *)address)->sin_addr;
}

static const struct in6_addr *ipv6(const struct sockaddr_storage *address)
{
	return &((const struct sockaddr_in6 *)address)->sin6_addr;
}

/**
 * rsm_rdma_same_address() - are two addresses the same, ports aside?
 * @a: one
 * @b: the other
 *
 * Return: true if they are.
 */
bool rsm_rdma_same_address(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET)
		return ipv4(a)->s_addr == ipv4(b)->s_addr;
	return a->ss_family == AF_INET6 && ipv6_addr_equal(ipv6(a), ipv6(b));
}

/**
 * rsm_rdma_hwaddr() - an address as the topology shows it
 * @address: the address
 *
 * Return: an IPv4 address, or the last half of an IPv6 address, as a number.
 */
u64 rsm_rdma_hwaddr(const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET)
		return be32_to_cpu(ipv4(address)->s_addr);
	if (address->ss_family == AF_INET6)
		return (u64)be32_to_cpu(ipv6(address)->s6_addr32[2]) << 32 |
		       be32_to_cpu(ipv6(address)->s6_addr32[3]);
	return 0;
}

static bool is_unicast(const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET)
		return ipv4(address)->s_addr && !ipv4_is_lbcast(ipv4(address)->s_addr) &&
		       !ipv4_is_multicast(ipv4(address)->s_addr);
	return ipv6_addr_type(ipv6(address)) & IPV6_ADDR_UNICAST;
}

/**
 * rsm_rdma_has_family() - do some nodes have addresses of a family?
 * @family: AF_INET or AF_INET6
 *
 * Return: true if they do.
 */
bool rsm_rdma_has_family(sa_family_t family)
{
	for (u32 id = 1; id <= RSM_NODE_MAX; id++)
		if (nodes[id] && nodes[id]->address.ss_family == family)
			return true;
	return false;
}

static bool is_taken(const struct sockaddr_storage *address)
{
	for (u32 id = 1; id <= RSM_NODE_MAX; id++)
		if (nodes[id] && rsm_rdma_same_address(&nodes[id]->address, address))
			return true;
	return rsm_rdma_same_address(&own_address, address);
}

/* What is wrong with a node's id or address, or NULL. */
static const char *objection(unsigned int id, const struct sockaddr_storage *address)
{
	if (!id || id > RSM_NODE_MAX)
		return "there is no such node id";
	if (nodes[id] || (id == rsm_node_id() && own_address.ss_family))
		return "that node is there already";
	if (!is_unicast(address))
		return "that is not the address of a node";
	if (is_taken(address))
		return "another node has that address";
	return NULL;
}

static struct rsm_rdma_node *make_node(u32 id, const struct sockaddr_storage *address)
{
	struct rsm_rdma_node *node = kzalloc(sizeof(*node), GFP_KERNEL);

	if (!node)
		return NULL;
	node->id = id;
	node->address = *address;
	node->backoff = RSM_RDMA_BACKOFF_MIN;
	spin_lock_init(&node->lock);
	init_waitqueue_head(&node->changed);
	INIT_DELAYED_WORK(&node->work, rsm_rdma_node_work);
	return node;
}

/* Our own address is where we connect from. */
static int add_node(u32 id, const struct sockaddr_storage *address)
{
	if (id == rsm_node_id()) {
		own_address = *address;
		((struct sockaddr_in *)&own_address)->sin_port = 0;
		return 0;
	}
	nodes[id] = make_node(id, address);
	return nodes[id] ? 0 : -ENOMEM;
}

static_assert(offsetof(struct sockaddr_in, sin_port) ==
	      offsetof(struct sockaddr_in6, sin6_port));

/* "ID=ADDRESS". Returns what is wrong with it, or NULL. */
static const char *read_node(const char *text, const char *port, unsigned int *id,
			     struct sockaddr_storage *address)
{
	const char *equals = strchr(text, '=');
	char number[8];

	if (!equals || equals - text >= sizeof(number))
		return "not of the form ID=ADDRESS";
	strscpy(number, text, equals - text + 1);
	if (kstrtouint(number, 10, id))
		return "the id is not a number";
	if (inet_pton_with_scope(&init_net, AF_UNSPEC, equals + 1, port, address))
		return "not an IPv4 or IPv6 address";
	return objection(*id, address);
}

static int read_and_add(const char *text, const char *port)
{
	struct sockaddr_storage address = {};
	unsigned int id;
	const char *why = read_node(text, port, &id, &address);

	if (why) {
		pr_err("rsm: %s: nodes: \"%s\": %s\n", rsm_rdma_controller.name, text, why);
		return -EINVAL;
	}
	return add_node(id, &address);
}

/**
 * rsm_rdma_nodes_free() - forget all nodes, which nobody knows any more
 */
void rsm_rdma_nodes_free(void)
{
	for (u32 id = 1; id <= RSM_NODE_MAX; id++) {
		kfree(nodes[id]);
		nodes[id] = NULL;
	}
}

/**
 * rsm_rdma_nodes_read() - read the configuration
 * @text: all nodes, "ID=ADDRESS" each, with commas between them
 * @port: on which they listen
 *
 * Return: 0, -EINVAL after a message that names what is wrong, or -ENOMEM.
 */
int rsm_rdma_nodes_read(const char *text, u16 port)
{
	char number[8];
	char *copy = kstrdup(text, GFP_KERNEL);
	char *rest = copy;
	char *piece;
	int err = 0;

	if (!copy)
		return -ENOMEM;
	snprintf(number, sizeof(number), "%u", port);
	while (!err && (piece = strsep(&rest, ",")))
		err = read_and_add(piece, number);
	kfree(copy);
	if (err)
		rsm_rdma_nodes_free();
	return err;
}
