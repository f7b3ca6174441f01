// SPDX-License-Identifier: GPL-2.0
/* Tells reconnect.c the events of a node's connection, and queues the node's work. */

#include "rdma.h"

#include <linux/jiffies.h>

/**
 * rsm_rdma_wake() - let a node's work look whether there is something to do
 * @node: the node
 *
 * Any context.
 */
void rsm_rdma_wake(struct rsm_rdma_node *node)
{
	mod_delayed_work(rsm_rdma_wq, &node->work, 0);
}

/**
 * rsm_rdma_node_step_locked() - decide what an event of a node's connection leads to
 * @node: the node; the caller holds its lock
 * @input: the event
 *
 * Return: what has to be done once the lock is free.
 */
struct rsm_reconnect_output rsm_rdma_node_step_locked(struct rsm_rdma_node *node,
						      const struct rsm_reconnect_input *input)
{
	lockdep_assert_held(&node->lock);
	return rsm_reconnect_step(&node->reconnect, jiffies, input);
}

/**
 * rsm_rdma_node_step() - decide what an event of a node's connection leads to
 * @node: the node
 * @input: the event
 *
 * Any context.
 *
 * Return: what has to be done.
 */
struct rsm_reconnect_output rsm_rdma_node_step(struct rsm_rdma_node *node,
					       const struct rsm_reconnect_input *input)
{
	struct rsm_reconnect_output output;
	unsigned long flags;

	spin_lock_irqsave(&node->lock, flags);
	output = rsm_rdma_node_step_locked(node, input);
	spin_unlock_irqrestore(&node->lock, flags);
	return output;
}

/**
 * rsm_rdma_node_queue() - queue the node's work if a step wants that
 * @node: the node
 * @output: what the step has returned
 *
 * Any context.
 */
void rsm_rdma_node_queue(struct rsm_rdma_node *node,
			 const struct rsm_reconnect_output *output)
{
	if (!output->wake)
		return;
	if (output->delay)
		queue_delayed_work(rsm_rdma_wq, &node->work, output->delay);
	else
		rsm_rdma_wake(node);
}

/**
 * rsm_rdma_node_begin() - begin to connect to a node that has no channel
 * @node: the node
 * @address: from now on the node's address
 */
void rsm_rdma_node_begin(struct rsm_rdma_node *node, const struct sockaddr_storage *address)
{
	const struct rsm_reconnect_input input = { .event = RSM_RECONNECT_BEGIN };
	struct rsm_reconnect_output output;

	spin_lock_irq(&node->lock);
	node->address = *address;
	output = rsm_rdma_node_step_locked(node, &input);
	spin_unlock_irq(&node->lock);
	rsm_rdma_node_queue(node, &output);
}

/**
 * rsm_rdma_node_notify() - tell a node's connection of an event that has no other input
 * @node: the node
 * @event: the event
 *
 * Any context.
 */
void rsm_rdma_node_notify(struct rsm_rdma_node *node, enum rsm_reconnect_event event)
{
	const struct rsm_reconnect_input input = { .event = event };
	const struct rsm_reconnect_output output = rsm_rdma_node_step(node, &input);

	rsm_rdma_node_queue(node, &output);
}
