// SPDX-License-Identifier: GPL-2.0
/* Room for transfers in the send queue of a connection (room.h). Tested by KUnit. */

#include "room.h"

#include <linux/lockdep.h>

void rsm_rdma_room_init(struct rsm_rdma_room *room)
{
	spin_lock_init(&room->lock);
	rsm_turns_init(&room->waiting);
	INIT_LIST_HEAD(&room->unposted);
}

/**
 * rsm_rdma_claim_init() - what an operation of the caller's needs
 * @claim: the claim
 * @wrs: most work requests of the operation
 * @bytes: bytes that the operation moves
 */
void rsm_rdma_claim_init(struct rsm_rdma_claim *claim, u32 wrs, u32 bytes)
{
	rsm_turn_init(&claim->turn);
	claim->waits = true;
	claim->wrs = wrs;
	claim->bytes = bytes;
	init_completion(&claim->granted);
}

static bool has_room(const struct rsm_rdma_room *room, const struct rsm_rdma_claim *claim)
{
	lockdep_assert_held(&room->lock);
	return room->contexts < RSM_RDMA_TRANSFERS &&
	       room->wrs + claim->wrs <= room->most_wrs &&
	       room->bytes + claim->bytes <= RSM_RDMA_TRANSFER_BYTES;
}

/* Would the claim's owner have too much room for operations that are not posted yet? */
static bool would_hoard(const struct rsm_rdma_room *room, const struct rsm_rdma_claim *claim)
{
	u32 contexts = 1, wrs = claim->wrs, bytes = claim->bytes;
	const struct rsm_rdma_claim *other;
	bool first = true;

	lockdep_assert_held(&room->lock);
	list_for_each_entry(other, &room->unposted, unposted) {
		if (!rsm_turn_has_owner_of(&other->turn, &claim->turn))
			continue;
		first &= other->turn.user != claim->turn.user;
		contexts++;
		wrs += other->wrs;
		bytes += other->bytes;
	}
	return !first &&
	       (contexts > RSM_RDMA_TRANSFERS / 2 || wrs > room->most_wrs / 2 ||
		bytes > RSM_RDMA_TRANSFER_BYTES / 2);
}

/* The claim whose turn it is, or NULL. Users who would hoard are passed over. */
static struct rsm_rdma_claim *next_claim(struct rsm_rdma_room *room)
{
	struct rsm_rdma_claim *claim;
	struct rsm_turn *turn;

	for (turn = rsm_turns_first(&room->waiting); turn;
	     turn = rsm_turns_next(&room->waiting, turn)) {
		claim = container_of(turn, struct rsm_rdma_claim, turn);
		if (!would_hoard(room, claim))
			return claim;
	}
	return NULL;
}

static void grant(struct rsm_rdma_room *room, struct rsm_rdma_claim *claim)
{
	room->contexts++;
	room->wrs += claim->wrs;
	room->bytes += claim->bytes;
	list_add_tail(&claim->unposted, &room->unposted);
	rsm_turns_pop(&room->waiting, &claim->turn);
	claim->waits = false;
	complete(&claim->granted);
}

static void grant_all(struct rsm_rdma_room *room)
{
	struct rsm_rdma_claim *claim;

	lockdep_assert_held(&room->lock);
	while ((claim = next_claim(room)) && has_room(room, claim))
		grant(room, claim);
}

static void take_back(struct rsm_rdma_room *room, const struct rsm_rdma_claim *claim)
{
	lockdep_assert_held(&room->lock);
	room->contexts--;
	room->wrs -= claim->wrs;
	room->bytes -= claim->bytes;
}

/**
 * rsm_rdma_room_ask() - ask for room; &rsm_rdma_claim.granted is completed when there is some
 * @room: the room
 * @claim: made by rsm_rdma_claim_init()
 *
 * The caller ends with rsm_rdma_room_withdraw() or rsm_rdma_room_posted().
 */
void rsm_rdma_room_ask(struct rsm_rdma_room *room, struct rsm_rdma_claim *claim)
{
	spin_lock_irq(&room->lock);
	rsm_turns_add(&room->waiting, &claim->turn);
	grant_all(room);
	spin_unlock_irq(&room->lock);
}

/**
 * rsm_rdma_room_withdraw() - the operation is not posted
 * @room: the room
 * @claim: one that was asked for, with or without room
 */
void rsm_rdma_room_withdraw(struct rsm_rdma_room *room, struct rsm_rdma_claim *claim)
{
	spin_lock_irq(&room->lock);
	if (claim->waits) {
		rsm_turns_del(&room->waiting, &claim->turn);
	} else {
		list_del(&claim->unposted);
		take_back(room, claim);
	}
	grant_all(room);
	spin_unlock_irq(&room->lock);
}

/**
 * rsm_rdma_room_posted() - the operation is posted, or the device has refused it
 * @room: the room
 * @claim: one that has room, and keeps it
 *
 * The caller has been running since it posted the operation, with softirqs off: claims of
 * operations that have ended do not pile up.
 */
void rsm_rdma_room_posted(struct rsm_rdma_room *room, struct rsm_rdma_claim *claim)
{
	spin_lock_irq(&room->lock);
	list_del(&claim->unposted);
	grant_all(room);
	spin_unlock_irq(&room->lock);
}

/**
 * rsm_rdma_room_give() - an operation that was posted needs its room no more; any context
 * @room: the room
 * @claim: of the operation
 */
void rsm_rdma_room_give(struct rsm_rdma_room *room, const struct rsm_rdma_claim *claim)
{
	unsigned long flags;

	spin_lock_irqsave(&room->lock, flags);
	take_back(room, claim);
	grant_all(room);
	spin_unlock_irqrestore(&room->lock, flags);
}
