/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel, as far as kernel/agent needs it, for a program in virtual time: see
 * Documentation/simulation.md. Each header that the agent includes leads here (../CMakeLists.txt). The functions are in ../kernel.cpp.
 *
 * One thing runs at a time. It is interrupted only where it sleeps and where it drops its last lock,
 * so a lock that is taken is never waited for: a task that sleeps with one is a fault of the agent.
 */
#ifndef RSM_SIM_KERNEL_H
#define RSM_SIM_KERNEL_H

#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;
typedef unsigned int gfp_t;
typedef unsigned long vm_flags_t;

#define U32_MAX UINT32_MAX
#define U64_MAX UINT64_MAX
#define PAGE_SHIFT 12
#define PAGE_SIZE 4096UL
#define PAGE_ALIGNED(x) (!((x) & (PAGE_SIZE - 1)))
#define BIT(n) (1UL << (n))
#define BIT_ULL(n) (1ULL << (n))
#define __user
#define __aligned(n) __attribute__((aligned(n)))
#define __bitwise
#define __force
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value) (*(volatile __typeof__(x) *)&(x) = (value))
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, value) __atomic_store_n(p, value, __ATOMIC_RELEASE)
#define container_of(pointer, type, member) ((type *)((char *)(pointer) - offsetof(type, member)))
#define lockdep_assert_held(lock) ((void)(lock))
#define MODULE_PARM_DESC(name, text) struct sim_unused
#define module_param(name, type, mode) type_##type *const sim_parameter_##name = &name
typedef unsigned int type_uint;

#define cpu_to_le16(x) htole16(x)
#define cpu_to_le32(x) htole32(x)
#define cpu_to_le64(x) htole64(x)
#define le16_to_cpu(x) le16toh(x)
#define le32_to_cpu(x) le32toh(x)
#define le64_to_cpu(x) le64toh(x)

#ifndef __cplusplus
#define jiffies sim_jiffies()
#define current sim_current()
#define fallthrough __attribute__((__fallthrough__))
#define strscpy(to, from, size) snprintf(to, size, "%s", from)
#define static_assert(condition) _Static_assert(condition, #condition)
#define EXPORT_SYMBOL_GPL(name) struct sim_unused
#define max(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ > b_ ? a_ : b_; })
#define min(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ < b_ ? a_ : b_; })
#define clamp(x, low, high) min(max(x, low), high)
#define swap(a, b) ({ __typeof__(a) a_ = (a); (a) = (b); (b) = a_; })
#endif

#define pr_info_ratelimited(...) sim_log(__VA_ARGS__)
#define pr_warn_ratelimited(...) sim_log(__VA_ARGS__)
void sim_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Time: a jiffy is a millisecond. */
#define HZ 1000
#define msecs_to_jiffies(ms) ((unsigned long)(ms))
#define time_after(a, b) ((long)((b) - (a)) < 0)
#define time_before(a, b) time_after(b, a)
#define time_after_eq(a, b) ((long)((a) - (b)) >= 0)
#define time_before_eq(a, b) time_after_eq(b, a)
#define time_in_range(a, b, c) (time_after_eq(a, b) && time_before_eq(a, c))
unsigned long sim_jiffies(void);
void usleep_range(unsigned long least, unsigned long most);
void cond_resched(void);

/* Lists */
struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD(name) struct list_head name = { &(name), &(name) }
#define list_entry(pointer, type, member) container_of(pointer, type, member)
#define list_first_entry_or_null(head, type, member) \
	(list_empty(head) ? NULL : list_entry((head)->next, type, member))
#define list_entry_is_head(position, head, member) (&(position)->member == (head))
#define list_for_each_entry(position, head, member) \
	for ((position) = list_entry((head)->next, __typeof__(*(position)), member); \
	     &(position)->member != (head); \
	     (position) = list_entry((position)->member.next, __typeof__(*(position)), member))
#define list_empty_careful(head) list_empty(head)

