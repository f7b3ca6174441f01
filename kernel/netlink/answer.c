// SPDX-License-Identifier: GPL-2.0
/* How commands of the family answer: by one message, or by the messages of a dump. */

#include "netlink.h"
#include "../core/compat.h"

/* The generic netlink family in whose name this file makes messages. */
static const struct genl_family *answer_family;

/* Called before the family is registered, so before any command runs. */
void rsm_answer_init(const struct genl_family *family)
{
	answer_family = family;
}

/* Begin the answer to a command. If this succeeds, the command ends it by rsm_answer_end(). */
int rsm_answer_start(struct genl_info *info, u8 cmd, struct rsm_reply *reply, void **header)
{
	reply->skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!reply->skb)
		return -ENOMEM;
	*header = genlmsg_put_reply(reply->skb, info, answer_family, 0, cmd);
	return 0;
}

/* Send the answer; if @err is set free the message and return @err. */
int rsm_answer_end(struct genl_info *info, struct rsm_reply *reply, void *header, int err)
{
	if (err) {
		nlmsg_free(reply->skb);
		return err;
	}
	genlmsg_end(reply->skb, header);
	return genlmsg_reply(reply->skb, info);
}

/*
 * Refuse to filter: a dump has all objects that the viewer may see. A module that fails to load is
 * freed under a dump that goes on, whose reference nobody looks at.
 */
int rsm_dump_start(struct netlink_callback *cb)
{
	struct nlattr **attrs = rsm_dump_attrs(cb);

	if (rsm_module_is_coming(THIS_MODULE))
		return -EAGAIN;
	for (unsigned int i = 0; attrs && i <= genl_dumpit_info(cb)->op.maxattr; i++) {
		if (!attrs[i])
			continue;
		NL_SET_ERR_MSG_ATTR(cb->extack, attrs[i], "A dump takes no attributes");
		return -EINVAL;
	}
	return 0;
}

/* Begin a message of a dump; NULL if the buffer has no room for it. */
void *rsm_dump_put(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	void *header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				   answer_family, NLM_F_MULTI, cmd);

	if (header)
		genl_dump_check_consistent(cb, header);
	return header;
}

/* End a message of a dump; if @err is set take it back. */
int rsm_dump_end(struct sk_buff *skb, void *header, int err)
{
	if (err)
		genlmsg_cancel(skb, header);
	else
		genlmsg_end(skb, header);
	return err;
}

static int dump_segment(struct rsm_reply *reply, struct netlink_callback *cb, u8 cmd,
			struct rsm_segment *seg,
			int (*put)(struct rsm_reply *reply, struct rsm_segment *seg))
{
	void *header = rsm_dump_put(reply->skb, cb, cmd);
	int err;

	if (!header)
		return -EMSGSIZE;
	err = rsm_dump_end(reply->skb, header, put(reply, seg));
	return err == -ENOENT ? 0 : err;
}

/**
 * rsm_dump_segments() - continue the dump of all segments of a kind
 * @skb: the buffer of the dump
 * @cb: the dump
 * @kind: exports or imports
 * @cmd: command of the messages
 * @put: adds the attributes of a segment; -ENOENT if the viewer may not see the segment
 *
 * Return: the length of the buffer's contents, or an error.
 */
int rsm_dump_segments(struct sk_buff *skb, struct netlink_callback *cb, enum rsm_kind kind,
		      u8 cmd, int (*put)(struct rsm_reply *reply, struct rsm_segment *seg))
{
	struct rsm_viewer viewer = rsm_viewer_of(cb->skb);
	struct rsm_reply reply = { .skb = skb, .viewer = &viewer };
	struct rsm_segment *seg;
	u32 next = cb->args[0];
	int err = 0;

	cb->seq = rsm_segment_changes();
	while (!err && (seg = rsm_segment_next(next))) {
		if (seg->ops->kind == kind)
			err = dump_segment(&reply, cb, cmd, seg, put);
		if (!err)
			next = seg->number + 1;
		rsm_segment_put(seg);
	}
	cb->args[0] = next;
	return skb->len ?: err;
}
