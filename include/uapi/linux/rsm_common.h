/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * Numbers that RSMAPI programs, librsm and the kernel agent share: result
 * codes, segment id ranges, permissions and flags. <sys/rsm/rsm_common.h>
 * includes this file, so that each number is written down once.
 */
#ifndef _UAPI_LINUX_RSM_COMMON_H
#define _UAPI_LINUX_RSM_COMMON_H

/* Version of the common interface, as RSMAPI programs see it. */
#define RSM_VERSION			5

/*
 * Results of RSMAPI functions; also the status field of every ioctl. The comment above a code is
 * its cause on manual pages whose function has no more precise cause.
 */
#define RSM_SUCCESS				0
/* not returned: versions are the dynamic linker's business */
#define RSMERR_BAD_LIBRARY_VERSION		1
/* the pointer for the topology is NULL */
#define RSMERR_BAD_TOPOLOGY_PTR			2
/* not a live controller handle, or the pointer for a new one is NULL */
#define RSMERR_BAD_CTLR_HNDL			3
/* no such controller, or no kernel agent that the process may use */
#define RSMERR_CTLR_NOT_PRESENT			4
/* not a live segment handle of the right kind, or the pointer for a new one is NULL */
#define RSMERR_BAD_SEG_HNDL			5
/* the segment has an id */
#define RSMERR_SEG_ALREADY_PUBLISHED		6
/* the segment has no id; importers: no segment of the node has that id */
#define RSMERR_SEG_NOT_PUBLISHED		7
/* the access list does not name the importer's node */
#define RSMERR_SEG_NOT_PUBLISHED_TO_NODE	8
/* a connection takes one mapping at a time */
#define RSMERR_SEG_ALREADY_MAPPED		9
/* unmap the segment first */
#define RSMERR_SEG_STILL_MAPPED			10
/* there is nothing to unmap */
#define RSMERR_SEG_NOT_MAPPED			11
/* the calling process did not create the segment */
#define RSMERR_NOT_CREATOR			12
/* the pointer to the barrier object is NULL */
#define RSMERR_BAD_BARRIER_PTR			13
/* the scatter-gather request is NULL or invalid */
#define RSMERR_BAD_SGIO				14
/* not a live handle of local memory, or the pointer for a new one is NULL */
#define RSMERR_BAD_LOCALMEM_HNDL		15
/* an address is NULL, or memory can't be accessed or exported */
#define RSMERR_BAD_ADDR				16
/* an address, offset or length is not aligned as it must be */
#define RSMERR_BAD_MEM_ALIGNMENT		17
/* the offset is negative, or beyond the segment or its mapped part */
#define RSMERR_BAD_OFFSET			18
/* not returned: see RSMERR_BAD_MEM_ALIGNMENT */
#define RSMERR_MISALIGNED_OFFSET		19
/* the length is 0, or reaches beyond an end or a limit */
#define RSMERR_BAD_LENGTH			20
/* the access list is invalid */
#define RSMERR_BAD_ACL				21
/* the pointer to the segment id is NULL */
#define RSMERR_BAD_SEGID			22
/* the id is reserved: programs may not publish it */
#define RSMERR_RESERVED_SEGID			23
/* a segment of this node has that id */
#define RSMERR_SEGID_IN_USE			24
/* no such barrier mode */
#define RSMERR_BAD_MODE				25
/* rights that the connection does not have, or undefined ones */
#define RSMERR_BAD_PERMS			26
/* the caller lacks the right */
#define RSMERR_PERM_DENIED			27
/* not returned */
#define RSMERR_LOCKS_NOT_SUPPORTED		28
/* not returned */
#define RSMERR_LOCKS_NOT_ENABLED		29
/* the segment was created without RSM_ALLOW_REBIND */
#define RSMERR_REBIND_NOT_ALLOWED		30
/* descriptors or segments have run out */
#define RSMERR_INSUFFICIENT_RESOURCES		31
/* memory has run out, or a limit on locked or exported memory is reached */
#define RSMERR_INSUFFICIENT_MEM			32
/* the segment can't be mapped */
#define RSMERR_MAP_FAILED			33
/* release the segment's poll descriptor first */
#define RSMERR_POLLFD_IN_USE			34
/* the barrier was not initialised, or was destroyed */
#define RSMERR_BARRIER_UNINITIALIZED		35
/* the controller could not open the barrier; none does so at present */
#define RSMERR_BARRIER_OPEN_FAILED		36
/* the barrier is not open */
#define RSMERR_BARRIER_NOT_OPENED		37
/* an access since the barrier was opened has failed */
#define RSMERR_BARRIER_FAILURE			38
/* the node is down, unknown, or does not answer */
#define RSMERR_REMOTE_NODE_UNREACHABLE		39
/* the connection has been broken: connect again */
#define RSMERR_CONN_ABORTED			40
/* a signal ended the wait */
#define RSMERR_INTERRUPTED			41
/* the time-out has expired */
#define RSMERR_TIMEOUT				42
/* no such application in /etc/rsm/rsm.segmentid */
#define RSMERR_BAD_APPID			43
/* /etc/rsm/rsm.segmentid is missing or malformed */
#define RSMERR_BAD_CONF				44
/* not returned */
#define RSMERR_SEG_NOT_CONNECTED		45
/* an internal failure without a specific code */
#define RSMERR_INTERNAL_ERROR			100

