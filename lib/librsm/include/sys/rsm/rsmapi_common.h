/* SPDX-License-Identifier: MIT */
/*
 * Handles and structures of RSMAPI. Programs include <rsmapi.h>.
 */
#ifndef _SYS_RSM_RSMAPI_COMMON_H
#define _SYS_RSM_RSMAPI_COMMON_H

#include <sys/rsm/rsm_common.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A connection to another process's segment. */
typedef struct __rsm_memseg_import_handle *rsm_memseg_import_handle_t;

/** A segment of this process's memory. */
typedef struct __rsm_memseg_export_handle *rsm_memseg_export_handle_t;

/** Local memory prepared for scatter-gather transfers. */
typedef struct __rsm_localmemory_handle *rsm_localmemory_handle_t;

/** An opened controller. */
typedef struct __rsmapi_controller_handle *rsmapi_controller_handle_t;

/** Attributes of a controller. A limit of 0 means that it sets none. */
typedef struct {
	uint_t attr_direct_access_sizes;     /**< RSM_DAS* a CPU may use on a mapping */
	uint_t attr_atomic_sizes;            /**< RSM_DAS* that are indivisible */
	size_t attr_page_size;               /**< alignment of exports, bytes */
	size_t attr_max_export_segment_size; /**< largest segment, bytes */
	size_t attr_tot_export_segment_size; /**< all segments together, bytes */
	ulong_t attr_max_export_segments;    /**< number of segments */
	size_t attr_max_import_map_size;     /**< largest mapping, bytes */
	size_t attr_tot_import_map_size;     /**< all mappings together, bytes */
	ulong_t attr_max_import_segments;    /**< number of connections */
} rsmapi_controller_attr_t;

/** The rights of one node's users: octal digits of 4 (read) and 2 (write). */
typedef struct {
	rsm_node_id_t ae_node;
	rsm_permission_t ae_permission;
} rsmapi_access_entry_t;

/** A barrier. The caller provides the object and leaves its members alone. */
typedef struct {
	void *seg;
	uint16_t gnum;
	void *privdata;
} rsmapi_barrier_t;

/** One piece of a scatter-gather transfer. */
typedef struct {
	int io_type; /**< RSM_HANDLE_TYPE or RSM_VA_TYPE */
	union {
		rsm_localmemory_handle_t handle; /**< RSM_HANDLE_TYPE */
		caddr_t vaddr;                   /**< RSM_VA_TYPE */
	} local;
	size_t local_offset;    /**< bytes from the start of the local memory */
	size_t remote_offset;   /**< bytes from the start of the import segment */
	size_t transfer_length; /**< bytes */
} rsm_iovec_t;

/** A scatter-gather transfer. */
typedef struct {
	rsm_node_id_t local_nodeid;  /**< not looked at */
	ulong_t io_request_count;    /**< entries in iovec, 1 to RSM_MAX_SGIOREQS */
	ulong_t io_residual_count;   /**< out: entries not completed */
	uint_t flags;                /**< RSM_IMPLICIT_SIGPOST, RSM_SIGPOST_NO_ACCUMULATE */
	rsm_memseg_import_handle_t remote_handle;
	rsm_iovec_t *iovec;
} rsm_scat_gath_t;

#ifdef __cplusplus
}
#endif

#endif /* _SYS_RSM_RSMAPI_COMMON_H */
