// SPDX-License-Identifier: GPL-2.0
/*
 * The exporter's own pages as the memory of a segment. They are pinned for as long as an import may
 * reach them, charged to the exporter, and watched: the export ends when its exporter no longer
 * sees them.
 */

#include "internal.h"
#include "compat.h"

#include <linux/fs.h>
#include <linux/highmem.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

/* Pages that are pinned or unpinned before the scheduler may run another task. */
#define PIN_BATCH	8192UL

/**
 * struct rsm_pinned - pinned pages of a process
 * @mem: as the core sees them
 * @mm: address space that they are charged to
 * @charged: pages charged: the pinned ones and the rest of the huge pages that they are part of
 * @writable: they are pinned for writing
 * @release: gives the pages back
 * @page: the pages, in order
 */
struct rsm_pinned {
	struct rsm_mem mem;
	struct mm_struct *mm;
	unsigned long charged;
	bool writable;
	struct work_struct release;
	struct page *page[];
};

static struct workqueue_struct *release_wq;

int __init rsm_pin_init(void)
{
	release_wq = alloc_workqueue("rsm-release", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return release_wq ? 0 : -ENOMEM;
}

/* All memory is being given back by now. */
void rsm_pin_exit(void)
{
	destroy_workqueue(release_wq);
}

static struct rsm_pinned *to_pinned(const struct rsm_mem *mem)
{
	return container_of(mem, struct rsm_pinned, mem);
}

static unsigned long pinned_pfn(const struct rsm_mem *mem, unsigned long index)
{
	return page_to_pfn(to_pinned(mem)->page[index]);
}

static void *pinned_map_page(const struct rsm_mem *mem, unsigned long index)
{
	return kmap_local_page(to_pinned(mem)->page[index]);
}

static void pinned_unmap_page(const struct rsm_mem *mem, void *addr)
{
	kunmap_local(addr);
}

static struct page *pinned_page(const struct rsm_mem *mem, unsigned long index)
{
	return to_pinned(mem)->page[index];
}

static void unpin(struct rsm_pinned *pinned, unsigned long npages)
{
	unsigned long n, done;

	for (done = 0; done < npages; done += n) {
		n = min(npages - done, PIN_BATCH);
		unpin_user_pages_dirty_lock(&pinned->page[done], n,
					    pinned->mem.written);
		cond_resched();
	}
}

static void pinned_free(struct rsm_pinned *pinned)
{
	rsm_uncharge(pinned->mm, pinned->mem.npages);
	if (pinned->charged > pinned->mem.npages)
		rsm_uncharge(pinned->mm, pinned->charged - pinned->mem.npages);
	mmdrop(pinned->mm);
	kvfree(pinned);
}

static void pinned_give_back(struct rsm_pinned *pinned)
{
	unpin(pinned, pinned->mem.npages);
	pinned_free(pinned);
}

static void release_work(struct work_struct *work)
{
	pinned_give_back(container_of(work, struct rsm_pinned, release));
}

static void pinned_release(struct rsm_mem *mem)
{
	pinned_give_back(to_pinned(mem));
}

/* The work of a link does this, whose peer waits for answers: much memory may take seconds. */
static void pinned_release_later(struct rsm_mem *mem)
{
	struct rsm_pinned *pinned = to_pinned(mem);

	if (mem->npages <= PIN_BATCH) {
		pinned_give_back(pinned);
		return;
	}
	INIT_WORK(&pinned->release, release_work);
	queue_work(release_wq, &pinned->release);
}

static const struct rsm_mem_ops pinned_ops = {
	.pfn = pinned_pfn,
	.map_page = pinned_map_page,
	.unmap_page = pinned_unmap_page,
	.page = pinned_page,
	.release = pinned_release,
	.release_later = pinned_release_later,
};

static rsm_status_t pin_status(long err)
{
	switch (err) {
	case -ENOMEM:
	case -EAGAIN:
		return RSM_STS_INSUFFICIENT_MEM;
	case -EINTR:
	case -ERESTARTSYS:
		return RSM_STS_INTERRUPTED;
	default:
		return RSM_STS_BAD_ADDR;
	}
}

/*
 * Pin pages that importers may only read. A private page must be the process's own already: the
 * process's first store to a shared one would go to a copy, which is not pinned. Since 6.2 a
 * long-term pin makes that copy. Older kernels do so for a pin for writing only; FOLL_FORCE
 * allows that where the mapping is not writable. Shared memory refuses FOLL_FORCE and is never
 * copied, so a pin for reading does.
 */
static int pin_to_read(unsigned long addr, unsigned long npages, struct page **page)
{
	int got;

	if (!RSM_READ_PINS_UNRELIABLE)
		return pin_user_pages_fast(addr, npages, FOLL_LONGTERM, page);
	got = pin_user_pages_fast(addr, npages, FOLL_WRITE | FOLL_FORCE | FOLL_LONGTERM, page);
	return got == -EFAULT ? pin_user_pages_fast(addr, 1, FOLL_LONGTERM, page) : got;
}

static int pin_some(struct rsm_pinned *pinned, unsigned long addr, unsigned long done)
{
	unsigned long n = min(pinned->mem.npages - done, PIN_BATCH);

	if (fatal_signal_pending(current))
		return -EINTR;
	if (!pinned->writable)
		return pin_to_read(addr, n, &pinned->page[done]);
	return pin_user_pages_fast(addr, n, FOLL_WRITE | FOLL_LONGTERM, &pinned->page[done]);
}

static rsm_status_t pin_pages(struct rsm_pinned *pinned, unsigned long vaddr)
{
	unsigned long done = 0, npages = pinned->mem.npages;

	while (done < npages) {
		int got = pin_some(pinned, vaddr + (done << PAGE_SHIFT), done);

		if (got <= 0) {
			unpin(pinned, done);
			return pin_status(got);
		}
		done += got;
		cond_resched();
	}
	return RSM_STS_SUCCESS;
}

/*
 * How many pages the pins keep from being freed: a pin of one page of a huge page keeps the whole
 * huge page. A huge page that appears in several places of the range counts once for each.
 */
static unsigned long kept_pages(const struct rsm_pinned *pinned)
{
	struct folio *folio, *last = NULL;
	unsigned long kept = 0;

	for (unsigned long i = 0; i < pinned->mem.npages; i++) {
		folio = page_folio(pinned->page[i]);
		if (folio != last)
			kept += folio_nr_pages(folio);
		last = folio;
		if (!(i % PIN_BATCH))
			cond_resched();
	}
	return kept;
}

/* Charge the pages that the pins keep besides those of the range. */
static rsm_status_t charge_kept(struct rsm_pinned *pinned, struct rsm_loan *loan)
{
	unsigned long kept = kept_pages(pinned);

	if (kept <= pinned->mem.npages)
		return RSM_STS_SUCCESS;
	if (rsm_charge(pinned->mm, kept - pinned->mem.npages, loan))
		return RSM_STS_INSUFFICIENT_MEM;
	pinned->charged = kept;
	return RSM_STS_SUCCESS;
}

/**
 * rsm_pin_range() - pin and charge memory of the caller's process
 * @vaddr: start of the range
 * @length: bytes
 * @refused: kinds of mappings that will not do
 * @flags: those of BIND
 * @loan: room for the charge, or NULL; returned if this fails
 * @mem: where to put it; unpinned and uncharged with its last reference
 *
 * Return: RSM_SUCCESS, RSMERR_BAD_ADDR, RSMERR_PERM_DENIED,
 * RSMERR_INSUFFICIENT_MEM or RSMERR_INTERRUPTED.
 */
rsm_status_t rsm_pin_range(u64 vaddr, u64 length, vm_flags_t refused, u32 flags,
			   struct rsm_loan *loan, struct rsm_mem **mem)
{
	unsigned long npages = length >> PAGE_SHIFT;
	struct rsm_pinned *pinned;
	rsm_status_t status;

	status = rsm_range_pinnable(vaddr, length, refused, flags);
	if (status)
		return status;
	if (rsm_charge(current->mm, npages, loan))
		return RSM_STS_INSUFFICIENT_MEM;
	pinned = rsm_page_array_alloc(struct_size(pinned, page, npages),
				      GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!pinned) {
		rsm_limit_hit(RSM_LIMIT_MEMORY, length, 0, NULL);
		rsm_loan_return(loan);
		rsm_uncharge(current->mm, npages);
		return RSM_STS_INSUFFICIENT_MEM;
	}
	rsm_mem_init(&pinned->mem, &pinned_ops, npages);
	pinned->mm = current->mm;
	mmgrab(pinned->mm);
	pinned->charged = npages;
	pinned->writable = !(flags & RSM_BIND_READ);

	status = pin_pages(pinned, vaddr);
	if (status == RSM_STS_INSUFFICIENT_MEM)
		rsm_limit_hit(RSM_LIMIT_MEMORY, length, 0, NULL);
	if (status)
		goto err_free;
	status = charge_kept(pinned, loan);
	if (status)
		goto err_unpin;
	*mem = &pinned->mem;
	return RSM_STS_SUCCESS;

err_unpin:
	unpin(pinned, npages);
err_free:
	rsm_loan_return(loan);
	pinned_free(pinned);
	return status;
}

/**
 * rsm_pin_prepare() - &rsm_controller_ops.prepare: pin and watch a range
 * @exp: an export with its length set; the caller is its creator
 * @vaddr: start of the range
 * @prepared: where to put the pages and the watch
 *
 * Watches the range before pinning it: a change of the range between the check of its mappings
 * and the pin is then noticed, and rsm_pin_bind() refuses the range.
 *
 * Return: RSM_SUCCESS, RSMERR_BAD_ADDR, RSMERR_PERM_DENIED,
 * RSMERR_INSUFFICIENT_MEM or RSMERR_INTERRUPTED.
 */
rsm_status_t rsm_pin_prepare(struct rsm_export *exp, u64 vaddr, struct rsm_prepared *prepared)
{
	rsm_status_t status;

	status = rsm_watch_start(exp, vaddr, exp->length, &prepared->watch);
	if (status)
		return status;
	return rsm_pin_range(vaddr, exp->length, 0, exp->flags, prepared->loan, &prepared->mem);
}
EXPORT_SYMBOL_GPL(rsm_pin_prepare);

/**
 * rsm_pin_bind() - let importers reach the exporter's own pages
 * @exp: an export that nobody knows yet
 * @prepared: what rsm_pin_prepare() has got for it
 *
 * Return: RSM_SUCCESS, or RSMERR_BAD_ADDR if the range was lost meanwhile.
 */
rsm_status_t rsm_pin_bind(struct rsm_export *exp, struct rsm_prepared *prepared)
{
	lockdep_assert_held(&exp->lock);
	if (!rsm_watch_arm(prepared->watch, prepared->mem))
		return RSM_STS_BAD_ADDR;
	swap(exp->watch, prepared->watch);
	swap(exp->mem, prepared->mem);
	return RSM_STS_SUCCESS;
}
EXPORT_SYMBOL_GPL(rsm_pin_bind);

/**
 * rsm_pin_rebind() - let importers reach the pages of another range
 * @exp: an export bound by rsm_pin_bind()
 * @prepared: what rsm_pin_prepare() has got for the new range
 *
 * Return: RSM_SUCCESS, or RSMERR_BAD_ADDR if the new range was lost meanwhile: the
 * old one stays then.
 */
rsm_status_t rsm_pin_rebind(struct rsm_export *exp, struct rsm_prepared *prepared)
{
	lockdep_assert_held(&exp->lock);
	if (!rsm_watch_arm(prepared->watch, prepared->mem))
		return RSM_STS_BAD_ADDR;
	rsm_watch_stop(exp->watch);
	exp->watch = prepared->watch;
	prepared->watch = NULL;
	rsm_export_set_mem(exp, prepared->mem);
	prepared->mem = NULL;
	return RSM_STS_SUCCESS;
}
EXPORT_SYMBOL_GPL(rsm_pin_rebind);

/**
 * rsm_pin_unbind() - undo rsm_pin_bind()
 * @exp: the export; has no importers any more
 */
void rsm_pin_unbind(struct rsm_export *exp)
{
	lockdep_assert_held(&exp->lock);
	rsm_watch_stop(exp->watch);
	exp->watch = NULL;
	rsm_export_set_mem(exp, NULL);
}
EXPORT_SYMBOL_GPL(rsm_pin_unbind);

/*
 * Do page tables tell whether a process still sees a page that is pinned in its range? Those of
 * hugetlbfs can't be read without a fault; no other process maps a private huge page while it is
 * pinned, so its map count tells. A shared page may be mapped or not at any moment, and belongs to
 * the range until its file drops it.
 */
static bool in_page_tables(struct page *page)
{
	return PageAnon(page) && !PageHuge(page);
}

/*
 * A file first unmaps a page, which calls the notifier, and then drops the page, both with its
 * inode locked. So if the lock is free, a page that the file still has was not dropped.
 */
static enum rsm_pin_state look_in_file(struct folio *folio)
{
	enum rsm_pin_state state = RSM_PIN_BUSY;

	if (!folio_trylock(folio))
		return RSM_PIN_BUSY;
	if (!folio->mapping) {
		state = RSM_PIN_LOST;
	} else if (inode_trylock_shared(folio->mapping->host)) {
		state = RSM_PIN_KEPT;
		inode_unlock_shared(folio->mapping->host);
	}
	folio_unlock(folio);
	return state;
}

static enum rsm_pin_state look_at_page(struct page *page)
{
	struct folio *folio = page_folio(page);

	if (!folio_test_anon(folio))
		return look_in_file(folio);
	return folio_entire_mapcount(folio) > 0 ? RSM_PIN_KEPT : RSM_PIN_LOST;
}

/* Do the page tables from @addr on show @page[0] to @page[@n - 1]? */
static enum rsm_pin_state look_in_page_tables(struct mm_struct *mm, unsigned long addr,
					      struct page **page, unsigned long n)
{
	struct page *now[RSM_PIN_LOOK_MAX];
	long got;
	bool same;

	if (!mmap_read_trylock(mm))
		return RSM_PIN_BUSY;
	/* FOLL_FORCE also reads entries that NUMA balancing has made inaccessible. */
	got = rsm_get_remote(mm, addr, n, FOLL_NOFAULT | FOLL_FORCE, now);
	mmap_read_unlock(mm);
	same = got == (long)n && !memcmp(page, now, n * sizeof(*now));
	while (got > 0)
		put_page(now[--got]);
	return same ? RSM_PIN_KEPT : RSM_PIN_LOST;
}

/**
 * rsm_pin_charged_to() - what an address space is charged for an export's pages
 * @mem: the pages
 * @mm: the address space
 *
 * Return: how many pages are charged to @mm until the last reference on @mem is dropped; 0 for
 * memory that is not pinned, or charged to another one.
 */
unsigned long rsm_pin_charged_to(const struct rsm_mem *mem, const struct mm_struct *mm)
{
	if (mem->ops != &pinned_ops || to_pinned(mem)->mm != mm)
		return 0;
	return to_pinned(mem)->charged;
}

/**
 * rsm_pin_look() - does a process still see the pages pinned in its range?
 * @mem: the pinned pages
 * @mm: the process's address space, with a user
 * @vaddr: start of the range
 * @first: the first page to look at
 * @n: how many, at most RSM_PIN_LOOK_MAX
 *
 * Faults nothing in and does not sleep.
 *
 * Return: RSM_PIN_KEPT, RSM_PIN_LOST, or RSM_PIN_BUSY when another task holds mmap_lock or
 * the lock of a file's page or inode.
 */
enum rsm_pin_state rsm_pin_look(struct rsm_mem *mem, struct mm_struct *mm, u64 vaddr,
				unsigned long first, unsigned long n)
{
	struct page **page = &to_pinned(mem)->page[first];
	enum rsm_pin_state state = RSM_PIN_KEPT;
	unsigned long done = 0, run;

	while (done < n && state == RSM_PIN_KEPT) {
		for (run = 0; done + run < n && in_page_tables(page[done + run]); run++)
			;
		if (run) {
			state = look_in_page_tables(mm, vaddr + ((first + done) << PAGE_SHIFT),
						    &page[done], run);
			done += run;
		} else {
			state = look_at_page(page[done++]);
		}
	}
	return state;
}
