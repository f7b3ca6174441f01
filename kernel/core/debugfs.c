// SPDX-License-Identifier: GPL-2.0
/* Counters for tests and for the curious: debugfs/rsm/stats, one name and one value in a line. */

#include "internal.h"

#include <linux/debugfs.h>
#include <linux/seq_file.h>

static struct dentry *dir;

static int stats_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "handles %u\n", rsm_handle_count());
	seq_printf(m, "published %u\n", rsm_published_count());
	seq_printf(m, "grants %u\n", rsm_grant_count());
	seq_printf(m, "pinned_pages %lu\n", rsm_pinned_pages());
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

/* Work that has been done: these numbers only grow. */
static int work_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "pages_looked_at %llu\n", rsm_watch_pages_looked_at());
	seq_printf(m, "processes_looked_at %llu\n", rsm_processes_looked_at());
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(work);

void rsm_debugfs_create(void)
{
	dir = debugfs_create_dir("rsm", NULL);
	debugfs_create_file("stats", 0444, dir, NULL, &stats_fops);
	debugfs_create_file("work", 0444, dir, NULL, &work_fops);
}

void rsm_debugfs_remove(void)
{
	debugfs_remove_recursive(dir);
}
