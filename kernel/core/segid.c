// SPDX-License-Identifier: GPL-2.0
/* Which segment ids a publisher may ask for. A pure function. */

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
