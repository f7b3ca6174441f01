// SPDX-License-Identifier: GPL-2.0
/*
 * "window0": a controller whose segments live in memory of its own. Binding
 * moves the exporter's contents there; the exporter then maps its handle to
 * see what importers see.
 */

#include "testctl.h"

#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/wait.h>

#define MAX_ORDER_USED	4

/**
 * struct window_mem - a piece of the window
 * @mem: as the core sees it
 * @pages: contiguous pages
 * @order: how many
 */
struct window_mem {
	struct rsm_mem mem;
	struct page *pages;
	unsigned int order;
};

static struct window_mem *to_window(const struct rsm_mem *mem)
{
	return container_of(mem, struct window_mem, mem);
}

static unsigned long window_pfn(const struct rsm_mem *mem, unsigned long index)
{
	return page_to_pfn(to_window(mem)->pages) + index;
}

static DECLARE_WAIT_QUEUE_HEAD(copy_wait);
static bool hold_copies;
static bool copy_held;

static int set_hold_copies(const char *val, const struct kernel_param *kp)
{
	int err = param_set_bool(val, kp);

	wake_up_all(&copy_wait);
	return err;
}

static const struct kernel_param_ops hold_copies_ops = {
	.set = set_hold_copies,
	.get = param_get_bool,
};
module_param_cb(hold_copies, &hold_copies_ops, &hold_copies, 0600);
MODULE_PARM_DESC(hold_copies, "Who copies contents of window0 waits until this is 0");
module_param(copy_held, bool, 0400);
MODULE_PARM_DESC(copy_held, "Somebody has waited because of that");

static void *window_map_page(const struct rsm_mem *mem, unsigned long index)
{
	if (READ_ONCE(hold_copies)) {
		WRITE_ONCE(copy_held, true);
		wait_event(copy_wait, !READ_ONCE(hold_copies));
	}
	return page_address(to_window(mem)->pages) + (index << PAGE_SHIFT);
}

static void window_unmap_page(const struct rsm_mem *mem, void *addr)
{
}

static void window_release(struct rsm_mem *mem)
{
	struct window_mem *w = to_window(mem);

	__free_pages(w->pages, w->order);
	kfree(w);
}

static const struct rsm_mem_ops window_mem_ops = {
	.owner = THIS_MODULE,
	.pfn = window_pfn,
	.map_page = window_map_page,
	.unmap_page = window_unmap_page,
	.release = window_release,
};

static struct window_mem *window_alloc(u64 length)
{
	struct window_mem *w = kzalloc(sizeof(*w), GFP_KERNEL_ACCOUNT);

	if (!w)
		return NULL;
	w->order = get_order(length);
	w->pages = alloc_pages(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_COMP, w->order);
	if (!w->pages) {
		kfree(w);
		return NULL;
	}
	rsm_mem_init(&w->mem, &window_mem_ops, length >> PAGE_SHIFT);
	return w;
}

/* Zeroed memory for a segment, which belongs to the caller; NULL if there is none. */
struct rsm_mem *testctl_window_alloc(u64 length)
{
	struct window_mem *w;

	if (length > PAGE_SIZE << MAX_ORDER_USED)
		return NULL;
	w = window_alloc(length);
	return w ? &w->mem : NULL;
}

static rsm_status_t window_bind(struct rsm_export *exp, struct rsm_prepared *prepared)
{
	struct window_mem *w = window_alloc(exp->length);
	rsm_status_t status;

	if (!w)
		return RSM_STS_INSUFFICIENT_RESOURCES;
	status = rsm_window_bind(exp, prepared, &w->mem);
	if (status)
		rsm_mem_put(&w->mem);
	return status;
}

static const struct rsm_controller_ops window_ops = {
	.owner = THIS_MODULE,
	.prepare = rsm_window_prepare,
	.bind = window_bind,
	.rebind = rsm_window_rebind,
	.unbind = rsm_window_unbind,
	.check_acl = testctl_check_acl,
	.connect = testctl_connect,
	.disconnect = rsm_local_disconnect,
	.map = rsm_map_mem,
	.post = rsm_local_post,
	.peers = testctl_peers,
};

struct rsm_controller testctl_window = {
	.name = "window0",
	.ops = &window_ops,
	.attr = {
		.page_size = PAGE_SIZE,
		.max_export_size = PAGE_SIZE << MAX_ORDER_USED,
		.hwaddr = 0x20,
	},
};
