// SPDX-License-Identifier: GPL-2.0
/* The limits of users, and the messages to users who have reached one. */

#include "internal.h"

#include <linux/capability.h>
#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

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

/*
 * Processes without CAP_SYS_ADMIN get all but this part of a limit, so an administrator can
 * still look around and export a little when they have used up theirs.
 */
#define RESERVE_PART	16

static int limits_set_share(const char *val, const struct kernel_param *kp)
{
	return param_set_uint_minmax(val, kp, 1, 100);
}

static const struct kernel_param_ops share_ops = {
	.set = limits_set_share,
	.get = param_get_uint,
};

static unsigned int max_segments_per_user = 50;
module_param_cb(max_segments_per_user, &share_ops, &max_segments_per_user, 0644);
MODULE_PARM_DESC(max_segments_per_user,
		 "Most of max_segments that one user without CAP_SYS_ADMIN has, in percent, 1 to 100 (default 50)");

static unsigned int max_exported_memory_per_user = 50;
module_param_cb(max_exported_memory_per_user, &share_ops, &max_exported_memory_per_user, 0644);
MODULE_PARM_DESC(max_exported_memory_per_user,
		 "Most of what all exports may pin that one user without CAP_SYS_ADMIN pins, in percent, 1 to 100 (default 50)");

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
/* Pages of @pinned_pages that were charged to loans. */
static atomic_long_t lent_pages = ATOMIC_LONG_INIT(0);
/*
 * Held while a charge compares the counters of pages, loans and handles with the limits and adds
 * to the counters: a refused charge adds nothing, so it takes nothing from others. Code that
 * subtracts pages or loans holds it, too: no charge sees a loan without the pages. A loan ends
 * before its pages are uncharged.
 */
static DEFINE_SPINLOCK(charge_lock);
static atomic64_t hits[RSM_LIMIT_COUNT];

/* Names for the log, by which an administrator finds the setting. */
static const char *const limit_name[] = {
	[RSM_LIMIT_MEMLOCK] = "RLIMIT_MEMLOCK of the process",
	[RSM_LIMIT_EXPORTED_MEMORY] = "parameter max_exported_memory of module rsm",
	[RSM_LIMIT_SEGMENTS] = "parameter max_segments of module rsm",
	[RSM_LIMIT_SLOTS] = "the slots of a control handle",
	[RSM_LIMIT_GRANTS] = "the tickets of an export",
	[RSM_LIMIT_CONTROLLER_MEMORY] = "the memory of a controller",
	[RSM_LIMIT_MEMORY] = "the memory cgroup or the memory of the node",
	[RSM_LIMIT_USER_SEGMENTS] = "parameter max_segments_per_user of module rsm",
	[RSM_LIMIT_USER_MEMORY] = "parameter max_exported_memory_per_user of module rsm",
};

/**
 * rsm_limit_hit() - a limit has refused something to the caller's process
 * @kind: which one
 * @wanted: how much there would have been, in the unit of the limit
 * @value: how much there may be, in the same unit; 0 if that is unknown
 * @ctl: the controller if the limit is that of a controller, or NULL
 *
 * May sleep.
 */