/* Results of the driver interface. Applications see 101 and 117 only. */
/* the other node speaks another version of the protocol */
#define RSMERR_BAD_DRIVER_VERSION		101
#define RSMERR_UNSUPPORTED_VERSION		102
#define RSMERR_DRIVER_NAME_IN_USE		103
#define RSMERR_DRIVER_NOT_REGISTERED		104
#define RSMERR_DRIVER_THREAD_RUNNING		105
#define RSMERR_NEED_THREAD_INIT			106
#define RSMERR_THREAD_NOT_INITED		107
#define RSMERR_CTLRS_REGISTERED			108
#define RSMERR_CTLR_NOT_REGISTERED		109
#define RSMERR_CTLR_ALREADY_REGISTERED		110
#define RSMERR_CTLR_IN_USE			111
#define RSMERR_NAME_TOO_LONG			112
#define RSMERR_SEG_PUBLISHED			113
#define RSMERR_SEG_NOT_PUBLISHED_TO_RSM_ADDR	114
#define RSMERR_SEG_IN_USE			115
#define RSMERR_BAD_SENDQ_HNDL			116
/* a wait failed for a reason without a specific code */
#define RSMERR_BAD_ARGS_ERRORS			117
#define RSMERR_BAD_MSTYPE			118
#define RSMERR_NO_BACKING_MEM			119
#define RSMERR_NOT_MEM				120
#define RSMERR_MEM_ALREADY_BOUND		121
#define RSMERR_MEM_NOT_BOUND			122
#define RSMERR_HANDLER_NOT_REGISTERED		123
#define RSMERR_NO_HANDLER			124
#define RSMERR_UNBIND_REBIND_NOT_ALLOWED	125
#define RSMERR_CALLBACKS_NOT_SUPPORTED		126
#define RSMERR_UNSUPPORTED_OPERATION		127
#define RSMERR_RSM_ADDR_UNREACHABLE		128
#define RSMERR_UNKNOWN_RSM_ADDR			129
#define RSMERR_BAD_BARRIER_HNDL			130
#define RSMERR_COMM_ERR_MAYBE_DELIVERED		131
#define RSMERR_COMM_ERR_NOT_DELIVERED		132
#define RSMERR_QUEUE_FENCE_UP			133
#define RSMERR_QUEUE_FULL			134

/*
 * Segment id ranges. A publisher may ask for an id from RSM_HPC_ID_BASE to
 * 0x7FFFFFFF; ids from RSM_USER_APP_ID_BASE are handed out by the system.
 */
#define RSM_DRIVER_PRIVATE_ID_BASE		0
#define RSM_DRIVER_PRIVATE_ID_END		0x0FFFFF
#define RSM_CLUSTER_TRANSPORT_ID_BASE		0x100000
#define RSM_CLUSTER_TRANSPORT_ID_END		0x1FFFFF
#define RSM_RSMLIB_ID_BASE			0x200000
#define RSM_RSMLIB_ID_END			0x2FFFFF
#define RSM_DLPI_ID_BASE			0x300000
#define RSM_DLPI_ID_END				0x3FFFFF
#define RSM_HPC_ID_BASE				0x400000
#define RSM_HPC_ID_END				0x4FFFFF
#define RSM_OPS_ID_BASE				0x500000
#define RSM_OPS_ID_END				0x5FFFFF
#define RSM_USER_APP_ID_BASE			0x80000000
#define RSM_USER_APP_ID_END			0xFFFFFFFF

/* Rights of a connection or a mapping. */
#define RSM_PERM_NONE				0
#define RSM_PERM_READ				0400
#define RSM_PERM_WRITE				0200
#define RSM_PERM_RDWR				(RSM_PERM_READ | RSM_PERM_WRITE)

/* Flags of export_create. */
#define RSM_ALLOW_REBIND			0x01
#define RSM_CREATE_SEG_DONTWAIT			0x02

/* Flags of a scatter-gather request; the second one also of a post. */
#define RSM_IMPLICIT_SIGPOST			0x01
#define RSM_SIGPOST_NO_ACCUMULATE		0x02

/* Kinds of the local end of a scatter-gather entry. */
#define RSM_HANDLE_TYPE				0x01
#define RSM_VA_TYPE				0x02

/* Most entries in one scatter-gather request. */
#define RSM_MAX_SGIOREQS			16

/* The one state of a path that can carry connections. */
#define RSM_CONNECTION_ACTIVE			3

#endif /* _UAPI_LINUX_RSM_COMMON_H */
