// SPDX-License-Identifier: GPL-2.0
/* ioctl: read the argument once, check its form, run the command, answer. */

#include "internal.h"

#include <linux/string.h>
#include <linux/uaccess.h>

/* Every argument begins like this. */
struct rsm_arg_head {
	u32 size;
	u32 status;
};

union rsm_arg {
	struct rsm_arg_head head;
	struct rsm_info info;
	struct rsm_attr attr;
	struct rsm_topology_query topology;
	struct rsm_bind bind;
	struct rsm_rebind rebind;
	struct rsm_publish publish;
	struct rsm_unpublish unpublish;
	struct rsm_connect connect;
	struct rsm_post post;
	struct rsm_wait wait;
	struct rsm_transfer transfer;
	struct rsm_barrier_request barrier;
	struct rsm_destroy destroy;
};

/**
 * struct rsm_command - how to run an ioctl command
 * @cmd: its number
 * @size: size of its argument now
 * @min_size: size of its argument in the first version
 * @run: does it; returns a status, or -errno for a malformed argument.
 *	The handle is NULL for a control handle.
 */
struct rsm_command {
	unsigned int cmd;
	unsigned int size;
	unsigned int min_size;
	int (*run)(struct rsm_handle *h, union rsm_arg *arg);
};

static bool is_string(const char *s)
{
	return strnlen(s, RSM_NAME_SIZE) < RSM_NAME_SIZE;
}

static int run_info(struct rsm_handle *h, union rsm_arg *arg)
{
	arg->info.node_id = rsm_node_id();
	arg->info.max_segments = rsm_max_segments;
	return RSM_SUCCESS;
}

static int run_attr(struct rsm_handle *h, union rsm_arg *arg)
{
	if (!is_string(arg->attr.controller))
		return -EINVAL;
	if (arg->attr.reserved)
		return -EOPNOTSUPP;
	return rsm_controller_attr(&arg->attr);
}

static int run_topology(struct rsm_handle *h, union rsm_arg *arg)
{
	if (arg->topology.reserved)
		return -EOPNOTSUPP;
	return rsm_topology(&arg->topology);
}

static int run_bind(struct rsm_handle *h, union rsm_arg *arg)
{
	struct rsm_table *table;
	int status;

	if (!is_string(arg->bind.controller))
		return -EINVAL;
	if (arg->bind.flags & ~(RSM_ALLOW_REBIND | RSM_CREATE_SEG_DONTWAIT))
		return -EOPNOTSUPP;
	table = rsm_table_get_fd(arg->bind.control_fd);
	if (IS_ERR(table))
		return PTR_ERR(table);
	status = h ? rsm_bind(h, &arg->bind, table) : RSMERR_BAD_SEG_HNDL;
	rsm_table_put(table);
	return status;
}

static int run_rebind(struct rsm_handle *h, union rsm_arg *arg)
{
	struct rsm_export *exp = rsm_handle_export(h);

	return exp ? rsm_rebind(exp, &arg->rebind) : RSMERR_BAD_SEG_HNDL;
}

static int run_publish(struct rsm_handle *h, union rsm_arg *arg)
{
	struct rsm_export *exp = rsm_handle_export(h);

	return exp ? rsm_publish(exp, &arg->publish) : RSMERR_BAD_SEG_HNDL;
}

static int run_republish(struct rsm_handle *h, union rsm_arg *arg)
{
	struct rsm_export *exp = rsm_handle_export(h);

	if (arg->publish.id)
		return -EOPNOTSUPP;
	return exp ? rsm_republish(exp, &arg->publish) : RSMERR_BAD_SEG_HNDL;
}

static int run_unpublish(struct rsm_handle *h, union rsm_arg *arg)
{
	struct rsm_export *exp = rsm_handle_export(h);

	return exp ? rsm_unpublish(exp) : RSMERR_BAD_SEG_HNDL;
}

static int run_destroy(struct rsm_handle *h, union rsm_arg *arg)
{
	struct rsm_export *exp = rsm_handle_export(h);

	return exp ? rsm_destroy(exp) : RSMERR_BAD_SEG_HNDL;
}

static int run_connect(struct rsm_handle *h, union rsm_arg *arg)
{
	struct rsm_table *table;
	int status;

	if (!is_string(arg->connect.controller))
		return -EINVAL;
	table = rsm_table_get_fd(arg->connect.control_fd);
	if (IS_ERR(table))
		return PTR_ERR(table);
	status = h ? rsm_connect(h, &arg->connect, table) : RSMERR_BAD_SEG_HNDL;
	rsm_table_put(table);
	return status;
}

