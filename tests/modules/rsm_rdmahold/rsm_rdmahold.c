// SPDX-License-Identifier: GPL-2.0
/*
 * An RDMA device that does what a test says, of which rsm_rdma.ko knows nothing: the
 * module puts itself in front of some operations of rxe0, for queue pairs and memory of the
 * kernel. /dev/rsm_rdmahold, open once at a time, takes one command for each write():
 *
 *	hold		RDMA writes and reads are held from now on, and noted; messages pass
 *	let N		N of those that are held go to the device, the oldest first
 *	go		all of them do, and nothing is held any more
 *	fail		the next registration that is to be ended is not, and the queue pair that
 *			is to go to its error state for that is held before it does
 *	yield		that queue pair does, and the registration ends
 *
 * read() says what became of "fail": "keys good", "keys failing" until it happens, "keys
 * failed" when it has, "keys held" when the queue pair is held; and then, for each transfer
 * since "hold", its remote address and its length. Closing is "go" and "yield".
 *
 * The module stays, since nobody knows when the last caller has left its functions.
 */

#include <linux/bottom_half.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>

#define NETWORK		"eth0"	/* that rxe0 is on */
#define MOST		64U	/* transfers that are held; rsm_rdma has 32 under way */
#define LINE		32U	/* bytes of what is said of one */

enum keys { KEYS_GOOD, KEYS_FAILING, KEYS_FAILED, KEYS_HELD };

/**
 * struct held - a transfer that the device does not know yet
 * @qp: its queue pair, which waits for the transfer's completion before it goes
 * @wr: its work requests, whose owner waits likewise
 */
struct held {
	struct ib_qp *qp;
	const struct ib_send_wr *wr;
};

/**
 * struct noted - a transfer, as it has come
 * @address: remote address
 * @length: bytes
 */
struct noted {
	u64 address;
	u32 length;
};

/* A copy of the operations of the device, which all devices of its driver have. */
static const struct ib_device_ops *device_ops;

/* Guards all that follows. Taken in interrupts. */
static DEFINE_SPINLOCK(hold_lock);
static bool is_open;
static bool holding;
static struct held held[MOST];
static unsigned int held_count;
static struct noted noted[MOST];
static unsigned int noted_count;
static enum keys keys;
static struct ib_mr *kept;

/* Woken when keys are not held any more. */
static DECLARE_WAIT_QUEUE_HEAD(yielded);

static bool is_transfer(const struct ib_send_wr *wr)
{
	return wr->opcode == IB_WR_RDMA_WRITE || wr->opcode == IB_WR_RDMA_READ;
}

static u32 length_of(const struct ib_send_wr *wr)
{
	u32 length = 0;

	for (; wr; wr = wr->next)
		for (int i = 0; i < wr->num_sge; i++)
			length += wr->sg_list[i].length;
	return length;
}

/* Returns false if the transfer is to go to the device. */
static bool hold(struct ib_qp *qp, const struct ib_send_wr *wr)
{
	bool is_held = false;
	unsigned long flags;

	spin_lock_irqsave(&hold_lock, flags);
	if (holding && held_count < MOST && noted_count < MOST) {
		noted[noted_count++] = (struct noted) { rdma_wr(wr)->remote_addr, length_of(wr) };
		held[held_count++] = (struct held) { qp, wr };
		is_held = true;
	}
	spin_unlock_irqrestore(&hold_lock, flags);
	return is_held;
}

static int hold_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
			  const struct ib_send_wr **bad)
{
	if (!qp->uobject && wr && is_transfer(wr) && hold(qp, wr))
		return 0;
	return device_ops->post_send(qp, wr, bad);
}

/* The oldest that is held. Nothing is held any more if there is none and @last. */
static bool take(struct held *oldest, bool last)
{
	bool found;

	spin_lock_irq(&hold_lock);
	found = held_count;
	if (found) {
		*oldest = held[0];
		memmove(held, held + 1, --held_count * sizeof(*held));
	} else if (last) {
		holding = false;
	}
	spin_unlock_irq(&hold_lock);
	return found;
}

static void let(unsigned int count, bool last)
{
	const struct ib_send_wr *bad;
	struct held oldest;

	while (count-- && take(&oldest, last)) {
		local_bh_disable();
		WARN_ON_ONCE(device_ops->post_send(oldest.qp, oldest.wr, &bad));
		local_bh_enable();
	}
}

static bool keep(struct ib_mr *mr)
{
	bool is_kept = false;

	spin_lock_irq(&hold_lock);
	if (keys == KEYS_FAILING) {
		keys = KEYS_FAILED;
		kept = mr;
		is_kept = true;
	}
	spin_unlock_irq(&hold_lock);
	return is_kept;
}

static int hold_dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	if (!mr->pd->uobject && keep(mr))
		return -EBUSY;
	return device_ops->dereg_mr(mr, udata);
}

/* The device ends the registration at last, as the core would have had it. */
static void end_kept(void)
{
	struct ib_mr *mr;
	struct ib_pd *pd;

	spin_lock_irq(&hold_lock);
	mr = kept;
	kept = NULL;
	keys = KEYS_GOOD;
	spin_unlock_irq(&hold_lock);
	if (!mr)
		return;
	pd = mr->pd;
	if (!WARN_ON_ONCE(device_ops->dereg_mr(mr, NULL)))
		atomic_dec(&pd->usecnt);
}

