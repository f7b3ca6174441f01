// SPDX-License-Identifier: GPL-2.0
/* segment-get */

#include "netlink.h"

#include <linux/mm.h>

static struct rsm_export *export_of(struct rsm_segment *seg)
{
	return seg && seg->ops->kind == RSM_EXPORT ? to_export(seg) : NULL;
}

/*
 * The segment that a request names by number or id, referenced, or NULL. A segment that the viewer
 * may not see is treated like one that does not exist.
 */
struct rsm_export *rsm_segment_wanted(struct genl_info *info, int *err)
{
	struct nlattr *number = info->attrs[RSM_A_SEGMENT_NUMBER];
	struct nlattr *id = info->attrs[RSM_A_SEGMENT_ID];
	struct rsm_export *exp;

	*err = -EINVAL;
	if (!number == !id) {
		NL_SET_ERR_MSG(info->extack, "Name the segment by its number or its id");
		return NULL;
	}
	*err = -ENOENT;
	exp = number ? export_of(rsm_segment_get(nla_get_u32(number), RSM_EXPORT)) :
		       rsm_published_get(nla_get_u32(id));
	if (!exp)
		NL_SET_ERR_MSG(info->extack, "There is no such segment");
	return exp;
}

/* The bytes that are charged to the exporter; 0 for a dead segment, which gives them back. */
static u64 export_pinned(struct rsm_export *exp)
{
	const struct rsm_export_view *view = exp->view;

	lockdep_assert_held(&exp->importers_lock);
	if (READ_ONCE(exp->state) == RSM_DEAD)
		return 0;
	if (view)
		return (u64)READ_ONCE(view->charged) << PAGE_SHIFT;
	return exp->mem ? (u64)exp->mem->npages << PAGE_SHIFT : 0;
}

static int local_mode(const struct rsm_export *exp)
{
	const struct rsm_acl *acl = exp->acl;

	return rsm_acl_node_mode(acl ? acl->entry : NULL, acl ? acl->count : 0,
				 exp->owner.umask, rsm_node_id());
}

