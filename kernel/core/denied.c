// SPDX-License-Identifier: GPL-2.0
/* Connects that were denied: the core counts them and reports each to tracepoint and listener. */

#include "internal.h"
#include "../rsm_link.h"

static atomic64_t denials;

static void denied_tell(const struct rsm_denied *denied)
{
	atomic64_inc(&denials);
	rsm_notify_denied(denied);
}

/**
 * rsm_denied_import() - a process of this node may not connect
 * @imp: its import, which is not connected; its controller stays meanwhile
 * @status: why; statuses that are no denial are passed over
 *
 * May sleep.
 */
void rsm_denied_import(const struct rsm_import *imp, rsm_status_t status)
{
	struct rsm_denied denied = {
		.ctl = imp->seg.ctl,
		.node = imp->node,
		.id = imp->id,
		.importer = rsm_node_id(),
		.owner = &imp->owner,
		.rights = imp->rights,
	};

	if (status == RSM_STS_PERM_DENIED)
		denied.kind = RSM_DENIAL_USER;
	else if (status == RSM_STS_SEG_NOT_PUBLISHED_TO_NODE)
		denied.kind = RSM_DENIAL_NODE;
	else
		return;
	denied_tell(&denied);
}

/**
 * rsm_denied_node() - the access list of a segment of this node does not have another node
 * @link: the link to the other node
 * @id: the segment's id
 *
 * May sleep.
 */
void rsm_denied_node(const struct rsm_link *link, u32 id)
{
	struct rsm_denied denied = {
		.kind = RSM_DENIAL_NODE,
		.ctl = link->ctl,
		.node = rsm_node_id(),
		.id = id,
		.importer = link->machine.node,
	};

	denied_tell(&denied);
}

/* How many connects this node has denied. */
u64 rsm_denial_count(void)
{
	return atomic64_read(&denials);
}
