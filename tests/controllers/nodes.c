// SPDX-License-Identifier: GPL-2.0
/*
 * "nodes0": a controller whose other nodes are programs. Each open of /dev/rsm_testnode is one
 * node: it has greeted when open() returns, read() gives the messages that this node's agent sends
 * to it, one at a time, and write() delivers a message of it. Heartbeats are seen to here, so a
 * program that waits is a node that lives and is silent. It is gone when the file is closed. A
 * CONNECT to the segment of parameter early_connect, if that is set, comes right behind its HELLO.
 * Importers reach memory by keys, as they would over RDMA.
 */

#include "testctl.h"

#include "agent/protocol.h"
#include "rsm_link.h"

#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/moduleparam.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#define OUTGOING	256U

/**
 * struct node - a node that a program plays
 * @link: the way there
 * @id: its node id
 * @used: somebody plays it
 * @ended: its link has been lost
 * @may_write: the agent takes messages, or may do so again
 * @lock: guards @outgoing, @head and @tail; taken in interrupts
 * @outgoing: messages to it
 * @head: next to be read
 * @tail: next to be filled
 * @changed: woken when any of these change
 */
struct node {
	struct rsm_link link;
	u32 id;
	bool used;
	bool ended;
	bool may_write;
	spinlock_t lock; /* see above */
	struct rsm_link_message outgoing[OUTGOING];
	unsigned int head;
	unsigned int tail;
	wait_queue_head_t changed;
};

static struct node *nodes;
static DEFINE_MUTEX(nodes_lock);
static atomic_t ends = ATOMIC_INIT(0);
static atomic_t keys_made = ATOMIC_INIT(0);
static atomic_t held = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(hold_wait);
static bool hold_keys;
static bool hold_attach;
static bool hold_init;
static bool fail_init;
module_param(fail_init, bool, 0400);
MODULE_PARM_DESC(fail_init, "Loading fails, when all has been registered");
static atomic_t passes = ATOMIC_INIT(0);
static bool impatient;
module_param(impatient, bool, 0600);
MODULE_PARM_DESC(impatient, "New nodes of nodes0 have this node's heartbeat interval, not the longest that fits: a busy machine is no silent node");
static unsigned int node_id;
module_param(node_id, uint, 0600);
MODULE_PARM_DESC(node_id, "Id of the nodes of nodes0 that come from now on, 0 for ids of their own");
static unsigned int early_connect;
module_param(early_connect, uint, 0600);
MODULE_PARM_DESC(early_connect, "Id of a segment that each new node of nodes0 imports at once");

static struct node *to_node(struct rsm_link *link)
{
	return container_of(link, struct node, link);
}

static u64 incarnation_of(const struct node *node)
{
	return TESTCTL_INCARNATION + (node - nodes);
}

static void init_header(const struct node *node, struct rsm_msg_header *header,
			enum rsm_message_type type, size_t len)
{
	header->version = cpu_to_le16(RSM_PROTOCOL_VERSION);
	header->type = cpu_to_le16(type);
	header->len = cpu_to_le32(len);
	header->from = cpu_to_le64(incarnation_of(node));
	header->to = cpu_to_le64(type == RSM_MSG_HELLO ? 0 : TESTCTL_OWN_INCARNATION);
}

static void greet(struct node *node, enum rsm_message_type type)
{
	struct rsm_msg_hello hello = {
		.node = cpu_to_le32(node->id),
		.interval_ms = cpu_to_le32(rsm_heartbeat_ms() *
					   (impatient ? 1 : RSM_INTERVAL_FACTOR)),
	};

	init_header(node, &hello.header, type, sizeof(hello));
	rsm_link_receive(&node->link, &hello, sizeof(hello));
}

static void connect_early(struct node *node, u32 id)
{
	struct rsm_msg_connect msg = {
		.id = cpu_to_le32(id),
		.cookie = cpu_to_le32(1),
	};

	init_header(node, &msg.header, RSM_MSG_CONNECT, sizeof(msg));
	rsm_link_receive(&node->link, &msg, sizeof(msg));
}