static inline void INIT_LIST_HEAD(struct list_head *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

static inline void list_add(struct list_head *entry, struct list_head *head)
{
	entry->next = head->next;
	entry->prev = head;
	head->next->prev = entry;
	head->next = entry;
}

static inline void list_add_tail(struct list_head *entry, struct list_head *head)
{
	entry->prev = head->prev;
	entry->next = head;
	head->prev->next = entry;
	head->prev = entry;
}

static inline void list_del(struct list_head *entry)
{
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
	entry->next = NULL;
	entry->prev = NULL;
}

static inline void list_del_init(struct list_head *entry)
{
	list_del(entry);
	INIT_LIST_HEAD(entry);
}

static inline void list_move_tail(struct list_head *entry, struct list_head *head)
{
	list_del(entry);
	list_add_tail(entry, head);
}

/* Numbers that several tasks change */
typedef struct {
	int counter;
} atomic_t;
typedef struct {
	s64 counter;
} atomic64_t;
typedef atomic_t refcount_t;
struct kref {
	int count;
};

#define ATOMIC_INIT(n) { (n) }
#define ATOMIC64_INIT(n) { (n) }
#define atomic_read(a) ((a)->counter)
#define atomic64_read(a) ((a)->counter)
#define atomic_inc(a) ((void)(a)->counter++)
#define atomic_inc_return_release(a) (++(a)->counter)
#define atomic_read_acquire(a) ((a)->counter)
#define atomic_dec(a) ((void)(a)->counter--)
#define atomic64_inc_return(a) (++(a)->counter)
#define kref_get(ref) ((void)(ref)->count++)

/* Locks */
struct sim_lock {
	bool held;
};
struct mutex {
	struct sim_lock lock;
};
struct rw_semaphore {
	struct sim_lock lock;
};
typedef struct sim_lock spinlock_t;
struct semaphore {
	int free;
};

#define DEFINE_MUTEX(name) struct mutex name
#define mutex_lock(mutex) sim_lock_take(&(mutex)->lock)
#define mutex_unlock(mutex) sim_lock_drop(&(mutex)->lock)
#define spin_lock_init(spin) ((void)((spin)->held = false))
#define spin_lock_irq(spin) sim_lock_take(spin)
#define spin_unlock_irq(spin) sim_lock_drop(spin)
#define spin_lock_irqsave(spin, flags) ((flags) = 0, sim_lock_take(spin))
#define spin_unlock_irqrestore(spin, flags) ((void)(flags), sim_lock_drop(spin))
#define sema_init(semaphore, n) ((void)((semaphore)->free = (n)))
void sim_lock_take(struct sim_lock *lock);
void sim_lock_drop(struct sim_lock *lock);
int down_interruptible(struct semaphore *semaphore);
int down_trylock(struct semaphore *semaphore);
void up(struct semaphore *semaphore);

/* Waiting */
typedef struct {
	char nothing;
} wait_queue_head_t;

#define ERESTARTSYS 512
#define DECLARE_WAIT_QUEUE_HEAD(name) wait_queue_head_t name
#define init_waitqueue_head(queue) ((void)(queue))
#define SIM_FOR_EVER LONG_MAX
/* The rest of @left jiffies after somebody has woken the queue, 0, or -ERESTARTSYS. */
long sim_wait(wait_queue_head_t *queue, long left);
void wake_up_all(wait_queue_head_t *queue);
#define wait_event_interruptible_timeout(queue, condition, timeout) ({ \
	long left_ = (timeout); \
	bool met_ = (condition); \
	while (!met_ && left_ > 0) { \
		left_ = sim_wait(&(queue), left_); \
		met_ = (condition); \
	} \
	met_ && !left_ ? 1 : left_; })
#define wait_event_killable(queue, condition) ({ \
	long left_ = SIM_FOR_EVER; \
	while (!(condition) && left_ > 0) \
		left_ = sim_wait(&(queue), SIM_FOR_EVER); \
	left_ < 0 ? -ERESTARTSYS : 0; })

/* Tasks */
struct task_struct {
	unsigned int flags;
};
#define PF_EXITING 1U
#define PF_KTHREAD 2U
struct task_struct *sim_current(void);
bool fatal_signal_pending(const struct task_struct *task);

/* Timers and work. A structure that is all zero but for its function is idle. */
struct timer_list {
	void (*function)(struct timer_list *timer);
	u64 pending;
};
struct work_struct {
	void (*function)(struct work_struct *work);
	bool queued;
	bool running;
};
struct workqueue_struct {
	char nothing;
};

#define timer_setup(timer, callback, flags) ((void)((timer)->function = (callback)))
#define timer_container_of(variable, timer, field) container_of(timer, __typeof__(*(variable)), field)
void mod_timer(struct timer_list *timer, unsigned long expires);
void timer_delete_sync(struct timer_list *timer);
#define INIT_WORK(work, callback) ((void)((work)->function = (callback)))
#define WQ_UNBOUND 0
#define WQ_HIGHPRI 0
#define WQ_MEM_RECLAIM 0
#define alloc_workqueue(name, flags, most) sim_workqueue()
#define destroy_workqueue(queue) ((void)(queue))
struct workqueue_struct *sim_workqueue(void);
bool queue_work(struct workqueue_struct *queue, struct work_struct *work);
void flush_work(struct work_struct *work);
void cancel_work_sync(struct work_struct *work);

/* Memory is the node's; its death takes all of it away. */
#define GFP_KERNEL 0U
#define GFP_KERNEL_ACCOUNT 0U
#define kzalloc(size, flags) sim_alloc(size)
#define kcalloc(n, size, flags) sim_alloc((size_t)(n) * (size))
void *sim_alloc(size_t size);
void kfree(const void *memory);

