// SPDX-License-Identifier: GPL-2.0
/* Connections between two processes of this node, for every controller. */

#include "internal.h"

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/uidgid.h>

/**
 * rsm_import_admit() - may the caller make this import?
 * @imp: the import, with the rights that the caller asks for
 * @uid: the segment's owner
 * @gid: the owner's group
 * @mode: what owner, group and others may do
 *
 * Sets @imp->may_read if the caller may also read the segment: a caller that asks for the
 * right to write only may map the segment if so, see limit_rights().
 *
 * Return: true if the mode allows the rights, or the caller has CAP_IPC_OWNER.
 */
bool rsm_import_admit(struct rsm_import *imp, kuid_t uid, kgid_t gid, unsigned int mode)
{
	unsigned int allowed;

	allowed = rsm_mode_allows(mode, uid_eq(current_euid(), uid), in_egroup_p(gid));
	if (imp->rights & ~allowed && !capable(CAP_IPC_OWNER))
		return false;
	/* The caller did not ask to read, so a refusal must not reach the audit log. */
	imp->may_read = allowed & RSM_PERM_READ || imp->rights & RSM_PERM_READ ||
			ns_capable_noaudit(&init_user_ns, CAP_IPC_OWNER);
	return true;
}

/*
 * May the caller connect? The node list holds for every process, the mode for processes without
 * CAP_IPC_OWNER.
 */
static rsm_status_t local_admit(struct rsm_export *exp, struct rsm_import *imp)
{
	struct rsm_acl *acl = exp->acl;
	int mode;

	lockdep_assert_held(&exp->importers_lock);
	if (!exp->open)
		return RSM_STS_SEG_NOT_PUBLISHED;
	mode = rsm_acl_node_mode(acl ? acl->entry : NULL, acl ? acl->count : 0,
				 exp->owner.umask, rsm_node_id());
	if (mode < 0)
		return RSM_STS_SEG_NOT_PUBLISHED_TO_NODE;
	return rsm_import_admit(imp, exp->owner.uid, exp->owner.gid, mode) ?
		       RSM_STS_SUCCESS : RSM_STS_PERM_DENIED;
}

/**
 * rsm_local_connect() - connect an import to a segment of this node
 * @imp: the import, with id and rights set
 *
 * Return: RSM_SUCCESS, RSMERR_SEG_NOT_PUBLISHED,
 * RSMERR_SEG_NOT_PUBLISHED_TO_NODE or RSMERR_PERM_DENIED.
 */
rsm_status_t rsm_local_connect(struct rsm_import *imp)
{
	struct rsm_export *exp = rsm_published_get(imp->id);
	rsm_status_t status;

	if (!exp)
		return RSM_STS_SEG_NOT_PUBLISHED;
	mutex_lock(&exp->importers_lock);
	status = local_admit(exp, imp);
	if (!status)
		rsm_local_join(imp, exp);
	mutex_unlock(&exp->importers_lock);
	if (status)
		rsm_segment_put(&exp->seg);
	return status;
}
EXPORT_SYMBOL_GPL(rsm_local_connect);
