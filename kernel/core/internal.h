/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside rsm.ko.
 *
 * Locking
 * -------
 * Lock order, outermost first:
 *
 *   handle->lock         a blank handle becomes a segment
 *   controller->gate     held for reading while it does, so that a controller
 *                        that is removed knows all of its segments (rwsem)
 *   export->lock         state, id, list and memory of an export
 *   mm->mmap_lock        taken by the kernel around our mmap and fault handlers;
 *                        we take it with at most handle->lock held
 *   view->lock          the exporter's view of a window, and the copy of its contents
 *   export->importers_lock
 *   rsm_agent_lock       see agent/agent.h
 *   import->map_lock     what an import's mappings show (rwsem)
 *   i_mmap_rwsem         taken below map_lock when mappings are zapped
 *   controller->lock     which segments use it (spinlock)
 *
 * mmap and fault handlers run under mmap_lock and therefore take no lock above view->lock. Under
 * mmap_lock and the locks below it no code copies from or to user space: transfers go through a
 * bounce page that is filled or emptied with no lock held.
 *
 * handle->seg changes once, from NULL to a segment, and is read without a lock (acquire,
 * release). References on a segment: the handle has one, and each import has one on the export
 * it is connected to. The table of ids takes references under its own spinlock, and so does
 * the table of tickets.
 *
 * A live ticket is in that table and on its export's list; both change under export->lock. A
 * revocation clears ticket->live under importers_lock, before it aborts the imports that the
 * ticket has granted. A REDEEM that has found the ticket in the table therefore checks
 * ticket->live again under importers_lock. Imports hold the ticket, and the ticket holds the
 * export.
 *
 * The notifier that watches an exporter's range may not sleep. It queues export->death, which takes
 * export->lock, or a look at the changed pages, which only tries to take mmap_lock and takes
 * no other lock but the watcher's.
 *
 * Revocation of memory: change the generation word, zap the mappings under map_lock, drop the
 * reference on the memory. The last reference unpins the pages.
 */
#ifndef RSM_INTERNAL_H
#define RSM_INTERNAL_H

#include "../rsm_controller.h"
#include "../rsm_notify.h"

#include <linux/fs.h>
#include <linux/mmu_notifier.h>
#include <linux/poll.h>

struct rsm_account;
struct rsm_link;
struct rsm_user;

/* How many kinds of limits there are. */
#define RSM_LIMIT_COUNT		(RSM_LIMIT_USER_MEMORY + 1)

#define RSM_MAX_HANDLES		BIT(20)
#define RSM_MAX_LENGTH		BIT_ULL(43)

/**
 * struct rsm_loan - room for the new memory of a rebind: that of the old memory, which stays
 *	charged meanwhile
 * @room: pages that may still be charged to it
 * @used: pages that were, and that the limits do not count
 * @account: of these pages, referenced; NULL if there are none
 */
struct rsm_loan {
	unsigned long room;
	unsigned long used;
	struct rsm_account *account;
};

/**
 * struct rsm_handle - an open of /dev/rsm for reading and writing
 * @ref: one for the open file, one for the segment, which may outlive it
 * @wq: waiters for an event; they may wait here while the handle is blank, too
 * @lock: held while the blank handle becomes a segment
 * @number: unique among open handles
 * @mapping: finds the handle's mappings. All handles in the one address_space of the device
 *	node would make their owners wait for each other at each mmap(), fork() and munmap()
 * @seg: the segment that the handle has become, NULL while blank
 * @user: the user who opened it
 */
struct rsm_handle {
	struct kref ref;
	wait_queue_head_t wq;
	struct mutex lock; /* guards the change from blank to segment */
	u32 number;
	struct address_space mapping;
	struct rsm_segment *seg;
	struct rsm_user *user;
};

/**
 * struct rsm_export_view - the exporter's side of a segment in a window
 * @exp: the export
 * @mm: exporter's address space; the segment, and later @copy, are charged to it
 * @memcg: exporter's memory cgroup, which is charged for @copy
 * @life: notifies of the end of @mm, also for an exporter that has mapped nothing
 * @charged: pages charged, 0 when the export is dead and there is no @copy
 * @mappings: how many mappings the export's handle has
 * @lock: guards @copy and keeps the export from losing its memory. Held while the copy is made;
 *	page faults of the exporter and its children, and nobody else, wait for it
 * @seen_at: address of the range in which the exporter has accessed the segment; the end of a
 *	mapping that was never accessed (mmap() failed half-way) does not end the export
 * @gone: a part of that range has been unmapped or protected, or @mm has ended
 * @copy: pages that the mappings show when the export is dead; NULL: they show @scratch
 * @scratch: a zeroed page
 */
