/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Statuses: the answers to callers of /dev/rsm and to other nodes. Inside the modules a status
 * has a type of its own, so that sparse finds each place that takes a status for a flag, for a
 * count or for -errno. User space and other nodes read numbers, RSM_SUCCESS and RSMERR_* of
 * <linux/rsm_common.h>: two functions below turn a status into its number and back.
 */
#ifndef RSM_STATUS_H
#define RSM_STATUS_H

#include <linux/rsm_common.h>
#include <linux/types.h>

typedef u32 __bitwise rsm_status_t;

/* <linux/rsm_common.h> has the meaning of each, at RSMERR_ and the same name. */
#define RSM_STS_SUCCESS			((__force rsm_status_t)RSM_SUCCESS)
#define RSM_STS_BAD_ACL			((__force rsm_status_t)RSMERR_BAD_ACL)
#define RSM_STS_BAD_ADDR		((__force rsm_status_t)RSMERR_BAD_ADDR)
#define RSM_STS_BAD_DRIVER_VERSION	((__force rsm_status_t)RSMERR_BAD_DRIVER_VERSION)
#define RSM_STS_BAD_LENGTH		((__force rsm_status_t)RSMERR_BAD_LENGTH)
#define RSM_STS_BAD_MEM_ALIGNMENT	((__force rsm_status_t)RSMERR_BAD_MEM_ALIGNMENT)
#define RSM_STS_BAD_OFFSET		((__force rsm_status_t)RSMERR_BAD_OFFSET)
#define RSM_STS_BAD_SEG_HNDL		((__force rsm_status_t)RSMERR_BAD_SEG_HNDL)
#define RSM_STS_BAD_SGIO		((__force rsm_status_t)RSMERR_BAD_SGIO)
#define RSM_STS_BARRIER_FAILURE		((__force rsm_status_t)RSMERR_BARRIER_FAILURE)
#define RSM_STS_CONN_ABORTED		((__force rsm_status_t)RSMERR_CONN_ABORTED)
#define RSM_STS_CTLR_NOT_PRESENT	((__force rsm_status_t)RSMERR_CTLR_NOT_PRESENT)
#define RSM_STS_INSUFFICIENT_MEM	((__force rsm_status_t)RSMERR_INSUFFICIENT_MEM)
#define RSM_STS_INSUFFICIENT_RESOURCES	((__force rsm_status_t)RSMERR_INSUFFICIENT_RESOURCES)
#define RSM_STS_INTERRUPTED		((__force rsm_status_t)RSMERR_INTERRUPTED)
#define RSM_STS_NOT_CREATOR		((__force rsm_status_t)RSMERR_NOT_CREATOR)
#define RSM_STS_PERM_DENIED		((__force rsm_status_t)RSMERR_PERM_DENIED)
#define RSM_STS_QUEUE_FULL		((__force rsm_status_t)RSMERR_QUEUE_FULL)
#define RSM_STS_REBIND_NOT_ALLOWED	((__force rsm_status_t)RSMERR_REBIND_NOT_ALLOWED)
#define RSM_STS_REMOTE_NODE_UNREACHABLE	((__force rsm_status_t)RSMERR_REMOTE_NODE_UNREACHABLE)
#define RSM_STS_RESERVED_SEGID		((__force rsm_status_t)RSMERR_RESERVED_SEGID)
#define RSM_STS_SEGID_IN_USE		((__force rsm_status_t)RSMERR_SEGID_IN_USE)
#define RSM_STS_SEG_ALREADY_PUBLISHED	((__force rsm_status_t)RSMERR_SEG_ALREADY_PUBLISHED)
#define RSM_STS_SEG_NOT_MAPPED		((__force rsm_status_t)RSMERR_SEG_NOT_MAPPED)
#define RSM_STS_SEG_NOT_PUBLISHED	((__force rsm_status_t)RSMERR_SEG_NOT_PUBLISHED)
#define RSM_STS_SEG_NOT_PUBLISHED_TO_NODE \
	((__force rsm_status_t)RSMERR_SEG_NOT_PUBLISHED_TO_NODE)
#define RSM_STS_TIMEOUT			((__force rsm_status_t)RSMERR_TIMEOUT)

/*
 * No answer: stays inside a controller. The import has other memory than the controller found, and
 * the controller tries again there.
 */
#define RSM_STS_MOVED			((__force rsm_status_t)U32_MAX)

/**
 * rsm_status_to_number() - a status as user space and other nodes read it
 * @status: the status; not RSM_STS_MOVED
 *
 * Return: RSM_SUCCESS or an RSMERR_* value
 */
static inline u32 rsm_status_to_number(rsm_status_t status)
{
	return (__force u32)status;
}

/**
 * rsm_status_from_number() - a status from a message of another node
 * @number: RSM_SUCCESS or an RSMERR_* value; the caller has checked that it is one that it knows
 *
 * Return: the status
 */
static inline rsm_status_t rsm_status_from_number(u32 number)
{
	return (__force rsm_status_t)number;
}

#endif /* RSM_STATUS_H */
