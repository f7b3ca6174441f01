// SPDX-License-Identifier: GPL-2.0
/* process-get: segments, added up by process and user id. */

#include "netlink.h"

#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

/**
 * struct sum - the segments of a process, as a viewer sees them
 * @viewer: the viewer
 * @pid: the process, referenced, or NULL
 * @number: the least number of its entries
 * @uid: user id under which the segments were made
 * @pinned: bytes pinned
 * @segments: open segments of each kind
 */
struct sum {
	const struct rsm_viewer *viewer;
	struct pid *pid;
	u32 number;
	kuid_t uid;
	u64 pinned;
	unsigned int segments[2];
};

/* An entry may outlive its last segment for a moment. */
static bool has_segments(const struct rsm_process *process)
{
	return atomic_read(&process->segments[RSM_EXPORT]) ||
	       atomic_read(&process->segments[RSM_IMPORT]);
}

/* The kernel reuses process ids: add only entries of the process that the sum began with. */
static void process_add(struct rsm_process *process, void *data)
{
	struct sum *sum = data;

	if (!has_segments(process) || !rsm_views_owner(sum->viewer, process->uid) ||
	    (sum->pid && sum->pid != process->tgid))
		return;
	if (!sum->pid || process->number < sum->number) {
		sum->number = process->number;
		sum->uid = process->uid;
	}
	if (!sum->pid)
		sum->pid = get_pid(process->tgid);
	sum->pinned += atomic64_read(&process->pinned);
	for (int kind = 0; kind < ARRAY_SIZE(sum->segments); kind++)
		sum->segments[kind] += atomic_read(&process->segments[kind]);
}

static int put_charge(struct sk_buff *skb, struct task_struct *task)
{
	struct mm_struct *mm = get_task_mm(task);
	u64 charged;

	if (!mm)
		return 0;
	charged = (u64)atomic64_read(&mm->pinned_vm) << PAGE_SHIFT;
	/* mmput() of the last user would take down the address space here, in the reader. */
	mmput_async(mm);
	return nla_put_u64_64bit(skb, RSM_A_PROCESS_CHARGED_BYTES, charged, RSM_A_PROCESS_PAD);
}

/* Put the attributes that only a living process has. */
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

static int process_put_all(struct sk_buff *skb, const struct sum *sum)
{
	if (nla_put_u32(skb, RSM_A_PROCESS_PID, rsm_view_pid(sum->viewer, sum->pid)) ||
	    nla_put_u32(skb, RSM_A_PROCESS_UID, rsm_view_uid(sum->viewer, sum->uid)) ||
	    nla_put_u64_64bit(skb, RSM_A_PROCESS_PINNED_BYTES, sum->pinned,
			      RSM_A_PROCESS_PAD) ||
	    nla_put_u32(skb, RSM_A_PROCESS_SEGMENTS, sum->segments[RSM_EXPORT]) ||
	    nla_put_u32(skb, RSM_A_PROCESS_IMPORTS, sum->segments[RSM_IMPORT]) ||
	    put_task(skb, sum->pid))
		return -EMSGSIZE;
	return 0;
}

/*
 * The process id in the initial namespace for @nr in the viewer's namespace, or 0 if there is none.
 * A process that has ended has no id in any namespace, although its descriptors may live on.
 */
static pid_t global_pid(const struct rsm_viewer *viewer, pid_t nr)
{
	struct pid *pid;
	pid_t global = 0;

	if (viewer->pids == &init_pid_ns)
		return nr;
	rcu_read_lock();
	pid = find_pid_ns(nr, viewer->pids);
	if (pid)
		global = pid_nr(pid);
	rcu_read_unlock();
	return global;
}

static int process_answer(struct genl_info *info, const struct sum *sum)
{
	struct rsm_reply reply = { .viewer = sum->viewer };
	void *header;
	int err;

	err = rsm_answer_start(info, RSM_CMD_PROCESS_GET, &reply, &header);
	if (err)
		return err;
	return rsm_answer_end(info, &reply, header, process_put_all(reply.skb, sum));
}

int rsm_process_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rsm_viewer viewer = rsm_viewer_of(skb);
	struct sum sum = { .viewer = &viewer };
	pid_t pid;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, RSM_A_PROCESS_PID))
		return -EINVAL;
	pid = global_pid(&viewer, nla_get_u32(info->attrs[RSM_A_PROCESS_PID]));
	rsm_process_visit(pid, process_add, &sum);
	if (!sum.pid) {
		NL_SET_ERR_MSG(info->extack, "There is no such process with segments");
		return -ENOENT;
	}
	err = process_answer(info, &sum);
	put_pid(sum.pid);
	return err;
}

static int process_dump_one(struct sk_buff *skb, struct netlink_callback *cb, const struct sum *sum)
{
	void *header = rsm_dump_put(skb, cb, RSM_CMD_PROCESS_GET);

	return header ? rsm_dump_end(skb, header, process_put_all(skb, sum)) : -EMSGSIZE;
}

static int dump_process(struct sk_buff *skb, struct netlink_callback *cb,
			const struct rsm_viewer *viewer, struct rsm_process *process)
{
	struct sum sum = { .viewer = viewer };
	int err = 0;

	process_add(process, &sum);
	if (sum.pid)
		err = process_dump_one(skb, cb, &sum);
	put_pid(sum.pid);
	return err;
}

int rsm_process_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct rsm_viewer viewer = rsm_viewer_of(cb->skb);
	struct rsm_process *process;
	u32 next = cb->args[0];
	int err = 0;

	cb->seq = rsm_segment_changes();
	while (!err && (process = rsm_process_next(next))) {
		err = dump_process(skb, cb, &viewer, process);
		if (!err)
			next = process->number + 1;
		rsm_process_put(process);
		cond_resched();
	}
	cb->args[0] = next;
	return skb->len ?: err;
}
