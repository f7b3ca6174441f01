// SPDX-License-Identifier: GPL-2.0
/*
 * Coverage of modules that "tools/build-modules --coverage" has compiled: the compiler calls
 * __sanitizer_cov_trace_pc() from each basic block. KCOV counts for one thread; this counts for the
 * machine, with workers and interrupts. A read of rsm_cov in debugfs lists the places that were
 * reached since the read before, one address per line.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "rsm_cov.h"

#include <linux/bitops.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/moduleloader.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/vmalloc.h>

/* Addresses that are told apart: the first modules' worth of them. */
#define PLACES		(16UL << 20)
/* Room for the text of one read. */
#define TEXT_SIZE	(2UL << 20)

static unsigned long *reached;
static unsigned long *told;
/* Guards @told. */
static DEFINE_MUTEX(told_lock);
static struct dentry *file;

void notrace __sanitizer_cov_trace_pc(void)
{
	unsigned long place = _RET_IP_ - MODULES_VADDR;

	if (place < PLACES && !test_bit(place, reached))
		set_bit(place, reached);
}
EXPORT_SYMBOL(__sanitizer_cov_trace_pc);

static int rsm_cov_show(struct seq_file *out, void *unused)
{
	mutex_lock(&told_lock);
	for (unsigned long word = 0; word < PLACES / BITS_PER_LONG; word++) {
		unsigned long bits = READ_ONCE(reached[word]) & ~told[word];

		told[word] |= bits;
		for (; bits; bits &= bits - 1)
			seq_printf(out, "%lx\n",
				   MODULES_VADDR + word * BITS_PER_LONG + __ffs(bits));
	}
	mutex_unlock(&told_lock);
	return 0;
}

static int rsm_cov_open(struct inode *inode, struct file *opened)
{
	return single_open_size(opened, rsm_cov_show, NULL, TEXT_SIZE);
}

static const struct file_operations rsm_cov_fops = {
	.owner = THIS_MODULE,
	.open = rsm_cov_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

static int __init rsm_cov_init(void)
{
	reached = vzalloc(PLACES / BITS_PER_BYTE);
	told = vzalloc(PLACES / BITS_PER_BYTE);
	if (!reached || !told) {
		vfree(reached);
		vfree(told);
		return -ENOMEM;
	}
	file = debugfs_create_file("rsm_cov", 0400, NULL, NULL, &rsm_cov_fops);
	return 0;
}

static void __exit rsm_cov_exit(void)
{
	debugfs_remove(file);
	vfree(reached);
	vfree(told);
}

module_init(rsm_cov_init);
module_exit(rsm_cov_exit);

MODULE_DESCRIPTION("Coverage of RSM's modules by its tests");
MODULE_LICENSE("GPL");
