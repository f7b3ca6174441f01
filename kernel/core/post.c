// SPDX-License-Identifier: GPL-2.0
/* RSM_IOC_POST, and the event that a transfer may end with. */

#include "internal.h"
#include "trace.h"

#include <linux/indirect_call_wrapper.h>

static noinline rsm_status_t post_to_importers(struct rsm_export *exp, u32 flags)
{
	rsm_importers_post(exp, flags);
	if (exp->ops->post_importers)
		exp->ops->post_importers(exp, flags);
	return RSM_STS_SUCCESS;
}

/* Deliver an event from a handle to the other side of its connections. */
rsm_status_t rsm_post(struct rsm_segment *seg, u32 flags)
{
	struct rsm_import *imp;

	trace_post(seg, flags);
	if (seg->ops->kind == RSM_EXPORT)
		return post_to_importers(to_export(seg), flags);
	imp = to_import(seg);
	if (READ_ONCE(imp->aborted))
		return RSM_STS_CONN_ABORTED;
	return INDIRECT_CALL_1(imp->ops->post, rsm_local_post, imp, flags);
}