static int put_acl_entry(struct sk_buff *skb, const struct rsm_acl_entry *entry)
{
	struct nlattr *nest = nla_nest_start(skb, RSM_A_SEGMENT_ACL);

	if (!nest || nla_put_u32(skb, RSM_A_ACL_ENTRY_NODE_ID, entry->node) ||
	    nla_put_u32(skb, RSM_A_ACL_ENTRY_MODE, entry->permission))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_acl(struct sk_buff *skb, const struct rsm_acl *acl)
{
	int err = 0;

	for (u32 i = 0; acl && i < acl->count && !err; i++)
		err = put_acl_entry(skb, &acl->entry[i]);
	return err;
}

/* Put the attributes that only a published segment has. */
static int segment_put_publication(struct sk_buff *skb, const struct rsm_export *exp)
{
	int mode = local_mode(exp);

	if (nla_put_u32(skb, RSM_A_SEGMENT_ID, exp->id) ||
	    (mode >= 0 && nla_put_u32(skb, RSM_A_SEGMENT_MODE, mode)))
		return -EMSGSIZE;
	return put_acl(skb, exp->acl);
}

/*
 * Put the attributes that each user sees who may connect. The caller keeps id and list from
 * changing: it holds the export's lock, or importers_lock while the export is open.
 */
int rsm_segment_put_public(struct rsm_reply *reply, struct rsm_export *exp,
			   enum rsm_segment_state state)
{
	struct sk_buff *skb = reply->skb;

	if (nla_put_u32(skb, RSM_A_SEGMENT_NUMBER, exp->seg.number) ||
	    nla_put_string(skb, RSM_A_SEGMENT_CONTROLLER, exp->seg.ctl->name) ||
	    nla_put_u32(skb, RSM_A_SEGMENT_STATE, state) ||
	    nla_put_u64_64bit(skb, RSM_A_SEGMENT_LENGTH, exp->length, RSM_A_SEGMENT_PAD) ||
	    nla_put_u32(skb, RSM_A_SEGMENT_UID,
			rsm_view_uid(reply->viewer, exp->owner.uid)) ||
	    nla_put_u32(skb, RSM_A_SEGMENT_GID,
			rsm_view_gid(reply->viewer, exp->owner.gid)))
		return -EMSGSIZE;
	return state == RSM_SEGMENT_STATE_PUBLISHED ? segment_put_publication(skb, exp) : 0;
}

static u32 length_of(const struct list_head *list)
{
	const struct list_head *entry;
	u32 length = 0;

	list_for_each(entry, list)
		length++;
	return length;
}

static int segment_put_counters(struct sk_buff *skb, struct rsm_export *exp)
{
	struct rsm_segment *seg = &exp->seg;

	if (nla_put_u64_64bit(skb, RSM_A_SEGMENT_PINNED_BYTES, export_pinned(exp),
			      RSM_A_SEGMENT_PAD) ||
	    nla_put_u32(skb, RSM_A_SEGMENT_EVENTS, READ_ONCE(*seg->words.posted)) ||
	    nla_put_u64_64bit(skb, RSM_A_SEGMENT_PUT_BYTES, atomic64_read(&seg->put_bytes),
			      RSM_A_SEGMENT_PAD) ||
	    nla_put_u64_64bit(skb, RSM_A_SEGMENT_GET_BYTES, atomic64_read(&seg->get_bytes),
			      RSM_A_SEGMENT_PAD))
		return -EMSGSIZE;
	return 0;
}

static int put_private(struct rsm_reply *reply, struct rsm_export *exp)
{
	struct sk_buff *skb = reply->skb;

	lockdep_assert_held(&exp->importers_lock);
	if (READ_ONCE(exp->state) == RSM_DEAD &&
	    nla_put_u32(skb, RSM_A_SEGMENT_REASON, exp->reason))
		return -EMSGSIZE;
	if (nla_put_u32(skb, RSM_A_SEGMENT_PID,
			rsm_view_pid(reply->viewer, exp->owner.tgid)) ||
	    nla_put_u32(skb, RSM_A_SEGMENT_FLAGS, exp->flags) ||
	    nla_put_u32(skb, RSM_A_SEGMENT_IMPORTERS, exp->importer_count) ||
	    nla_put_u32(skb, RSM_A_SEGMENT_REMOTE_IMPORTERS,
			length_of(&exp->remote_importers)) ||
	    nla_put_u32(skb, RSM_A_SEGMENT_GRANTS, READ_ONCE(exp->grants)))
		return -EMSGSIZE;
	return segment_put_counters(skb, exp);
}

static enum rsm_segment_state state_of(const struct rsm_export *exp)
{
	lockdep_assert_held(&exp->importers_lock);
	if (exp->open)
		return RSM_SEGMENT_STATE_PUBLISHED;
	return READ_ONCE(exp->state) == RSM_DEAD ? RSM_SEGMENT_STATE_DEAD :
						   RSM_SEGMENT_STATE_BOUND;
}

static bool is_visible(const struct rsm_viewer *viewer, const struct rsm_export *exp)
{
	lockdep_assert_held(&exp->importers_lock);
	return rsm_views_owner(viewer, exp->owner.uid) ||
	       (exp->open && rsm_views_mode(viewer, exp->owner.gid, local_mode(exp)));
}

/* Put what the viewer may see; -ENOENT if that is nothing. */
static int segment_put_visible(struct rsm_reply *reply, struct rsm_export *exp)
{
	int err = -ENOENT;

	mutex_lock(&exp->importers_lock);
	if (is_visible(reply->viewer, exp))
		err = rsm_segment_put_public(reply, exp, state_of(exp));
	if (!err && rsm_views_owner(reply->viewer, exp->owner.uid))
		err = put_private(reply, exp);
	mutex_unlock(&exp->importers_lock);
	return err;
}

int rsm_segment_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rsm_viewer viewer = rsm_viewer_of(skb);
	struct rsm_reply reply = { .viewer = &viewer };
	struct rsm_export *exp;
	void *header;
	int err;

	exp = rsm_segment_wanted(info, &err);
	if (!exp)
		return err;
	err = rsm_answer_start(info, RSM_CMD_SEGMENT_GET, &reply, &header);
	if (!err) {
		err = segment_put_visible(&reply, exp);
		if (err == -ENOENT)
			NL_SET_ERR_MSG(info->extack, "There is no such segment");
		err = rsm_answer_end(info, &reply, header, err);
	}
	rsm_segment_put(&exp->seg);
	return err;
}

static int segment_dump_one(struct rsm_reply *reply, struct rsm_segment *seg)
{
	return segment_put_visible(reply, to_export(seg));
}

int rsm_segment_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return rsm_dump_segments(skb, cb, RSM_EXPORT, RSM_CMD_SEGMENT_GET, segment_dump_one);
}
