// SPDX-License-Identifier: GPL-2.0
/*
 * The chunks of the data area, and their owners.
 *
 * The table in the window only keeps well-behaved guests out of each other's way. This kernel
 * protects itself from the other guests by hold[], in its own memory: it never gives a chunk to
 * a second user while the first one has it, whatever the table says.
 */

#include "ivshmem.h"

#include <linux/mm.h>
#include <linux/slab.h>
#include <asm/sync_bitops.h>

/**
 * window_chunks_init() - prepare to use a chunk table
 * @chunks: result
 * @table: the table
 * @count: entries in it
 *
 * Return: 0 or -ENOMEM.
 */
int window_chunks_init(struct window_chunks *chunks, __le64 *table, u32 count)
{
	mutex_init(&chunks->lock);
	chunks->table = table;
	chunks->count = count;
	chunks->hold = kvcalloc(count, sizeof(*chunks->hold), GFP_KERNEL);
	chunks->swept = kvcalloc(count, sizeof(*chunks->swept), GFP_KERNEL);
	if (chunks->hold && chunks->swept)
		return 0;
	kvfree(chunks->hold);
	kvfree(chunks->swept);
	return -ENOMEM;
}

/* The window is being unmapped. Chunks that are given back later do not touch the table. */
void window_chunks_close(struct window_chunks *chunks)
{
	mutex_lock(&chunks->lock);
	chunks->table = NULL;
	mutex_unlock(&chunks->lock);
}

void window_chunks_free(struct window_chunks *chunks)
{
	mutex_destroy(&chunks->lock);
	kvfree(chunks->hold);
	kvfree(chunks->swept);
}

/* Change an entry from one owner to another; false if it was not @from's. */
static bool change_owner(struct window_chunks *chunks, u32 index, u64 from, u64 to)
{
	__le64 old = cpu_to_le64(from);

	return sync_cmpxchg(&chunks->table[index], old, cpu_to_le64(to)) == old;
}

static u64 owner_of(const struct window_chunks *chunks, u32 index)
{
	return le64_to_cpu(READ_ONCE(chunks->table[index]));
}

/* First of @n chunks in a row, none before @start, that look free; or -ENOSPC. */
static s64 find_run(const struct window_chunks *chunks, u32 start, u32 n)
{
	u32 run = 0;

	for (u32 i = start; i < chunks->count; i++) {
		run = chunks->hold[i] || owner_of(chunks, i) ? 0 : run + 1;
		if (run == n)
			return (s64)i + 1 - n;
	}
	return -ENOSPC;
}

/* Claim up to @n chunks; returns how many. Another guest may claim the next one first. */
static u32 claim_run(struct window_chunks *chunks, u64 owner, u32 first, u32 n)
{
	u32 got = 0;

	while (got < n && change_owner(chunks, first + got, 0, owner))
		got++;
	return got;
}

static u32 release_run(struct window_chunks *chunks, u64 owner, u32 first, u32 n)
{
	u32 lost = 0;

	for (u32 i = first; i < first + n; i++)
		lost += !change_owner(chunks, i, owner, 0);
	return lost;
}

static void hold_run(struct window_chunks *chunks, u32 first, u32 n, u32 hold)
{
	for (u32 i = first; i < first + n; i++)
		chunks->hold[i] = hold;
}

static s64 take_run(struct window_chunks *chunks, u64 owner, u32 n)
{
	u32 got, start = 0;
	s64 first;

	while ((first = find_run(chunks, start, n)) >= 0) {
		got = claim_run(chunks, owner, first, n);
		if (got == n)
			break;
		release_run(chunks, owner, first, got);
		start = first + got + 1;
	}
	return first;
}

/**
 * window_chunks_take() - get chunks for an export
 * @chunks: the chunks
 * @owner: our incarnation
 * @n: how many in a row, at least 1
 *
 * Return: the first one's number, or -ENOSPC.
 */
s64 window_chunks_take(struct window_chunks *chunks, u64 owner, u32 n)
{
	s64 first;

	mutex_lock(&chunks->lock);
	first = chunks->table ? take_run(chunks, owner, n) : -ENOSPC;
	if (first >= 0)
		hold_run(chunks, first, n, WINDOW_HOLD_OWN);
	mutex_unlock(&chunks->lock);
	return first;
}