static int put_outgoing(struct node *node, const void *message, size_t len)
{
	struct rsm_link_message *entry;
	unsigned long flags;
	int err = -EAGAIN;

	spin_lock_irqsave(&node->lock, flags);
	if (node->tail - node->head < OUTGOING) {
		entry = &node->outgoing[node->tail++ % OUTGOING];
		entry->len = len;
		memcpy(entry->data, message, len);
		err = 0;
	}
	spin_unlock_irqrestore(&node->lock, flags);
	wake_up_all(&node->changed);
	return err;
}

static int nodes_send(struct rsm_link *link, const void *message, size_t len)
{
	const struct rsm_msg_header *header = message;
	struct node *node = to_node(link);

	switch (le16_to_cpu(header->type)) {
	case RSM_MSG_HELLO:
	case RSM_MSG_WELCOME:
		return 0;
	case RSM_MSG_HEARTBEAT:
		greet(node, RSM_MSG_HEARTBEAT);
		return 0;
	default:
		return put_outgoing(node, message, len);
	}
}

static void nodes_resume(struct rsm_link *link)
{
	struct node *node = to_node(link);

	WRITE_ONCE(node->may_write, true);
	wake_up_all(&node->changed);
}

static void nodes_down(struct rsm_link *link, u64 peer)
{
	struct node *node = to_node(link);

	atomic_inc(&ends);
	WRITE_ONCE(node->ended, true);
	wake_up_all(&node->changed);
}

static void stay_at(const bool *hold)
{
	atomic_inc(&held);
	wait_event(hold_wait, !READ_ONCE(*hold) || atomic_dec_if_positive(&passes) >= 0);
	atomic_dec(&held);
}

/* The place that the program at the other end names, and is told. */
static rsm_status_t nodes_place(struct rsm_link *link, struct rsm_mem *mem, u32 rights,
				struct rsm_place *place, void **keys)
{
	stay_at(&hold_keys);
	place->word[0] = TESTCTL_PLACE;
	place->word[1] = !!(rights & RSM_PERM_WRITE);
	*keys = NULL;
	atomic_inc(&keys_made);
	return RSM_STS_SUCCESS;
}

static void nodes_leave(struct rsm_link *link, void *keys)
{
	atomic_dec(&keys_made);
}

static rsm_status_t nodes_attach(struct rsm_link *link, u64 length, const struct rsm_place *place,
				 struct rsm_mem **mem)
{
	if (place->word[0] != TESTCTL_PLACE)
		return RSM_STS_CONN_ABORTED;
	stay_at(&hold_attach);
	*mem = testctl_window_alloc(length);
	return *mem ? RSM_STS_SUCCESS : RSM_STS_INSUFFICIENT_MEM;
}

static struct rsm_link_ops link_ops = {
	.send = nodes_send,
	.resume = nodes_resume,
	.down = nodes_down,
	.place = nodes_place,
	.place_ms = 60000,
	.leave = nodes_leave,
	.attach = nodes_attach,
};

static struct node *take_node(void)
{
	struct node *node = NULL;

	mutex_lock(&nodes_lock);
	for (unsigned int i = 0; i < TESTCTL_NODES && !node; i++)
		if (!nodes[i].used)
			node = &nodes[i];
	if (node)
		node->used = true;
	mutex_unlock(&nodes_lock);
	return node;
}

static void give_node(struct node *node)
{
	mutex_lock(&nodes_lock);
	node->used = false;
	mutex_unlock(&nodes_lock);
}

static bool is_active(struct node *node)
{
	return READ_ONCE(node->link.machine.state) == RSM_LINK_ACTIVE;
}

static int start(struct node *node)
{
	u32 id = READ_ONCE(node_id) ?: TESTCTL_FIRST_NODE + (node - nodes);
	struct rsm_link_peer peer = {
		.node = id,
		.hwaddr = node - nodes,
		.incarnation = incarnation_of(node),
		.own = TESTCTL_OWN_INCARNATION,
	};

	node->id = id;
	node->head = node->tail;
	node->ended = false;
	node->may_write = true;
	if (!rsm_link_start(&node->link, &peer))
		return -EBUSY;
	greet(node, RSM_MSG_HELLO);
	if (early_connect)
		connect_early(node, early_connect);
	wait_event(node->link.changed, is_active(node) || READ_ONCE(node->ended));
	return is_active(node) ? 0 : -EIO;
}