void rsm_limit_hit(enum rsm_limit kind, u64 wanted, u64 value, const struct rsm_controller *ctl)
{
	atomic64_inc(&hits[kind]);
	pr_debug("rsm: pid %d: %s is in the way: %llu, and %llu at most\n",
		 task_tgid_nr(current), limit_name[kind], wanted, value);
	rsm_notify_limit_hit(kind, wanted, value, ctl);
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

/* Pages that all exports may pin; without max_exported_memory, all pages of the node. */
unsigned long rsm_pinned_most(void)
{
	unsigned int percent = READ_ONCE(max_exported_memory) ?: 100;

	return mult_frac(totalram_pages(), percent, 100);
}

static u64 bytes(unsigned long npages)
{
	return (u64)npages << PAGE_SHIFT;
}

static unsigned long limits_percent_of(unsigned long whole, unsigned int percent)
{
	return max(mult_frac(whole, percent, 100), 1UL);
}

/*
 * An address space to which pages are charged, and the user who is charged for them: the one
 * that the process had when the first of the pages was charged.
 */
struct rsm_account {
	struct hlist_node node;
	struct mm_struct *mm;
	struct rsm_user *user;
	unsigned int refs;
	atomic_long_t lent;
};

static DEFINE_MUTEX(accounts_lock); /* guards the table and each account's refs */
static DEFINE_HASHTABLE(accounts, 8);

static struct rsm_account *account_find(const struct mm_struct *mm)
{
	struct rsm_account *account;

	lockdep_assert_held(&accounts_lock);
	hash_for_each_possible(accounts, account, node, (unsigned long)mm)
		if (account->mm == mm)
			return account;
	return NULL;
}

/* A new account, not in the table yet. */
static struct rsm_account *account_alloc(struct mm_struct *mm)
{
	struct rsm_account *account = kzalloc(sizeof(*account), GFP_KERNEL_ACCOUNT);

	if (!account)
		return NULL;
	account->user = rsm_user_get();
	if (!account->user) {
		kfree(account);
		return NULL;
	}
	account->mm = mm;
	mmgrab(mm);
	return account;
}

static void account_free(struct rsm_account *account)
{
	rsm_user_put(account->user);
	mmdrop(account->mm);
	kfree(account);
}

/* Take a reference on the account; if there is none enter @fresh, or return NULL without @fresh. */
static struct rsm_account *account_use(struct mm_struct *mm, struct rsm_account *fresh)
{
	struct rsm_account *account;

	mutex_lock(&accounts_lock);
	account = account_find(mm);
	if (!account && fresh) {
		hash_add(accounts, &fresh->node, (unsigned long)mm);
		account = fresh;
	}
	if (account)
		account->refs++;
	mutex_unlock(&accounts_lock);
	return account;
}

/*
 * The account of the caller's own address space, referenced, or NULL without memory. The
 * allocation is made without accounts_lock: in a full cgroup it makes the caller wait, and
 * other processes must not wait with it.
 */
static struct rsm_account *account_get(struct mm_struct *mm)
{
	struct rsm_account *fresh, *account = account_use(mm, NULL);

	if (account)
		return account;
	fresh = account_alloc(mm);
	if (!fresh)
		return NULL;
	account = account_use(mm, fresh);
	if (account != fresh)
		account_free(fresh);
	return account;
}

/* The account to which the caller has charged pages. */
static struct rsm_account *account_of(struct mm_struct *mm)
{
	struct rsm_account *account;

	mutex_lock(&accounts_lock);
	account = account_find(mm);
	mutex_unlock(&accounts_lock);
	return account;
}

static void account_put(struct rsm_account *account)
{
	mutex_lock(&accounts_lock);
	if (--account->refs) {
		mutex_unlock(&accounts_lock);
		return;
	}
	hash_del(&account->node);
	mutex_unlock(&accounts_lock);
	account_free(account);
}

/* A limit that refuses a charge, and what rsm_limit_hit() says of it. */
struct refusal {
	enum rsm_limit kind;
	u64 wanted;
	u64 value;
};

static bool above_node_limit(long npages, struct refusal *refusal)
{
	long most = rsm_pinned_most();

	if (npages <= most - most / RESERVE_PART ||
	    (npages <= most && capable(CAP_SYS_ADMIN)))
		return false;
	*refusal = (struct refusal){ RSM_LIMIT_EXPORTED_MEMORY, bytes(npages), bytes(most) };
	return true;
}

static bool above_user_limit(long npages, struct refusal *refusal)
{
	long most = limits_percent_of(rsm_pinned_most(),
				      READ_ONCE(max_exported_memory_per_user));

	if (npages <= most || capable(CAP_SYS_ADMIN))
		return false;
	*refusal = (struct refusal){ RSM_LIMIT_USER_MEMORY, bytes(npages), bytes(most) };
	return true;
}

static bool above_process_limit(long npages, struct refusal *refusal)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK);

	if (npages <= (long)(limit >> PAGE_SHIFT) || capable(CAP_IPC_LOCK))
		return false;
	*refusal = (struct refusal){ RSM_LIMIT_MEMLOCK, bytes(npages), limit };
	return true;
}

static void account_add(struct rsm_account *account, long npages)
{
	lockdep_assert_held(&charge_lock);
	atomic_long_add(npages, &pinned_pages);
	atomic64_add(npages, &account->mm->pinned_vm);
	rsm_user_add_pages(account->user, npages);
}

static void account_add_lent(struct rsm_account *account, long npages)
{
	lockdep_assert_held(&charge_lock);
	atomic_long_add(npages, &account->lent);
	atomic_long_add(npages, &lent_pages);
	rsm_user_add_lent(account->user, npages);
}