/**
 * window_chunks_give() - give chunks back
 * @chunks: the chunks
 * @owner: the incarnation they were taken for; or 0 to leave the table alone, so that the
 *	other guests free the entries when they find that incarnation gone
 * @first: the first one
 * @n: how many
 *
 * Return: how many had another owner by the table.
 */
u32 window_chunks_give(struct window_chunks *chunks, u64 owner, u32 first, u32 n)
{
	u32 lost = 0;

	mutex_lock(&chunks->lock);
	hold_run(chunks, first, n, 0);
	if (chunks->table && owner)
		lost = release_run(chunks, owner, first, n);
	mutex_unlock(&chunks->lock);
	return lost;
}

static bool all_owned(const struct window_chunks *chunks, u64 owner, u32 first, u32 n)
{
	if (!chunks->table || n > chunks->count || first > chunks->count - n)
		return false;
	for (u32 i = first; i < first + n; i++)
		if (owner_of(chunks, i) != owner)
			return false;
	return true;
}

/* Does the table say that @owner has all of these chunks? */
bool window_chunks_are(struct window_chunks *chunks, u64 owner, u32 first, u32 n)
{
	bool owned;

	mutex_lock(&chunks->lock);
	owned = all_owned(chunks, owner, first, n);
	mutex_unlock(&chunks->lock);
	return owned;
}

static bool any_own(const struct window_chunks *chunks, u32 first, u32 n)
{
	for (u32 i = first; i < first + n; i++)
		if (chunks->hold[i] & WINDOW_HOLD_OWN)
			return true;
	return false;
}

/**
 * window_chunks_attach() - note that an import reaches chunks of another node
 * @chunks: the chunks
 * @owner: that node's incarnation
 * @first: the first one, anything
 * @n: how many, anything
 *
 * Return: false if the table does not say that @owner has them, or this node uses one itself.
 */
bool window_chunks_attach(struct window_chunks *chunks, u64 owner, u32 first, u32 n)
{
	bool attached;

	mutex_lock(&chunks->lock);
	attached = all_owned(chunks, owner, first, n) && !any_own(chunks, first, n);
	for (u32 i = first; attached && i < first + n; i++)
		chunks->hold[i]++;
	mutex_unlock(&chunks->lock);
	return attached;
}

/* Undo window_chunks_attach(). */
void window_chunks_detach(struct window_chunks *chunks, u32 first, u32 n)
{
	mutex_lock(&chunks->lock);
	for (u32 i = first; i < first + n; i++)
		chunks->hold[i]--;
	mutex_unlock(&chunks->lock);
}

/**
 * window_chunks_taken() - how much of the window has an owner
 * @chunks: the chunks
 *
 * Return: the number of chunks, which may have changed by now.
 */
u32 window_chunks_taken(struct window_chunks *chunks)
{
	u32 taken = 0;

	mutex_lock(&chunks->lock);
	for (u32 i = 0; chunks->table && i < chunks->count; i++)
		taken += chunks->hold[i] || owner_of(chunks, i);
	mutex_unlock(&chunks->lock);
	return taken;
}

/**
 * window_chunks_sweep() - free the chunks of owners that are gone
 * @chunks: the chunks
 * @is_orphan: is this owner gone for good? @known: the last sweep found the same owner. Called
 *	after the table was read
 * @arg: its argument
 *
 * Skips chunks that this kernel holds: a later call may free them.
 *
 * Return: how many were freed.
 */
u32 window_chunks_sweep(struct window_chunks *chunks,
			bool (*is_orphan)(const void *arg, u64 owner, bool known),
			const void *arg)
{
	u32 freed = 0;
	u64 owner;
	bool known;

	mutex_lock(&chunks->lock);
	for (u32 i = 0; chunks->table && i < chunks->count; i++) {
		owner = owner_of(chunks, i);
		/* An owner joins before it takes chunks: read the table before the node table. */
		virt_rmb();
		known = chunks->swept[i] == owner;
		chunks->swept[i] = owner;
		if (owner && !chunks->hold[i] && is_orphan(arg, owner, known))
			freed += change_owner(chunks, i, owner, 0);
	}
	mutex_unlock(&chunks->lock);
	return freed;
}