/* Arrays of pointers */
struct xarray {
	void *tree;
	struct sim_lock lock;
};
struct xa_limit {
	u32 min, max;
};
typedef unsigned int xa_mark_t;

#define XA_FLAGS_ALLOC1 0U
#define XA_FLAGS_LOCK_IRQ 0U
#define XA_MARK_1 1U
#define XA_LIMIT(low, high) ((struct xa_limit){ .min = (low), .max = (high) })
#define xa_limit_31b XA_LIMIT(1, INT_MAX)
#define xa_init_flags(array, flags) ((void)((array)->tree = NULL))
#define xa_lock_irq(array) sim_lock_take(&(array)->lock)
#define xa_unlock_irq(array) sim_lock_drop(&(array)->lock)
#define xa_lock_irqsave(array, flags) ((flags) = 0, xa_lock_irq(array))
#define xa_unlock_irqrestore(array, flags) ((void)(flags), xa_unlock_irq(array))
#define xa_for_each(array, index, entry) \
	for ((index) = 0, (entry) = sim_xa_find(array, &(index), false); (entry); \
	     (index)++, (entry) = sim_xa_find(array, &(index), false))
#define xa_for_each_marked(array, index, entry, mark) \
	for ((index) = 0, (entry) = sim_xa_find(array, &(index), true); (entry); \
	     (index)++, (entry) = sim_xa_find(array, &(index), true))
void *xa_load(struct xarray *array, unsigned long index);
void *sim_xa_find(struct xarray *array, unsigned long *index, bool marked);
int xa_alloc_cyclic_irq(struct xarray *array, u32 *id, void *entry, struct xa_limit limit, u32 *next,
			gfp_t flags);
void *xa_store_irq(struct xarray *array, unsigned long index, void *entry, gfp_t flags);
void xa_erase_irq(struct xarray *array, unsigned long index);
void xa_destroy(struct xarray *array);
bool xa_marked(struct xarray *array, xa_mark_t mark);
void __xa_set_mark(struct xarray *array, unsigned long index, xa_mark_t mark);
void __xa_clear_mark(struct xarray *array, unsigned long index, xa_mark_t mark);

/* Trees, which nothing balances here */
struct rb_node {
	struct rb_node *parent, *rb_left, *rb_right;
};
struct rb_root {
	struct rb_node *rb_node;
};
#define RB_ROOT ((struct rb_root){ .rb_node = NULL })
#define rb_entry(pointer, type, member) container_of(pointer, type, member)
struct rb_node *rb_find(const void *key, const struct rb_root *tree, int (*cmp)(const void *key, const struct rb_node *node));
struct rb_node *rb_find_add(struct rb_node *node, struct rb_root *tree,
			    int (*cmp)(struct rb_node *node, const struct rb_node *other));
void rb_erase(struct rb_node *node, struct rb_root *tree);

/* Users */
typedef struct {
	u32 val;
} kuid_t;
typedef kuid_t kgid_t;
#define init_user_ns sim_users
struct sim_users {
	char nothing;
};
extern struct sim_users sim_users;
#define make_kuid(users, id) ((void)(users), (kuid_t){ id })
#define make_kgid(users, id) make_kuid(users, id)
#define from_kuid(users, id) ((void)(users), (id).val)
#define from_kgid(users, id) from_kuid(users, id)

/* A fuzzer's */
#define KCOV_SUBSYSTEM_COMMON 0
#define kcov_remote_handle(subsystem, id) (id)
#define kcov_remote_start(handle) ((void)(handle))
#define kcov_remote_stop() ((void)0)

/* Members of structures that the agent does not use */
struct module;
struct mm_struct;
struct mem_cgroup;
struct page;
struct pid;
struct file;
struct file_operations;
struct netlink_ext_ack;
struct vm_area_struct {
	vm_flags_t vm_flags;
};
typedef struct poll_table_struct poll_table;
struct address_space {
	char nothing;
};
struct mmu_interval_notifier {
	char nothing;
};
struct hlist_node {
	struct hlist_node *next;
};
struct rcu_head {
	char nothing;
};

/* For kernel/core/compat.h */
struct nlattr;
struct netlink_callback;
struct genl_info {
	struct nlattr **attrs;
};
struct genl_dumpit_info {
	struct genl_info info;
};
#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + (c))
#define LINUX_VERSION_CODE KERNEL_VERSION(6, 19, 0)
#define UFFDIO_REGISTER_MODE_RWP 1
#define GENL_MCAST_CAP_NET_ADMIN 1
const struct genl_dumpit_info *genl_dumpit_info(struct netlink_callback *callback);
long get_user_pages_remote(struct mm_struct *mm, unsigned long start, unsigned long npages,
			   unsigned int flags, struct page **pages, int *locked);

#ifdef __cplusplus
}
#endif
#endif /* RSM_SIM_KERNEL_H */
