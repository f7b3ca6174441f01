// SPDX-License-Identifier: GPL-2.0
/* import-get */

#include "netlink.h"

static int put_peer(struct sk_buff *skb, const struct rsm_import *imp, bool aborted)
{
	bool here = imp->exporter && !aborted;

	if (nla_put_string(skb, RSM_A_IMPORT_CONTROLLER, imp->seg.ctl->name) ||
	    nla_put_u32(skb, RSM_A_IMPORT_NODE_ID, imp->node) ||
	    (!imp->granted && nla_put_u32(skb, RSM_A_IMPORT_ID, imp->id)) ||
	    (here && nla_put_u32(skb, RSM_A_IMPORT_EXPORTER, imp->exporter)))
		return -EMSGSIZE;
	return 0;
}

static int import_put_counters(struct sk_buff *skb, struct rsm_import *imp)
{
	struct rsm_segment *seg = &imp->seg;

	if (nla_put_u32(skb, RSM_A_IMPORT_EVENTS, READ_ONCE(*seg->words.posted)) ||
	    nla_put_u64_64bit(skb, RSM_A_IMPORT_PUT_BYTES, atomic64_read(&seg->put_bytes),
			      RSM_A_IMPORT_PAD) ||
	    nla_put_u64_64bit(skb, RSM_A_IMPORT_GET_BYTES, atomic64_read(&seg->get_bytes),
			      RSM_A_IMPORT_PAD))
		return -EMSGSIZE;
	return 0;
}

/* Put all attributes but the reason. */
static int import_put(struct rsm_reply *reply, struct rsm_import *imp, bool aborted)
{
	const struct rsm_viewer *viewer = reply->viewer;
	struct sk_buff *skb = reply->skb;

	if (nla_put_u32(skb, RSM_A_IMPORT_NUMBER, imp->seg.number) ||
	    put_peer(skb, imp, aborted) ||
	    nla_put_u32(skb, RSM_A_IMPORT_UID, rsm_view_uid(viewer, imp->owner.uid)) ||
	    nla_put_u32(skb, RSM_A_IMPORT_PID, rsm_view_pid(viewer, imp->owner.tgid)) ||
	    nla_put_u32(skb, RSM_A_IMPORT_RIGHTS, imp->rights) ||
	    nla_put_u64_64bit(skb, RSM_A_IMPORT_LENGTH, imp->length, RSM_A_IMPORT_PAD) ||
	    nla_put_u8(skb, RSM_A_IMPORT_ABORTED, aborted))
		return -EMSGSIZE;
	return import_put_counters(skb, imp);
}

/* Put all attributes but the reason, for an event. */
int rsm_import_put_all(struct rsm_reply *reply, struct rsm_import *imp)
{
	lockdep_assert_held(&imp->map_lock);
	return import_put(reply, imp, imp->aborted);
}

/*
 * Put what the viewer may see; -ENOENT if that is nothing. Without map_lock, which the end of an
 * import holds for as long as its mappings are many: generic netlink's lock, which commands of all
 * families may need, is held here.
 */
static int import_put_visible(struct rsm_reply *reply, struct rsm_import *imp)
{
	/* Pairs with rsm_import_abort(). */
	bool aborted = smp_load_acquire(&imp->aborted);
	int err;

	if (!rsm_views_owner(reply->viewer, imp->owner.uid))
		return -ENOENT;
	err = import_put(reply, imp, aborted);
	if (!err && aborted)
		err = nla_put_u32(reply->skb, RSM_A_IMPORT_REASON, READ_ONCE(imp->reason));
	return err;
}

static int import_answer(struct genl_info *info, struct rsm_reply *reply, struct rsm_import *imp)
{
	void *header;
	int err;

	err = rsm_answer_start(info, RSM_CMD_IMPORT_GET, reply, &header);
	if (err)
		return err;
	err = import_put_visible(reply, imp);
	if (err == -ENOENT)
		NL_SET_ERR_MSG(info->extack, "There is no such import");
	return rsm_answer_end(info, reply, header, err);
}

int rsm_import_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rsm_viewer viewer = rsm_viewer_of(skb);
	struct rsm_reply reply = { .viewer = &viewer };
	struct rsm_segment *seg;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, RSM_A_IMPORT_NUMBER))
		return -EINVAL;
	seg = rsm_segment_get(nla_get_u32(info->attrs[RSM_A_IMPORT_NUMBER]), RSM_IMPORT);
	if (!seg) {
		NL_SET_ERR_MSG(info->extack, "There is no such import");
		return -ENOENT;
	}
	err = import_answer(info, &reply, to_import(seg));
	rsm_segment_put(seg);
	return err;
}

static int import_dump_one(struct rsm_reply *reply, struct rsm_segment *seg)
{
	return import_put_visible(reply, to_import(seg));
}

int rsm_import_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return rsm_dump_segments(skb, cb, RSM_IMPORT, RSM_CMD_IMPORT_GET, import_dump_one);
}
