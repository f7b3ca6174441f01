// SPDX-License-Identifier: GPL-2.0
/*
 * "nomap0": a controller whose segments can't be mapped and that moves data
 * itself, a few bytes at a time, the way one with registered memory would.
 */

#include "testctl.h"

#include <linux/moduleparam.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#define CHUNK	48U

static rsm_status_t nomap_put(struct rsm_import *imp, struct rsm_local *local, u64 done, u64 offset,
			      char *buf, size_t n)
{
	rsm_status_t status = RSM_STS_SUCCESS;

	if (local->mem)
		rsm_mem_read(local->mem, local->offset + done, buf, n);
	else if (copy_from_user(buf, local->user + done, n))
		return RSM_STS_BAD_ADDR;
	down_read(&imp->map_lock);
	if (imp->mem)
		rsm_mem_write(imp->mem, offset, buf, n);
	else
		status = RSM_STS_CONN_ABORTED;
	up_read(&imp->map_lock);
	return status;
}

static rsm_status_t nomap_get(struct rsm_import *imp, struct rsm_local *local, u64 done, u64 offset,
			      char *buf, size_t n)
{
	rsm_status_t status = RSM_STS_SUCCESS;

	down_read(&imp->map_lock);
	if (imp->mem)
		rsm_mem_read(imp->mem, offset, buf, n);
	else
		status = RSM_STS_CONN_ABORTED;
	up_read(&imp->map_lock);
	if (status)
		return status;
	if (local->mem)
		rsm_mem_write(local->mem, local->offset + done, buf, n);
	else if (copy_to_user(local->user + done, buf, n))
		return RSM_STS_BAD_ADDR;
	return RSM_STS_SUCCESS;
}

static rsm_status_t nomap_transfer(struct rsm_import *imp, struct rsm_local *local, u64 offset,
				   u64 length, enum rsm_direction direction, u32 flags)
{
	rsm_status_t status = RSM_STS_SUCCESS;
	char buf[CHUNK];
	u64 n, done;

	while (local->done < length && !status) {
		done = local->done;
		n = min_t(u64, length - done, CHUNK);
		status = direction == RSM_PUT ? nomap_put(imp, local, done, offset + done, buf, n) :
					    nomap_get(imp, local, done, offset + done, buf, n);
		if (status)
			break;
		local->done += n;
		if (signal_pending(current) && local->done < length)
			status = RSM_STS_INTERRUPTED;
	}
	return status;
}

/*
 * "next": the import that is disconnected next is kept, as the removal of a controller
 * keeps those that it is about to abort. "abort": it is aborted and let go.
 */
static bool keep_next;
static struct rsm_import *kept;

static void nomap_disconnect(struct rsm_import *imp)
{
	if (xchg(&keep_next, false)) {
		rsm_import_get(imp);
		kept = imp;
	}
	rsm_local_disconnect(imp);
}

static int abort_kept(void)
{
	struct rsm_import *imp = xchg(&kept, NULL);

	if (!imp)
		return -ENOENT;
	rsm_import_abort(imp, RSM_REASON_CONTROLLER_GONE);
	rsm_import_put(imp);
	return 0;
}

static int set_keep(const char *val, const struct kernel_param *kp)
{
	if (sysfs_streq(val, "abort"))
		return abort_kept();
	if (!sysfs_streq(val, "next"))
		return -EINVAL;
	keep_next = true;
	return 0;
}

static const struct kernel_param_ops keep_ops = {
	.set = set_keep,
};
module_param_cb(keep, &keep_ops, NULL, 0200);
MODULE_PARM_DESC(keep, "next: keep the next import of nomap0 beyond its end; abort: abort that");

static const struct rsm_controller_ops nomap_ops = {
	.owner = THIS_MODULE,
	.prepare = rsm_pin_prepare,
	.bind = rsm_pin_bind,
	.rebind = rsm_pin_rebind,
	.unbind = rsm_pin_unbind,
	.check_acl = testctl_check_acl,
	.connect = testctl_connect,
	.disconnect = nomap_disconnect,
	.post = rsm_local_post,
	.transfer = nomap_transfer,
	.peers = testctl_peers,
};

struct rsm_controller testctl_nomap = {
	.name = "nomap0",
	.ops = &nomap_ops,
	.attr = {
		.page_size = PAGE_SIZE,
		.max_export_size = 16 << 20,
		.hwaddr = 0x10,
	},
};
