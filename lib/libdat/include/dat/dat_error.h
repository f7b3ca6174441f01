/* SPDX-License-Identifier: MIT */
/*
 * uDAPL 1.2: what functions return.
 *
 * DAT_SUCCESS is 0. Everything else is an error,
 *	DAT_CLASS_ERROR | one of DAT_RETURN_TYPE | one of DAT_RETURN_SUBTYPE
 * so compare DAT_GET_TYPE(ret) with a type, never ret itself. Subtypes are
 * advice. The names as text: dat_strerror().
 */
#ifndef _DAT_ERROR_H_
#define _DAT_ERROR_H_

#ifdef __cplusplus
extern "C" {
#endif

typedef DAT_UINT32 DAT_RETURN;

#define DAT_CLASS_ERROR 0x80000000
#define DAT_CLASS_WARNING 0x40000000
#define DAT_CLASS_SUCCESS 0x00000000

#define DAT_TYPE_MASK 0x3fff0000
#define DAT_SUBTYPE_MASK 0x0000FFFF

/* Non-zero: a warning. No function of 1.2 returns one. */
#define DAT_IS_WARNING(status) ((DAT_UINT32)(status) & DAT_CLASS_WARNING)
#define DAT_GET_TYPE(status) ((DAT_UINT32)(status) & DAT_TYPE_MASK)
#define DAT_GET_SUBTYPE(status) ((DAT_UINT32)(status) & DAT_SUBTYPE_MASK)

/** Types, without the class bits. */
typedef enum dat_return_type {
	DAT_SUCCESS = 0x00000000,
	/** The wait ended because the IA was closed. */
	DAT_ABORT = 0x00010000,
	/** Another service point has the connection qualifier. */
	DAT_CONN_QUAL_IN_USE = 0x00020000,
	/** A resource ran out; the subtype names it. */
	DAT_INSUFFICIENT_RESOURCES = 0x00030000,
	/** A failure below the provider, or in it. Any function may return it. */
	DAT_INTERNAL_ERROR = 0x00040000,
	DAT_INVALID_HANDLE = 0x00050000,
	DAT_INVALID_PARAMETER = 0x00060000,
	/** The object exists, but its state forbids the call. */
	DAT_INVALID_STATE = 0x00070000,
	/** The sizes of the two sides of an RDMA operation don't fit. */
	DAT_LENGTH_ERROR = 0x00080000,
	/** An optional feature that the provider lacks. */
	DAT_MODEL_NOT_SUPPORTED = 0x00090000,
	/** The registry has no such IA; the subtype names the reason. */
	DAT_PROVIDER_NOT_FOUND = 0x000A0000,
	/** Memory of the right Protection Zone, without the access right. */
	DAT_PRIVILEGES_VIOLATION = 0x000B0000,
	/** Protection Zones that don't match. */
	DAT_PROTECTION_VIOLATION = 0x000C0000,
	/** The queue is empty; dat_cno_wait() also returns this on time-out. */
	DAT_QUEUE_EMPTY = 0x000D0000,
	/** dat_evd_post_se() on a full EVD. */
	DAT_QUEUE_FULL = 0x000E0000,
	/** dat_evd_wait(): the time-out expired. */
	DAT_TIMEOUT_EXPIRED = 0x000F0000,
	DAT_PROVIDER_ALREADY_REGISTERED = 0x00100000,
	/** An IA is open through the registry's entry. */
	DAT_PROVIDER_IN_USE = 0x00110000,
	/** The provider refused the remote address without sending a request. */
	DAT_INVALID_ADDRESS = 0x00120000,
	/** A signal ended dat_evd_wait() or dat_cno_wait(). */
	DAT_INTERRUPTED_CALL = 0x00130000,
	/** dat_psp_create_any() found no free qualifier. */
	DAT_CONN_QUAL_UNAVAILABLE = 0x00140000,
	/** The provider has no such function. */
	DAT_NOT_IMPLEMENTED = 0x0FFF0000
} DAT_RETURN_TYPE;

/** Subtypes. The comments name the type that they belong to. */
typedef enum dat_return_subtype {
	DAT_NO_SUBTYPE,

	/* DAT_ABORT */
	DAT_SUB_INTERRUPTED,

	/* DAT_INSUFFICIENT_RESOURCES */
	DAT_RESOURCE_MEMORY, /**< there is no memory */
	DAT_RESOURCE_DEVICE, /**< there is no such device, or it can't be opened */
	DAT_RESOURCE_TEP, /**< endpoints, or what a connection needs, have run out */
	DAT_RESOURCE_TEVD, /**< the IA has no more EVDs, or none of that length */
	DAT_RESOURCE_PROTECTION_DOMAIN, /**< the IA has no more protection zones */
	DAT_RESOURCE_MEMORY_REGION, /**< the IA has no more LMRs or RMRs */
	DAT_RESOURCE_ERROR_HANDLER,
	DAT_RESOURCE_CREDITS, /**< such as those for incoming RDMA Reads */
	DAT_RESOURCE_SRQ, /**< the IA has no more SRQs, or none of that length */

	/* DAT_INVALID_HANDLE */
	DAT_INVALID_HANDLE_IA,
	DAT_INVALID_HANDLE_EP,
	DAT_INVALID_HANDLE_LMR,
	DAT_INVALID_HANDLE_RMR,
	DAT_INVALID_HANDLE_PZ,
	DAT_INVALID_HANDLE_PSP,
	DAT_INVALID_HANDLE_RSP,
	DAT_INVALID_HANDLE_CR,
	DAT_INVALID_HANDLE_CNO,
	DAT_INVALID_HANDLE_EVD_CR,
	DAT_INVALID_HANDLE_EVD_REQUEST,
	DAT_INVALID_HANDLE_EVD_RECV,
	DAT_INVALID_HANDLE_EVD_CONN,
	DAT_INVALID_HANDLE_EVD_ASYNC,
	DAT_INVALID_HANDLE_SRQ,
	/* Position of a handle that has no name of its own. */
	DAT_INVALID_HANDLE1,
	DAT_INVALID_HANDLE2,
	DAT_INVALID_HANDLE3,
	DAT_INVALID_HANDLE4,
	DAT_INVALID_HANDLE5,
	DAT_INVALID_HANDLE6,
	DAT_INVALID_HANDLE7,
	DAT_INVALID_HANDLE8,
	DAT_INVALID_HANDLE9,
	DAT_INVALID_HANDLE10,

	/* DAT_INVALID_PARAMETER: position of the argument, from 1 */
	DAT_INVALID_ARG1,
	DAT_INVALID_ARG2,
	DAT_INVALID_ARG3,
	DAT_INVALID_ARG4,
	DAT_INVALID_ARG5,
	DAT_INVALID_ARG6,
	DAT_INVALID_ARG7,
	DAT_INVALID_ARG8,
	DAT_INVALID_ARG9,
	DAT_INVALID_ARG10,

	/* DAT_INVALID_STATE */
	DAT_INVALID_STATE_EP_UNCONNECTED,
	DAT_INVALID_STATE_EP_ACTCONNPENDING,
	DAT_INVALID_STATE_EP_PASSCONNPENDING,
	DAT_INVALID_STATE_EP_TENTCONNPENDING,
	DAT_INVALID_STATE_EP_CONNECTED,
	DAT_INVALID_STATE_EP_DISCONNECTED,
	DAT_INVALID_STATE_EP_RESERVED,
	DAT_INVALID_STATE_EP_COMPLPENDING,
	DAT_INVALID_STATE_EP_DISCPENDING,
	DAT_INVALID_STATE_EP_PROVIDERCONTROL,
	DAT_INVALID_STATE_EP_NOTREADY, /**< the EP lacks something that the call needs */
	DAT_INVALID_STATE_EP_RECV_WATERMARK,
	DAT_INVALID_STATE_EP_PZ,
	DAT_INVALID_STATE_EP_EVD_REQUEST,
	DAT_INVALID_STATE_EP_EVD_RECV,
	DAT_INVALID_STATE_EP_EVD_CONNECT,
	DAT_INVALID_STATE_EP_UNCONFIGURED,
	DAT_INVALID_STATE_EP_UNCONFRESERVED,
	DAT_INVALID_STATE_EP_UNCONFPASSIVE,
	DAT_INVALID_STATE_EP_UNCONFTENTATIVE,
	DAT_INVALID_STATE_CNO_IN_USE,
	DAT_INVALID_STATE_CNO_DEAD,
	DAT_INVALID_STATE_EVD_OPEN,
	DAT_INVALID_STATE_EVD_ENABLED,
	DAT_INVALID_STATE_EVD_DISABLED,
	DAT_INVALID_STATE_EVD_WAITABLE,
	DAT_INVALID_STATE_EVD_UNWAITABLE,
	DAT_INVALID_STATE_EVD_IN_USE,
	DAT_INVALID_STATE_EVD_CONFIG_NOTIFY,
	DAT_INVALID_STATE_EVD_CONFIG_SOLICITED,
	DAT_INVALID_STATE_EVD_CONFIG_THRESHOLD,
	DAT_INVALID_STATE_EVD_WAITER,
	DAT_INVALID_STATE_EVD_ASYNC,
	DAT_INVALID_STATE_IA_IN_USE,
	DAT_INVALID_STATE_LMR_IN_USE,
	DAT_INVALID_STATE_LMR_FREE,
	DAT_INVALID_STATE_PZ_IN_USE,
	DAT_INVALID_STATE_PZ_FREE,
	DAT_INVALID_STATE_SRQ_OPERATIONAL,
	DAT_INVALID_STATE_SRQ_ERROR,
	DAT_INVALID_STATE_SRQ_IN_USE,

	/* DAT_PRIVILEGES_VIOLATION */
	DAT_PRIVILEGES_READ, /**< the right to read is missing */
	DAT_PRIVILEGES_WRITE, /**< the right to write is missing */
	DAT_PRIVILEGES_RDMA_READ,
	DAT_PRIVILEGES_RDMA_WRITE,

	/* DAT_PROTECTION_VIOLATION */
	DAT_PROTECTION_READ,
	DAT_PROTECTION_WRITE,
	DAT_PROTECTION_RDMA_READ,
	DAT_PROTECTION_RDMA_WRITE,

	/* DAT_INVALID_ADDRESS */
	DAT_INVALID_ADDRESS_UNSUPPORTED, /**< of a kind that can not be used: multicast, broadcast */
	DAT_INVALID_ADDRESS_UNREACHABLE, /**< no route, or no such family here */
	DAT_INVALID_ADDRESS_MALFORMED, /**< of an unknown family, or an address that nobody can have */

	/* DAT_PROVIDER_NOT_FOUND */
	DAT_NAME_NOT_REGISTERED, /**< no such name, or its library can't be loaded */
	DAT_MAJOR_NOT_FOUND, /**< not in that major version */
	DAT_MINOR_NOT_FOUND, /**< only in smaller minor versions */
	DAT_THREAD_SAFETY_NOT_FOUND, /**< no matching provider is thread-safe */

	/* DAT_INVALID_PARAMETER */
	DAT_INVALID_RO_COOKIE /**< Solaris: relaxed ordering refused */
} DAT_RETURN_SUBTYPE;

/* The name before 1.2. */
#define DAT_NAME_NOT_FOUND DAT_PROVIDER_NOT_FOUND

#ifdef __cplusplus
}
#endif

#endif /* _DAT_ERROR_H_ */
