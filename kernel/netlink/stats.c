// SPDX-License-Identifier: GPL-2.0
/* stats-get */

#include "netlink.h"

#include <linux/mm.h>

static int stats_put_limit(struct sk_buff *skb, enum rsm_limit kind)
{
	struct nlattr *nest = nla_nest_start(skb, RSM_A_STATS_LIMIT);

	if (!nest || nla_put_u32(skb, RSM_A_LIMIT_KIND, kind) ||
	    nla_put_u64_64bit(skb, RSM_A_LIMIT_HITS, rsm_limit_hits(kind), RSM_A_LIMIT_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_limits(struct sk_buff *skb)
{
	int err = 0;

	for (enum rsm_limit kind = 0; kind < RSM_LIMIT_COUNT && !err; kind++)
		err = stats_put_limit(skb, kind);
	return err;
}

static int stats_put_all(struct sk_buff *skb)
{
	u64 pinned = (u64)rsm_pinned_pages() << PAGE_SHIFT;
	u64 most = (u64)rsm_pinned_most() << PAGE_SHIFT;

	if (nla_put_u32(skb, RSM_A_STATS_HANDLES, rsm_handle_count()) ||
	    nla_put_u32(skb, RSM_A_STATS_MAX_SEGMENTS, READ_ONCE(rsm_max_segments)) ||
	    nla_put_u32(skb, RSM_A_STATS_SEGMENTS, rsm_segment_count(RSM_EXPORT)) ||
	    nla_put_u32(skb, RSM_A_STATS_PUBLISHED, rsm_published_count()) ||
	    nla_put_u32(skb, RSM_A_STATS_IMPORTS, rsm_segment_count(RSM_IMPORT)) ||
	    nla_put_u32(skb, RSM_A_STATS_GRANTS, rsm_grant_count()) ||
	    nla_put_u64_64bit(skb, RSM_A_STATS_PINNED_BYTES, pinned, RSM_A_STATS_PAD) ||
	    nla_put_u64_64bit(skb, RSM_A_STATS_MAX_PINNED_BYTES, most, RSM_A_STATS_PAD) ||
	    nla_put_u64_64bit(skb, RSM_A_STATS_DENIALS, rsm_denial_count(), RSM_A_STATS_PAD))
		return -EMSGSIZE;
	return put_limits(skb);
}

int rsm_stats_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rsm_reply reply;
	void *header;
	int err;

	err = rsm_answer_start(info, RSM_CMD_STATS_GET, &reply, &header);
	if (err)
		return err;
	return rsm_answer_end(info, &reply, header, stats_put_all(reply.skb));
}
