/* SPDX-License-Identifier: MIT */
/*
 * Types of the Solaris network plug-in interface, so that sources that name
 * them compile. Not for applications. librsm loads no plug-ins: on Linux a
 * controller is a kernel module that registers with rsm.ko.
 */
#ifndef _SYS_RSM_RSMNDI_H
#define _SYS_RSM_RSMNDI_H

#include <sys/rsm/rsmapi_common.h>

#if !defined(_RSM_BOOLEAN_T) && !defined(B_TRUE)
#define _RSM_BOOLEAN_T
typedef enum { B_FALSE = 0, B_TRUE = 1 } boolean_t;
#endif
#if !defined(_RSM_MINOR_T) && !defined(minor_t)
#define _RSM_MINOR_T
typedef uint32_t minor_t;
#endif

/** Version of rsm_segops_t. */
#define RSM_LIB_VERSION 1

/** Version of rsm_lib_funcs_t. */
#define RSM_LIB_FUNCS_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

/** The barrier object, as a plug-in sees it. */
typedef struct rsm_barrier *rsm_barrier_handle_t;

/** Which operations need the segment to be mapped. */
typedef struct {
	boolean_t rsm_putget_map_reqd;
	boolean_t rsm_scatgath_map_reqd;
} rsm_ndlib_attr_t;

/** Functions of the library for a plug-in. */
typedef struct {
	int version;
	int (*rsm_get_hwaddr)(rsmapi_controller_handle_t, rsm_node_id_t, rsm_addr_t *);
	int (*rsm_get_nodeid)(rsmapi_controller_handle_t, rsm_addr_t, rsm_node_id_t *);
} rsm_lib_funcs_t;

/** Functions of a plug-in for the library. */
typedef struct {
	int rsm_version;
	int (*rsm_memseg_import_connect)(rsmapi_controller_handle_t, rsm_node_id_t, rsm_memseg_id_t,
					 rsm_permission_t, rsm_memseg_import_handle_t *);
	int (*rsm_memseg_import_disconnect)(rsm_memseg_import_handle_t);
	int (*rsm_memseg_import_get8)(rsm_memseg_import_handle_t, off_t, uint8_t *, ulong_t, boolean_t);
	int (*rsm_memseg_import_get16)(rsm_memseg_import_handle_t, off_t, uint16_t *, ulong_t, boolean_t);
	int (*rsm_memseg_import_get32)(rsm_memseg_import_handle_t, off_t, uint32_t *, ulong_t, boolean_t);
	int (*rsm_memseg_import_get64)(rsm_memseg_import_handle_t, off_t, uint64_t *, ulong_t, boolean_t);
	int (*rsm_memseg_import_get)(rsm_memseg_import_handle_t, off_t, void *, size_t);
	int (*rsm_memseg_import_put8)(rsm_memseg_import_handle_t, off_t, uint8_t *, ulong_t, boolean_t);
	int (*rsm_memseg_import_put16)(rsm_memseg_import_handle_t, off_t, uint16_t *, ulong_t, boolean_t);
	int (*rsm_memseg_import_put32)(rsm_memseg_import_handle_t, off_t, uint32_t *, ulong_t, boolean_t);
	int (*rsm_memseg_import_put64)(rsm_memseg_import_handle_t, off_t, uint64_t *, ulong_t, boolean_t);
	int (*rsm_memseg_import_put)(rsm_memseg_import_handle_t, off_t, void *, size_t);
	int (*rsm_memseg_import_init_barrier)(rsm_memseg_import_handle_t, rsm_barrier_type_t,
					      rsm_barrier_handle_t);
	int (*rsm_memseg_import_open_barrier)(rsm_barrier_handle_t);
	int (*rsm_memseg_import_order_barrier)(rsm_barrier_handle_t);
	int (*rsm_memseg_import_close_barrier)(rsm_barrier_handle_t);
	int (*rsm_memseg_import_destroy_barrier)(rsm_barrier_handle_t);
	int (*rsm_memseg_import_get_mode)(rsm_memseg_import_handle_t, rsm_barrier_mode_t *);
	int (*rsm_memseg_import_set_mode)(rsm_memseg_import_handle_t, rsm_barrier_mode_t);
	int (*rsm_memseg_import_putv)(rsm_scat_gath_t *);
	int (*rsm_memseg_import_getv)(rsm_scat_gath_t *);
	int (*rsm_create_localmemory_handle)(rsmapi_controller_handle_t, rsm_localmemory_handle_t *,
					     caddr_t, size_t);
	int (*rsm_free_localmemory_handle)(rsm_localmemory_handle_t);
	int (*rsm_register_lib_funcs)(rsm_lib_funcs_t *);
	int (*rsm_get_lib_attr)(rsm_ndlib_attr_t *);
	int (*rsm_closedevice)(rsmapi_controller_handle_t);
} rsm_segops_t;

#ifdef __cplusplus
}
#endif

#endif /* _SYS_RSM_RSMNDI_H */
