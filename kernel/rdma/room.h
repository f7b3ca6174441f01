/* SPDX-License-Identifier: GPL-2.0 */
/* Room for transfers in the send queue of a connection: who gets it, and when. */
#ifndef RSM_RDMA_ROOM_H
#define RSM_RDMA_ROOM_H

#include "../rsm_turns.h"

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>

#define RSM_RDMA_TRANSFERS	32U	/* struct rdma_rw_ctx in use at a time */
#define RSM_RDMA_TRANSFER_BYTES	SZ_1M	/* that these may move: heartbeats wait behind them */

/**
 * struct rsm_rdma_room - how much of the send queue transfers use
 * @lock: guards the rest; taken in interrupts
 * @contexts: operations under way, at most RSM_RDMA_TRANSFERS
 * @wrs: most work requests that they need, at most @most_wrs
 * @bytes: bytes that they move, at most RSM_RDMA_TRANSFER_BYTES
 * @most_wrs: work requests that transfers may have under way, besides those for keys
 *	(RSM_RDMA_KEY_WRS) and for frames
 * @waiting: &struct rsm_rdma_claim of operations that wait. Users take turns, each with its oldest
 *	one first; none gets room before its turn, even if it needs less
 * @unposted: claims that have room, and whose threads have not posted the operation yet. A thread
 *	may wait for a processor for as long as others want it, so a user, together with the users
 *	in user namespaces of that user, has at most half of the room in this way, besides one
 *	operation of each of the two; meanwhile the turn is the next user's
 */
struct rsm_rdma_room {
	spinlock_t lock; /* see above */
	u32 contexts;
	u32 wrs;
	u32 bytes;
	u32 most_wrs;
	struct rsm_turns waiting;
	struct list_head unposted;
};

/**
 * struct rsm_rdma_claim - the room that an operation needs
 * @turn: in &rsm_rdma_room.waiting while @waits
 * @waits: it has no room yet
 * @wrs: most work requests of the operation
 * @bytes: bytes that the operation moves
 * @unposted: in &rsm_rdma_room.unposted, once it has room
 * @granted: completed when it has room
 */
struct rsm_rdma_claim {
	struct rsm_turn turn;
	bool waits;
	u32 wrs;
	u32 bytes;
	struct list_head unposted;
	struct completion granted;
};

void rsm_rdma_room_init(struct rsm_rdma_room *room);
void rsm_rdma_claim_init(struct rsm_rdma_claim *claim, u32 wrs, u32 bytes);
void rsm_rdma_room_ask(struct rsm_rdma_room *room, struct rsm_rdma_claim *claim);
void rsm_rdma_room_withdraw(struct rsm_rdma_room *room, struct rsm_rdma_claim *claim);
void rsm_rdma_room_posted(struct rsm_rdma_room *room, struct rsm_rdma_claim *claim);
void rsm_rdma_room_give(struct rsm_rdma_room *room, const struct rsm_rdma_claim *claim);

#endif