static int node_open(struct inode *inode, struct file *file)
{
	struct node *node = take_node();
	int err;

	if (!node)
		return -ENFILE;
	err = start(node);
	if (err) {
		rsm_link_stop(&node->link, "of a test");
		give_node(node);
		return err;
	}
	file->private_data = node;
	return stream_open(inode, file);
}

static int node_release(struct inode *inode, struct file *file)
{
	struct node *node = file->private_data;

	rsm_link_stop(&node->link, "of a test");
	give_node(node);
	return 0;
}

static bool take_outgoing(struct node *node, struct rsm_link_message *message)
{
	bool taken = false;

	spin_lock_irq(&node->lock);
	if (node->head != node->tail) {
		*message = node->outgoing[node->head++ % OUTGOING];
		taken = true;
	}
	spin_unlock_irq(&node->lock);
	return taken;
}

static bool has_outgoing(const struct node *node)
{
	return READ_ONCE(node->head) != READ_ONCE(node->tail);
}

/* 0 when the link has been lost. */
static ssize_t node_read(struct file *file, char __user *buf, size_t size, loff_t *pos)
{
	struct node *node = file->private_data;
	struct rsm_link_message message;
	int err;

	while (!take_outgoing(node, &message)) {
		if (READ_ONCE(node->ended))
			return 0;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible(node->changed,
					       has_outgoing(node) || READ_ONCE(node->ended));
		if (err)
			return err;
	}
	if (size < message.len)
		return -EMSGSIZE;
	return copy_to_user(buf, message.data, message.len) ? -EFAULT : message.len;
}

/* Waits while the agent takes no messages, as a controller does. */
static ssize_t node_write(struct file *file, const char __user *buf, size_t size, loff_t *pos)
{
	struct node *node = file->private_data;
	u64 message[2 * RSM_MESSAGE_MAX / sizeof(u64)] = {};
	int err;

	if (size > sizeof(message))
		return -EMSGSIZE;
	if (copy_from_user(message, buf, size))
		return -EFAULT;
	for (;;) {
		WRITE_ONCE(node->may_write, false);
		if (rsm_link_receive(&node->link, message, size))
			return size;
		err = wait_event_interruptible(node->changed,
					       READ_ONCE(node->may_write) ||
					       READ_ONCE(node->ended));
		if (err)
			return err;
	}
}

static __poll_t node_poll(struct file *file, poll_table *wait)
{
	struct node *node = file->private_data;
	__poll_t mask = EPOLLOUT | EPOLLWRNORM;

	poll_wait(file, &node->changed, wait);
	if (has_outgoing(node))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (READ_ONCE(node->ended))
		mask |= EPOLLHUP;
	return mask;
}

static const struct file_operations node_fops = {
	.owner = THIS_MODULE,
	.open = node_open,
	.release = node_release,
	.read = node_read,
	.write = node_write,
	.poll = node_poll,
	.llseek = noop_llseek,
};

static struct miscdevice node_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "rsm_testnode",
	.fops = &node_fops,
	.mode = 0600,
};

static int set_hold(const char *val, const struct kernel_param *kp)
{
	int err;

	atomic_set(&passes, 0);
	err = param_set_bool(val, kp);
	wake_up_all(&hold_wait);
	return err;
}

static const struct kernel_param_ops hold_ops = {
	.set = set_hold,
	.get = param_get_bool,
};
module_param_cb(hold_keys, &hold_ops, &hold_keys, 0600);
MODULE_PARM_DESC(hold_keys, "Whoever makes keys for an importer of nodes0 waits until this is 0");
module_param_cb(hold_attach, &hold_ops, &hold_attach, 0600);
MODULE_PARM_DESC(hold_attach, "Likewise for memory of a node of nodes0 that is attached");
module_param_cb(hold_init, &hold_ops, &hold_init, 0600);
MODULE_PARM_DESC(hold_init, "Loading waits until this is 0, when all has been registered");

static int let_pass(const char *val, const struct kernel_param *kp)
{
	atomic_inc(&passes);
	wake_up_all(&hold_wait);
	return 0;
}

static const struct kernel_param_ops pass_ops = {
	.set = let_pass,
};
module_param_cb(pass, &pass_ops, NULL, 0200);
MODULE_PARM_DESC(pass, "Anything written here lets one go on that is held");

