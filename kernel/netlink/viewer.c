// SPDX-License-Identifier: GPL-2.0
/* The objects that a user may see. */

#include "netlink.h"

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/uidgid.h>
#include <net/sock.h>

/* Listeners to events see all objects; they may be in any namespace. */
const struct rsm_viewer rsm_everybody = {
	.all = true,
	.users = &init_user_ns,
	.pids = &init_pid_ns,
};

/**
 * rsm_viewer_of() - the process that will read the answer to a request
 * @request: the request
 *
 * The opener of the socket can read the answer although another process may have written the
 * request: the opener's rights count. All objects are shown only if both have the capability.
 *
 * Return: the viewer, good for as long as the request.
 */
struct rsm_viewer rsm_viewer_of(struct sk_buff *request)
{
	struct sock *sk = NETLINK_CB(request).sk;

	return (struct rsm_viewer) {
		.all = netlink_capable(request, CAP_SYS_ADMIN) ||
		       netlink_capable(request, CAP_NET_ADMIN),
		.cred = sk->sk_socket->file->f_cred,
		.users = sk_user_ns(sk),
		.pids = task_active_pid_ns(current),
	};
}

/* Does the viewer see what belongs to a user? */
bool rsm_views_owner(const struct rsm_viewer *viewer, kuid_t uid)
{
	return viewer->all || uid_eq(viewer->cred->euid, uid);
}

/* May the viewer, who is not the owner, connect to a segment with this mode? */
bool rsm_views_mode(const struct rsm_viewer *viewer, kgid_t gid, int mode)
{
	const struct cred *old;
	bool group;

	if (mode < 0)
		return false;
	old = override_creds(viewer->cred);
	group = in_egroup_p(gid);
	revert_creds(old);
	return rsm_mode_allows(mode, false, group);
}

u32 rsm_view_uid(const struct rsm_viewer *viewer, kuid_t uid)
{
	return from_kuid_munged(viewer->users, uid);
}

u32 rsm_view_gid(const struct rsm_viewer *viewer, kgid_t gid)
{
	return from_kgid_munged(viewer->users, gid);
}

/* The process id in the viewer's namespace; 0 for a process that is not in that namespace. */
u32 rsm_view_pid(const struct rsm_viewer *viewer, struct pid *pid)
{
	return pid_nr_ns(pid, viewer->pids);
}
