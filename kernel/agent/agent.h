/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the agent: what its files offer each other.
 *
 * Locking
 * -------
 * rsm_agent_lock guards the list of all links, and the importing side: the records of segments of
 * other nodes and their imports. It is taken before import->map_lock and after all other locks of
 * internal.h. A link's node, whether the link is listed, and whether it is down change under both
 * rsm_agent_lock and link->lock, so that either lock is enough to read them.
 *
 * link->lock guards the state of a link, which only rsm_link_step() changes, and its inbox. The
 * lock and the xarrays' own locks are taken in interrupts; events are delivered under the latter.
 * No caller holds any of them when it calls a controller's send(), which may fail the link.
 *
 * link->work does all that needs process context, one thing at a time. Only link->work adds and
 * frees entries of link->importers. It takes exp->importers_lock, so a task that holds that lock
 * must not wait for the peer's answer. Only link->work fails a link because a request is not
 * answered.
 */
#ifndef RSM_AGENT_H
#define RSM_AGENT_H

#include "../core/internal.h"
#include "../rsm_link.h"
#include "importer.h"
#include "link.h"
#include "policy.h"
#include "protocol.h"

extern struct mutex rsm_agent_lock;
extern struct list_head rsm_links;
extern struct workqueue_struct *rsm_link_wq;
extern struct workqueue_struct *rsm_keys_wq;

/**
 * struct rsm_lease - a peer's access to memory
 * @mem: the memory, referenced; NULL if there is no lease
 * @keys: the controller's, for ending the access
 * @place: place of the memory, for the peer
 * @rights: what the peer may do there: RSM_PERM_READ, RSM_PERM_WRITE, both or none
 */
struct rsm_lease {
	struct rsm_mem *mem;
	void *keys;
	struct rsm_place place;
	u32 rights;
};

/**
 * struct rsm_remote_importer - a node that imports a segment
 * @link: the link to that node
 * @peer: incarnation of that node
 * @exp: the segment, referenced
 * @now: its access to memory, once it has been placed; changes under the export's
 *	importers_lock
 * @next: the access that a MOVE gives to its node; likewise
 * @machine: what its node was asked, and whether it is leaving. Changes under link->lock, and under
 *	the export's importers_lock too, except that link->work, which alone sends requests and
 *	takes answers, may change what was asked without that lock
 * @placing: makes the keys by which its node reaches the memory, which may take long
 * @on_placing: place among the link's importers that wait for their turn to be placed; guarded by
 *	link->lock, as is the next
 * @gets_no_turn: the importer is being removed
 * @making: the memory that @placing makes keys for, or has made keys for that it ends, or NULL;
 *	changes under the export's importers_lock. @placing holds the memory
 * @making_rights: the rights of those keys; likewise
 * @status: result of @placing, if CONNECTED has to carry it to the node
 * @on_link: place among the link's requests, if there is one
 * @untold_mode: the mode of which its node has to hear; guarded by the export's importers_lock
 * @on_untold: place among the link's importers whose node has to hear of its mode; joined and left
 *	under the export's importers_lock and link->lock
 * @cookie: number by which the importing node names the segment
 * @handle: number by which this node names the importer, its index in the link's xarray
 * @serial: importers of a segment are in the order of their serials
 * @on_export: place among the segment's importers
 */
struct rsm_remote_importer {
	struct rsm_link *link;
	u64 peer;
	struct rsm_export *exp;
	struct rsm_lease now;
	struct rsm_lease next;
	struct rsm_importer_machine machine;
	struct work_struct placing;
	struct list_head on_placing;
	bool gets_no_turn;
	struct rsm_mem *making;
	u32 making_rights;
	rsm_status_t status;
	struct list_head on_link;
	u32 untold_mode;
	struct list_head on_untold;
	u32 cookie;
	u32 handle;
	u64 serial;
	struct list_head on_export;
};

/* Does no answer wait for room? The result may change at once, except for the link's work. */
static inline bool rsm_outbox_is_empty(const struct rsm_link *link)
{
	return READ_ONCE(link->outbox_head) == READ_ONCE(link->outbox_tail);
}

/* Do messages that have no answer wait for room? */
static inline bool rsm_link_has_news(const struct rsm_link *link)
{
	lockdep_assert_held(&link->lock);
	return !list_empty(&link->untold) || !list_empty(&link->unused);
}

/* links.c: the registry of links */
void rsm_links_add(struct rsm_link *link);
void rsm_links_remove(struct rsm_link *link);
void rsm_links_note_change(void);
u32 rsm_link_changes(void);
bool rsm_link_is_listed(const struct rsm_link *link);

