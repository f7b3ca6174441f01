// SPDX-License-Identifier: GPL-2.0
/* The secrets of the cluster: the one that this node uses, another one that it accepts. */

#include "rdma.h"

#include <linux/netlink.h>
#include <linux/string.h>

/**
 * struct secrets - the secrets that an administrator has set
 * @count: how many of @secret there are, 0 to 2
 * @secret: the one that we use, and another one that we accept
 */
static struct secrets {
	unsigned int count;
	struct rsm_rdma_secret secret[2];
} secrets;

static DEFINE_SPINLOCK(secrets_lock); /* guards secrets */

/**
 * rsm_rdma_secret_count() - how many secrets does this node accept?
 *
 * Return: 0 to 2.
 */
unsigned int rsm_rdma_secret_count(void)
{
	return READ_ONCE(secrets.count);
}

/**
 * rsm_rdma_secret_get() - a secret to connect with
 * @other: false: the one that this node uses; true: the other one that it accepts, if there is one
 * @secret: where to put it
 *
 * Return: false if there is none.
 */
bool rsm_rdma_secret_get(bool other, struct rsm_rdma_secret *secret)
{
	bool found;

	spin_lock(&secrets_lock);
	found = secrets.count;
	if (found)
		*secret = secrets.secret[other && secrets.count > 1];
	spin_unlock(&secrets_lock);
	return found;
}

static enum rsm_rdma_refusal_code find_secret(const struct secrets *known,
					      const struct rsm_rdma_transcript *said,
					      const u8 *mac, struct rsm_rdma_secret *secret)
{
	for (unsigned int i = 0; i < known->count; i++) {
		if (!rsm_rdma_mac_fits(&known->secret[i], RSM_RDMA_ROLE_REQUEST, said, mac))
			continue;
		*secret = known->secret[i];
		return 0;
	}
	return RSM_RDMA_REFUSED_OTHER_SECRET;
}

/**
 * rsm_rdma_secret_find() - find the secret with which a request was made
 * @said: the request's greeting and the number of its queue pair
 * @secret: where to put the secret
 * @found: set if there is one. A request without a secret is accepted while this node has none
 *
 * Return: why the request is to be refused, or 0.
 */
enum rsm_rdma_refusal_code rsm_rdma_secret_find(const struct rsm_rdma_transcript *said,
						struct rsm_rdma_secret *secret, bool *found)
{
	bool has = said->request.flags & cpu_to_le32(RSM_RDMA_HAS_SECRET);
	enum rsm_rdma_refusal_code code = 0;
	struct rsm_rdma_transcript bare = *said;
	struct secrets known;

	memset(bare.request.mac, 0, sizeof(bare.request.mac));
	spin_lock(&secrets_lock);
	known = secrets;
	spin_unlock(&secrets_lock);
	*found = known.count;
	if (has != *found)
		code = has ? RSM_RDMA_REFUSED_SECRET : RSM_RDMA_REFUSED_NO_SECRET;
	else if (has)
		code = find_secret(&known, &bare, said->request.mac, secret);
	memzero_explicit(&known, sizeof(known));
	return code;
}

/*
 * End the connections that were made without a secret: any process may be at the other end. A
 * connection that was made with a secret stays, even if that secret is not accepted any more.
 */
static void check_channels(void)
{
	struct rsm_rdma_node *node;

	for (u32 id = 1; id <= RSM_NODE_MAX; id++) {
		node = rsm_rdma_node(id);
		if (!node)
			continue;
		spin_lock_irq(&node->lock);
		if (node->channel && !node->channel->authenticated)
			rsm_rdma_channel_fail_locked(node->channel, "has shown no secret");
		spin_unlock_irq(&node->lock);
		rsm_rdma_node_notify(node, RSM_RECONNECT_HURRY);
	}
}

static void set_secrets(const struct secrets *new)
{
	spin_lock(&secrets_lock);
	secrets = *new;
	spin_unlock(&secrets_lock);
	/* Pairs with rsm_rdma_channel_is_welcome(): one of the two sees the store of the other. */
	smp_mb();
	if (new->count)
		check_channels();
}

/**
 * rsm_rdma_channel_is_welcome() - may a channel be used that its node has got just now?
 * @channel: the channel
 *
 * Return: false if a secret was set while the channel was made without one.
 */
bool rsm_rdma_channel_is_welcome(const struct rsm_rdma_channel *channel)
{
	/* Pairs with set_secrets(). */
	smp_mb();
	return channel->authenticated || !rsm_rdma_secret_count();
}

/* &rsm_controller_ops.set_secret */
int rsm_rdma_secret_set(struct rsm_controller *ctl, const void *use, const void *accept,
			struct netlink_ext_ack *extack)
{
	struct secrets new = {};
	int err = -EBUSY;

	if (use)
		memcpy(&new.secret[new.count++], use, sizeof(new.secret[0]));
	if (accept)
		memcpy(&new.secret[new.count++], accept, sizeof(new.secret[0]));
	mutex_lock(&rsm_rdma_config_lock);
	if (rsm_rdma_ready) {
		set_secrets(&new);
		err = 0;
	}
	mutex_unlock(&rsm_rdma_config_lock);
	memzero_explicit(&new, sizeof(new));
	return err;
}

/* Erase the secrets: the module is being unloaded, and its memory goes to others. */
void rsm_rdma_secrets_forget(void)
{
	memzero_explicit(&secrets, sizeof(secrets));
}

/* &rsm_controller_ops.has_secret */
bool rsm_rdma_has_secret(struct rsm_controller *ctl)
{
	return rsm_rdma_secret_count();
}
