// SPDX-License-Identifier: GPL-2.0
/*
 * process-get: segments, added up by process. A dump is of what there was when it began,
 * collected then.
 */

#include "netlink.h"
#include "../compat.h"

#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/sort.h>

/**
 * struct part - what one or all segments add to a process
 * @pid: the process, referenced
 * @number: of the first of its segments
 * @uid: with which it made that
 * @pinned: bytes
 * @segments: exports
 * @imports: imports
 */
struct part {
	struct pid *pid;
	u32 number;
	kuid_t uid;
	u64 pinned;
	u32 segments;
	u32 imports;
};

/**
 * struct parts - a collection
 * @count: of those that are there
 * @part: in the order of their processes
 */
struct parts {
	unsigned int count;
	struct part part[];
};

static struct part part_of_export(struct rsm_export *exp)
{
	struct part part = {
		.pid = get_pid(exp->owner.tgid),
		.number = exp->seg.number,
		.uid = exp->owner.uid,
		.segments = 1,
	};

	mutex_lock(&exp->importers_lock);
	part.pinned = rsm_export_pinned(exp);
	mutex_unlock(&exp->importers_lock);
	return part;
}

static struct part part_of_import(struct rsm_import *imp)
{
	return (struct part) {
		.pid = get_pid(imp->owner.tgid),
		.number = imp->seg.number,
		.uid = imp->owner.uid,
		.imports = 1,
	};
}

/* By process, the earliest segment of each first. */
static int compare(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void add(struct part *sum, struct part *part)
{
	sum->pinned += part->pinned;
	sum->segments += part->segments;
	sum->imports += part->imports;
	put_pid(part->pid);
}

static void add_up(struct parts *parts)
{
	unsigned int sums = 0;

	sort(parts->part, parts->count, sizeof(*parts->part), compare, NULL);
	for (unsigned int i = 0; i < parts->count; i++) {
		if (sums && parts->part[sums - 1].pid == parts->part[i].pid)
			add(&parts->part[sums - 1], &parts->part[i]);
		else
			parts->part[sums++] = parts->part[i];
	}
	parts->count = sums;
}

static void collect(struct parts *parts, unsigned int room, const struct rsm_viewer *viewer)
{
	struct rsm_segment *seg;
	struct part part;
	u32 next = 0;

	while (parts->count < room && (seg = rsm_segment_next(next))) {
		part = seg->kind == RSM_EXPORT ? part_of_export(to_export(seg)) :
						 part_of_import(to_import(seg));
		next = seg->number + 1;
		rsm_segment_put(seg);
		if (rsm_views_owner(viewer, part.uid))
			parts->part[parts->count++] = part;
		else
			put_pid(part.pid);
	}
	add_up(parts);
}

/* All processes that the viewer may see, or NULL without memory for them. */
static struct parts *parts_alloc(const struct rsm_viewer *viewer)
{
	/* Segments that come meanwhile may find no room: the dump says so. */
	unsigned int room = rsm_handle_count();
	struct parts *parts;

	parts = kvmalloc(struct_size(parts, part, room), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!parts)
		return NULL;
	parts->count = 0;
	collect(parts, room, viewer);
	return parts;
}

static void parts_free(struct parts *parts)
{
	if (!parts)
		return;
	for (unsigned int i = 0; i < parts->count; i++)
		put_pid(parts->part[i].pid);
	kvfree(parts);
}

static int put_charge(struct sk_buff *skb, struct task_struct *task)
{
	struct mm_struct *mm = get_task_mm(task);
	u64 charged;

	if (!mm)
		return 0;
	charged = (u64)atomic64_read(&mm->pinned_vm) << PAGE_SHIFT;
	mmput(mm);
	return nla_put_u64_64bit(skb, RSM_A_PROCESS_CHARGED_BYTES, charged, RSM_A_PROCESS_PAD);
}

/* What there is only while the process lives. */
static int put_task(struct sk_buff *skb, struct pid *pid)
{
	struct task_struct *task = get_pid_task(pid, PIDTYPE_TGID);
	char comm[TASK_COMM_LEN];
	u64 limit;
	int err;

	if (!task)
		return 0;
	get_task_comm(comm, task);
	limit = task_rlimit(task, RLIMIT_MEMLOCK);
	if (limit == RLIM_INFINITY)
		limit = U64_MAX;
	err = nla_put_string(skb, RSM_A_PROCESS_COMM, comm) ?:
	      put_charge(skb, task) ?:
	      nla_put_u64_64bit(skb, RSM_A_PROCESS_LIMIT_BYTES, limit, RSM_A_PROCESS_PAD);
	put_task_struct(task);
	return err;
}

static int put(struct rsm_reply *reply, const struct part *part)
{
	struct sk_buff *skb = reply->skb;

	if (nla_put_u32(skb, RSM_A_PROCESS_PID, rsm_view_pid(reply->viewer, part->pid)) ||
	    nla_put_u32(skb, RSM_A_PROCESS_UID, rsm_view_uid(reply->viewer, part->uid)) ||
	    nla_put_u64_64bit(skb, RSM_A_PROCESS_PINNED_BYTES, part->pinned,
			      RSM_A_PROCESS_PAD) ||
	    nla_put_u32(skb, RSM_A_PROCESS_SEGMENTS, part->segments) ||
	    nla_put_u32(skb, RSM_A_PROCESS_IMPORTS, part->imports) ||
	    put_task(skb, part->pid))
		return -EMSGSIZE;
	return 0;
}

static int put_wanted(struct rsm_reply *reply, const struct parts *parts, u32 pid)
{
	for (unsigned int i = 0; i < parts->count; i++)
		if (rsm_view_pid(reply->viewer, parts->part[i].pid) == pid)
			return put(reply, &parts->part[i]);
	return -ENOENT;
}

static int answer(struct genl_info *info, struct rsm_reply *reply, const struct parts *parts)
{
	void *header;
	int err;

	err = rsm_answer_start(info, RSM_CMD_PROCESS_GET, reply, &header);
	if (err)
		return err;
	err = put_wanted(reply, parts, nla_get_u32(info->attrs[RSM_A_PROCESS_PID]));
	if (err == -ENOENT)
		NL_SET_ERR_MSG(info->extack, "There is no such process with segments");
	return rsm_answer_end(info, reply, header, err);
}

int rsm_process_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rsm_viewer viewer = rsm_viewer_of(skb);
	struct rsm_reply reply = { .viewer = &viewer };
	struct parts *parts;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, RSM_A_PROCESS_PID))
		return -EINVAL;
	parts = parts_alloc(&viewer);
	if (!parts)
		return -ENOMEM;
	err = answer(info, &reply, parts);
	parts_free(parts);
	return err;
}

