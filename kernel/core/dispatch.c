// SPDX-License-Identifier: GPL-2.0
/* ioctl: read the argument once, check its form, run the command, answer. */

#include "internal.h"
#include "compat.h"

#include <linux/fault-inject-usercopy.h>
#include <linux/indirect_call_wrapper.h>
#include <linux/nospec.h>
#include <linux/sched/signal.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/uaccess.h>

/* Every argument begins like this. */
struct rsm_arg_head {
	u32 size;
	u32 status;
};

union rsm_arg {
	/* The argument of any command, as read_words() reads it. */
	DECLARE_FLEX_ARRAY(u64, words);
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
	struct rsm_range range;
	struct rsm_grant grant;
	struct rsm_revoke revoke;
	struct rsm_redeem redeem;
	struct rsm_unmap unmap;
	struct rsm_message message;
};

/**
 * struct rsm_command - how to run an ioctl command
 * @cmd: its number
 * @size: size of its argument, in 64-bit words without a rest
 * @least: size of the first version of the argument, likewise
 * @has_results: it has results besides the status
 * @restarts: a signal that ends its sleep finds that it has changed nothing but
 *	its argument, with which it can be run again
 * @run: runs the command; returns what answer() makes of a status, or -errno for a malformed
 *	argument. The handle is NULL for a control handle.
 */
struct rsm_command {
	unsigned int cmd;
	unsigned int size;
	unsigned int least;
	bool has_results;
	bool restarts;
	int (*run)(struct rsm_handle *h, union rsm_arg *arg);
};

/* A status as a command returns it beside -errno, and as the caller reads it. */
static int answer(rsm_status_t status)
{
	return rsm_status_to_number(status);
}

static bool is_string(const char *s)
{
	return strnlen(s, RSM_NAME_SIZE) < RSM_NAME_SIZE;
}

static int run_info(struct rsm_handle *h, union rsm_arg *arg)
{
	arg->info.node_id = rsm_node_id();
	arg->info.max_segments = rsm_max_segments;
	return answer(RSM_STS_SUCCESS);
}

static int run_attr(struct rsm_handle *h, union rsm_arg *arg)
{
	if (!is_string(arg->attr.controller))
		return -EINVAL;
	if (arg->attr.reserved)
		return -EOPNOTSUPP;
	return answer(rsm_controller_attr(&arg->attr));
}

static int run_topology(struct rsm_handle *h, union rsm_arg *arg)
{
	if (arg->topology.reserved)
		return -EOPNOTSUPP;
	return answer(rsm_topology(&arg->topology));
}

#define BIND_FLAGS	(RSM_ALLOW_REBIND | RSM_CREATE_SEG_DONTWAIT | RSM_BIND_LOCAL | \
			 RSM_BIND_READ)

static bool are_bind_flags(u32 flags)
{
	return !(flags & ~BIND_FLAGS) && (!(flags & RSM_BIND_READ) || flags & RSM_BIND_LOCAL);
}

static int run_bind(struct rsm_handle *h, union rsm_arg *arg)
{
	struct rsm_table *table;
	rsm_status_t status;

	if (!is_string(arg->bind.controller))
		return -EINVAL;
	if (arg->bind.reserved || !are_bind_flags(arg->bind.flags))
		return -EOPNOTSUPP;
	table = rsm_table_get_fd(arg->bind.control_fd);
	if (IS_ERR(table))
		return PTR_ERR(table);
	status = h ? rsm_bind(h, &arg->bind, table) : RSM_STS_BAD_SEG_HNDL;
	rsm_table_put(table);
	return answer(status);
}

static int run_rebind(struct rsm_handle *h, union rsm_arg *arg)
{
	struct rsm_export *exp = rsm_handle_export(h);

	return answer(exp ? rsm_rebind(exp, &arg->rebind) : RSM_STS_BAD_SEG_HNDL);
}

static int run_publish(struct rsm_handle *h, union rsm_arg *arg)
{
	struct rsm_export *exp = rsm_handle_export(h);

	return answer(exp ? rsm_publish(exp, &arg->publish) : RSM_STS_BAD_SEG_HNDL);
}

static int run_republish(struct rsm_handle *h, union rsm_arg *arg)
{
	struct rsm_export *exp = rsm_handle_export(h);

	if (arg->publish.id)
		return -EOPNOTSUPP;
	return answer(exp ? rsm_republish(exp, &arg->publish) : RSM_STS_BAD_SEG_HNDL);
}

