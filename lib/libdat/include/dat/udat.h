/* SPDX-License-Identifier: MIT */
/*
 * uDAPL 1.2: user Direct Access Programming Library. This is the header that programs include; link
 * with -ldat. <dat/dat_functions.h> has the rules common to all functions.
 */
#ifndef _UDAT_H_
#define _UDAT_H_

#include <dat/udat_config.h>

#include <dat/dat_platform_specific.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What <dat/dat.h> needs ------------------------------------------------------------------ */

/** Kinds of memory that dat_lmr_create() registers. */
typedef enum dat_mem_type {
	DAT_MEM_TYPE_VIRTUAL = 0x00,        /**< memory of this process: for_va */
	DAT_MEM_TYPE_LMR = 0x01,            /**< that of another LMR: for_lmr_handle */
	DAT_MEM_TYPE_SHARED_VIRTUAL = 0x02, /**< shared between processes: for_shared_memory */
	DAT_MEM_TYPE_SO_VIRTUAL = 0x03      /**< Solaris: as the first, strongly ordered */
} DAT_MEM_TYPE;

typedef enum dat_handle_type {
	DAT_HANDLE_TYPE_CR,
	DAT_HANDLE_TYPE_EP,
	DAT_HANDLE_TYPE_EVD,
	DAT_HANDLE_TYPE_IA,
	DAT_HANDLE_TYPE_LMR,
	DAT_HANDLE_TYPE_PSP,
	DAT_HANDLE_TYPE_PZ,
	DAT_HANDLE_TYPE_RMR,
	DAT_HANDLE_TYPE_RSP,
	DAT_HANDLE_TYPE_CNO,
	DAT_HANDLE_TYPE_SRQ
} DAT_HANDLE_TYPE;

/** State of an EVD: one of each of the three groups. */
typedef enum dat_evd_state {
	DAT_EVD_STATE_ENABLED = 0x01, /**< triggers its CNO */
	DAT_EVD_STATE_DISABLED = 0x02,

	DAT_EVD_STATE_WAITABLE = 0x04,
	DAT_EVD_STATE_UNWAITABLE = 0x08,

	DAT_EVD_STATE_CONFIG_NOTIFY = 0x10,
	DAT_EVD_STATE_CONFIG_SOLICITED = 0x20,
	DAT_EVD_STATE_CONFIG_THRESHOLD = 0x30
} DAT_EVD_STATE;

typedef enum dat_evd_param_mask {
	DAT_EVD_FIELD_IA_HANDLE = 0x01,
	DAT_EVD_FIELD_EVD_QLEN = 0x02,
	DAT_EVD_FIELD_EVD_STATE = 0x04,
	DAT_EVD_FIELD_CNO = 0x08,
	DAT_EVD_FIELD_EVD_FLAGS = 0x10,
	DAT_EVD_FIELD_ALL = 0x1F
} DAT_EVD_PARAM_MASK;

typedef DAT_UINT64 DAT_PROVIDER_ATTR_MASK;

#ifdef __cplusplus
}
#endif

#include <dat/dat.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Event dispatcher, consumer notification object ------------------------------------------ */

typedef DAT_HANDLE DAT_CNO_HANDLE; /**< consumer notification object */

/** The answer of dat_evd_query(). */
struct dat_evd_param {
	DAT_IA_HANDLE ia_handle;
	DAT_COUNT evd_qlen;
	DAT_EVD_STATE evd_state;
	DAT_CNO_HANDLE cno_handle;
	DAT_EVD_FLAGS evd_flags;
};

/**
 * A thread of the provider calls the function when an EVD triggers a CNO. The function must
 * not block. A NULL EVD means that the library is freeing the CNO.
 */
typedef void (*DAT_AGENT_FUNC)(DAT_PVOID instance_data, DAT_EVD_HANDLE evd_handle);

/** A function to call and its argument. Passed by value. */
typedef struct dat_os_wait_proxy_agent {
	DAT_PVOID instance_data;
	DAT_AGENT_FUNC proxy_agent_func;
} DAT_OS_WAIT_PROXY_AGENT;

/** Nothing to call. */
#ifdef __cplusplus
#define DAT_OS_WAIT_PROXY_AGENT_NULL (DAT_OS_WAIT_PROXY_AGENT())
#else
#define DAT_OS_WAIT_PROXY_AGENT_NULL \
	(__extension__(DAT_OS_WAIT_PROXY_AGENT){ (DAT_PVOID)NULL, (DAT_AGENT_FUNC)NULL })
