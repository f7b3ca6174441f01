// SPDX-License-Identifier: GPL-2.0
/* Events: multicast messages to listeners in the initial network namespace. */

#include "netlink.h"

#include <linux/cred.h>

/* Begin an event; false if nobody listens, or without memory. */
static bool event_begin(struct rsm_reply *event, u8 cmd, void **header)
{
	if (!genl_has_listeners(&rsm_family, &init_net, 0))
		return false;
	event->viewer = &rsm_everybody;
	event->skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!event->skb) {
		/* Listeners get ENOBUFS, as if they had no room: they must read the state anew. */
		genl_set_err(&rsm_family, &init_net, 0, 0, -ENOBUFS);
		return false;
	}
	*header = genlmsg_put(event->skb, 0, 0, &rsm_family, 0, cmd);
	return true;
}

static void event_end(struct rsm_reply *event, void *header, int err)
{
	/* The message is as large as the largest event. */
	if (WARN_ON_ONCE(err)) {
		nlmsg_free(event->skb);
		return;
	}
	genlmsg_end(event->skb, header);
	genlmsg_multicast_netns(&rsm_family, &init_net, event->skb, 0, 0, GFP_KERNEL);
}

static int event_put_publication(struct rsm_reply *event, struct rsm_export *exp)
{
	return rsm_segment_put_public(event, exp, RSM_SEGMENT_STATE_PUBLISHED) ?:
	       nla_put_u32(event->skb, RSM_A_SEGMENT_PID,
			   rsm_view_pid(event->viewer, exp->owner.tgid));
}

/* The export has its id and list, and is about to be opened to importers. */
static void event_publish(struct rsm_export *exp)
{
	struct rsm_reply event;
	void *header;

	lockdep_assert_held(&exp->lock);
	if (event_begin(&event, RSM_EVENT_PUBLISH, &header))
		event_end(&event, header, event_put_publication(&event, exp));
}

/* The export still has its id and list, but no importer reaches it any more. */
static void event_unpublish(struct rsm_export *exp, enum rsm_reason reason)
{
	struct rsm_reply event;
	void *header;

	lockdep_assert_held(&exp->lock);
	if (event_begin(&event, RSM_EVENT_UNPUBLISH, &header))
		event_end(&event, header, event_put_publication(&event, exp) ?:
			  nla_put_u32(event.skb, RSM_A_SEGMENT_REASON, reason));
}

static void event_connect(struct rsm_import *imp)
{
	struct rsm_reply event;
	void *header;

	if (event_begin(&event, RSM_EVENT_CONNECT, &header))
		event_end(&event, header, rsm_import_put_all(&event, imp));
}

static void event_disconnect(struct rsm_import *imp, enum rsm_reason reason)
{
	struct rsm_reply event;
	void *header;

	if (event_begin(&event, RSM_EVENT_DISCONNECT, &header))
		event_end(&event, header, rsm_import_put_all(&event, imp) ?:
			  nla_put_u32(event.skb, RSM_A_IMPORT_REASON, reason));
}

/* Called by the link's work only: the link can't be started again meanwhile. */
static void event_node(struct rsm_link *link, bool up)
{
	struct rsm_reply event;
	void *header;

	if (event_begin(&event, up ? RSM_EVENT_NODE_UP : RSM_EVENT_NODE_DOWN, &header))
		event_end(&event, header, rsm_node_put(event.skb, link));
}

static int event_put_limit(struct sk_buff *skb, enum rsm_limit kind, u64 wanted, u64 value,
			   const struct rsm_controller *ctl)
{
	if (nla_put_u32(skb, RSM_A_LIMIT_KIND, kind) ||
	    nla_put_u64_64bit(skb, RSM_A_LIMIT_HITS, rsm_limit_hits(kind),
			      RSM_A_LIMIT_PAD) ||
	    nla_put_u64_64bit(skb, RSM_A_LIMIT_WANTED, wanted, RSM_A_LIMIT_PAD) ||
	    (value && nla_put_u64_64bit(skb, RSM_A_LIMIT_VALUE, value, RSM_A_LIMIT_PAD)) ||
	    nla_put_u32(skb, RSM_A_LIMIT_PID, task_tgid_nr(current)) ||
	    nla_put_u32(skb, RSM_A_LIMIT_UID, from_kuid(&init_user_ns, current_euid())) ||
	    (ctl && nla_put_string(skb, RSM_A_LIMIT_CONTROLLER, ctl->name)))
		return -EMSGSIZE;
	return 0;
}

static void event_limit(enum rsm_limit kind, u64 wanted, u64 value,
			const struct rsm_controller *ctl)
{
	struct rsm_reply event;
	void *header;

	if (event_begin(&event, RSM_EVENT_LIMIT_HIT, &header))
		event_end(&event, header, event_put_limit(event.skb, kind, wanted, value, ctl));
}

/* Name the process to which a connect was denied, if it is a process of this node. */
static int put_denied_owner(struct rsm_reply *event, const struct rsm_denied *denied)
{
	const struct rsm_owner *owner = denied->owner;

	if (!owner)
		return 0;
	if (nla_put_u32(event->skb, RSM_A_DENIAL_RIGHTS, denied->rights) ||
	    nla_put_u32(event->skb, RSM_A_DENIAL_UID, rsm_view_uid(event->viewer, owner->uid)) ||
	    nla_put_u32(event->skb, RSM_A_DENIAL_PID, rsm_view_pid(event->viewer, owner->tgid)))
		return -EMSGSIZE;
	return 0;
}

static int put_denied(struct rsm_reply *event, const struct rsm_denied *denied)
{
	struct sk_buff *skb = event->skb;

	if (nla_put_u32(skb, RSM_A_DENIAL_KIND, denied->kind) ||
	    nla_put_string(skb, RSM_A_DENIAL_CONTROLLER, denied->ctl->name) ||
	    nla_put_u32(skb, RSM_A_DENIAL_NODE_ID, denied->node) ||
	    nla_put_u32(skb, RSM_A_DENIAL_ID, denied->id) ||
	    nla_put_u32(skb, RSM_A_DENIAL_IMPORTER_NODE_ID, denied->importer))
		return -EMSGSIZE;
	return put_denied_owner(event, denied);
}

static void event_denied(const struct rsm_denied *denied)
{
	struct rsm_reply event;
	void *header;

	if (event_begin(&event, RSM_EVENT_DENIED, &header))
		event_end(&event, header, put_denied(&event, denied));
}

const struct rsm_listener rsm_netlink_listener = {
	.publish = event_publish,
	.unpublish = event_unpublish,
	.connect = event_connect,
	.disconnect = event_disconnect,
	.node = event_node,
	.limit_hit = event_limit,
	.denied = event_denied,
};