struct rsm_export_view {
	struct rsm_export *exp;
	struct mm_struct *mm;
	struct mem_cgroup *memcg;
	struct mmu_interval_notifier life;
	unsigned long charged;
	atomic_t mappings;
	struct mutex lock; /* see above */
	u64 seen_at;
	bool gone;
	struct rsm_mem *copy;
	struct page *scratch;
};

/**
 * struct rsm_process - the segments that a process has made under a user id
 * @node: its place among those with the same hash of the process id
 * @rcu: for freeing it after a grace period
 * @ref: one for each segment and each reader
 * @number: its place in dumps
 * @tgid: the process, referenced
 * @uid: effective user id
 * @segments: open segments of each kind
 * @pinned: bytes of those of its exports that live
 */
struct rsm_process {
	struct hlist_node node;
	struct rcu_head rcu;
	refcount_t ref;
	u32 number;
	struct pid *tgid;
	kuid_t uid;
	atomic_t segments[2];
	atomic64_t pinned;
};

static inline struct rsm_segment *rsm_handle_segment(struct rsm_handle *h)
{
	/* Pairs with the release in rsm_bind() and rsm_connect(). */
	return smp_load_acquire(&h->seg);
}

static inline struct rsm_export *to_export(struct rsm_segment *seg)
{
	return container_of(seg, struct rsm_export, seg);
}

static inline struct rsm_import *to_import(struct rsm_segment *seg)
{
	return container_of(seg, struct rsm_import, seg);
}

/* Local: without an id; tickets may be made for it. See RSM_BIND_LOCAL. */
static inline bool rsm_is_local(const struct rsm_export *exp)
{
	return exp->flags & RSM_BIND_LOCAL;
}

/* device.c */
extern const struct file_operations rsm_segment_fops;
int rsm_device_register(void);
void rsm_device_unregister(void);
struct rsm_table *rsm_table_get_fd(int fd);

/* handles.c */
struct rsm_handle *rsm_handle_alloc(struct file *file);
void rsm_handle_put(struct rsm_handle *h);
struct rsm_export *rsm_handle_export(struct rsm_handle *h);
struct rsm_import *rsm_handle_import(struct rsm_handle *h);
int rsm_handle_enter(struct rsm_handle *h);
void rsm_handle_hide(struct rsm_handle *h);
void rsm_handle_leave(struct rsm_handle *h);
unsigned int rsm_handle_count(void);
struct rsm_segment *rsm_segment_get(u32 number, enum rsm_kind kind);
struct rsm_segment *rsm_segment_next(u32 number);
void rsm_segment_count_in(const struct rsm_segment *seg);
unsigned int rsm_segment_count(enum rsm_kind kind);
u32 rsm_segment_changes(void);

/* process.c */
struct rsm_process *rsm_process_get(void);
void rsm_process_put(struct rsm_process *process);
struct rsm_process *rsm_process_next(u32 number);
void rsm_process_visit(pid_t nr, void (*visit)(struct rsm_process *process, void *data),
		       void *data);
u64 rsm_processes_looked_at(void);

/* array.c */
void *rsm_page_array_alloc(size_t bytes, gfp_t flags);

/* dispatch.c */
long rsm_dispatch(struct rsm_handle *h, unsigned int cmd, void __user *arg);

/* limits.c */
extern unsigned int rsm_max_segments;
unsigned long rsm_pinned_most(void);
u64 rsm_limit_hits(enum rsm_limit kind);
int rsm_charge(struct mm_struct *mm, unsigned long npages, struct rsm_loan *loan);
void rsm_uncharge(struct mm_struct *mm, unsigned long npages);
void rsm_loan_return(struct rsm_loan *loan);
u32 rsm_highest_handle(void);
int rsm_charge_handle(struct rsm_user *user);
unsigned long rsm_pinned_pages(void);

/* denied.c */
void rsm_denied_import(const struct rsm_import *imp, rsm_status_t status);
void rsm_denied_node(const struct rsm_link *link, u32 id);
u64 rsm_denial_count(void);

/* user.c */
struct rsm_user *rsm_user_get(void);
void rsm_user_put(struct rsm_user *user);
unsigned int rsm_user_handles(const struct rsm_user *user);
void rsm_user_add_handle(struct rsm_user *user);
void rsm_user_sub_handle(struct rsm_user *user);
long rsm_user_pages(const struct rsm_user *user);
void rsm_user_add_pages(struct rsm_user *user, long npages);
void rsm_user_add_lent(struct rsm_user *user, long npages);

/* table.c */
struct rsm_table *rsm_table_create(struct file *file);
void rsm_table_put(struct rsm_table *table);
void rsm_table_get(struct rsm_table *table);
int rsm_table_mmap(struct rsm_table *table, struct vm_area_struct *vma);
int rsm_words_init(struct rsm_words *words, struct rsm_table *table);
void rsm_words_release(struct rsm_words *words);