/* Whether a limit refuses @npages more pages than it counts now. */
static bool above_limits(const struct rsm_account *account, long npages, struct refusal *refusal)
{
	long node = atomic_long_read(&pinned_pages) - atomic_long_read(&lent_pages);
	long process = atomic64_read(&account->mm->pinned_vm) - atomic_long_read(&account->lent);

	lockdep_assert_held(&charge_lock);
	return above_node_limit(node + npages, refusal) ||
	       above_user_limit(rsm_user_pages(account->user) + npages, refusal) ||
	       above_process_limit(process + npages, refusal);
}

static bool account_charge(struct rsm_account *account, unsigned long npages, unsigned long lent,
			   struct refusal *refusal)
{
	bool refused;

	spin_lock(&charge_lock);
	refused = above_limits(account, npages - lent, refusal);
	if (!refused) {
		account_add_lent(account, lent);
		account_add(account, npages);
	}
	spin_unlock(&charge_lock);
	return !refused;
}

/* The loan keeps the account for as long as the limits do not count some of its pages. */
static void loan_use(struct rsm_loan *loan, struct rsm_account *account, unsigned long npages)
{
	if (!npages)
		return;
	if (!loan->account)
		loan->account = account_use(account->mm, NULL);
	loan->room -= npages;
	loan->used += npages;
}

/**
 * rsm_charge() - charge pages to the node, to a user and to a process, or refuse
 * @mm: address space of the process, the caller's own; the caller holds it until
 *	rsm_uncharge()
 * @npages: pages about to be pinned, at least one
 * @loan: room that the limits do not count until rsm_loan_return(), or NULL
 *
 * Return: 0; or -ENOMEM without memory, or if it would exceed max_exported_memory,
 * max_exported_memory_per_user or RLIMIT_MEMLOCK.
 */
int rsm_charge(struct mm_struct *mm, unsigned long npages, struct rsm_loan *loan)
{
	struct rsm_account *account = account_get(mm);
	unsigned long lent = loan ? min(loan->room, npages) : 0;
	struct refusal refusal;

	if (!account)
		return -ENOMEM;
	if (account_charge(account, npages, lent, &refusal)) {
		loan_use(loan, account, lent);
		return 0;
	}
	account_put(account);
	rsm_limit_hit(refusal.kind, refusal.wanted, refusal.value, NULL);
	return -ENOMEM;
}

/* Undo one rsm_charge() of as many pages. */
void rsm_uncharge(struct mm_struct *mm, unsigned long npages)
{
	struct rsm_account *account = account_of(mm);

	spin_lock(&charge_lock);
	account_add(account, -(long)npages);
	spin_unlock(&charge_lock);
	account_put(account);
}

/**
 * rsm_loan_return() - let the limits count all pages that were charged to a loan
 * @loan: the loan, or NULL. The rest of its room stays
 *
 * Comes before the pages that were charged, and those whose room was lent, are uncharged: in
 * between, the limits would count fewer pages than are pinned.
 */
void rsm_loan_return(struct rsm_loan *loan)
{
	if (!loan || !loan->account)
		return;
	spin_lock(&charge_lock);
	account_add_lent(loan->account, -(long)loan->used);
	spin_unlock(&charge_lock);
	account_put(loan->account);
	loan->account = NULL;
	loan->used = 0;
}

/* The highest number that a handle of the caller's may have. */
u32 rsm_highest_handle(void)
{
	u32 most = READ_ONCE(rsm_max_segments);

	return capable(CAP_SYS_ADMIN) ? most : most - most / RESERVE_PART;
}

/**
 * rsm_charge_handle() - charge one more handle to a user
 * @user: the caller
 *
 * Return: 0, or -EAGAIN if it would exceed max_segments_per_user.
 */
int rsm_charge_handle(struct rsm_user *user)
{
	unsigned long most = limits_percent_of(READ_ONCE(rsm_max_segments),
					       READ_ONCE(max_segments_per_user));
	unsigned int has;
	bool fits;

	spin_lock(&charge_lock);
	has = rsm_user_handles(user) + 1;
	fits = has <= most || capable(CAP_SYS_ADMIN);
	if (fits)
		rsm_user_add_handle(user);
	spin_unlock(&charge_lock);
	if (fits)
		return 0;
	rsm_limit_hit(RSM_LIMIT_USER_SEGMENTS, has, most, NULL);
	return -EAGAIN;
}
