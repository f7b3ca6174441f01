// SPDX-License-Identifier: GPL-2.0
/*
 * "linked0": a controller with a link. This file is also the node at its other
 * end, so that messages come exactly when a test wants them.
 */

#include "testctl.h"

#include "agent/protocol.h"
#include "rsm_link.h"

#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/moduleparam.h>

#define PEER_INCARNATION	0x1001
#define OWN_INCARNATION		0x1002
#define NOT_PUBLISHED		U32_MAX
#define PATIENCE		(10 * HZ)

static struct rsm_link link;
static DECLARE_COMPLETION(welcomed);
static DECLARE_COMPLETION(ended);
static bool no_room;
static u32 late_id;

static void init_header(struct rsm_msg_header *header, enum rsm_message_type type,
			size_t len)
{
	header->version = cpu_to_le16(RSM_PROTOCOL_VERSION);
	header->type = cpu_to_le16(type);
	header->len = cpu_to_le32(len);
	header->from = cpu_to_le64(PEER_INCARNATION);
	header->to = cpu_to_le64(type == RSM_MSG_HELLO ? 0 : OWN_INCARNATION);
}

static bool say_hello(u32 interval_ms)
{
	struct rsm_msg_hello hello = {
		.node = cpu_to_le32(TESTCTL_PEER_NODE),
		.interval_ms = cpu_to_le32(interval_ms),
	};

	init_header(&hello.header, RSM_MSG_HELLO, sizeof(hello));
	return rsm_link_receive(&link, &hello, sizeof(hello));
}

static bool say_connect(u32 id)
{
	struct rsm_msg_connect msg = {
		.id = cpu_to_le32(id),
		.cookie = cpu_to_le32(1),
	};

	init_header(&msg.header, RSM_MSG_CONNECT, sizeof(msg));
	return rsm_link_receive(&link, &msg, sizeof(msg));
}

static int linked_send(struct rsm_link *l, const void *message, size_t len)
{
	const struct rsm_msg_header *header = message;

	if (le16_to_cpu(header->type) == RSM_MSG_WELCOME)
		complete(&welcomed);
	return READ_ONCE(no_room) ? -EAGAIN : 0;
}

/* The link's work has found its inbox empty and will look next at how the link is. */
static void linked_resume(struct rsm_link *l)
{
	say_connect(late_id);
	rsm_link_fail(l, "of a test");
}

static void linked_down(struct rsm_link *l, u64 peer)
{
	complete(&ended);
}

static const struct rsm_link_ops link_ops = {
	.send = linked_send,
	.resume = linked_resume,
	.down = linked_down,
};

static const struct rsm_link_peer the_peer = {
	.node = TESTCTL_PEER_NODE,
	.incarnation = PEER_INCARNATION,
	.own = OWN_INCARNATION,
};

static int start(void)
{
	reinit_completion(&welcomed);
	reinit_completion(&ended);
	if (!rsm_link_start(&link, &the_peer) || !say_hello(rsm_heartbeat_ms()))
		return -EBUSY;
	return wait_for_completion_timeout(&welcomed, PATIENCE) ? 0 : -ETIMEDOUT;
}

/*
 * Nothing is taken from the inbox while many answers wait for room. When there
 * is room again, the one who could not write to it is resumed. A link that has
 * ended, since all this took too long, takes everything.
 */
static void fill_inbox(void)
{
	WRITE_ONCE(no_room, true);
	while (say_connect(NOT_PUBLISHED) && !completion_done(&ended))
		cond_resched();
	WRITE_ONCE(no_room, false);
}

/* A segment's id: its CONNECT comes just before the end of the link, which is over on return. */
static int late_connect(const char *val, const struct kernel_param *kp)
{
	int err = kstrtou32(val, 0, &late_id);

	if (err)
		return err;
	err = start();
	if (!err) {
		fill_inbox();
		if (!wait_for_completion_timeout(&ended, PATIENCE))
			err = -ETIMEDOUT;
	}
	rsm_link_stop(&link, "of a test");
	return err;
}

static const struct kernel_param_ops late_connect_ops = {
	.set = late_connect,
};
module_param_cb(late_connect, &late_connect_ops, NULL, 0200);
MODULE_PARM_DESC(late_connect, "Id of a segment to which a CONNECT comes as linked0's link ends");

/* The heartbeat_ms with which the peer greets; 0 takes the link down. */
static int strange_heartbeat(const char *val, const struct kernel_param *kp)
{
	int err;
	u32 ms;

	err = kstrtou32(val, 0, &ms);
	if (err)
		return err;
	rsm_link_stop(&link, "of a test");
	if (!ms)
		return 0;
	return rsm_link_start(&link, &the_peer) && say_hello(ms) ? 0 : -EBUSY;
}

static const struct kernel_param_ops strange_heartbeat_ops = {
	.set = strange_heartbeat,
};
module_param_cb(strange_heartbeat, &strange_heartbeat_ops, NULL, 0200);
MODULE_PARM_DESC(strange_heartbeat, "heartbeat_ms with which linked0's peer greets, 0 to end");

static const struct rsm_controller_ops linked_ops = {
	.owner = THIS_MODULE,
	.prepare = rsm_pin_prepare,
	.bind = rsm_pin_bind,
	.rebind = rsm_pin_rebind,
	.unbind = rsm_pin_unbind,
	.check_acl = testctl_check_acl,
	.republish = rsm_agent_republish,
	.unpublish = rsm_agent_unpublish,
	.connect = testctl_connect,
	.disconnect = rsm_local_disconnect,
	.map = rsm_map_mem,
	.post = rsm_local_post,
	.post_importers = rsm_agent_post_importers,
	.peers = rsm_agent_peers,
};

static struct rsm_controller linked = {
	.name = "linked0",
	.ops = &linked_ops,
	.attr = {
		.page_size = PAGE_SIZE,
		.max_export_size = 16 << 20,
		.hwaddr = 0x30,
	},
	.unlisted = true,
};

int testctl_linked_init(void)
{
	int err = rsm_link_init(&link, &linked, &link_ops);

	if (err)
		return err;
	err = rsm_register_controller(&linked);
	if (err)
		rsm_link_exit(&link);
	return err;
}

void testctl_linked_exit(void)
{
	rsm_unregister_controller(&linked);
	rsm_link_exit(&link);
}
