/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints rsm:*, one for each change of state. Names and fields are an interface: fields may
 * be added, and the meaning of a field does not change.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rsm

#if !defined(RSM_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define RSM_TRACE_H

#include "internal.h"
#include "../rsm_link.h"

#include <linux/pid.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#define RSM_TRACE_REASONS				\
	EM(RSM_REASON_ASKED, "asked")			\
	EM(RSM_REASON_RANGE_GONE, "range-gone")		\
	EM(RSM_REASON_CONTROLLER_GONE, "controller-gone")	\
	EM(RSM_REASON_REVOKED, "revoked")		\
	EM(RSM_REASON_EXPORTER, "exporter")		\
	EM(RSM_REASON_NODE_DOWN, "node-down")		\
	EM_LAST(RSM_REASON_PEER_ERROR, "peer-error")

#define RSM_TRACE_LIMITS				\
	EM(RSM_LIMIT_MEMLOCK, "memlock")		\
	EM(RSM_LIMIT_EXPORTED_MEMORY, "exported-memory")	\
	EM(RSM_LIMIT_SEGMENTS, "segments")		\
	EM(RSM_LIMIT_SLOTS, "slots")			\
	EM(RSM_LIMIT_GRANTS, "grants")			\
	EM(RSM_LIMIT_CONTROLLER_MEMORY, "controller-memory")	\
	EM(RSM_LIMIT_MEMORY, "memory")			\
	EM(RSM_LIMIT_USER_SEGMENTS, "user-segments")	\
	EM_LAST(RSM_LIMIT_USER_MEMORY, "user-memory")

#define RSM_TRACE_DENIALS				\
	EM(RSM_DENIAL_USER, "user")			\
	EM_LAST(RSM_DENIAL_NODE, "node")

/* First expansion of the lists: tell tracing tools the numbers of the names. */
#undef EM
#undef EM_LAST
#define EM(value, name)		TRACE_DEFINE_ENUM(value);
#define EM_LAST(value, name)	TRACE_DEFINE_ENUM(value);
RSM_TRACE_REASONS
RSM_TRACE_LIMITS
RSM_TRACE_DENIALS

/* Second expansion, below: tables that print the names. */
#undef EM
#undef EM_LAST
#define EM(value, name)		{ value, name },
#define EM_LAST(value, name)	{ value, name }

DECLARE_EVENT_CLASS(rsm_segment,
	TP_PROTO(const struct rsm_export *exp),
	TP_ARGS(exp),
	TP_STRUCT__entry(
		__field(u32, number)
		__field(u32, id)
		__field(u32, pid)
		__field(u32, flags)
		__field(u64, vaddr)
		__field(u64, length)
		__array(char, controller, RSM_NAME_SIZE)
	),
	TP_fast_assign(
		__entry->number = exp->seg.number;
		__entry->id = exp->id;
		__entry->pid = pid_nr(exp->owner.tgid);
		__entry->flags = exp->flags;
		__entry->vaddr = exp->vaddr;
		__entry->length = exp->length;
		strscpy(__entry->controller, exp->seg.ctl->name, RSM_NAME_SIZE);
	),
	TP_printk("number=%u id=%#x controller=%s pid=%u flags=%#x vaddr=%#llx length=%llu",
		  __entry->number, __entry->id, __entry->controller, __entry->pid,
		  __entry->flags, __entry->vaddr, __entry->length)
);

/* An export has its memory. */
DEFINE_EVENT(rsm_segment, segment_bind,
	TP_PROTO(const struct rsm_export *exp), TP_ARGS(exp));

/* An export has its memory at another address of its owner. */
DEFINE_EVENT(rsm_segment, segment_rebind,
	TP_PROTO(const struct rsm_export *exp), TP_ARGS(exp));

/* An export has a segment id. */
DEFINE_EVENT(rsm_segment, segment_publish,
	TP_PROTO(const struct rsm_export *exp), TP_ARGS(exp));

