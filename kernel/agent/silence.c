// SPDX-License-Identifier: GPL-2.0
/* The rules by which a silent peer is dead, and for intervals. Pure, tested by KUnit. */

#include "../rsm_link.h"

#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>

/**
 * rsm_silence_begin() - begin to listen to a peer
 * @silence: what is known of it
 * @now: the time, in jiffies
 */
void rsm_silence_begin(struct rsm_silence *silence, unsigned long now)
{
	silence->heard = now;
	silence->looked = now;
	silence->late = now;
}
EXPORT_SYMBOL_GPL(rsm_silence_begin);

static bool silence_look_is_late(const struct rsm_silence *silence, unsigned long now,
				 unsigned long interval)
{
	return time_after(now, silence->looked + interval);
}

/**
 * rsm_silence_is_death() - look whether a peer is dead
 * @silence: what is known of the peer
 * @now: the time, in jiffies
 * @interval: heartbeat interval; the caller looks at least once per interval
 * @stirred: the peer has given a sign of life since the last look
 *
 * A caller that comes late has not listened: this node or its host stood still, and perhaps the
 * other nodes with it. Such a look decides nothing, and the peer gets its two intervals again. A
 * sign that this look finds was given after the last look, and counts from that time: so no peer
 * is taken to be alive for longer than two intervals after its death.
 *
 * Return: true if the peer has been silent for two intervals.
 */
bool rsm_silence_is_death(struct rsm_silence *silence, unsigned long now,
			  unsigned long interval, bool stirred)
{
	bool late = silence_look_is_late(silence, now, interval);
	unsigned long last = silence->looked;

	silence->looked = now;
	if (late) {
		silence->heard = now;
		silence->late = now;
		return false;
	}
	if (stirred && time_after(last, silence->heard))
		silence->heard = last;
	return time_after_eq(now, silence->heard + 2 * interval);
}
EXPORT_SYMBOL_GPL(rsm_silence_is_death);

/**
 * rsm_patience_is_over() - has a peer had its time to do something?
 * @silence: what is known of the peer
 * @now: the time, in jiffies
 * @interval: heartbeat interval
 * @since: when the peer was asked, or when it last made room, in jiffies
 * @patiences: how many times two intervals the peer is given
 *
 * A peer is given time from the last late look on: until then this node stood still, and
 * perhaps the peer with it. Before a look that is overdue this function returns false:
 * after a standstill timers, work and tasks run in any order.
 *
 * Return: true if the peer has had that time.
 */
bool rsm_patience_is_over(const struct rsm_silence *silence, unsigned long now,
			  unsigned long interval, unsigned long since, unsigned int patiences)
{
	if (silence_look_is_late(silence, now, interval))
		return false;
	/* Jiffies wrap: a late look that is long past may seem to lie in the future. */
	if (time_in_range(silence->late, since, now))
		since = silence->late;
	return time_after_eq(now, since + patiences * 2 * interval);
}
EXPORT_SYMBOL_GPL(rsm_patience_is_over);

/**
 * rsm_intervals_fit() - can two nodes with these heartbeat intervals have a link?
 * @a: one interval, anything
 * @b: the other
 *
 * Symmetric, so that both nodes come to the same answer.
 */
bool rsm_intervals_fit(u32 a, u32 b)
{
	return a && b && (u64)max(a, b) <= (u64)min(a, b) * RSM_INTERVAL_FACTOR;
}
