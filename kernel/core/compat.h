/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between the kernels we build for (6.1 and later), each with the
 * newer kernel's name for the thing.
 */
#ifndef RSM_COMPAT_H
#define RSM_COMPAT_H

#include <linux/mm.h>
#include <linux/module.h>
#include <linux/timer.h>
#include <linux/userfaultfd_k.h>
#include <linux/version.h>
#include <net/genetlink.h>

#if KERNEL_VERSION(6, 3, 0) > LINUX_VERSION_CODE
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags &= ~flags;
}
#endif

#if KERNEL_VERSION(6, 2, 0) > LINUX_VERSION_CODE
#define timer_delete_sync	del_timer_sync
#endif

/* Called from_timer() until 6.15. */
#ifndef timer_container_of
#define timer_container_of(var, callback_timer, timer_fieldname) \
	from_timer(var, callback_timer, timer_fieldname)
#endif

/* Page table entries without a page: until 6.18 they were called swap entries. */
#if KERNEL_VERSION(6, 19, 0) <= LINUX_VERSION_CODE
#include <linux/leafops.h>
#else
#include <linux/swapops.h>
#define pte_is_marker(pte)	is_pte_marker(pte)
#endif

/* Named pte_mkuffd_wp() while userfaultfd could protect pages against writes only. */
#ifndef UFFDIO_REGISTER_MODE_RWP
#define pte_mkuffd(pte)		pte_mkuffd_wp(pte)
#endif

/* Called struct blake2s_state until 6.18. */
#if KERNEL_VERSION(6, 19, 0) > LINUX_VERSION_CODE
#define blake2s_ctx	blake2s_state
#endif

/* Called system_unbound_wq until 6.16, and for some releases by either name. */
#if KERNEL_VERSION(6, 18, 0) > LINUX_VERSION_CODE
#define system_dfl_wq	system_unbound_wq
#endif

/*
 * Newer kernels have module_is_coming(). A part that is built in has no module, and kernels without
 * modules have no state of one.
 */
static inline bool rsm_module_is_coming(const struct module *owner)
{
#ifdef CONFIG_MODULES
	return owner && owner->state == MODULE_STATE_COMING;
#else
	return false;
#endif
}

/* For a local variable that is not to be zeroed by CONFIG_INIT_STACK_ALL_ZERO. */
#ifndef __uninitialized
#if __has_attribute(__uninitialized__)
#define __uninitialized __attribute__((__uninitialized__))
#else
#define __uninitialized
#endif
#endif

/* Before 6.2 a store may replace a private page that is pinned for reading only. */
#define RSM_READ_PINS_UNRELIABLE (KERNEL_VERSION(6, 2, 0) > LINUX_VERSION_CODE)

/* Kernels before 6.5 can also return an array of VMAs. */
static inline long rsm_get_remote(struct mm_struct *mm, unsigned long start,
				  unsigned long npages, unsigned int flags,
				  struct page **pages)
{
#if KERNEL_VERSION(6, 5, 0) > LINUX_VERSION_CODE
	return get_user_pages_remote(mm, start, npages, flags, pages, NULL, NULL);
#else
	return get_user_pages_remote(mm, start, npages, flags, pages, NULL);
#endif
}

/* Named GENL_UNS_ADMIN_PERM before 6.7, and before the stable kernels that adopted the new name. */
#ifndef GENL_MCAST_CAP_NET_ADMIN
#define GENL_MCAST_CAP_NET_ADMIN GENL_UNS_ADMIN_PERM
#endif

static inline struct nlattr **rsm_dump_attrs(struct netlink_callback *cb)
{
#if KERNEL_VERSION(6, 6, 0) > LINUX_VERSION_CODE
	return genl_dumpit_info(cb)->attrs;
#else
	return genl_dumpit_info(cb)->info.attrs;
#endif
}

#endif /* RSM_COMPAT_H */
