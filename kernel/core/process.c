// SPDX-License-Identifier: GPL-2.0
/*
 * Segments added up by process. Each segment is counted in its process's entry from its start
 * to its end, so a request for one process reads the entries of that process only. A process
 * that makes segments under several user ids has one entry for each.
 */

#include "internal.h"

#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/pid.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/xarray.h>

/* Guards the two tables; no allocation is made under this lock. */
static DEFINE_MUTEX(processes_lock);
static DEFINE_HASHTABLE(by_pid, 8);
/* The entries by number, which is the order of a dump. */
static DEFINE_XARRAY_FLAGS(processes, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
static atomic64_t looked_at = ATOMIC64_INIT(0);

/* Entries that readers have looked at since the module was loaded. */
u64 rsm_processes_looked_at(void)
{
	return atomic64_read(&looked_at);
}

/* The entry, referenced, or NULL. */
static struct rsm_process *process_find(struct pid *tgid, kuid_t uid)
{
	struct rsm_process *process;

	lockdep_assert_held(&processes_lock);
	hash_for_each_possible(by_pid, process, node, pid_nr(tgid))
		if (process->tgid == tgid && uid_eq(process->uid, uid)) {
			refcount_inc(&process->ref);
			return process;
		}
	return NULL;
}

/* A new entry, not in the table by process id yet. It has a number, and an index for that. */
static struct rsm_process *process_alloc(struct pid *tgid, kuid_t uid)
{
	struct rsm_process *process = kzalloc(sizeof(*process), GFP_KERNEL_ACCOUNT);

	if (!process)
		return NULL;
	if (xa_alloc(&processes, &process->number, NULL, xa_limit_31b, GFP_KERNEL_ACCOUNT)) {
		kfree(process);
		return NULL;
	}
	refcount_set(&process->ref, 1);
	process->tgid = get_pid(tgid);
	process->uid = uid;
	return process;
}

static void free_process(struct rcu_head *rcu)
{
	struct rsm_process *process = container_of(rcu, struct rsm_process, rcu);

	put_pid(process->tgid);
	kfree(process);
}

/* Frees the entry after a grace period: readers may still look at it and at its process id. */
static void process_free(struct rsm_process *process)
{
	xa_erase(&processes, process->number);
	call_rcu(&process->rcu, free_process);
}

/**
 * rsm_process_get() - the caller's process, as the maker of a segment
 *
 * Return: its entry, referenced, or NULL without memory.
 */
struct rsm_process *rsm_process_get(void)
{
	struct pid *tgid = task_tgid(current);
	struct rsm_process *process, *fresh;

	mutex_lock(&processes_lock);
	process = process_find(tgid, current_euid());
	mutex_unlock(&processes_lock);
	if (process)
		return process;
	fresh = process_alloc(tgid, current_euid());
	if (!fresh)
		return NULL;
	mutex_lock(&processes_lock);
	process = process_find(tgid, current_euid());
	if (!process) {
		hash_add_rcu(by_pid, &fresh->node, pid_nr(tgid));
		/* process_alloc() has reserved the number, so this store allocates nothing. */
		xa_store(&processes, fresh->number, fresh, 0);
	}
	mutex_unlock(&processes_lock);
	if (!process)
		return fresh;
	process_free(fresh);
	return process;
}

void rsm_process_put(struct rsm_process *process)
{
	if (!refcount_dec_and_mutex_lock(&process->ref, &processes_lock))
		return;
	hash_del_rcu(&process->node);
	mutex_unlock(&processes_lock);
	process_free(process);
}

/**
 * rsm_process_next() - go through all processes
 * @number: the least number to look at
 *
 * Return: the entry with that number or the next higher one, referenced, or NULL behind
 * the last one.
 */
struct rsm_process *rsm_process_next(u32 number)
{
	struct rsm_process *process;
	unsigned long index = number;

	rcu_read_lock();
	do {
		process = xa_find(&processes, &index, U32_MAX, XA_PRESENT);
		atomic64_inc(&looked_at);
		index++;
	} while (process && !refcount_inc_not_zero(&process->ref));
	rcu_read_unlock();
	return process;
}

/**
 * rsm_process_visit() - look at the entries of a process
 * @nr: process id in the initial namespace
 * @visit: called for each, must not sleep
 * @data: for @visit
 */
void rsm_process_visit(pid_t nr, void (*visit)(struct rsm_process *process, void *data),
		       void *data)
{
	struct rsm_process *process;

	rcu_read_lock();
	hash_for_each_possible_rcu(by_pid, process, node, nr) {
		atomic64_inc(&looked_at);
		if (pid_nr(process->tgid) == nr)
			visit(process, data);
	}
	rcu_read_unlock();
}
