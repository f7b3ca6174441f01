// SPDX-License-Identifier: GPL-2.0
/* Which segment ids a publisher may ask for; ranges. Pure functions. */

#include "internal.h"

/**
 * rsm_segid_requestable() - may a publisher ask for this id?
 * @id: segment id, not 0
 *
 * Return: false for ids that the system, drivers and libraries keep.
 */
bool rsm_segid_requestable(u32 id)
{
	return id >= RSM_HPC_ID_BASE && id < RSM_USER_APP_ID_BASE;
}

/**
 * rsm_range_ok() - does a range lie within a limit?
 * @offset: its start
 * @length: its length
 * @limit: where it must have ended
 *
 * Return: true if it does, for any values of all three.
 */
bool rsm_range_ok(u64 offset, u64 length, u64 limit)
{
	return offset <= limit && length <= limit - offset;
}
