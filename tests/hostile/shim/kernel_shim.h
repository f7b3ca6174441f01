/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's part that kernel/ivshmem/layout.c needs, for a program: see ../CMakeLists.txt. */
#ifndef RSM_HOSTILE_KERNEL_SHIM_H
#define RSM_HOSTILE_KERNEL_SHIM_H

#include <endian.h>
#include <errno.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t u32;
typedef uint64_t u64;

/* As in the kernel, without a text. */
#define static_assert(condition) _Static_assert(condition, #condition)

#define U16_MAX UINT16_MAX
#define PAGE_SHIFT 12
#define PAGE_SIZE (1UL << PAGE_SHIFT)
#define round_up(x, y) (((x) + (y) - 1) & ~((y) - 1))
#define PAGE_ALIGN(x) round_up((u64)(x), PAGE_SIZE)

#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value) (*(volatile __typeof__(x) *)&(x) = (value))
#define sync_cmpxchg(p, old, new) __sync_val_compare_and_swap(p, old, new)
#define virt_store_release(p, value) __atomic_store_n(p, value, __ATOMIC_RELEASE)

#define cpu_to_le32(x) htole32(x)
#define cpu_to_le64(x) htole64(x)
#define le32_to_cpu(x) le32toh(x)
#define le64_to_cpu(x) le64toh(x)

#endif /* RSM_HOSTILE_KERNEL_SHIM_H */