static int run_unpublish(struct rsm_handle *h, union rsm_arg *arg)
{
	struct rsm_export *exp = rsm_handle_export(h);

	return answer(exp ? rsm_unpublish(exp) : RSM_STS_BAD_SEG_HNDL);
}

static int run_destroy(struct rsm_handle *h, union rsm_arg *arg)
{
	struct rsm_export *exp = rsm_handle_export(h);

	return answer(exp ? rsm_destroy(exp) : RSM_STS_BAD_SEG_HNDL);
}

static int run_range(struct rsm_handle *h, union rsm_arg *arg)
{
	struct rsm_export *exp = rsm_handle_export(h);

	if (arg->range.reserved)
		return -EOPNOTSUPP;
	return answer(exp ? rsm_range(exp, &arg->range) : RSM_STS_BAD_SEG_HNDL);
}

#define GRANT_FLAGS	(RSM_GRANT_ONCE | RSM_GRANT_SEND)

static int run_grant(struct rsm_handle *h, union rsm_arg *arg)
{
	struct rsm_export *exp = rsm_handle_export(h);

	if (arg->grant.flags & ~GRANT_FLAGS)
		return -EOPNOTSUPP;
	return answer(exp ? rsm_grant(exp, &arg->grant) : RSM_STS_BAD_SEG_HNDL);
}

static int run_revoke(struct rsm_handle *h, union rsm_arg *arg)
{
	struct rsm_export *exp = rsm_handle_export(h);

	return answer(exp ? rsm_revoke(exp, &arg->revoke) : RSM_STS_BAD_SEG_HNDL);
}

static int run_connect(struct rsm_handle *h, union rsm_arg *arg)
{
	struct rsm_table *table;
	rsm_status_t status;

	if (!is_string(arg->connect.controller))
		return -EINVAL;
	table = rsm_table_get_fd(arg->connect.control_fd);
	if (IS_ERR(table))
		return PTR_ERR(table);
	status = h ? rsm_connect(h, &arg->connect, table) : RSM_STS_BAD_SEG_HNDL;
	rsm_table_put(table);
	return answer(status);
}

static int run_redeem(struct rsm_handle *h, union rsm_arg *arg)
{
	struct rsm_table *table;
	rsm_status_t status;

	if (arg->redeem.reserved)
		return -EOPNOTSUPP;
	table = rsm_table_get_fd(arg->redeem.control_fd);
	if (IS_ERR(table))
		return PTR_ERR(table);
	status = h ? rsm_redeem(h, &arg->redeem, table) : RSM_STS_BAD_SEG_HNDL;
	rsm_table_put(table);
	return answer(status);
}

static int run_send(struct rsm_handle *h, union rsm_arg *arg)
{
	struct rsm_import *imp = rsm_handle_import(h);

	return answer(imp ? rsm_letter_send(imp, &arg->message) : RSM_STS_BAD_SEG_HNDL);
}

static int run_receive(struct rsm_handle *h, union rsm_arg *arg)
{
	struct rsm_export *exp = rsm_handle_export(h);

	return answer(exp ? rsm_letter_receive(exp, &arg->message) : RSM_STS_BAD_SEG_HNDL);
}

static int run_post(struct rsm_handle *h, union rsm_arg *arg)
{
	struct rsm_segment *seg = h ? rsm_handle_segment(h) : NULL;

	if (arg->post.reserved || arg->post.flags & ~RSM_SIGPOST_NO_ACCUMULATE)
		return -EOPNOTSUPP;
	return answer(seg ? rsm_post(seg, arg->post.flags) : RSM_STS_BAD_SEG_HNDL);
}

static int run_wait(struct rsm_handle *h, union rsm_arg *arg)
{
	struct rsm_segment *seg = h ? rsm_handle_segment(h) : NULL;

	return answer(seg ? rsm_event_wait(seg, &arg->wait.timeout_ns) : RSM_STS_BAD_SEG_HNDL);
}

#define TRANSFER_FLAGS	(RSM_IMPLICIT_SIGPOST | RSM_SIGPOST_NO_ACCUMULATE | RSM_TRANSFER_ASYNC)

static int transfer(struct rsm_handle *h, struct rsm_transfer *arg, enum rsm_direction direction)
{
	struct rsm_import *imp = rsm_handle_import(h);

	if (arg->reserved || arg->flags & ~TRANSFER_FLAGS)
		return -EOPNOTSUPP;
	return answer(imp ? rsm_transfer(imp, arg, direction) : RSM_STS_BAD_SEG_HNDL);
}

