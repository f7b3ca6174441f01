// SPDX-License-Identifier: GPL-2.0
/* The nodes of the configuration and their addresses. */

#include "rdma.h"

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/inet.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/ipv6.h>

/* Held while the configuration changes. Taken before all other locks of this module. */
DEFINE_MUTEX(rsm_rdma_config_lock);

/* The configuration may be changed from now on. Guarded by rsm_rdma_config_lock. */
bool rsm_rdma_ready;

/* The port on which each node listens, the same on all; main.c's parameter. */
ushort rsm_rdma_port = 18600;

/* Runs the work of all nodes. main.c makes and destroys it. */
struct workqueue_struct *rsm_rdma_wq;

/*
 * The nodes by id. A node stays until the module is unloaded, since imports may know its link: a
 * node that was taken out of the configuration is leaving, and may come back.
 */
static struct rsm_rdma_node *nodes[RSM_NODE_MAX + 1];
static struct sockaddr_storage own_address;
static struct sockaddr *own;

/**
 * rsm_rdma_node() - find a node
 * @id: its node id, any number
 *
 * Return: the node, or NULL if it never was configured.
 */
struct rsm_rdma_node *rsm_rdma_node(u32 id)
{
	/* Pairs with rsm_rdma_node_enter(). */
	return id <= RSM_NODE_MAX ? smp_load_acquire(&nodes[id]) : NULL;
}

/**
 * rsm_rdma_own_address() - the address by which other nodes know this one
 * @family: AF_INET or AF_INET6
 *
 * Return: the address, or NULL if none of that family is configured.
 */
struct sockaddr *rsm_rdma_own_address(sa_family_t family)
{
	/* Pairs with rsm_rdma_set_own_address(). */
	struct sockaddr *address = smp_load_acquire(&own);

	return address && address->sa_family == family ? address : NULL;
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
 * rsm_rdma_is_own_address() - is this the address by which other nodes know this one?
 * @address: an address, with any port
 *
 * Return: true if it is; false also if this node has not been told its address.
 */
bool rsm_rdma_is_own_address(const struct sockaddr_storage *address)
{
	return rsm_rdma_same_address(&own_address, address);
}

static bool is_configured(u32 id)
{
	return nodes[id] && !rsm_rdma_node_is_leaving(nodes[id]);
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
		if (is_configured(id) && nodes[id]->address.ss_family == family)
			return true;
	return false;
}

static bool is_taken(u32 by_other_than, const struct sockaddr_storage *address)
{
	for (u32 id = 1; id <= RSM_NODE_MAX; id++)
		if (id != by_other_than && is_configured(id) &&
		    rsm_rdma_same_address(&nodes[id]->address, address))
			return true;
	return rsm_rdma_is_own_address(address);
}

/**
 * rsm_rdma_node_objection() - may a node have this address?
 * @id: its node id, there or not
 * @address: the address
 *
 * Return: what is wrong with it, or NULL.
 */
const char *rsm_rdma_node_objection(u32 id, const struct sockaddr_storage *address)
{
	if (!is_unicast(address))
		return "that is not the address of a node";
	if (is_taken(id, address))
		return "another node has that address";
	return NULL;
}

/**
 * rsm_rdma_newcomer_objection() - may there be a new node with this id and address?
 * @id: its node id, any number
 * @address: its address
 *
 * Return: what is wrong with them, or NULL.
 */
const char *rsm_rdma_newcomer_objection(unsigned int id, const struct sockaddr_storage *address)
{
	if (!id || id > RSM_NODE_MAX)
		return "there is no such node id";
	if (is_configured(id) || (id == rsm_node_id() && own))
		return "that node is there already";
	return rsm_rdma_node_objection(id, address);
}

/**
 * rsm_rdma_node_is_at() - is a node configured, and with this address?
 * @node: the node
 * @address: the address, with any port
 *
 * Return: true if both.
 */
bool rsm_rdma_node_is_at(struct rsm_rdma_node *node, const struct sockaddr_storage *address)
{
	bool is;

	spin_lock_irq(&node->lock);
	is = !node->reconnect.leaving && rsm_rdma_same_address(&node->address, address);
	spin_unlock_irq(&node->lock);
	return is;
}

/* &rsm_link_ops.address */
void rsm_rdma_address(struct rsm_link *link, char *text, size_t size)
{
	struct rsm_rdma_node *node = to_rdma_node(link);
	struct sockaddr_storage address;

	spin_lock_irq(&node->lock);
	address = node->address;
	spin_unlock_irq(&node->lock);
	snprintf(text, size, "%pISc", &address);
}

/* &rsm_link_ops.complaint */
const char *rsm_rdma_complaint(struct rsm_link *link, const char *end)
{
	struct rsm_rdma_node *node = to_rdma_node(link);
	const char *why;

	spin_lock_irq(&node->lock);
	why = rsm_reconnect_complaint(&node->reconnect, end);
	spin_unlock_irq(&node->lock);
	return why;
}

/**
 * rsm_rdma_set_own_address() - from where we connect
 * @address: the address that others know us by
 */
void rsm_rdma_set_own_address(const struct sockaddr_storage *address)
{
	own_address = *address;
	((struct sockaddr_in *)&own_address)->sin_port = 0;
	/* Pairs with rsm_rdma_own_address(). */
	smp_store_release(&own, (struct sockaddr *)&own_address);
}

/**
 * rsm_rdma_node_enter() - from now on a node is found
 * @node: the node, which has its link
 */
void rsm_rdma_node_enter(struct rsm_rdma_node *node)
{
	/* Pairs with rsm_rdma_node(). */
	smp_store_release(&nodes[node->id], node);
}

static_assert(offsetof(struct sockaddr_in, sin_port) ==
	      offsetof(struct sockaddr_in6, sin6_port));

/* Is the whole text the address? The kernel's parser ignores some kinds of text behind it. */
static bool is_whole(const char *text, const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET)
		return !text[strspn(text, "0123456789.")];
	return !strchr(text, '%') || ipv6_addr_type(ipv6(address)) & IPV6_ADDR_LINKLOCAL;
}

/**
 * rsm_rdma_address_read() - read an IPv4 or IPv6 address
 * @text: as people write it
 * @port: on which the node listens
 * @address: where to put it
 *
 * Return: what is wrong with it, or NULL.
 */
const char *rsm_rdma_address_read(const char *text, u16 port, struct sockaddr_storage *address)
{
	char number[8];

	snprintf(number, sizeof(number), "%u", port);
	*address = (struct sockaddr_storage) {};
	if (inet_pton_with_scope(&init_net, AF_UNSPEC, text, number, address) ||
	    !is_whole(text, address))
		return "not an IPv4 or IPv6 address";
	if (address->ss_family == AF_INET6 &&
	    ipv6_addr_type(ipv6(address)) & IPV6_ADDR_LINKLOCAL &&
	    !((const struct sockaddr_in6 *)address)->sin6_scope_id)
		return "a link-local address needs its device, as in fe80::1%eth0";
	return NULL;
}

/**
 * rsm_rdma_nodes_free() - free all nodes when no import knows their links any more
 */
void rsm_rdma_nodes_free(void)
{
	for (u32 id = 1; id <= RSM_NODE_MAX; id++) {
		if (!nodes[id])
			continue;
		rsm_link_exit(&nodes[id]->link);
		kfree(nodes[id]);
		nodes[id] = NULL;
	}
}
