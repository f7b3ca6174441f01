// SPDX-License-Identifier: GPL-2.0
/*
 * Watches notice that an exporter's range goes away: the exporter unmaps, protects or discards it,
 * exits or calls exec(), perhaps while a forked child still holds the descriptor. Pins alone
 * would let such an export live on with pages that its exporter no longer sees.
 *
 * The kernel calls an address space's notifier after each change. An unmap or a lost right ends the
 * export at once. After any other change a work item looks at the pages that the change named, and
 * at no others. The work item never faults memory in and never waits for the exporter's mmap_lock:
 * an exporter whose page faults hang delays only the end of its own exports.
 */

#include "internal.h"

#include <linux/bitmap.h>
#include <linux/interval_tree.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

/* Pages looked at before mmap_lock is dropped. */
#define WATCH_BATCH	RSM_PIN_LOOK_MAX

/**
 * struct rsm_watcher - the watches in an address space
 * @notifier: registered with the kernel; holds the address space
 * @lock: guards the tree and its watches
 * @watches: the tree, by address
 */
struct rsm_watcher {
	struct mmu_notifier notifier;
	spinlock_t lock; /* innermost: taken in the notifier's callbacks */
	struct rb_root_cached watches;
};

/**
 * struct rsm_watch - a watch on a range
 * @node: the range, in bytes
 * @watcher: of the address space
 * @exp: the export that has this range
 * @right: right that the exporter's mappings must keep: VM_WRITE or VM_READ
 * @mem: the pages pinned there, NULL until rsm_watch_arm()
 * @gone: the range was unmapped, or the right was taken away
 * @stopped: rsm_watch_stop() was called: ignore all changes
 * @look: looks at the changed pages
 * @patience: jiffies before the next try if mmap_lock is not free
 * @low: no changed page has a lower index
 * @high: no changed page has this index or a higher one
 * @changed: pages that changed since the last look, one bit for each
 */
struct rsm_watch {
	struct interval_tree_node node;
	struct rsm_watcher *watcher;
	struct rsm_export *exp;
	vm_flags_t right;
	struct rsm_mem *mem;
	bool gone;
	bool stopped;
	struct delayed_work look;
	unsigned long patience;
	unsigned long low;
	unsigned long high;
	unsigned long changed[];
};

static struct workqueue_struct *watch_wq;
static atomic64_t pages_looked_at = ATOMIC64_INIT(0);

/* Pages that looks have compared, on all of the node, since the module was loaded. */
u64 rsm_watch_pages_looked_at(void)
{
	return atomic64_read(&pages_looked_at);
}

static struct rsm_watcher *to_watcher(struct mmu_notifier *notifier)
{
	return container_of(notifier, struct rsm_watcher, notifier);
}

static unsigned long watch_page(const struct rsm_watch *watch, unsigned long addr)
{
	return (addr - watch->node.start) >> PAGE_SHIFT;
}

/**
 * rsm_export_range_gone() - let an export end soon: its exporter has lost the range
 * @exp: the export
 *
 * Any context.
 */
void rsm_export_range_gone(struct rsm_export *exp)
{
	queue_work(watch_wq, &exp->death);
}

/* Before the watch is armed this only sets a flag, which rsm_watch_arm() reads. */
static void watch_lose(struct rsm_watch *watch)
{
	lockdep_assert_held(&watch->watcher->lock);
	WRITE_ONCE(watch->gone, true);
	if (watch->mem)
		rsm_export_range_gone(watch->exp);
}

/* Note that the bytes from @start to @last have changed. */
static void watch_note(struct rsm_watch *watch, unsigned long start, unsigned long last)
{
	unsigned long first = watch_page(watch, max(start, watch->node.start));
	unsigned long end = watch_page(watch, min(last, watch->node.last)) + 1;

	lockdep_assert_held(&watch->watcher->lock);
	bitmap_set(watch->changed, first, end - first);
	watch->low = min(watch->low, first);
	watch->high = max(watch->high, end);
	if (watch->mem)
		queue_delayed_work(watch_wq, &watch->look, 0);
}

/*
 * Did the change leave the right in place? mprotect() changes the rights of a VMA; NUMA balancing
 * changes page table entries only. Both hold mmap_lock here.
 */
static bool keeps_right(const struct rsm_watch *watch, const struct mmu_notifier_range *range)
{
	unsigned long addr = max(range->start, watch->node.start);
	unsigned long last = min(range->end - 1, watch->node.last);

	while (addr <= last) {
		struct vm_area_struct *vma = find_vma(range->mm, addr);

		if (!vma || vma->vm_start > addr || !(vma->vm_flags & watch->right))
			return false;
		addr = vma->vm_end;
	}
	return true;
}