static int run_putv(struct rsm_handle *h, union rsm_arg *arg)
{
	return transfer(h, &arg->transfer, RSM_PUT);
}

static int run_getv(struct rsm_handle *h, union rsm_arg *arg)
{
	return transfer(h, &arg->transfer, RSM_GET);
}

static int run_barrier(struct rsm_handle *h, union rsm_arg *arg)
{
	struct rsm_import *imp = rsm_handle_import(h);

	if (arg->barrier.reserved || arg->barrier.op > RSM_BARRIER_CLOSE)
		return -EOPNOTSUPP;
	return answer(imp ? rsm_barrier(imp, &arg->barrier) : RSM_STS_BAD_SEG_HNDL);
}

static int run_unmap(struct rsm_handle *h, union rsm_arg *arg)
{
	struct rsm_import *imp = rsm_handle_import(h);

	return answer(imp ? rsm_import_unmap(imp, &arg->unmap) : RSM_STS_BAD_SEG_HNDL);
}

/*
 * @_last is the last member of the argument's first version. Later versions append members;
 * callers that were built for the first version do not pass those.
 */
#define ENTRY(_cmd, _struct, _last, _run, _results, _restarts)			\
	[_IOC_NR(_cmd)] = {							\
		.cmd = _cmd,							\
		.size = sizeof(struct _struct) +				\
			BUILD_BUG_ON_ZERO(sizeof(struct _struct) % sizeof(u64)),	\
		.least = offsetofend(struct _struct, _last) +			\
			 BUILD_BUG_ON_ZERO(offsetofend(struct _struct, _last) % sizeof(u64)), \
		.run = _run,							\
		.has_results = _results,					\
		.restarts = _restarts,						\
	}

#define COMMAND(_cmd, _struct, _last, _run, _results)				\
	ENTRY(_cmd, _struct, _last, _run, _results, true)

/* A command that may have done a part of its work when a signal ends it. */
#define PARTIAL_COMMAND(_cmd, _struct, _last, _run, _results)			\
	ENTRY(_cmd, _struct, _last, _run, _results, false)

static const struct rsm_command commands[] = {
	COMMAND(RSM_IOC_INFO, rsm_info, max_segments, run_info, true),
	COMMAND(RSM_IOC_ATTR, rsm_attr, reserved, run_attr, true),
	COMMAND(RSM_IOC_TOPOLOGY, rsm_topology_query, peer_count, run_topology, true),
	COMMAND(RSM_IOC_BIND, rsm_bind, reserved, run_bind, true),
	COMMAND(RSM_IOC_REBIND, rsm_rebind, length, run_rebind, false),
	COMMAND(RSM_IOC_PUBLISH, rsm_publish, acl, run_publish, true),
	COMMAND(RSM_IOC_REPUBLISH, rsm_publish, acl, run_republish, false),
	COMMAND(RSM_IOC_UNPUBLISH, rsm_unpublish, status, run_unpublish, false),
	COMMAND(RSM_IOC_CONNECT, rsm_connect, mappable, run_connect, true),
	PARTIAL_COMMAND(RSM_IOC_POST, rsm_post, reserved, run_post, false),
	COMMAND(RSM_IOC_WAIT, rsm_wait, timeout_ns, run_wait, false),
	PARTIAL_COMMAND(RSM_IOC_PUTV, rsm_transfer, entries, run_putv, true),
	PARTIAL_COMMAND(RSM_IOC_GETV, rsm_transfer, entries, run_getv, true),
	PARTIAL_COMMAND(RSM_IOC_BARRIER, rsm_barrier_request, reserved, run_barrier, false),
	COMMAND(RSM_IOC_DESTROY, rsm_destroy, status, run_destroy, false),
	COMMAND(RSM_IOC_RANGE, rsm_range, reserved, run_range, true),
	COMMAND(RSM_IOC_GRANT, rsm_grant, ticket, run_grant, true),
	COMMAND(RSM_IOC_REVOKE, rsm_revoke, ticket, run_revoke, false),
	COMMAND(RSM_IOC_REDEEM, rsm_redeem, generation, run_redeem, true),
	COMMAND(RSM_IOC_UNMAP, rsm_unmap, length, run_unmap, false),
	COMMAND(RSM_IOC_SEND, rsm_message, word, run_send, false),
	COMMAND(RSM_IOC_RECEIVE, rsm_message, word, run_receive, true),
};

/*
 * Arguments are small and consist of whole 64-bit words. Reading them word by word, with user
 * space opened once, costs less than copy_from_user(): a post takes hardly longer than that.
 */
