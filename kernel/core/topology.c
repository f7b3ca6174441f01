// SPDX-License-Identifier: GPL-2.0
/* RSM_IOC_TOPOLOGY: the controllers, and the nodes that each of them reaches. */

#include "internal.h"

#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

/* More than any node has; limits how much memory a caller can make the kernel allocate. */
#define MAX_CONTROLLERS	64U
#define MAX_PEERS	(MAX_CONTROLLERS * (RSM_NODE_MAX + 1))

/**
 * struct picture - a topology as it is collected
 * @controllers: array of @max_controllers
 * @peers: array of @max_peers
 * @max_controllers: room in @controllers
 * @max_peers: room in @peers
 * @controller_count: controllers seen, with or without room
 * @peer_count: peers seen, with or without room
 */
struct picture {
	struct rsm_topology_controller *controllers;
	struct rsm_topology_peer *peers;
	u32 max_controllers;
	u32 max_peers;
	u32 controller_count;
	u32 peer_count;
};

static void add_controller(struct picture *p, struct rsm_controller *ctl)
{
	struct rsm_topology_controller *c;
	u32 room = p->max_peers - min(p->max_peers, p->peer_count);
	u32 count = 0;

	if (ctl->ops->peers)
		count = ctl->ops->peers(ctl, room ? p->peers + p->peer_count : NULL,
					room);
	if (p->controller_count < p->max_controllers) {
		c = &p->controllers[p->controller_count];
		strscpy(c->name, ctl->name, sizeof(c->name));
		c->hwaddr = ctl->attr.hwaddr;
		c->peer_count = count;
	}
	p->controller_count++;
	p->peer_count += count;
}

static void topology_collect(struct picture *p)
{
	struct rsm_controller *ctl;

	mutex_lock(&rsm_controllers_lock);
	list_for_each_entry(ctl, &rsm_controllers, link)
		if (!ctl->unlisted)
			add_controller(p, ctl);
	mutex_unlock(&rsm_controllers_lock);
}

static rsm_status_t topology_answer(struct picture *p, struct rsm_topology_query *query)
{
	query->node_id = rsm_node_id();
	query->controller_count = p->controller_count;
	query->peer_count = p->peer_count;
	if (p->controller_count > p->max_controllers || p->peer_count > p->max_peers)
		return RSM_STS_SUCCESS;
	if (copy_to_user(u64_to_user_ptr(query->controllers), p->controllers,
			 p->controller_count * sizeof(*p->controllers)))
		return RSM_STS_BAD_ADDR;
	if (copy_to_user(u64_to_user_ptr(query->peers), p->peers,
			 p->peer_count * sizeof(*p->peers)))
		return RSM_STS_BAD_ADDR;
	return RSM_STS_SUCCESS;
}

rsm_status_t rsm_topology(struct rsm_topology_query *query)
{
	struct picture p = {
		.max_controllers = min(query->controller_count, MAX_CONTROLLERS),
		.max_peers = min(query->peer_count, MAX_PEERS),
	};
	rsm_status_t status = RSM_STS_INSUFFICIENT_MEM;

	p.controllers = kvcalloc(p.max_controllers, sizeof(*p.controllers),
				 GFP_KERNEL_ACCOUNT);
	p.peers = kvcalloc(p.max_peers, sizeof(*p.peers), GFP_KERNEL_ACCOUNT);
	if (p.controllers && p.peers) {
		topology_collect(&p);
		status = topology_answer(&p, query);
	}
	kvfree(p.controllers);
	kvfree(p.peers);
	return status;
}
