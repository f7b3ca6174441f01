// SPDX-License-Identifier: GPL-2.0
/* All links: which there are, and which of them are listed. */

#include "agent.h"

#include <linux/moduleparam.h>

static unsigned int heartbeat_ms = 1000;
module_param(heartbeat_ms, uint, 0444);
MODULE_PARM_DESC(heartbeat_ms,
		 "A node that is silent for twice as many milliseconds is down (10 to 60000, default 1000)");

DEFINE_MUTEX(rsm_agent_lock); /* see agent.h */
LIST_HEAD(rsm_links);
struct workqueue_struct *rsm_link_wq;
struct workqueue_struct *rsm_keys_wq;
static unsigned long last_serial;
/* Changes each time another set of links may be listed; never 0. */
static u32 changes = 1;

/* Peers take a node with late heartbeats for dead, so the links' work has a high priority. */
int rsm_agent_init(void)
{
	rsm_link_wq = alloc_workqueue("rsm-links", WQ_UNBOUND | WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	if (!rsm_link_wq)
		return -ENOMEM;
	rsm_keys_wq = alloc_workqueue("rsm-keys", WQ_UNBOUND, 0);
	if (!rsm_keys_wq) {
		destroy_workqueue(rsm_link_wq);
		return -ENOMEM;
	}
	return 0;
}

void rsm_agent_exit(void)
{
	destroy_workqueue(rsm_keys_wq);
	destroy_workqueue(rsm_link_wq);
}

/**
 * rsm_heartbeat_ms() - the heartbeat interval
 *
 * Return: milliseconds.
 */
unsigned int rsm_heartbeat_ms(void)
{
	return heartbeat_ms;
}
EXPORT_SYMBOL_GPL(rsm_heartbeat_ms);

/* A dump that began with the old number has not seen the change, which the caller now makes. */
void rsm_links_note_change(void)
{
	lockdep_assert_held(&rsm_agent_lock);
	changes = changes + 1 ?: 1;
}

/* Enter a new link. */
void rsm_links_add(struct rsm_link *link)
{
	mutex_lock(&rsm_agent_lock);
	link->serial = ++last_serial;
	list_add_tail(&link->entry, &rsm_links);
	rsm_links_note_change();
	mutex_unlock(&rsm_agent_lock);
}

void rsm_links_remove(struct rsm_link *link)
{
	mutex_lock(&rsm_agent_lock);
	list_del(&link->entry);
	rsm_links_note_change();
	mutex_unlock(&rsm_agent_lock);
}

static void describe(struct rsm_link *link, struct rsm_topology_peer *peer)
{
	memset(peer, 0, sizeof(*peer));
	strscpy(peer->name, link->ctl->name, sizeof(peer->name));
	spin_lock_irq(&link->lock);
	peer->node_id = link->machine.node;
	peer->hwaddr = link->hwaddr;
	peer->state = link->machine.state + 1;
	spin_unlock_irq(&link->lock);
}

/* The states of the topology: down, up, active, going down. */
static_assert(RSM_LINK_DOWN + 1 == 1 && RSM_LINK_GREETING + 1 == 2 &&
	      RSM_LINK_ACTIVE + 1 == 3 && RSM_LINK_ENDING + 1 == 4);

/* The link is down: does another link lead to the same node? */
static bool is_superseded(const struct rsm_link *link)
{
	const struct rsm_link *other;

	lockdep_assert_held(&rsm_agent_lock);
	if (READ_ONCE(link->machine.state) != RSM_LINK_DOWN)
		return false;
	list_for_each_entry(other, &rsm_links, entry)
		if (other != link && other->ctl == link->ctl && other->machine.known &&
		    other->machine.node == link->machine.node &&
		    (READ_ONCE(other->machine.state) != RSM_LINK_DOWN ||
		     other->hwaddr < link->hwaddr))
			return true;
	return false;
}

/* The number of the present set of links: see rsm_links_note_change(). */
u32 rsm_link_changes(void)
{
	lockdep_assert_held(&rsm_agent_lock);
	return changes;
}

/* Does node-get list the link? The topology has only links that were started once. */
bool rsm_link_is_listed(const struct rsm_link *link)
{
	lockdep_assert_held(&rsm_agent_lock);
	return (link->machine.known || link->machine.expected_node) && !is_superseded(link);
}

/**
 * rsm_agent_peers() - &rsm_controller_ops.peers of a controller with links
 * @ctl: the controller
 * @peers: where to put them
 * @max: how many there is room for
 *
 * Return: how many there are.
 */
unsigned int rsm_agent_peers(struct rsm_controller *ctl,
			     struct rsm_topology_peer *peers, unsigned int max)
{
	unsigned int count = 0;
	struct rsm_link *link;

	mutex_lock(&rsm_agent_lock);
	list_for_each_entry(link, &rsm_links, entry) {
		if (link->ctl != ctl || !link->machine.known || is_superseded(link))
			continue;
		if (count < max)
			describe(link, &peers[count]);
		count++;
	}
	mutex_unlock(&rsm_agent_lock);
	return count;
}
EXPORT_SYMBOL_GPL(rsm_agent_peers);
