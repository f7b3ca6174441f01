// SPDX-License-Identifier: GPL-2.0
/* Access lists and what their modes allow. Pure functions. */

#include "internal.h"

#define MODE_RW		0666

/**
 * rsm_acl_valid() - are the numbers of an access list in range?
 * @entry: its entries
 * @count: how many there are
 *
 * Return: true if they are. A permission may have bits outside 0666 as long as its value
 * is not above 0666; such bits have no effect.
 */
bool rsm_acl_valid(const struct rsm_acl_entry *entry, u32 count)
{
	for (u32 i = 0; i < count; i++)
		if (entry[i].node > RSM_NODE_MAX || entry[i].permission > MODE_RW)
			return false;
	return true;
}

/**
 * rsm_acl_node_mode() - mode that holds for the users of a node
 * @entry: entries of the access list
 * @count: how many there are, 0 for the default
 * @umask: the exporter's, for the default
 * @node: the importing node
 *
 * Return: mode within 0666, or -ENOENT if the list does not name the node.
 */
int rsm_acl_node_mode(const struct rsm_acl_entry *entry, u32 count,
		      unsigned int umask, u32 node)
{
	if (!count)
		return MODE_RW & ~umask;
	for (u32 i = 0; i < count; i++)
		if (entry[i].node == node)
			return entry[i].permission & MODE_RW;
	return -ENOENT;
}

/**
 * rsm_mode_allows() - rights that a mode gives to a user
 * @mode: mode within 0666
 * @owner: the user owns the segment
 * @group: the user is in the segment's group
 *
 * Exactly one class applies: an owner does not fall back to the group's rights.
 *
 * Return: RSM_PERM_READ, RSM_PERM_WRITE, both or none.
 */
unsigned int rsm_mode_allows(unsigned int mode, bool owner, bool group)
{
	if (owner)
		return mode & RSM_PERM_RDWR;
	return (group ? mode << 3 : mode << 6) & RSM_PERM_RDWR;
}
