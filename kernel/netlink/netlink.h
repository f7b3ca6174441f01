/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic netlink family "rsm". User space relies on Documentation/netlink/specs/rsm.yaml.
 *
 * Commands run in parallel (parallel_ops) and take the locks of internal.h like all other code. A
 * dump holds no lock between two messages: it continues behind the last number that it has
 * reached.
 *
 * The code that makes a change sends its event, under the lock that orders the change among others;
 * in all of these places it may sleep. Nothing is built when nobody listens. If a message can't
 * be built, or a listener has no room for it, that listener gets ENOBUFS.
 */
#ifndef RSM_NETLINK_KERNEL_H
#define RSM_NETLINK_KERNEL_H

#include "../core/internal.h"
#include "../rsm_link.h"

#include <linux/sched.h>
#include <net/genetlink.h>

struct pid_namespace;
struct user_namespace;

/**
 * struct rsm_viewer - the process that reads an answer
 * @all: it sees all objects
 * @cred: credentials of the opener of the socket, who can read the answer; NULL for events
 * @users: its namespace for user and group ids
 * @pids: its namespace for process ids
 */
struct rsm_viewer {
	bool all;
	const struct cred *cred;
	struct user_namespace *users;
	struct pid_namespace *pids;
};

/**
 * struct rsm_reply - a message that is being built
 * @skb: the message
 * @viewer: the process that will read it
 */
struct rsm_reply {
	struct sk_buff *skb;
	const struct rsm_viewer *viewer;
};

/* family.c */
extern struct genl_family rsm_family;
int rsm_netlink_register(void);
void rsm_netlink_unregister(void);

/* answer.c */
void rsm_answer_init(const struct genl_family *family);
int rsm_answer_start(struct genl_info *info, u8 cmd, struct rsm_reply *reply, void **header);
int rsm_answer_end(struct genl_info *info, struct rsm_reply *reply, void *header, int err);
int rsm_dump_start(struct netlink_callback *cb);
void *rsm_dump_put(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd);
int rsm_dump_end(struct sk_buff *skb, void *header, int err);
int rsm_dump_segments(struct sk_buff *skb, struct netlink_callback *cb, enum rsm_kind kind,
		      u8 cmd, int (*put)(struct rsm_reply *reply, struct rsm_segment *seg));

/* viewer.c */
struct rsm_viewer rsm_viewer_of(struct sk_buff *request);
bool rsm_views_owner(const struct rsm_viewer *viewer, kuid_t uid);
bool rsm_views_mode(const struct rsm_viewer *viewer, kgid_t gid, int mode);
u32 rsm_view_uid(const struct rsm_viewer *viewer, kuid_t uid);
u32 rsm_view_gid(const struct rsm_viewer *viewer, kgid_t gid);
u32 rsm_view_pid(const struct rsm_viewer *viewer, struct pid *pid);
extern const struct rsm_viewer rsm_everybody;

/* controller.c */
int rsm_controller_doit(struct sk_buff *skb, struct genl_info *info);
int rsm_controller_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
unsigned int rsm_link_count(const struct rsm_controller *ctl);

/* node.c */
int rsm_node_doit(struct sk_buff *skb, struct genl_info *info);
int rsm_node_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int rsm_node_put(struct sk_buff *skb, struct rsm_link *link);

/* segment.c */
int rsm_segment_doit(struct sk_buff *skb, struct genl_info *info);
int rsm_segment_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
struct rsm_export *rsm_segment_wanted(struct genl_info *info, int *err);
int rsm_segment_put_public(struct rsm_reply *reply, struct rsm_export *exp,
			   enum rsm_segment_state state);

/* import.c */
int rsm_import_doit(struct sk_buff *skb, struct genl_info *info);
int rsm_import_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int rsm_import_put_all(struct rsm_reply *reply, struct rsm_import *imp);

/* process.c */
int rsm_process_doit(struct sk_buff *skb, struct genl_info *info);
int rsm_process_dumpit(struct sk_buff *skb, struct netlink_callback *cb);

/* stats.c */
int rsm_stats_doit(struct sk_buff *skb, struct genl_info *info);

/* change.c */
int rsm_node_add_doit(struct sk_buff *skb, struct genl_info *info);
int rsm_node_set_doit(struct sk_buff *skb, struct genl_info *info);
int rsm_secret_set_doit(struct sk_buff *skb, struct genl_info *info);
int rsm_secret_del_doit(struct sk_buff *skb, struct genl_info *info);
int rsm_node_del_doit(struct sk_buff *skb, struct genl_info *info);
int rsm_segment_revoke_doit(struct sk_buff *skb, struct genl_info *info);
void rsm_reasons_free(void);

/* event.c */
extern const struct rsm_listener rsm_netlink_listener;

#endif /* RSM_NETLINK_KERNEL_H */