static int run_post(struct rsm_handle *h, union rsm_arg *arg)
{
	struct rsm_segment *seg = h ? rsm_handle_segment(h) : NULL;

	if (arg->post.reserved || arg->post.flags & ~RSM_SIGPOST_NO_ACCUMULATE)
		return -EOPNOTSUPP;
	return seg ? rsm_post(seg, arg->post.flags) : RSMERR_BAD_SEG_HNDL;
}

static int run_wait(struct rsm_handle *h, union rsm_arg *arg)
{
	struct rsm_segment *seg = h ? rsm_handle_segment(h) : NULL;

	return seg ? rsm_event_wait(seg, arg->wait.timeout_ns) : RSMERR_BAD_SEG_HNDL;
}

static int transfer(struct rsm_handle *h, struct rsm_transfer *arg, bool put)
{
	struct rsm_import *imp = rsm_handle_import(h);

	if (arg->reserved ||
	    arg->flags & ~(RSM_IMPLICIT_SIGPOST | RSM_SIGPOST_NO_ACCUMULATE))
		return -EOPNOTSUPP;
	return imp ? rsm_transfer(imp, arg, put) : RSMERR_BAD_SEG_HNDL;
}

static int run_putv(struct rsm_handle *h, union rsm_arg *arg)
{
	return transfer(h, &arg->transfer, true);
}

static int run_getv(struct rsm_handle *h, union rsm_arg *arg)
{
	return transfer(h, &arg->transfer, false);
}

static int run_barrier(struct rsm_handle *h, union rsm_arg *arg)
{
	struct rsm_import *imp = rsm_handle_import(h);

	if (arg->barrier.reserved || arg->barrier.op > RSM_BARRIER_CLOSE)
		return -EOPNOTSUPP;
	return imp ? rsm_barrier(imp, &arg->barrier) : RSMERR_BAD_SEG_HNDL;
}

#define COMMAND(_cmd, _struct, _last, _run)				\
	[_IOC_NR(_cmd)] = {						\
		.cmd = _cmd,						\
		.size = sizeof(struct _struct),				\
		.min_size = offsetofend(struct _struct, _last),		\
		.run = _run,						\
	}

static const struct rsm_command commands[] = {
	COMMAND(RSM_IOC_INFO, rsm_info, max_segments, run_info),
	COMMAND(RSM_IOC_ATTR, rsm_attr, reserved, run_attr),
	COMMAND(RSM_IOC_TOPOLOGY, rsm_topology_query, peer_count, run_topology),
	COMMAND(RSM_IOC_BIND, rsm_bind, number, run_bind),
	COMMAND(RSM_IOC_REBIND, rsm_rebind, length, run_rebind),
	COMMAND(RSM_IOC_PUBLISH, rsm_publish, acl, run_publish),
	COMMAND(RSM_IOC_REPUBLISH, rsm_publish, acl, run_republish),
	COMMAND(RSM_IOC_UNPUBLISH, rsm_unpublish, status, run_unpublish),
	COMMAND(RSM_IOC_CONNECT, rsm_connect, mappable, run_connect),
	COMMAND(RSM_IOC_POST, rsm_post, reserved, run_post),
	COMMAND(RSM_IOC_WAIT, rsm_wait, timeout_ns, run_wait),
	COMMAND(RSM_IOC_PUTV, rsm_transfer, entries, run_putv),
	COMMAND(RSM_IOC_GETV, rsm_transfer, entries, run_getv),
	COMMAND(RSM_IOC_BARRIER, rsm_barrier_request, reserved, run_barrier),
	COMMAND(RSM_IOC_DESTROY, rsm_destroy, status, run_destroy),
};

long rsm_dispatch(struct rsm_handle *h, unsigned int cmd, void __user *uarg)
{
	const struct rsm_command *c;
	unsigned int nr = _IOC_NR(cmd);
	union rsm_arg arg;
	u32 size;
	int ret;

	if (nr >= ARRAY_SIZE(commands) || commands[nr].cmd != cmd)
		return -ENOTTY;
	c = &commands[nr];
	if (get_user(size, (u32 __user *)uarg))
		return -EFAULT;
	if (size < c->min_size)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(&arg, c->size, uarg, size);
	if (ret)
		return ret;

	ret = c->run(h, &arg);
	if (ret < 0)
		return ret;
	arg.head.size = size;
	arg.head.status = ret;
	if (copy_to_user(uarg, &arg, min(size, c->size)))
		return -EFAULT;
	return 0;
}
