/* SPDX-License-Identifier: MIT */
/*
 * The common part of RSMAPI programs and network plug-ins: result codes,
 * segment id ranges, permissions, flags (all in <linux/rsm_common.h>, which the
 * kernel agent shares) and the base types.
 *
 * Programs include <rsmapi.h>.
 */
#ifndef _SYS_RSM_RSM_COMMON_H
#define _SYS_RSM_RSM_COMMON_H

#include <stddef.h>
#include <stdint.h>
#include <sys/param.h>
#include <sys/types.h>

#include <linux/rsm_common.h>

/*
 * Names that Solaris headers supply and Linux ones lack. Each definition can
 * be switched off by a macro of the same name, for a program that brings its
 * own.
 */
#if !defined(_RSM_UCHAR_T) && !defined(uchar_t)
#define _RSM_UCHAR_T
typedef unsigned char uchar_t;
#endif
#if !defined(_RSM_USHORT_T) && !defined(ushort_t)
#define _RSM_USHORT_T
typedef unsigned short ushort_t;
#endif
#if !defined(_RSM_UINT_T) && !defined(uint_t)
#define _RSM_UINT_T
typedef unsigned int uint_t;
#endif
#if !defined(_RSM_ULONG_T) && !defined(ulong_t)
#define _RSM_ULONG_T
typedef unsigned long ulong_t;
#endif
#if !defined(_RSM_OFFSET_T) && !defined(offset_t)
#define _RSM_OFFSET_T
/* g++ -std=c++98 -pedantic takes no __extension__ for an answer. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wlong-long"
__extension__ typedef long long offset_t;
#pragma GCC diagnostic pop
#endif
/* glibc defines caddr_t together with daddr_t, and in strict modes not at all. */
#if defined(__GLIBC__) && !defined(__daddr_t_defined) && !defined(_RSM_CADDR_T) && !defined(caddr_t)
#define _RSM_CADDR_T
typedef char *caddr_t;
#endif

/* Size of a controller name; part of the layout of the topology. */
#ifndef MAXNAMELEN
#define MAXNAMELEN 256
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Address of a controller on its interconnect. */
typedef uint64_t rsm_addr_t;

/** Id of a node. */
typedef uint32_t rsm_node_id_t;

/** Id of a published segment, unique on the node that exports it. */
typedef uint32_t rsm_memseg_id_t;

/** RSM_PERM_* of a connection or mapping, or the nine bits of an access list entry. */
typedef uint32_t rsm_permission_t;

/** Widths of an access in bytes; or-ed together in controller attributes. */
typedef enum {
	RSM_DAS8 = 1,
	RSM_DAS16 = 2,
	RSM_DAS32 = 4,
	RSM_DAS64 = 8
} rsm_access_size_t;

/** The span of a barrier. This implementation: always the segment. */
typedef enum {
	RSM_BARRIER_SEGMENT = 0x01,
	RSM_BARRIER_NODE = 0x02,
	RSM_BARRIER_SEGMENT_THREAD = 0x11,
	RSM_BARRIER_NODE_THREAD = 0x12
} rsm_barrier_type_t;

/** The barrier type that every program should ask for. */
#define RSM_BAR_DEFAULT RSM_BARRIER_SEGMENT

/** The side that puts barriers around put and get: the program, or each call by itself. */
typedef enum {
	RSM_BARRIER_MODE_EXPLICIT,
	RSM_BARRIER_MODE_IMPLICIT
} rsm_barrier_mode_t;

/** Part of a driver's barrier; no RSMAPI function uses it. */
typedef union {
	uint64_t u64;
	int64_t i64;
	uint32_t u32[2];
	int32_t i32[2];
	uint16_t u16[4];
	int16_t i16[4];
	uint8_t u8[8];
	int8_t i8[8];
	uchar_t uc[8];
	char c[8];
	void *vp;
} rsm_barrier_component_t;

/** A driver's barrier; no RSMAPI function uses it. */
typedef struct {
	rsm_barrier_component_t comp[4];
} rsm_barrier_t;

#ifdef __cplusplus
}
#endif

#endif /* _SYS_RSM_RSM_COMMON_H */
