// SPDX-License-Identifier: GPL-2.0
/* What users may take, and what is said to those who may not. */

#include "internal.h"
#include "netlink/netlink.h"
#include "trace.h"

#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/sched/signal.h>

unsigned int rsm_max_segments = 65535;

static int set_max_segments(const char *val, const struct kernel_param *kp)
{
	return param_set_uint_minmax(val, kp, 1, RSM_MAX_HANDLES - 1);
}

static const struct kernel_param_ops max_segments_ops = {
	.set = set_max_segments,
	.get = param_get_uint,
};
module_param_cb(max_segments, &max_segments_ops, &rsm_max_segments, 0644);
MODULE_PARM_DESC(max_segments, "Most export and import segments on this node (default 65535)");

static unsigned int max_exported_memory;

static int set_max_exported_memory(const char *val, const struct kernel_param *kp)
{
	return param_set_uint_minmax(val, kp, 0, 100);
}

static const struct kernel_param_ops max_exported_memory_ops = {
	.set = set_max_exported_memory,
	.get = param_get_uint,
};
module_param_cb(max_exported_memory, &max_exported_memory_ops,
		&max_exported_memory, 0644);
MODULE_PARM_DESC(max_exported_memory,
		 "Most memory that exports may pin, in percent of all memory, 0 to 100 (default 0: no limit)");

static atomic_long_t pinned_pages = ATOMIC_LONG_INIT(0);
static atomic64_t hits[RSM_LIMIT_MEMORY + 1];

/* As the log has them, and the administrator who can change them. */
static const char *const limit_name[] = {
	[RSM_LIMIT_MEMLOCK] = "RLIMIT_MEMLOCK of the process",
	[RSM_LIMIT_EXPORTED_MEMORY] = "parameter max_exported_memory of module rsm",
	[RSM_LIMIT_SEGMENTS] = "parameter max_segments of module rsm",
	[RSM_LIMIT_SLOTS] = "the slots of a control handle",
	[RSM_LIMIT_GRANTS] = "the tickets of an export",
	[RSM_LIMIT_CONTROLLER_MEMORY] = "the memory of a controller",
	[RSM_LIMIT_MEMORY] = "the memory cgroup or the memory of the node",
};

/**
 * rsm_limit_hit() - a limit has refused something to the caller's process
 * @kind: which one
 * @wanted: how much there would have been, in the unit of the limit
 * @value: how much there may be, 0 if nobody says
 * @ctl: the controller if it is one of its own, or NULL
 *
 * May sleep.
 */
void rsm_limit_hit(enum rsm_limit kind, u64 wanted, u64 value, const struct rsm_controller *ctl)
{
	atomic64_inc(&hits[kind]);
	pr_debug("rsm: pid %d: %s is in the way: %llu, and %llu at most\n",
		 task_tgid_nr(current), limit_name[kind], wanted, value);
	trace_limit_hit(kind, wanted, value);
	rsm_tell_limit(kind, wanted, value, ctl);
}
EXPORT_SYMBOL_GPL(rsm_limit_hit);

/* How often a limit has refused something. */
u64 rsm_limit_hits(enum rsm_limit kind)
{
	return atomic64_read(&hits[kind]);
}

unsigned long rsm_pinned_pages(void)
{
	return atomic_long_read(&pinned_pages);
}

/* Even without a limit nobody can pin more than there is. */
unsigned long rsm_pinned_most(void)
{
	unsigned int percent = READ_ONCE(max_exported_memory) ?: 100;

	return mult_frac(totalram_pages(), percent, 100);
}

static u64 bytes(unsigned long npages)
{
	return (u64)npages << PAGE_SHIFT;
}

static bool above_node_limit(unsigned long npages)
{
	unsigned long most = rsm_pinned_most();

	if (npages <= most)
		return false;
	rsm_limit_hit(RSM_LIMIT_EXPORTED_MEMORY, bytes(npages), bytes(most), NULL);
	return true;
}

static bool above_process_limit(unsigned long npages)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK);

	if (npages <= limit >> PAGE_SHIFT || capable(CAP_IPC_LOCK))
		return false;
	rsm_limit_hit(RSM_LIMIT_MEMLOCK, bytes(npages), limit, NULL);
	return true;
}

/**
 * rsm_charge() - charge pages to the node and to a process, or refuse
 * @mm: address space of the process, the caller's own
 * @npages: pages about to be pinned
 *
 * Return: 0, or -ENOMEM when max_exported_memory or RLIMIT_MEMLOCK is in the
 * way.
 */
int rsm_charge(struct mm_struct *mm, unsigned long npages)
{
	unsigned long node = atomic_long_add_return(npages, &pinned_pages);
	unsigned long process = atomic64_add_return(npages, &mm->pinned_vm);

	if (!above_node_limit(node) && !above_process_limit(process))
		return 0;
	rsm_uncharge(mm, npages);
	return -ENOMEM;
}

void rsm_uncharge(struct mm_struct *mm, unsigned long npages)
{
	atomic64_sub(npages, &mm->pinned_vm);
	atomic_long_sub(npages, &pinned_pages);
}