/* The last step of loading: 0, or an error if the module is to fail. */
int testctl_end_init(void)
{
	if (READ_ONCE(hold_init))
		stay_at(&hold_init);
	return fail_init ? -ECANCELED : 0;
}

static struct rsm_controller nodes_controller;

static int abort_exports(const char *val, const struct kernel_param *kp)
{
	rsm_abort_exports(&nodes_controller);
	return 0;
}

static const struct kernel_param_ops abort_exports_ops = {
	.set = abort_exports,
};
module_param_cb(abort_nodes, &abort_exports_ops, NULL, 0200);
MODULE_PARM_DESC(abort_nodes, "Anything written here ends all exports of nodes0");

static int get_counter(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(kp->arg));
}

static const struct kernel_param_ops counter_ops = {
	.get = get_counter,
};
module_param_named(place_ms, link_ops.place_ms, uint, 0600);
MODULE_PARM_DESC(place_ms, "How long a connect waits until a node of nodes0 says where memory is");
module_param_cb(ends, &counter_ops, &ends, 0400);
MODULE_PARM_DESC(ends, "How many links of nodes0 have ended so far");
module_param_cb(held, &counter_ops, &held, 0400);
MODULE_PARM_DESC(held, "How many wait because of these");
module_param_cb(keys, &counter_ops, &keys_made, 0400);
MODULE_PARM_DESC(keys, "How many sets of keys importers of nodes0 have");

static rsm_status_t nodes_check_acl(struct rsm_controller *ctl, const struct rsm_acl *acl)
{
	return RSM_STS_SUCCESS;
}

static rsm_status_t nodes_rebind(struct rsm_export *exp, struct rsm_prepared *prepared)
{
	rsm_status_t status = rsm_pin_rebind(exp, prepared);

	if (!status)
		rsm_agent_rebind(exp);
	return status;
}

static const struct rsm_controller_ops nodes_ops = {
	.owner = THIS_MODULE,
	.prepare = rsm_pin_prepare,
	.bind = rsm_pin_bind,
	.rebind = nodes_rebind,
	.unbind = rsm_pin_unbind,
	.check_acl = nodes_check_acl,
	.republish = rsm_agent_republish,
	.withdraw = rsm_agent_withdraw,
	.unpublish = rsm_agent_unpublish,
	.connect = rsm_agent_connect,
	.disconnect = rsm_agent_disconnect,
	.map = rsm_map_mem,
	.post = rsm_agent_post,
	.post_importers = rsm_agent_post_importers,
	.peers = rsm_agent_peers,
};

static struct rsm_controller nodes_controller = {
	.name = "nodes0",
	.ops = &nodes_ops,
	.attr = {
		.page_size = PAGE_SIZE,
		.max_export_size = 16 << 20,
		.hwaddr = 0x40,
	},
	.unlisted = true,
};

static void exit_links(unsigned int count)
{
	while (count--)
		rsm_link_exit(&nodes[count].link);
	kvfree(nodes);
}

static int init_links(void)
{
	nodes = kvcalloc(TESTCTL_NODES, sizeof(*nodes), GFP_KERNEL);
	if (!nodes)
		return -ENOMEM;
	for (unsigned int i = 0; i < TESTCTL_NODES; i++) {
		int err;

		spin_lock_init(&nodes[i].lock);
		init_waitqueue_head(&nodes[i].changed);
		nodes[i].link.kcov_handle = TESTCTL_KCOV_HANDLE;
		err = rsm_link_init(&nodes[i].link, &nodes_controller, &link_ops);
		if (err) {
			exit_links(i);
			return err;
		}
	}
	return 0;
}

int testctl_nodes_init(void)
{
	int err = init_links();

	if (err)
		return err;
	err = rsm_register_controller(&nodes_controller);
	if (err)
		goto err_exit_links;
	err = misc_register(&node_device);
	if (err)
		goto err_unregister;
	return 0;

err_unregister:
	rsm_unregister_controller(&nodes_controller);
err_exit_links:
	exit_links(TESTCTL_NODES);
	return err;
}

void testctl_nodes_exit(void)
{
	misc_deregister(&node_device);
	rsm_unregister_controller(&nodes_controller);
	exit_links(TESTCTL_NODES);
}