/* drive.c: timer, inbox and work of a link; link.h has the state that they drive */
void rsm_greeting_handle(struct rsm_link *link, const struct rsm_msg_hello *hello);
bool rsm_link_is_active(struct rsm_link *link, u64 peer);
bool rsm_link_has_unread(const struct rsm_link *link);
bool rsm_link_answer_is_missed(struct rsm_link *link, unsigned long since, unsigned long now);
void rsm_link_await_room(struct rsm_link *link, struct rsm_room_wait *wait);
bool rsm_link_refuses_room(struct rsm_link *link, struct rsm_room_wait *wait, unsigned long now);

/* message.c */
void rsm_message_init(struct rsm_link *link, struct rsm_msg_header *header,
		      enum rsm_message_type type, size_t len);
void rsm_send_hello(struct rsm_link *link, enum rsm_message_type type);
int rsm_send(struct rsm_link *link, u64 peer, void *message);
int rsm_send_in_turn(struct rsm_link *link, const void *message);
int rsm_send_within(struct rsm_link *link, u64 peer, void *message, struct rsm_room_wait *wait);
void rsm_answer_hello(struct rsm_link *link);
void rsm_answer(struct rsm_link *link, void *message);
bool rsm_answer_flush(struct rsm_link *link);
void rsm_message_handle(struct rsm_link *link, const void *message);
void rsm_bell_ring(struct rsm_link *link, const struct rsm_msg_connection *bell);
void rsm_connection_init(struct rsm_link *link, struct rsm_msg_connection *message,
			 enum rsm_message_type type, u32 cookie, u32 handle);

/* remote_segment.c: segments of other nodes that are imported here */
void rsm_remote_segment_connected(struct rsm_link *link, const struct rsm_msg_connected *msg);
void rsm_remote_segment_unpublished(struct rsm_link *link,
				    const struct rsm_msg_connection *msg);
void rsm_remote_segment_republished(struct rsm_link *link,
				    const struct rsm_msg_connection *msg);
void rsm_remote_segment_move(struct rsm_link *link, const struct rsm_msg_move *msg);
void rsm_remote_segment_bell(struct rsm_link *link, u32 cookie, u32 handle, u32 flags);
void rsm_remote_segment_deliver_bells(struct rsm_link *link);
void rsm_remote_segments_disconnect(struct rsm_link *link);
void rsm_remote_segment_link_down(struct rsm_link *link);

/* remote_importer.c: importers at other nodes of segments exported here */
void rsm_remote_importer_connect(struct rsm_link *link, const struct rsm_msg_connect *msg);
void rsm_remote_importer_disconnect(struct rsm_link *link,
				    const struct rsm_msg_connection *msg);
void rsm_remote_importer_bell(struct rsm_link *link, u32 cookie, u32 handle, u32 flags);
void rsm_remote_importer_moved(struct rsm_link *link, const struct rsm_msg_connection *msg);
void rsm_remote_importer_place(struct rsm_link *link, const struct rsm_msg_connection *msg);
void rsm_remote_importer_remove(struct rsm_remote_importer *importer);
void rsm_remote_importer_link_down(struct rsm_link *link);
rsm_status_t rsm_lease_take(struct rsm_link *link, struct rsm_mem *mem, u32 rights,
			    struct rsm_lease *lease);
void rsm_lease_end(struct rsm_link *link, struct rsm_lease *lease);
int rsm_remote_importer_mode(const struct rsm_export *exp, const struct rsm_link *link);
u32 rsm_remote_importer_rights(const struct rsm_remote_importer *importer);
extern atomic64_t rsm_remote_importer_serial;

/* request.c: requests to importing nodes, and waiting for them */
struct rsm_importer_output rsm_importer_change(struct rsm_remote_importer *importer,
					       enum rsm_importer_event event,
					       enum rsm_message_type type);
void rsm_request(struct rsm_remote_importer *importer, enum rsm_message_type type);
void rsm_request_end(struct rsm_remote_importer *importer);
void rsm_tell_mode(struct rsm_remote_importer *importer, u32 mode);
void rsm_forget_to_tell(struct rsm_remote_importer *importer);
bool rsm_link_note_sent(struct rsm_link *link, int err);
void rsm_requests_run(struct rsm_link *link, bool drained);
void rsm_remote_importers_changed(struct rsm_export *exp);
bool rsm_remote_importers_wait(struct rsm_export *exp, u64 last,
			       bool (*is_done)(struct rsm_export *exp, u64 last));

#endif /* RSM_AGENT_H */