#endif

/** The answer of dat_cno_query(). */
typedef struct dat_cno_param {
	DAT_IA_HANDLE ia_handle;
	DAT_OS_WAIT_PROXY_AGENT agent;
} DAT_CNO_PARAM;

typedef enum dat_cno_param_mask {
	DAT_CNO_FIELD_IA_HANDLE = 0x1,
	DAT_CNO_FIELD_AGENT = 0x2,
	DAT_CNO_FIELD_ALL = 0x3
} DAT_CNO_PARAM_MASK;

/* ---- Local memory region --------------------------------------------------------------------- */

/** Points at what names shared memory: all 40 bytes are compared, it is no string. */
#define DAT_LMR_COOKIE_SIZE 40
typedef char (*DAT_LMR_COOKIE)[DAT_LMR_COOKIE_SIZE];

typedef struct dat_shared_memory {
	DAT_PVOID virtual_address; /**< where this process has it */
	DAT_LMR_COOKIE shared_memory_id;
} DAT_SHARED_MEMORY;

/** The memory to register. Passed by value; DAT_MEM_TYPE selects the member. */
typedef union dat_region_description {
	DAT_PVOID for_va;
	DAT_LMR_HANDLE for_lmr_handle;
	DAT_SHARED_MEMORY for_shared_memory;
} DAT_REGION_DESCRIPTION;

/** The answer of dat_lmr_query(). */
struct dat_lmr_param {
	DAT_IA_HANDLE ia_handle;
	DAT_MEM_TYPE mem_type;
	DAT_REGION_DESCRIPTION region_desc;
	DAT_VLEN length;
	DAT_PZ_HANDLE pz_handle;
	DAT_MEM_PRIV_FLAGS mem_priv;
	DAT_LMR_CONTEXT lmr_context;
	DAT_RMR_CONTEXT rmr_context;
	DAT_VLEN registered_size;
	DAT_VADDR registered_address;
};

#ifdef __cplusplus
}
#endif

#include <dat/udat_vendor_specific.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Functions: interface adapter ------------------------------------------------------------ */

/**
 * dat_ia_openv - open an IA
 * @ia_name: its name in dat.conf; a prefix RO_AWARE_ is taken off
 * @async_evd_min_qlen: events that a new asynchronous EVD must hold
 * @async_evd_handle: in: DAT_HANDLE_NULL: make an asynchronous EVD, which dat_ia_close() frees;
 *	DAT_EVD_ASYNC_EXISTS: make none; else one of another instance of this IA. out: the EVD, or
 *	DAT_EVD_OUT_OF_SCOPE
 * @ia_handle: out: this instance of the IA
 * @dapl_major: version wanted
 * @dapl_minor: version wanted; a later one will do
 * @thread_safety: DAT_TRUE: only a provider that is thread-safe will do
 *
 * Example: examples/demo-dat-common.c
 *
 * INVALID_PARAMETER: ARG1 (no name, or too long), ARG2 (not positive), ARG3 (@async_evd_handle is
 * NULL), ARG7 (neither DAT_TRUE nor DAT_FALSE). INVALID_HANDLE: IA (@ia_handle is NULL), EVD_ASYNC
 * (not one of an instance of this IA).
 * PROVIDER_NOT_FOUND: NAME_NOT_REGISTERED, MAJOR_NOT_FOUND, MINOR_NOT_FOUND,
 * THREAD_SAFETY_NOT_FOUND. INVALID_STATE (the library was shut down). INSUFFICIENT_RESOURCES:
 * MEMORY, DEVICE, TEVD.
 */
DAT_RETURN dat_ia_openv(const DAT_NAME_PTR ia_name, DAT_COUNT async_evd_min_qlen,
			DAT_EVD_HANDLE *async_evd_handle, DAT_IA_HANDLE *ia_handle,
			DAT_UINT32 dapl_major, DAT_UINT32 dapl_minor, DAT_BOOLEAN thread_safety);

/** dat_ia_open - open an IA of the version and thread safety that <dat/udat_config.h> says */
#define dat_ia_open(name, qlen, async_evd, ia) \
	dat_ia_openv((name), (qlen), (async_evd), (ia), DAT_VERSION_MAJOR, DAT_VERSION_MINOR, \
		     DAT_THREADSAFE)

/* ---- Functions: event dispatcher ------------------------------------------------------------- */