static void watch_tell(struct rsm_watch *watch, const struct mmu_notifier_range *range)
{
	switch (range->event) {
	case MMU_NOTIFY_UNMAP:
		watch_lose(watch);
		break;
	case MMU_NOTIFY_PROTECTION_VMA:
		if (!keeps_right(watch, range))
			watch_lose(watch);
		break;
	default:
		watch_note(watch, range->start, range->end - 1);
	}
}

/* Fork, soft-dirty tracking and a device's exclusive access move no pinned page. */
static bool moves_no_page(enum mmu_notifier_event event)
{
	return event == MMU_NOTIFY_PROTECTION_PAGE || event == MMU_NOTIFY_SOFT_DIRTY ||
	       event == MMU_NOTIFY_EXCLUSIVE;
}

/* The change is complete. Called under locks of all kinds. */
static void space_changed(struct mmu_notifier *notifier,
			  const struct mmu_notifier_range *range)
{
	struct rsm_watcher *watcher = to_watcher(notifier);
	struct interval_tree_node *node;

	if (range->start >= range->end || moves_no_page(range->event))
		return;
	spin_lock(&watcher->lock);
	for (node = interval_tree_iter_first(&watcher->watches, range->start, range->end - 1);
	     node;
	     node = interval_tree_iter_next(node, range->start, range->end - 1))
		watch_tell(container_of(node, struct rsm_watch, node), range);
	spin_unlock(&watcher->lock);
}

/* The process exits or execs. */
static void space_ends(struct mmu_notifier *notifier, struct mm_struct *mm)
{
	struct rsm_watcher *watcher = to_watcher(notifier);
	struct interval_tree_node *node;

	spin_lock(&watcher->lock);
	for (node = interval_tree_iter_first(&watcher->watches, 0, ULONG_MAX); node;
	     node = interval_tree_iter_next(node, 0, ULONG_MAX))
		watch_lose(container_of(node, struct rsm_watch, node));
	spin_unlock(&watcher->lock);
}

static struct mmu_notifier *watcher_alloc(struct mm_struct *mm)
{
	struct rsm_watcher *watcher = kzalloc(sizeof(*watcher), GFP_KERNEL_ACCOUNT);

	if (!watcher)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&watcher->lock);
	watcher->watches = RB_ROOT_CACHED;
	return &watcher->notifier;
}

static void watcher_free(struct mmu_notifier *notifier)
{
	kfree(to_watcher(notifier));
}

static const struct mmu_notifier_ops watcher_ops = {
	.invalidate_range_end = space_changed,
	.release = space_ends,
	.alloc_notifier = watcher_alloc,
	.free_notifier = watcher_free,
};

/* Take up to WATCH_BATCH adjacent changed pages; returns how many, 0 if none are left. */
static unsigned long take_changed(struct rsm_watch *watch, unsigned long *first)
{
	unsigned long n = 0;

	spin_lock(&watch->watcher->lock);
	if (!watch->stopped && !watch->gone) {
		*first = find_next_bit(watch->changed, watch->high, watch->low);
		while (n < WATCH_BATCH && *first + n < watch->high &&
		       test_bit(*first + n, watch->changed))
			n++;
	}
	if (n) {
		bitmap_clear(watch->changed, *first, n);
		watch->low = *first + n;
	} else {
		watch->low = ULONG_MAX;
		watch->high = 0;
	}
	spin_unlock(&watch->watcher->lock);
	return n;
}

/* Mark the pages as changed again, for a later look. */
static void look_later(struct rsm_watch *watch, unsigned long first, unsigned long n)
{
	watch->patience = clamp(watch->patience * 2, 1UL, (unsigned long)HZ);
	spin_lock(&watch->watcher->lock);
	bitmap_set(watch->changed, first, n);
	watch->low = min(watch->low, first);
	watch->high = max(watch->high, first + n);
	if (!watch->stopped)
		queue_delayed_work(watch_wq, &watch->look, watch->patience);
	spin_unlock(&watch->watcher->lock);
}

static enum rsm_pin_state watch_look_at(struct rsm_watch *watch, struct mm_struct *mm,
					unsigned long first, unsigned long n)
{
	enum rsm_pin_state state;

	state = rsm_pin_look(watch->mem, mm, watch->node.start, first, n);
	if (state == RSM_PIN_BUSY) {
		look_later(watch, first, n);
		return state;
	}
	atomic64_add(n, &pages_looked_at);
	if (state == RSM_PIN_LOST) {
		spin_lock(&watch->watcher->lock);
		watch_lose(watch);
		spin_unlock(&watch->watcher->lock);
	} else {
		watch->patience = 0;
	}
	return state;
}

