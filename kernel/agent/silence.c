// SPDX-License-Identifier: GPL-2.0
/* When silence means death, and which intervals go together. Pure, tested by KUnit. */

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
}
EXPORT_SYMBOL_GPL(rsm_silence_begin);

/**
 * rsm_silence_is_death() - look whether a peer is dead
 * @silence: what is known of the peer
 * @now: the time, in jiffies
 * @interval: heartbeat interval; the caller looks at least once per interval
 * @stirred: the peer has given a sign of life since the last look
 *
 * A caller that comes late was not listening: this node or its host stood still,
 * and the other nodes perhaps with it. Such a caller does not judge, and the peer
 * gets all of its time again. A sign that was seen at this look was given after the
 * last one, and counts from there: a peer that dies is thus never taken to be
 * alive for longer than two intervals after its death.
 *
 * Return: true if the peer has been silent for two intervals.
 */
bool rsm_silence_is_death(struct rsm_silence *silence, unsigned long now,
			  unsigned long interval, bool stirred)
{
	unsigned long last = silence->looked;

	silence->looked = now;
	if (time_after(now, last + interval)) {
		silence->heard = now;
		return false;
	}
	if (stirred && time_after(last, silence->heard))
		silence->heard = last;
	return time_after_eq(now, silence->heard + 2 * interval);
}
EXPORT_SYMBOL_GPL(rsm_silence_is_death);

/**
 * rsm_intervals_fit() - can two nodes talk whose heartbeat intervals are these?
 * @a: one interval, anything
 * @b: the other
 *
 * Symmetric, so that both nodes come to the same answer.
 */
bool rsm_intervals_fit(u32 a, u32 b)
{
	return a && b && (u64)max(a, b) <= (u64)min(a, b) * RSM_INTERVAL_FACTOR;
}