int rsm_process_start(struct netlink_callback *cb)
{
	struct rsm_viewer viewer = rsm_viewer_of(cb->skb);
	struct parts *parts;
	int err = rsm_dump_start(cb);

	if (err)
		return err;
	cb->prev_seq = rsm_segment_changes();
	parts = parts_alloc(&viewer);
	if (!parts)
		return -ENOMEM;
	cb->args[0] = (long)parts;
	return 0;
}

static int dump_one(struct rsm_reply *reply, struct netlink_callback *cb,
		    const struct part *part)
{
	void *header = rsm_dump_put(reply->skb, cb, RSM_CMD_PROCESS_GET);

	return header ? rsm_dump_end(reply->skb, header, put(reply, part)) : -EMSGSIZE;
}

int rsm_process_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct parts *parts = (const struct parts *)cb->args[0];
	struct rsm_viewer viewer = rsm_viewer_of(cb->skb);
	struct rsm_reply reply = { .skb = skb, .viewer = &viewer };
	unsigned long next = cb->args[1];
	int err = 0;

	cb->seq = rsm_segment_changes();
	while (next < parts->count) {
		err = dump_one(&reply, cb, &parts->part[next]);
		if (err)
			break;
		next++;
	}
	cb->args[1] = next;
	return skb->len ?: err;
}

int rsm_process_done(struct netlink_callback *cb)
{
	parts_free((struct parts *)cb->args[0]);
	return 0;
}