/* event.c */
rsm_status_t rsm_event_wait(struct rsm_segment *seg, s64 *timeout_ns);
__poll_t rsm_event_poll(struct rsm_handle *h, struct file *file, poll_table *wait);
void rsm_events_post(struct rsm_segment *seg, u32 count);

/* post.c */
rsm_status_t rsm_post(struct rsm_segment *seg, u32 flags);

/* controller.c */
struct rsm_controller *rsm_controller_get(const char *name);
struct rsm_controller *rsm_controller_get_present(const char *name);
void rsm_controller_put(struct rsm_controller *ctl);
bool rsm_controller_enter(struct rsm_controller *ctl);
void rsm_controller_leave(struct rsm_controller *ctl);
void rsm_controller_add(struct rsm_segment *seg);
void rsm_controller_del(struct rsm_segment *seg);
unsigned int rsm_controller_segments(struct rsm_controller *ctl, enum rsm_kind kind);
rsm_status_t rsm_controller_attr(struct rsm_attr *attr);
extern struct list_head rsm_controllers;
extern u32 rsm_controller_changes;
extern struct mutex rsm_controllers_lock;

/* topology.c */
rsm_status_t rsm_topology(struct rsm_topology_query *query);

/* segid.c, access.c: pure functions, tested by KUnit */
bool rsm_segid_requestable(u32 id);
bool rsm_acl_valid(const struct rsm_acl_entry *entry, u32 count);
int rsm_acl_node_mode(const struct rsm_acl_entry *entry, u32 count,
		      unsigned int umask, u32 node);
unsigned int rsm_mode_allows(unsigned int mode, bool owner, bool group);

/* segment.c */
bool rsm_is_creator(const struct rsm_export *exp);
void rsm_owner_init(struct rsm_owner *owner);
rsm_status_t rsm_segment_init(struct rsm_segment *seg, const struct rsm_segment_ops *ops,
			      struct rsm_handle *h, const char *controller,
			      struct rsm_table *table);
rsm_status_t rsm_segment_enter(struct rsm_segment *seg);
void rsm_segment_cancel(struct rsm_segment *seg);
void rsm_segment_complete(struct rsm_segment *seg, struct rsm_handle *h);
void rsm_segment_put(struct rsm_segment *seg);

/* export.c */
rsm_status_t rsm_bind(struct rsm_handle *h, struct rsm_bind *arg, struct rsm_table *table);
rsm_status_t rsm_rebind(struct rsm_export *exp, struct rsm_rebind *arg);
rsm_status_t rsm_destroy(struct rsm_export *exp);
void rsm_export_kill(struct rsm_export *exp, enum rsm_reason reason);
void rsm_export_close(struct rsm_export *exp);

/* watch.c */
rsm_status_t rsm_watch_start(struct rsm_export *exp, u64 vaddr, u64 length,
			     struct rsm_watch **watch);
bool rsm_watch_arm(struct rsm_watch *watch, struct rsm_mem *mem);
void rsm_watch_stop(struct rsm_watch *watch);
bool rsm_watch_range_is_gone(const struct rsm_watch *watch);
void rsm_export_range_gone(struct rsm_export *exp);
int rsm_watch_init(void);
void rsm_watch_exit(void);
u64 rsm_watch_pages_looked_at(void);

/* pin.c */
int rsm_pin_init(void);
void rsm_pin_exit(void);
rsm_status_t rsm_pin_range(u64 vaddr, u64 length, vm_flags_t refused, u32 flags,
			   struct rsm_loan *loan, struct rsm_mem **mem);
unsigned long rsm_pin_charged_to(const struct rsm_mem *mem, const struct mm_struct *mm);
#define RSM_PIN_LOOK_MAX 64UL
enum rsm_pin_state { RSM_PIN_KEPT, RSM_PIN_LOST, RSM_PIN_BUSY };
enum rsm_pin_state rsm_pin_look(struct rsm_mem *mem, struct mm_struct *mm, u64 vaddr,
				unsigned long first, unsigned long n);

/* range.c; the first two are pure functions, tested by KUnit */
bool rsm_range_ok(u64 offset, u64 length, u64 limit);
rsm_status_t rsm_range_exportable(u64 vaddr, u64 length, u64 max_length);
rsm_status_t rsm_range_pinnable(u64 vaddr, u64 length, vm_flags_t refused, u32 flags);

/* publish.c */
rsm_status_t rsm_publish(struct rsm_export *exp, struct rsm_publish *arg);
rsm_status_t rsm_republish(struct rsm_export *exp, struct rsm_publish *arg);
rsm_status_t rsm_unpublish(struct rsm_export *exp);
void rsm_export_withdraw_begin(struct rsm_export *exp);
void rsm_export_withdraw(struct rsm_export *exp, enum rsm_reason reason);
struct rsm_export *rsm_published_get(u32 id);
unsigned int rsm_published_count(void);