/**
 * dat_evd_create - make an event dispatcher
 * @ia_handle: its IA
 * @evd_min_qlen: events that it must hold
 * @cno_handle: CNO that it triggers, or DAT_HANDLE_NULL
 * @evd_flags: streams that may feed it
 * @evd_handle: out: the EVD, enabled and waitable
 *
 * INVALID_HANDLE: CNO (@cno_handle is no live CNO of this IA). INVALID_PARAMETER: ARG2 (not
 * positive), ARG4 (no flag, or undefined ones), ARG5 (@evd_handle is NULL).
 * INSUFFICIENT_RESOURCES: MEMORY, TEVD.
 */
DAT_RETURN dat_evd_create(DAT_IA_HANDLE ia_handle, DAT_COUNT evd_min_qlen,
			  DAT_CNO_HANDLE cno_handle, DAT_EVD_FLAGS evd_flags,
			  DAT_EVD_HANDLE *evd_handle);

/**
 * dat_evd_modify_cno - let an EVD trigger another CNO
 * @evd_handle: the EVD
 * @cno_handle: the CNO, or DAT_HANDLE_NULL for none
 *
 * MT: unsafe.
 *
 * INVALID_HANDLE: CNO (@cno_handle is no live CNO of this IA).
 */
DAT_RETURN dat_evd_modify_cno(DAT_EVD_HANDLE evd_handle, DAT_CNO_HANDLE cno_handle);

/**
 * dat_evd_enable - let an EVD trigger its CNO
 * @evd_handle: the EVD
 */
DAT_RETURN dat_evd_enable(DAT_EVD_HANDLE evd_handle);

/**
 * dat_evd_disable - keep an EVD from triggering its CNO
 * @evd_handle: the EVD
 */
DAT_RETURN dat_evd_disable(DAT_EVD_HANDLE evd_handle);

/**
 * dat_evd_wait - wait for events and take the first
 * @evd_handle: the EVD; one thread at a time can wait
 * @timeout: microseconds; 0 only polls; DAT_TIMEOUT_INFINITE
 * @threshold: events that must be queued, from 1 to the length of the queue
 * @event: out: the event
 * @nmore: out: events left; also on time-out and on a signal
 *
 * INVALID_PARAMETER: ARG3 (threshold out of range), ARG4 (@event is NULL), ARG5 (@nmore is
 * NULL). INVALID_STATE: EVD_WAITER (another thread waits), EVD_UNWAITABLE (waiting is forbidden,
 * or was while the thread waited), EVD_CONFIG_NOTIFY or EVD_CONFIG_SOLICITED (threshold above
 * 1), none (drained after an overflow). TIMEOUT_EXPIRED. INTERRUPTED_CALL (a signal). ABORT (the IA
 * is being closed).
 */
DAT_RETURN dat_evd_wait(DAT_EVD_HANDLE evd_handle, DAT_TIMEOUT timeout, DAT_COUNT threshold,
			DAT_EVENT *event, DAT_COUNT *nmore);

/**
 * dat_evd_set_unwaitable - forbid waiting for events, and end the wait of a thread
 * @evd_handle: the EVD
 */
DAT_RETURN dat_evd_set_unwaitable(DAT_EVD_HANDLE evd_handle);

/**
 * dat_evd_clear_unwaitable - allow waiting for events
 * @evd_handle: the EVD
 */
DAT_RETURN dat_evd_clear_unwaitable(DAT_EVD_HANDLE evd_handle);

/* ---- Functions: consumer notification object ------------------------------------------------- */

/**
 * dat_cno_create - make a consumer notification object
 * @ia_handle: its IA
 * @agent: called when it is triggered, or DAT_OS_WAIT_PROXY_AGENT_NULL
 * @cno_handle: out: the CNO
 *
 * INVALID_PARAMETER: ARG3 (@cno_handle is NULL). INSUFFICIENT_RESOURCES: MEMORY.
 */
DAT_RETURN dat_cno_create(DAT_IA_HANDLE ia_handle, DAT_OS_WAIT_PROXY_AGENT agent,
			  DAT_CNO_HANDLE *cno_handle);

/**
 * dat_cno_modify_agent - change what is called when a CNO is triggered
 * @cno_handle: the CNO
 * @agent: called from now on, or DAT_OS_WAIT_PROXY_AGENT_NULL
 *
 * MT: unsafe.
 */
