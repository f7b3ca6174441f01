// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of the agents, in frames. Each side tells how many receives it has posted, and in each
 * frame how many more since: these are the peer's credits. A sender without a credit does not
 * send, so a frame always finds a receive, which not every transport could do without.
 */

#include "rdma.h"

/* Kept for a frame that returns credits: two nodes without any would wait for each other. */
#define KEPT_CREDITS	1
/* Credits that are returned in a frame of their own if no message carries them. */
#define OWED_ENOUGH	(RSM_RDMA_RECEIVES / 2)
/* The reason for which a channel fails when a work request has ended like this. */
static const char *reason(const struct ib_wc *wc)
{
	/* The queue pair was in the error state before. */
	if (wc->status == IB_WC_WR_FLUSH_ERR)
		return "connection lost";
	return ib_wc_status_msg(wc->status);
}

/* Fill in and post a frame. The caller holds node->lock. */
static int post_frame(struct rsm_rdma_channel *channel, struct rsm_rdma_frame *frame,
		      enum rsm_rdma_frame_type type, size_t len)
{
	struct ib_sge sge = {
		.addr = frame->dma,
		.length = RSM_RDMA_FRAME_HEADER + len,
		.lkey = channel->pd->local_dma_lkey,
	};
	struct ib_send_wr wr = {
		.wr_cqe = &frame->cqe,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};

	frame->wire.type = cpu_to_le16(type);
	frame->wire.credits = cpu_to_le16(channel->owed);
	ib_dma_sync_single_for_device(channel->device, frame->dma, sge.length,
				      DMA_TO_DEVICE);
	return ib_post_send(channel->qp, &wr, NULL);
}

/*
 * Has the oldest frame been under way for too long? The connecting node chooses how often the
 * transport repeats a frame that finds no receive, perhaps without end. A peer that is not at fault
 * has ended the link long before: it has had no heartbeat. The caller holds node->lock.
 */
static bool is_stuck(struct rsm_rdma_channel *channel)
{
	unsigned long patience = msecs_to_jiffies(RSM_RDMA_STUCK_BEATS * rsm_heartbeat_ms());
	const struct rsm_rdma_frame *oldest;

	oldest = list_first_entry_or_null(&channel->sending, struct rsm_rdma_frame, next);
	return oldest && time_after(jiffies, oldest->posted + patience);
}

/* Send a frame if more than @kept credits are left. The caller holds node->lock. */
static int send_frame(struct rsm_rdma_channel *channel, enum rsm_rdma_frame_type type,
		      const void *message, size_t len, u32 kept)
{
	struct rsm_rdma_frame *frame;

	lockdep_assert_held(&channel->node->lock);
	if (channel->why)
		return -ENOTCONN;
	if (is_stuck(channel)) {
		rsm_rdma_channel_fail_locked(channel, "takes no messages");
		return -ENOTCONN;
	}
	if (channel->credits <= kept || list_empty(&channel->unsent))
		return -EAGAIN;
	frame = list_first_entry(&channel->unsent, struct rsm_rdma_frame, next);
	memcpy(frame->wire.message, message, len);
	if (post_frame(channel, frame, type, len)) {
		rsm_rdma_channel_fail_locked(channel, "the device takes no messages");
		return -ENOTCONN;
	}
	frame->posted = jiffies;
	list_move_tail(&frame->next, &channel->sending);
	channel->credits--;
	channel->owed = 0;
	return 0;
}

/*
 * Return credits in a frame of their own, once there are enough. If that is not possible now, the
 * completion that removes the obstacle calls this again. The caller holds node->lock.
 */
static void return_credits(struct rsm_rdma_channel *channel)
{
	if (channel->owed >= OWED_ENOUGH)
		send_frame(channel, RSM_RDMA_FRAME_CREDITS, NULL, 0, 0);
}