static void look(struct work_struct *work)
{
	struct rsm_watch *watch = container_of(to_delayed_work(work), struct rsm_watch, look);
	struct mm_struct *mm = watch->watcher->notifier.mm;
	unsigned long first, n;

	/* An address space without users is at its end: space_ends() handles that. */
	if (!mmget_not_zero(mm))
		return;
	while ((n = take_changed(watch, &first))) {
		if (watch_look_at(watch, mm, first, n) != RSM_PIN_KEPT)
			break;
		cond_resched();
	}
	mmput_async(mm);
}

static struct rsm_watch *watch_alloc(struct rsm_export *exp, u64 vaddr, u64 length)
{
	unsigned long npages = length >> PAGE_SHIFT;
	struct rsm_watch *watch;

	watch = kvzalloc(struct_size(watch, changed, BITS_TO_LONGS(npages)),
			 GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!watch)
		return NULL;
	watch->exp = exp;
	watch->node.start = vaddr;
	watch->node.last = vaddr + length - 1;
	watch->right = exp->flags & RSM_BIND_READ ? VM_READ : VM_WRITE;
	watch->low = ULONG_MAX;
	INIT_DELAYED_WORK(&watch->look, look);
	return watch;
}

/* A page fault of another thread may hold mmap_lock for long: a fatal signal ends the wait. */
static struct mmu_notifier *notifier_get(struct mm_struct *mm)
{
	struct mmu_notifier *notifier;
	int err = mmap_write_lock_killable(mm);

	if (err)
		return ERR_PTR(err);
	notifier = mmu_notifier_get_locked(&watcher_ops, mm);
	mmap_write_unlock(mm);
	return notifier;
}

/**
 * rsm_watch_start() - watch a range of the caller's address space
 * @exp: export that dies with the range
 * @vaddr: start of the range
 * @length: bytes
 * @watch: where to put the watch
 *
 * The watch records what happens to the range; it ends the export only after
 * rsm_watch_arm().
 *
 * Return: RSM_SUCCESS, RSMERR_INSUFFICIENT_MEM or RSMERR_INTERRUPTED.
 */
rsm_status_t rsm_watch_start(struct rsm_export *exp, u64 vaddr, u64 length,
			     struct rsm_watch **watch)
{
	struct rsm_watch *w = watch_alloc(exp, vaddr, length);
	struct mmu_notifier *notifier;

	if (!w)
		return RSM_STS_INSUFFICIENT_MEM;
	notifier = notifier_get(current->mm);
	if (IS_ERR(notifier)) {
		kvfree(w);
		return PTR_ERR(notifier) == -EINTR ? RSM_STS_INTERRUPTED :
						     RSM_STS_INSUFFICIENT_MEM;
	}
	w->watcher = to_watcher(notifier);
	spin_lock(&w->watcher->lock);
	interval_tree_insert(&w->node, &w->watcher->watches);
	spin_unlock(&w->watcher->lock);
	*watch = w;
	return RSM_STS_SUCCESS;
}

/**
 * rsm_watch_arm() - let the export end with the range from now on
 * @watch: the watch
 * @mem: the pages that were pinned there since rsm_watch_start(); must stay until
 *	rsm_watch_stop()
 *
 * Return: true; or false when a part of the range was unmapped or protected since
 * rsm_watch_start(): @mem may then be memory of another process.
 */
bool rsm_watch_arm(struct rsm_watch *watch, struct rsm_mem *mem)
{
	bool intact;

	lockdep_assert_held(&watch->exp->lock);
	spin_lock(&watch->watcher->lock);
	intact = !watch->gone;
	watch->mem = mem;
	if (watch->low < watch->high)
		queue_delayed_work(watch_wq, &watch->look, 0);
	spin_unlock(&watch->watcher->lock);
	return intact;
}

/* On return the watch touches neither its export nor its pages; export->death may be queued. */
void rsm_watch_stop(struct rsm_watch *watch)
{
	struct rsm_watcher *watcher;

	if (!watch)
		return;
	watcher = watch->watcher;
	spin_lock(&watcher->lock);
	watch->stopped = true;
	interval_tree_remove(&watch->node, &watcher->watches);
	spin_unlock(&watcher->lock);
	cancel_delayed_work_sync(&watch->look);
	mmu_notifier_put(&watcher->notifier);
	kvfree(watch);
}

/* Was the exporter's range unmapped, or the right to it taken away? */
bool rsm_watch_range_is_gone(const struct rsm_watch *watch)
{
	return watch && READ_ONCE(watch->gone);
}

int rsm_watch_init(void)
{
	watch_wq = alloc_workqueue("rsm", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return watch_wq ? 0 : -ENOMEM;
}

/* The module is being unloaded: all watches were stopped. Waits until their watchers are freed. */
void rsm_watch_exit(void)
{
	destroy_workqueue(watch_wq);
	mmu_notifier_synchronize();
}
