// SPDX-License-Identifier: GPL-2.0
/* Events: see rsm_notify.h. */

#include "internal.h"
#include "trace.h"

/* Set once, when the module is loaded and before the first event. */
static const struct rsm_listener *listener;

void rsm_notify_listen(const struct rsm_listener *new)
{
	listener = new;
}

void rsm_notify_bind(struct rsm_export *exp)
{
	trace_segment_bind(exp);
}

void rsm_notify_rebind(struct rsm_export *exp)
{
	trace_segment_rebind(exp);
}

void rsm_notify_publish(struct rsm_export *exp)
{
	trace_segment_publish(exp);
	listener->publish(exp);
}

void rsm_notify_unpublish(struct rsm_export *exp, enum rsm_reason reason)
{
	trace_segment_unpublish(exp, reason);
	listener->unpublish(exp, reason);
}

void rsm_notify_end(struct rsm_export *exp, enum rsm_reason reason)
{
	trace_segment_end(exp, reason);
}

void rsm_notify_connect(struct rsm_import *imp)
{
	trace_import_connect(imp);
	listener->connect(imp);
}

void rsm_notify_disconnect(struct rsm_import *imp, enum rsm_reason reason)
{
	trace_import_disconnect(imp, reason);
	listener->disconnect(imp, reason);
}

void rsm_notify_importer_connect(struct rsm_export *exp, struct rsm_link *link)
{
	trace_importer_connect(exp, link);
}

void rsm_notify_importer_disconnect(struct rsm_export *exp, struct rsm_link *link)
{
	trace_importer_disconnect(exp, link);
}

void rsm_notify_node_up(struct rsm_link *link)
{
	trace_node_up(link);
	listener->node(link, true);
}

void rsm_notify_node_down(struct rsm_link *link, const char *why)
{
	trace_node_down(link, why);
	listener->node(link, false);
}

void rsm_notify_limit_hit(enum rsm_limit kind, u64 wanted, u64 value,
			  const struct rsm_controller *ctl)
{
	trace_limit_hit(kind, wanted, value);
	listener->limit_hit(kind, wanted, value, ctl);
}

void rsm_notify_denied(const struct rsm_denied *denied)
{
	trace_denied(denied);
	listener->denied(denied);
}
