// SPDX-License-Identifier: GPL-2.0
/* Which node this is. */

#include "internal.h"

#include <linux/moduleparam.h>

static unsigned int node_id;
module_param(node_id, uint, 0444);
MODULE_PARM_DESC(node_id, "Id of this node, 0 to 64 (default 0: not part of a cluster)");

/**
 * rsm_node_id() - id of this node
 *
 * Return: the id, 0 when the node is not part of a cluster.
 */
u32 rsm_node_id(void)
{
	return node_id;
}
EXPORT_SYMBOL_GPL(rsm_node_id);