/* &ib_cqe.done of a frame that was sent, or flushed. */
void rsm_rdma_frame_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rsm_rdma_frame *frame = container_of(wc->wr_cqe, struct rsm_rdma_frame, cqe);
	struct rsm_rdma_channel *channel = frame->channel;
	struct rsm_rdma_node *node = channel->node;
	unsigned long flags;

	spin_lock_irqsave(&node->lock, flags);
	list_move(&frame->next, &channel->unsent);
	if (wc->status != IB_WC_SUCCESS)
		rsm_rdma_channel_fail_locked(channel, reason(wc));
	return_credits(channel);
	if (list_empty(&channel->sending))
		wake_up_all(&node->changed);
	spin_unlock_irqrestore(&node->lock, flags);
}

static int post_receive(struct rsm_rdma_frame *frame)
{
	struct rsm_rdma_channel *channel = frame->channel;
	struct ib_sge sge = {
		.addr = frame->dma,
		.length = sizeof(frame->wire),
		.lkey = channel->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &frame->cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};

	ib_dma_sync_single_for_device(channel->device, frame->dma, sizeof(frame->wire),
				      DMA_FROM_DEVICE);
	return ib_post_recv(channel->qp, &wr, NULL);
}

/*
 * Post the receive again; the peer may use it once it has the credit. A channel that has failed is
 * drained, and a receive that is posted behind the drain would complete when the frames are freed.
 */
static void post_again(struct rsm_rdma_frame *frame)
{
	struct rsm_rdma_channel *channel = frame->channel;
	unsigned long flags;

	spin_lock_irqsave(&channel->node->lock, flags);
	if (!channel->why && post_receive(frame))
		rsm_rdma_channel_fail_locked(channel, "the device takes no receives");
	if (!channel->why) {
		channel->owed++;
		return_credits(channel);
	}
	spin_unlock_irqrestore(&channel->node->lock, flags);
}

/* Add the credits; false if the peer can't have so many receives. */
static bool take_credits(struct rsm_rdma_channel *channel, u32 credits)
{
	unsigned long flags;
	bool sound;

	spin_lock_irqsave(&channel->node->lock, flags);
	sound = credits <= channel->peer.depth - channel->credits;
	if (sound)
		channel->credits += credits;
	return_credits(channel);
	spin_unlock_irqrestore(&channel->node->lock, flags);
	return sound;
}

/* After traffic the first attempt to connect again comes early. */
static void note_activity(struct rsm_rdma_node *node)
{
	if (rsm_reconnect_has_waited(&node->reconnect) &&
	    READ_ONCE(node->link.machine.state) == RSM_LINK_ACTIVE)
		rsm_rdma_node_notify(node, RSM_RECONNECT_ACTIVE);
}

/* Hand messages to the agent, in order, until it refuses one. */
static void message_deliver(struct rsm_rdma_channel *channel)
{
	struct rsm_rdma_frame *frame;
	struct rsm_link *link = &channel->node->link;

	lockdep_assert_held(&channel->receive_lock);
	while (!channel->stalled && !list_empty(&channel->received)) {
		frame = list_first_entry(&channel->received, struct rsm_rdma_frame, next);
		channel->stalled = !rsm_link_receive(link, frame->wire.message, frame->len);
		if (channel->stalled)
			break;
		list_del(&frame->next);
		post_again(frame);
	}
	note_activity(channel->node);
}

static void receive_message(struct rsm_rdma_frame *frame)
{
	struct rsm_rdma_channel *channel = frame->channel;

	spin_lock_bh(&channel->receive_lock);
	list_add_tail(&frame->next, &channel->received);
	message_deliver(channel);
	spin_unlock_bh(&channel->receive_lock);
}

/* Check the proof of the connecting node. Returns what is wrong with it, or NULL. */
static const char *receive_proof(struct rsm_rdma_channel *channel, const u8 *mac)
{
	if (READ_ONCE(channel->proven))
		return "proves who it is more than once";
	if (!rsm_rdma_mac_fits(rsm_rdma_secret_of(channel), RSM_RDMA_ROLE_PROOF, &channel->said,
			       mac))
		return "does not prove who it is";
	WRITE_ONCE(channel->proven, true);
	wake_up_all(&channel->node->changed);
	return NULL;
}