DECLARE_EVENT_CLASS(rsm_segment_reason,
	TP_PROTO(const struct rsm_export *exp, enum rsm_reason reason),
	TP_ARGS(exp, reason),
	TP_STRUCT__entry(
		__field(u32, number)
		__field(u32, id)
		__field(u32, pid)
		__field(u32, reason)
		__array(char, controller, RSM_NAME_SIZE)
	),
	TP_fast_assign(
		__entry->number = exp->seg.number;
		__entry->id = exp->id;
		__entry->pid = pid_nr(exp->owner.tgid);
		__entry->reason = reason;
		strscpy(__entry->controller, exp->seg.ctl->name, RSM_NAME_SIZE);
	),
	TP_printk("number=%u id=%#x controller=%s pid=%u reason=%s",
		  __entry->number, __entry->id, __entry->controller, __entry->pid,
		  __print_symbolic(__entry->reason, RSM_TRACE_REASONS))
);

/* An export has no segment id any more. */
DEFINE_EVENT(rsm_segment_reason, segment_unpublish,
	TP_PROTO(const struct rsm_export *exp, enum rsm_reason reason), TP_ARGS(exp, reason));

/* An export has ended. */
DEFINE_EVENT(rsm_segment_reason, segment_end,
	TP_PROTO(const struct rsm_export *exp, enum rsm_reason reason), TP_ARGS(exp, reason));

TRACE_EVENT(import_connect,
	TP_PROTO(const struct rsm_import *imp),
	TP_ARGS(imp),
	TP_STRUCT__entry(
		__field(u32, number)
		__field(u32, node)
		__field(u32, id)
		__field(u32, pid)
		__field(u32, rights)
		__field(u64, length)
		__array(char, controller, RSM_NAME_SIZE)
	),
	TP_fast_assign(
		__entry->number = imp->seg.number;
		__entry->node = imp->node;
		__entry->id = imp->id;
		__entry->pid = pid_nr(imp->owner.tgid);
		__entry->rights = imp->rights;
		__entry->length = imp->length;
		strscpy(__entry->controller, imp->seg.ctl->name, RSM_NAME_SIZE);
	),
	TP_printk("number=%u controller=%s node=%u id=%#x pid=%u rights=%#o length=%llu",
		  __entry->number, __entry->controller, __entry->node, __entry->id,
		  __entry->pid, __entry->rights, __entry->length)
);

/* The process has closed the import, or the connection was aborted. */
TRACE_EVENT(import_disconnect,
	TP_PROTO(const struct rsm_import *imp, enum rsm_reason reason),
	TP_ARGS(imp, reason),
	TP_STRUCT__entry(
		__field(u32, number)
		__field(u32, node)
		__field(u32, id)
		__field(u32, aborted)
		__field(u32, reason)
	),
	TP_fast_assign(
		__entry->number = imp->seg.number;
		__entry->node = imp->node;
		__entry->id = imp->id;
		__entry->aborted = imp->aborted;
		__entry->reason = reason;
	),
	TP_printk("number=%u node=%u id=%#x aborted=%u reason=%s",
		  __entry->number, __entry->node, __entry->id, __entry->aborted,
		  __print_symbolic(__entry->reason, RSM_TRACE_REASONS))
);

DECLARE_EVENT_CLASS(rsm_importer,
	TP_PROTO(const struct rsm_export *exp, const struct rsm_link *link),
	TP_ARGS(exp, link),
	TP_STRUCT__entry(
		__field(u32, number)
		__field(u32, id)
		__field(u32, node)
	),
	TP_fast_assign(
		__entry->number = exp->seg.number;
		__entry->id = exp->id;
		__entry->node = link->machine.node;
	),
	TP_printk("number=%u id=%#x node=%u", __entry->number, __entry->id, __entry->node)
);

/* Another node has become an importer of a segment of this node. */
DEFINE_EVENT(rsm_importer, importer_connect,
	TP_PROTO(const struct rsm_export *exp, const struct rsm_link *link),
	TP_ARGS(exp, link));

/* Another node is no importer of a segment of this node any more. */
DEFINE_EVENT(rsm_importer, importer_disconnect,
	TP_PROTO(const struct rsm_export *exp, const struct rsm_link *link),
	TP_ARGS(exp, link));

TRACE_EVENT(node_up,
	TP_PROTO(const struct rsm_link *link),
	TP_ARGS(link),
	TP_STRUCT__entry(
		__field(u32, node)
		__field(u64, incarnation)
		__array(char, controller, RSM_NAME_SIZE)
	),
	TP_fast_assign(
		__entry->node = link->machine.node;
		__entry->incarnation = link->machine.peer;
		strscpy(__entry->controller, link->ctl->name, RSM_NAME_SIZE);
	),
	TP_printk("controller=%s node=%u incarnation=%#llx", __entry->controller,
		  __entry->node, __entry->incarnation)
);

