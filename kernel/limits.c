// SPDX-License-Identifier: GPL-2.0
/* What users may take: handle numbers and pinned memory. */

#include "internal.h"

#include <linux/capability.h>
#include <linux/idr.h>
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

static DEFINE_IDA(numbers);
static atomic_t number_count = ATOMIC_INIT(0);
static atomic_long_t pinned_pages = ATOMIC_LONG_INIT(0);

/* Take a handle number; -EAGAIN when all are in use. */
int rsm_number_get(void)
{
	int number = ida_alloc_range(&numbers, 1, READ_ONCE(rsm_max_segments),
				     GFP_KERNEL);

	if (number == -ENOSPC)
		return -EAGAIN;
	if (number > 0)
		atomic_inc(&number_count);
	return number;
}

void rsm_number_put(u32 number)
{
	ida_free(&numbers, number);
	atomic_dec(&number_count);
}

unsigned int rsm_number_count(void)
{
	return atomic_read(&number_count);
}

unsigned long rsm_pinned_pages(void)
{
	return atomic_long_read(&pinned_pages);
}

/* Even without a limit nobody can pin more than there is. */
static bool above_node_limit(unsigned long npages)
{
	unsigned int percent = READ_ONCE(max_exported_memory) ?: 100;

	return npages > mult_frac(totalram_pages(), percent, 100);
}

static bool above_process_limit(unsigned long npages)
{
	return npages > rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT &&
	       !capable(CAP_IPC_LOCK);
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