/* grant.c */
rsm_status_t rsm_grant(struct rsm_export *exp, struct rsm_grant *arg);
rsm_status_t rsm_revoke(struct rsm_export *exp, struct rsm_revoke *arg);
void rsm_grants_end(struct rsm_export *exp);
rsm_status_t rsm_ticket_present(struct rsm_import *imp, const u64 *key);
const char *rsm_ticket_controller(const struct rsm_ticket *ticket);
void rsm_ticket_put(struct rsm_ticket *ticket);
unsigned int rsm_grant_count(void);

/* letter.c */
void rsm_inbox_init(struct rsm_inbox *inbox);
void rsm_letter_drop(struct rsm_export *exp, struct rsm_import *imp);
rsm_status_t rsm_letter_send(struct rsm_import *imp, const struct rsm_message *arg);
rsm_status_t rsm_letter_receive(struct rsm_export *exp, struct rsm_message *arg);

/* import.c, map.c, transfer.c */
rsm_status_t rsm_connect(struct rsm_handle *h, struct rsm_connect *arg, struct rsm_table *table);
rsm_status_t rsm_redeem(struct rsm_handle *h, struct rsm_redeem *arg, struct rsm_table *table);
void rsm_import_close(struct rsm_import *imp);
struct rsm_export *rsm_import_export_get(struct rsm_import *imp);
int rsm_import_mmap(struct rsm_import *imp, struct vm_area_struct *vma);
bool rsm_import_mappable(const struct rsm_import *imp);
rsm_status_t rsm_import_unmap(const struct rsm_import *imp, const struct rsm_unmap *arg);
void rsm_import_zap(struct rsm_import *imp);
void rsm_import_forget_export(struct rsm_import *imp);
void rsm_mapping_init(struct address_space *mapping, struct file *file);
void rsm_zap_handle(struct rsm_handle *h);
int rsm_fill_prepare(struct vm_area_struct *vma, unsigned long addr);
int rsm_fill_around(struct vm_area_struct *vma, unsigned long addr,
		    struct rsm_mem *mem, struct page *scratch);
rsm_status_t rsm_transfer(struct rsm_import *imp, struct rsm_transfer *arg,
			  enum rsm_direction direction);
rsm_status_t rsm_barrier(struct rsm_import *imp, struct rsm_barrier_request *arg);

/* local.c */
bool rsm_import_admit(struct rsm_import *imp, kuid_t uid, kgid_t gid, unsigned int mode);

/* importers.c */
void rsm_local_join(struct rsm_import *imp, struct rsm_export *exp);
void rsm_importer_abort(struct rsm_import *imp, enum rsm_reason reason);
void rsm_importers_post(struct rsm_export *exp, u32 flags);
void rsm_importers_abort(struct rsm_export *exp, const struct rsm_ticket *granted,
			 enum rsm_reason reason);

/* copy.c */
struct rsm_mem *rsm_mem_alloc(unsigned long npages);
void rsm_mem_copy(struct rsm_mem *to, struct rsm_mem *from);

/* window.c */
void rsm_window_discard(struct rsm_export_view *view);
void rsm_window_free(struct rsm_export *exp);

/* export_view.c */
void rsm_window_seen_at(struct rsm_export *exp, u64 vaddr);
int rsm_window_map(struct rsm_export *exp, struct vm_area_struct *vma);
bool rsm_window_range_is_gone(const struct rsm_export *exp);
rsm_status_t rsm_export_view_at(struct rsm_export *exp, u64 vaddr, bool *in_view);
rsm_status_t rsm_range(struct rsm_export *exp, struct rsm_range *arg);

/**
 * rsm_export_lost_range() - has the exporter lost the range, or the right to it?
 * @exp: the export
 *
 * True already between the loss of the range and export_death(), which then ends the export.
 */
static inline bool rsm_export_lost_range(const struct rsm_export *exp)
{
	lockdep_assert_held(&exp->lock);
	return rsm_window_range_is_gone(exp) || rsm_watch_range_is_gone(exp->watch);
}

/**
 * rsm_export_is_over() - has the export ended, or will it when export_death() has come to it?
 * @exp: the export
 */
static inline bool rsm_export_is_over(const struct rsm_export *exp)
{
	lockdep_assert_held(&exp->lock);
	return exp->state == RSM_DEAD || rsm_export_lost_range(exp);
}

/* agent/links.c */
int rsm_agent_init(void);
void rsm_agent_exit(void);

/* loopback.c */
int rsm_loopback_register(void);
void rsm_loopback_unregister(void);

/* debugfs.c */
void rsm_debugfs_create(void);
void rsm_debugfs_remove(void);

#endif /* RSM_INTERNAL_H */