/* All that want it are held: the driver, and the end of the connection. */
static bool begin_to_hold(const struct ib_qp *qp)
{
	bool is_held = false;

	spin_lock_irq(&hold_lock);
	if ((keys == KEYS_FAILED || keys == KEYS_HELD) && kept->pd == qp->pd) {
		keys = KEYS_HELD;
		is_held = true;
	}
	spin_unlock_irq(&hold_lock);
	return is_held;
}

static int hold_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			  struct ib_udata *udata)
{
	bool is_held = mask & IB_QP_STATE && attr->qp_state == IB_QPS_ERR && begin_to_hold(qp);
	int err;

	if (is_held)
		wait_event(yielded, READ_ONCE(keys) != KEYS_HELD);
	err = device_ops->modify_qp(qp, attr, mask, udata);
	if (is_held)
		end_kept();
	return err;
}

/* The first one that is held ends the registration when the queue pair is in its error state. */
static void yield_keys(void)
{
	bool is_held;

	spin_lock_irq(&hold_lock);
	is_held = keys == KEYS_HELD;
	keys = KEYS_GOOD;
	spin_unlock_irq(&hold_lock);
	if (is_held)
		wake_up_all(&yielded);
	else
		end_kept();
}

static int obey(const char *command)
{
	unsigned int count;

	if (!strcmp(command, "hold")) {
		spin_lock_irq(&hold_lock);
		holding = true;
		noted_count = 0;
		spin_unlock_irq(&hold_lock);
	} else if (sscanf(command, "let %u", &count) == 1) {
		let(count, false);
	} else if (!strcmp(command, "go")) {
		let(UINT_MAX, true);
	} else if (!strcmp(command, "fail")) {
		WRITE_ONCE(keys, KEYS_FAILING);
	} else if (!strcmp(command, "yield")) {
		yield_keys();
	} else {
		return -EINVAL;
	}
	return 0;
}

static ssize_t hold_write(struct file *file, const char __user *from, size_t size, loff_t *pos)
{
	char command[LINE];
	int err;

	if (size >= sizeof(command))
		return -EINVAL;
	if (copy_from_user(command, from, size))
		return -EFAULT;
	command[size] = '\0';
	err = obey(strim(command));
	return err ?: size;
}

static size_t describe(char *text, size_t size)
{
	static const char *const names[] = {
		[KEYS_GOOD] = "good",
		[KEYS_FAILING] = "failing",
		[KEYS_FAILED] = "failed",
		[KEYS_HELD] = "held",
	};
	size_t used;

	spin_lock_irq(&hold_lock);
	used = scnprintf(text, size, "keys %s\n", names[keys]);
	for (unsigned int i = 0; i < noted_count; i++)
		used += scnprintf(text + used, size - used, "%llu %u\n", noted[i].address,
				  noted[i].length);
	spin_unlock_irq(&hold_lock);
	return used;
}

static ssize_t hold_read(struct file *file, char __user *to, size_t size, loff_t *pos)
{
	static char text[(MOST + 1) * LINE];

	return simple_read_from_buffer(to, size, pos, text, describe(text, sizeof(text)));
}

/* The driver stays from now on, as this module does. */
static int copy_ops(const struct ib_device *device)
{
	if (device_ops)
		return 0;
	device_ops = kmemdup(&device->ops, sizeof(device->ops), GFP_KERNEL);
	if (!device_ops)
		return -ENOMEM;
	__module_get(device_ops->owner);
	return 0;
}

/* rxe0, or NULL. Linux 7.2 no longer exports ib_device_get_by_name(). */
static struct ib_device *get_rxe(void)
{
	struct net_device *network = dev_get_by_name(&init_net, NETWORK);
	struct ib_device *device = NULL;

	if (network)
		device = ib_device_get_by_netdev(network, RDMA_DRIVER_RXE);
	dev_put(network);
	return device;
}

/* Others of the driver's devices, which may come later, are left alone. */
static int stand_before(void)
{
	struct ib_device *device = get_rxe();
	int err;

	if (!device)
		return -ENODEV;
	err = copy_ops(device);
	if (!err) {
		WRITE_ONCE(device->ops.dereg_mr, hold_dereg_mr);
		WRITE_ONCE(device->ops.modify_qp, hold_modify_qp);
		WRITE_ONCE(device->ops.post_send, hold_post_send);
	}
	ib_device_put(device);
	return err;
}

static int hold_open(struct inode *inode, struct file *file)
{
	bool was_open;
	int err;

	spin_lock_irq(&hold_lock);
	was_open = is_open;
	is_open = true;
	spin_unlock_irq(&hold_lock);
	if (was_open)
		return -EBUSY;
	err = stand_before();
	if (err)
		WRITE_ONCE(is_open, false);
	return err;
}

static int hold_release(struct inode *inode, struct file *file)
{
	let(UINT_MAX, true);
	yield_keys();
	WRITE_ONCE(is_open, false);
	return 0;
}

static const struct file_operations hold_fops = {
	.owner = THIS_MODULE,
	.open = hold_open,
	.release = hold_release,
	.read = hold_read,
	.write = hold_write,
};

static struct miscdevice hold_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "rsm_rdmahold",
	.fops = &hold_fops,
	.mode = 0600,
};

static int __init hold_init(void)
{
	return misc_register(&hold_device);
}
module_init(hold_init);

MODULE_DESCRIPTION("An RDMA device that does what RSM's tests say");
MODULE_LICENSE("GPL");