static int read_words(u64 *to, const u64 __user *from, unsigned int size)
{
	unsigned int i;

	if (should_fail_usercopy() || !user_read_access_begin(from, size))
		return -EFAULT;
	for (i = 0; i < size / sizeof(u64); i++)
		unsafe_get_user(to[i], from + i, fault);
	user_read_access_end();
	return 0;

fault:
	user_read_access_end();
	return -EFAULT;
}

/* A member that a newer caller knows and this kernel does not must be zero. */
static int check_tail(const void __user *tail, size_t size)
{
	int zero = check_zeroed_user(tail, size);

	return zero < 0 ? zero : zero ? 0 : -E2BIG;
}

/* EINVAL goes before EFAULT: a structure that is too short may end at an unmapped page. */
static int read_failed(const struct rsm_command *c, const u32 __user *usize)
{
	u32 size;

	return !get_user(size, usize) && size < c->least ? -EINVAL : -EFAULT;
}

/* Read what a later version of the argument has added; zeroes where the caller's ends before. */
static int read_growth(const struct rsm_command *c, union rsm_arg *arg, void __user *uarg)
{
	unsigned int known = min(arg->head.size, c->size) & ~(sizeof(u64) - 1);

	memset((void *)arg + known, 0, c->size - known);
	return known > c->least ? read_words(&arg->words[c->least / sizeof(u64)],
					     uarg + c->least, known - c->least) : 0;
}

/* Read the argument, each byte once. */
static int read_argument(const struct rsm_command *c, union rsm_arg *arg,
			 void __user *uarg)
{
	u32 size;

	if (read_words(arg->words, uarg, c->least))
		return read_failed(c, uarg);
	size = arg->head.size;
	if (size < c->least)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	if (c->least < c->size && read_growth(c, arg, uarg))
		return -EFAULT;
	return size > c->size ? check_tail(uarg + c->size, size - c->size) : 0;
}

/* Store no more than the size that the caller passed. */
static int store_argument(const struct rsm_command *c, union rsm_arg *arg,
			  void __user *uarg)
{
	const size_t start = sizeof(arg->head.size);
	size_t end = c->size;

	if (c->least < c->size)
		end = min_t(size_t, arg->head.size, end);
	return copy_to_user(uarg + start, (void *)arg + start, end - start) ? -EFAULT : 0;
}

/*
 * Store the results, which begin with the status. A command without results has a status only,
 * and that is stored only if it differs from what the caller passed.
 */
static int write_results(const struct rsm_command *c, union rsm_arg *arg,
			 void __user *uarg, u32 status)
{
	struct rsm_arg_head __user *uhead = uarg;

	if (!c->has_results) {
		if (arg->head.status == status)
			return 0;
		return should_fail_usercopy() ? -EFAULT :
						put_user(status, &uhead->status);
	}
	arg->head.status = status;
	return store_argument(c, arg, uarg);
}

/*
 * A signal has ended the command's sleep. If the signal has no handler (a stop, a debugger, the
 * freezer), the kernel runs the command again with the argument that is stored here, so that a
 * time-out continues with the time that is left. With a handler ioctl() fails with EINTR.
 */
static long restart(const struct rsm_command *c, union rsm_arg *arg, void __user *uarg)
{
	arg->head.status = RSMERR_INTERRUPTED;
	return store_argument(c, arg, uarg) ?: -ERESTARTNOHAND;
}

long rsm_dispatch(struct rsm_handle *h, unsigned int cmd, void __user *uarg)
{
	const struct rsm_command *c;
	unsigned int nr = _IOC_NR(cmd);
	/*
	 * Not zeroed: that would cost more than a whole post. A command reads and
	 * writes only the bytes of its own argument, which the caller has passed.
	 */
	union rsm_arg arg __uninitialized;
	int ret;

	if (nr >= ARRAY_SIZE(commands))
		return -ENOTTY;
	c = &commands[array_index_nospec(nr, ARRAY_SIZE(commands))];
	if (c->cmd != cmd)
		return -ENOTTY;
	ret = read_argument(c, &arg, uarg);
	if (ret)
		return ret;
	ret = INDIRECT_CALL_1(c->run, run_post, h, &arg);
	if (ret < 0)
		return ret;
	if (ret == RSMERR_INTERRUPTED && c->restarts && signal_pending(current))
		return restart(c, &arg, uarg);
	return write_results(c, &arg, uarg, ret);
}