TRACE_EVENT(node_down,
	TP_PROTO(const struct rsm_link *link, const char *why),
	TP_ARGS(link, why),
	TP_STRUCT__entry(
		__field(u32, node)
		__field(u64, incarnation)
		__array(char, controller, RSM_NAME_SIZE)
		__array(char, why, 48)
	),
	TP_fast_assign(
		__entry->node = link->machine.node;
		__entry->incarnation = link->machine.peer;
		strscpy(__entry->controller, link->ctl->name, RSM_NAME_SIZE);
		strscpy(__entry->why, why, sizeof(__entry->why));
	),
	TP_printk("controller=%s node=%u incarnation=%#llx why=\"%s\"", __entry->controller,
		  __entry->node, __entry->incarnation, __entry->why)
);

/* A limit has refused something to the current process. */
TRACE_EVENT(limit_hit,
	TP_PROTO(enum rsm_limit kind, u64 wanted, u64 value),
	TP_ARGS(kind, wanted, value),
	TP_STRUCT__entry(
		__field(u32, kind)
		__field(u64, wanted)
		__field(u64, value)
	),
	TP_fast_assign(
		__entry->kind = kind;
		__entry->wanted = wanted;
		__entry->value = value;
	),
	TP_printk("kind=%s wanted=%llu value=%llu",
		  __print_symbolic(__entry->kind, RSM_TRACE_LIMITS), __entry->wanted,
		  __entry->value)
);

/* A connect was denied to a process of this node, or to another node if no process is named. */
TRACE_EVENT(denied,
	TP_PROTO(const struct rsm_denied *denied),
	TP_ARGS(denied),
	TP_STRUCT__entry(
		__field(u32, kind)
		__field(u32, node)
		__field(u32, id)
		__field(u32, importer)
		__field(u32, rights)
		__field(u32, pid)
		__array(char, controller, RSM_NAME_SIZE)
	),
	TP_fast_assign(
		__entry->kind = denied->kind;
		__entry->node = denied->node;
		__entry->id = denied->id;
		__entry->importer = denied->importer;
		__entry->rights = denied->rights;
		__entry->pid = denied->owner ? pid_nr(denied->owner->tgid) : 0;
		strscpy(__entry->controller, denied->ctl->name, RSM_NAME_SIZE);
	),
	TP_printk("kind=%s controller=%s node=%u id=%#x importer=%u pid=%u rights=%#o",
		  __print_symbolic(__entry->kind, RSM_TRACE_DENIALS), __entry->controller,
		  __entry->node, __entry->id, __entry->importer, __entry->pid, __entry->rights)
);

/* A handle posts an event to the other side. */
TRACE_EVENT(post,
	TP_PROTO(const struct rsm_segment *seg, u32 flags),
	TP_ARGS(seg, flags),
	TP_STRUCT__entry(
		__field(u32, number)
		__field(u32, import)
		__field(u32, flags)
	),
	TP_fast_assign(
		__entry->number = seg->number;
		__entry->import = seg->ops->kind == RSM_IMPORT;
		__entry->flags = flags;
	),
	TP_printk("number=%u import=%u flags=%#x", __entry->number, __entry->import,
		  __entry->flags)
);

/* An entry of a PUTV or GETV has failed after its check has succeeded. */
TRACE_EVENT(transfer_error,
	TP_PROTO(const struct rsm_import *imp, const struct rsm_transfer_entry *e,
		 enum rsm_direction direction, rsm_status_t status),
	TP_ARGS(imp, e, direction, status),
	TP_STRUCT__entry(
		__field(u32, number)
		__field(u32, put)
		__field(u64, offset)
		__field(u64, length)
		__field(u32, status)
	),
	TP_fast_assign(
		__entry->number = imp->seg.number;
		__entry->put = direction == RSM_PUT;
		__entry->offset = e->remote_offset;
		__entry->length = e->length;
		__entry->status = rsm_status_to_number(status);
	),
	TP_printk("number=%u put=%u offset=%llu length=%llu status=%u", __entry->number,
		  __entry->put, __entry->offset, __entry->length, __entry->status)
);

#endif /* RSM_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
