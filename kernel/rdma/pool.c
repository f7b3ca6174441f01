// SPDX-License-Identifier: GPL-2.0
/* The frames of a channel: memory that the device reads and writes. */

#include "rdma.h"

#include <linux/slab.h>

static void unmap(struct rsm_rdma_channel *channel, struct rsm_rdma_frame *frames,
		  u32 count, enum dma_data_direction direction)
{
	while (count--)
		ib_dma_unmap_single(channel->device, frames[count].dma,
				    sizeof(frames[count].wire), direction);
}

/* Map all frames, or none. */
static int map(struct rsm_rdma_channel *channel, struct rsm_rdma_frame *frames, u32 count,
	       enum dma_data_direction direction)
{
	for (u32 i = 0; i < count; i++) {
		struct rsm_rdma_frame *frame = &frames[i];

		frame->dma = ib_dma_map_single(channel->device, &frame->wire,
					       sizeof(frame->wire), direction);
		if (ib_dma_mapping_error(channel->device, frame->dma)) {
			unmap(channel, frames, i, direction);
			return -ENOMEM;
		}
	}
	return 0;
}

static struct rsm_rdma_frame *make(struct rsm_rdma_channel *channel, u32 count,
				   enum dma_data_direction direction)
{
	struct rsm_rdma_frame *frames = kcalloc(count, sizeof(*frames), GFP_KERNEL);

	if (!frames)
		return NULL;
	if (map(channel, frames, count, direction)) {
		kfree(frames);
		return NULL;
	}
	for (u32 i = 0; i < count; i++)
		frames[i].channel = channel;
	return frames;
}

static void pool_set_up(struct rsm_rdma_channel *channel)
{
	for (u32 i = 0; i < RSM_RDMA_SENDS; i++) {
		channel->sends[i].cqe.done = rsm_rdma_frame_sent;
		list_add(&channel->sends[i].next, &channel->unsent);
	}
	for (u32 i = 0; i < RSM_RDMA_RECEIVES; i++)
		channel->receives[i].cqe.done = rsm_rdma_frame_received;
}

/**
 * rsm_rdma_frames_alloc() - make the frames of a channel
 * @channel: the channel
 *
 * Return: 0 or -ENOMEM.
 */
int rsm_rdma_frames_alloc(struct rsm_rdma_channel *channel)
{
	channel->sends = make(channel, RSM_RDMA_SENDS, DMA_TO_DEVICE);
	if (!channel->sends)
		return -ENOMEM;
	channel->receives = make(channel, RSM_RDMA_RECEIVES, DMA_FROM_DEVICE);
	if (!channel->receives) {
		unmap(channel, channel->sends, RSM_RDMA_SENDS, DMA_TO_DEVICE);
		kfree(channel->sends);
		return -ENOMEM;
	}
	pool_set_up(channel);
	return 0;
}

/* Undo rsm_rdma_frames_alloc(). The queue pair must have been destroyed before. */
void rsm_rdma_frames_free(struct rsm_rdma_channel *channel)
{
	unmap(channel, channel->receives, RSM_RDMA_RECEIVES, DMA_FROM_DEVICE);
	kfree(channel->receives);
	unmap(channel, channel->sends, RSM_RDMA_SENDS, DMA_TO_DEVICE);
	kfree(channel->sends);
}