DAT_RETURN dat_cno_modify_agent(DAT_CNO_HANDLE cno_handle, DAT_OS_WAIT_PROXY_AGENT agent);

/**
 * dat_cno_query - ask for the parameters of a CNO
 * @cno_handle: the CNO
 * @cno_param_mask: DAT_CNO_FIELD_* that are wanted
 * @cno_param: out: the parameters
 *
 * MT: unsafe.
 */
DAT_RETURN dat_cno_query(DAT_CNO_HANDLE cno_handle, DAT_CNO_PARAM_MASK cno_param_mask,
			 DAT_CNO_PARAM *cno_param);

/**
 * dat_cno_free - free a CNO
 * @cno_handle: the CNO; dead afterwards
 *
 * MT: unsafe.
 *
 * INVALID_STATE: CNO_IN_USE (an EVD triggers it, or a thread waits).
 */
DAT_RETURN dat_cno_free(DAT_CNO_HANDLE cno_handle);

/**
 * dat_cno_wait - wait for a trigger
 * @cno_handle: the CNO; it remembers a trigger that came while no thread waited
 * @timeout: microseconds; 0 only polls; DAT_TIMEOUT_INFINITE
 * @evd_handle: out: EVD that may have events; DAT_HANDLE_NULL: the last EVD left the CNO, or an
 *	error
 *
 * INVALID_PARAMETER: ARG3 (@evd_handle is NULL). QUEUE_EMPTY (the time-out expired).
 * INTERRUPTED_CALL (a signal). INVALID_STATE: CNO_DEAD (the CNO is being freed).
 */
DAT_RETURN dat_cno_wait(DAT_CNO_HANDLE cno_handle, DAT_TIMEOUT timeout,
			DAT_EVD_HANDLE *evd_handle);

/* ---- Functions: local memory region ---------------------------------------------------------- */

/**
 * dat_lmr_create - register memory for transfers
 * @ia_handle: the IA
 * @mem_type: what kind of memory
 * @region_description: where it is
 * @length: bytes; ignored for DAT_MEM_TYPE_LMR
 * @pz_handle: its PZ
 * @privileges: access rights; remote ones can't be taken back
 * @lmr_handle: out: the LMR; like what follows, it may be NULL
 * @lmr_context: out: for triplets of this process
 * @rmr_context: out: for the peers' triplets; 0 without remote rights
 * @registered_size: out: bytes that are really registered, at least @length
 * @registered_address: out: where they begin
 *
 * The call pins the memory. The program must not free the memory before dat_lmr_free().
 *
 * INVALID_HANDLE: PZ (@pz_handle is no live PZ of this IA), LMR (the one in @region_description
 * is no live LMR of this IA). INVALID_PARAMETER: ARG3 (an address that is NULL or not mapped, or
 * no cookie), ARG4 (beyond max_lmr_block_size of the IA), ARG6 (undefined privileges, or the
 * right to write to memory that is read-only). LENGTH_ERROR (@length is 0). INVALID_STATE
 * (memory that is not shared, or a cookie that has another length already). MODEL_NOT_SUPPORTED
 * (a type that the provider does not register). INSUFFICIENT_RESOURCES: MEMORY (no memory, or a
 * limit of pinned memory: RLIMIT_MEMLOCK), MEMORY_REGION.
 */
DAT_RETURN dat_lmr_create(DAT_IA_HANDLE ia_handle, DAT_MEM_TYPE mem_type,
			  DAT_REGION_DESCRIPTION region_description, DAT_VLEN length,
			  DAT_PZ_HANDLE pz_handle, DAT_MEM_PRIV_FLAGS privileges,
			  DAT_LMR_HANDLE *lmr_handle, DAT_LMR_CONTEXT *lmr_context,
			  DAT_RMR_CONTEXT *rmr_context, DAT_VLEN *registered_size,
			  DAT_VADDR *registered_address);

/**
 * dat_lmr_query - ask for the parameters of an LMR
 * @lmr_handle: the LMR
 * @lmr_param_mask: DAT_LMR_FIELD_* that are wanted
 * @lmr_param: out: the parameters
 *
 * MT: unsafe.
 */
DAT_RETURN dat_lmr_query(DAT_LMR_HANDLE lmr_handle, DAT_LMR_PARAM_MASK lmr_param_mask,
			 DAT_LMR_PARAM *lmr_param);

#ifdef __cplusplus
}
#endif

#endif /* _UDAT_H_ */