/* Before the proof no other frame is accepted. Returns what is wrong with a frame, or NULL. */
static const char *proof_objection(struct rsm_rdma_frame *frame)
{
	struct rsm_rdma_channel *channel = frame->channel;

	if (frame->wire.type == cpu_to_le16(RSM_RDMA_FRAME_PROOF))
		return receive_proof(channel, frame->wire.message);
	return READ_ONCE(channel->proven) ? NULL : "sends frames before it proves who it is";
}

/* Returns what is wrong with a frame, or NULL. */
static const char *receive_frame(struct rsm_rdma_frame *frame, u32 len)
{
	const char *why = rsm_rdma_frame_objection(&frame->wire, len) ?: proof_objection(frame);

	if (why)
		return why;
	if (!take_credits(frame->channel, le16_to_cpu(frame->wire.credits)))
		return "gives credits that it doesn't have";
	frame->len = len - RSM_RDMA_FRAME_HEADER;
	if (frame->wire.type == cpu_to_le16(RSM_RDMA_FRAME_MESSAGE))
		receive_message(frame);
	else
		post_again(frame);
	return NULL;
}

/* &ib_cqe.done of a receive */
void rsm_rdma_frame_received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rsm_rdma_frame *frame = container_of(wc->wr_cqe, struct rsm_rdma_frame, cqe);
	struct rsm_rdma_channel *channel = frame->channel;
	const char *why;

	if (wc->status != IB_WC_SUCCESS) {
		rsm_rdma_channel_fail(channel, reason(wc));
		return;
	}
	ib_dma_sync_single_for_cpu(channel->device, frame->dma, sizeof(frame->wire),
				   DMA_FROM_DEVICE);
	why = receive_frame(frame, wc->byte_len);
	if (why)
		rsm_rdma_channel_fail(channel, why);
}

/**
 * rsm_rdma_receive_all() - post all receives of a new channel
 * @channel: the channel
 *
 * Return: 0 or an error.
 */
int rsm_rdma_receive_all(struct rsm_rdma_channel *channel)
{
	int err = 0;

	for (u32 i = 0; i < RSM_RDMA_RECEIVES && !err; i++)
		err = post_receive(&channel->receives[i]);
	return err;
}

/**
 * rsm_rdma_prove() - send the frame that proves our secret
 * @channel: the channel, established, with nothing sent yet
 * @mac: the proof
 *
 * Return: 0 or an error.
 */
int rsm_rdma_prove(struct rsm_rdma_channel *channel, const u8 *mac)
{
	int err;

	spin_lock_irq(&channel->node->lock);
	err = send_frame(channel, RSM_RDMA_FRAME_PROOF, mac, RSM_RDMA_MAC_SIZE, 0);
	spin_unlock_irq(&channel->node->lock);
	return err;
}

/*
 * &rsm_link_ops.send. A caller that comes after the end of the link finds no channel. A channel
 * that it finds stays with the node, and so is not destroyed, until the caller drops node->lock.
 * The node itself is freed when the module is unloaded.
 */
int rsm_rdma_send(struct rsm_link *link, const void *message, size_t len)
{
	struct rsm_rdma_node *node = to_rdma_node(link);
	unsigned long flags;
	int err = -ENOTCONN;

	spin_lock_irqsave(&node->lock, flags);
	if (node->channel)
		err = send_frame(node->channel, RSM_RDMA_FRAME_MESSAGE, message, len,
				 KEPT_CREDITS);
	spin_unlock_irqrestore(&node->lock, flags);
	return err;
}

/**
 * rsm_rdma_deliver() - hand messages to the agent, which takes some now
 * @channel: the channel
 */
void rsm_rdma_deliver(struct rsm_rdma_channel *channel)
{
	spin_lock_bh(&channel->receive_lock);
	channel->stalled = false;
	message_deliver(channel);
	spin_unlock_bh(&channel->receive_lock);
}

/* &rsm_link_ops.resume */
void rsm_rdma_resume(struct rsm_link *link)
{
	struct rsm_rdma_channel *channel = rsm_rdma_channel_get(link);

	if (!channel)
		return;
	if (rsm_rdma_channel_enter(channel)) {
		rsm_rdma_deliver(channel);
		rsm_rdma_channel_leave(channel);
	}
	rsm_rdma_channel_put(channel);
}
