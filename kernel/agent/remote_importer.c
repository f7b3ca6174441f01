// SPDX-License-Identifier: GPL-2.0
/*
 * The exporting side: the nodes that import segments of this one. This node enforces the node list;
 * the importing node enforces user rights. An importer holds the segment's memory until its node
 * has answered that nothing there reaches the memory, or is down.
 */

#include "agent.h"

#include <linux/cred.h>
#include <linux/slab.h>

atomic64_t rsm_remote_importer_serial = ATOMIC64_INIT(0);

/* The rights that a mode gives to all users of a node together. */
static u32 node_rights(int mode)
{
	u32 rights = 0;

	if (mode > 0 && mode & 0444)
		rights |= RSM_PERM_READ;
	if (mode > 0 && mode & 0222)
		rights |= RSM_PERM_WRITE;
	return rights;
}

/* The mode for users of the node at the other end of @link, or -ENOENT. */
int rsm_remote_importer_mode(const struct rsm_export *exp, const struct rsm_link *link)
{
	const struct rsm_acl *acl = exp->acl;

	lockdep_assert_held(&exp->importers_lock);
	return rsm_acl_node_mode(acl ? acl->entry : NULL, acl ? acl->count : 0,
				 exp->owner.umask, link->machine.node);
}

/* The rights that the segment's list gives to the importer's node. */
u32 rsm_remote_importer_rights(const struct rsm_remote_importer *importer)
{
	return node_rights(rsm_remote_importer_mode(importer->exp, importer->link));
}

/* Let the peer reach memory. A controller without keys can't limit the peer's rights. */
rsm_status_t rsm_lease_take(struct rsm_link *link, struct rsm_mem *mem, u32 rights,
			    struct rsm_lease *lease)
{
	rsm_status_t status = RSM_STS_SUCCESS;

	*lease = (struct rsm_lease) { .rights = link->ops->leave ? rights : RSM_PERM_RDWR };
	if (link->ops->place)
		status = link->ops->place(link, mem, lease->rights, &lease->place,
					  &lease->keys);
	if (status)
		return status;
	lease->mem = rsm_mem_get(mem);
	if (lease->rights & RSM_PERM_WRITE)
		WRITE_ONCE(mem->written, true);
	return RSM_STS_SUCCESS;
}

/* On return the peer can't reach the memory any more, which may then be given to others. */
void rsm_lease_end(struct rsm_link *link, struct rsm_lease *lease)
{
	if (!lease->mem)
		return;
	if (link->ops->leave)
		link->ops->leave(link, lease->keys);
	rsm_mem_put_later(lease->mem);
	lease->mem = NULL;
}

/* Sets *@others to how many other importers the peer has for this segment. */
static struct rsm_remote_importer *find_importer(struct rsm_export *exp, struct rsm_link *link,
						 u32 cookie, unsigned int *others)
{
	struct rsm_remote_importer *importer;

	lockdep_assert_held(&exp->importers_lock);
	*others = 0;
	list_for_each_entry(importer, &exp->remote_importers, on_export) {
		if (importer->link != link)
			continue;
		if (importer->cookie == cookie)
			return importer;
		++*others;
	}
	return NULL;
}

static struct rsm_remote_importer *find_named(struct rsm_link *link,
					      const struct rsm_msg_connection *msg)
{
	struct rsm_remote_importer *importer = xa_load(&link->importers, le32_to_cpu(msg->handle));

	return importer && importer->cookie == le32_to_cpu(msg->cookie) ? importer : NULL;
}

/*
 * Keys cost time and memory: they are made in another work than the link's, and only once a user of
 * the importing node may have the segment.
 */
static bool is_placed_later(const struct rsm_link *link)
{
	return link->ops->leave;
}

/* The keys are made. If the importer is leaving, let the link's work remove it. */
static void end_placing(struct rsm_remote_importer *importer)
{
	lockdep_assert_held(&importer->exp->importers_lock);
	if (!rsm_importer_change(importer, RSM_IMPORTER_PLACED, 0).remove)
		return;
	importer->status = RSM_STS_CONN_ABORTED;
	rsm_request(importer, RSM_MSG_CONNECTED);
}

/*
 * The memory that has to be placed for @importer, referenced, or NULL if there is none: a peer may
 * have asked twice.
 */
static struct rsm_mem *get_wanted(struct rsm_remote_importer *importer, u32 *rights)
{
	struct rsm_export *exp = importer->exp;
	struct rsm_mem *mem = NULL;

	mutex_lock(&exp->importers_lock);
	*rights = rsm_remote_importer_rights(importer);
	if (exp->open && !importer->now.mem && rsm_importer_is_idle(&importer->machine))
		mem = rsm_mem_get(exp->mem);
	else
		end_placing(importer);
	importer->making = mem;
	importer->making_rights = *rights;
	mutex_unlock(&exp->importers_lock);
	return mem;
}

/* Does the importer still need this memory with these rights? */
static bool is_wanted(const struct rsm_remote_importer *importer, const struct rsm_mem *mem,
		      u32 rights)
{
	const struct rsm_export *exp = importer->exp;

	lockdep_assert_held(&exp->importers_lock);
	return exp->mem == mem && rsm_importer_is_idle(&importer->machine) &&
	       rsm_remote_importer_rights(importer) == rights;
}

/* Send the place of @mem to the importer; false if the importer needs another by now. */
static bool offer(struct rsm_remote_importer *importer, const struct rsm_mem *mem, u32 rights,
		  struct rsm_lease *lease, rsm_status_t status)
{
	struct rsm_export *exp = importer->exp;
	bool wanted;

	mutex_lock(&exp->importers_lock);
	wanted = is_wanted(importer, mem, rights);
	if (wanted) {
		importer->making = NULL;
		rsm_importer_change(importer, RSM_IMPORTER_PLACED, 0);
		importer->status = status;
		if (!status)
			swap(importer->next, *lease);
		rsm_request(importer, status ? RSM_MSG_CONNECTED : RSM_MSG_MOVE);
	}
	mutex_unlock(&exp->importers_lock);
	return wanted;
}

/*
 * The lease that nobody wants any more has ended: wake the tasks that wait for that. Returns true
 * if the importer needs no other one: it must not wait for a turn to say so.
 */
static bool end_making(struct rsm_remote_importer *importer)
{
	struct rsm_export *exp = importer->exp;
	bool over;

	mutex_lock(&exp->importers_lock);
	importer->making = NULL;
	over = !exp->open || !rsm_importer_is_idle(&importer->machine);
	if (over)
		end_placing(importer);
	mutex_unlock(&exp->importers_lock);
	rsm_remote_importers_changed(exp);
	return over;
}

/* Make keys; false if the segment has got other memory, or another access list, meanwhile. */
static bool place(struct rsm_remote_importer *importer)
{
	struct rsm_lease lease = {};
	struct rsm_mem *mem;
	rsm_status_t status;
	u32 rights;
	bool done;

	mem = get_wanted(importer, &rights);
	if (!mem)
		return true;
	status = rsm_lease_take(importer->link, mem, rights, &lease);
	done = offer(importer, mem, rights, &lease, status);
	if (!done && !status)
		rsm_lease_end(importer->link, &lease);
	/* A rebind that waits for end_making() has the last reference, and gives the pages back. */
	rsm_mem_put_later(mem);
	if (!done)
		done = end_making(importer);
	return done;
}

static void begin_placing(struct rsm_remote_importer *importer)
{
	struct rsm_link *link = importer->link;

	spin_lock_irq(&link->lock);
	if (link->placing) {
		list_add_tail(&importer->on_placing, &link->to_place);
	} else {
		link->placing = importer;
		queue_work(rsm_keys_wq, &importer->placing);
	}
	spin_unlock_irq(&link->lock);
}

/*
 * The importer needs another turn. An owner who changes a segment all the time does not keep the
 * turn. An importer that has a request pending makes no keys: others must not delay that news.
 */
static void wait_again(struct rsm_remote_importer *importer)
{
	struct rsm_link *link = importer->link;

	lockdep_assert_held(&link->lock);
	if (rsm_importer_is_idle(&importer->machine))
		list_add_tail(&importer->on_placing, &link->to_place);
	else
		list_add(&importer->on_placing, &link->to_place);
}

/* The importer's turn is over: let the next one have a turn. */
static void pass_turn(struct rsm_remote_importer *importer, bool again)
{
	struct rsm_link *link = importer->link;
	struct rsm_remote_importer *next;

	spin_lock_irq(&link->lock);
	if (link->placing == importer) {
		if (again && !importer->gets_no_turn)
			wait_again(importer);
		next = list_first_entry_or_null(&link->to_place, struct rsm_remote_importer,
						on_placing);
		link->placing = next;
		if (next) {
			list_del_init(&next->on_placing);
			queue_work(rsm_keys_wq, &next->placing);
		}
	}
	spin_unlock_irq(&link->lock);
}

/* Returns true if the importer waited for its turn; it does not any more. */
static bool give_up_turn(struct rsm_remote_importer *importer)
{
	bool waited;

	spin_lock_irq(&importer->link->lock);
	waited = !list_empty(&importer->on_placing);
	list_del_init(&importer->on_placing);
	spin_unlock_irq(&importer->link->lock);
	return waited;
}

static void placing_work(struct work_struct *work)
{
	struct rsm_remote_importer *importer = container_of(work, typeof(*importer), placing);
	bool done = place(importer);

	pass_turn(importer, !done);
}

/* On return the importer has no turn, and gets none. */
static void cancel_placing(struct rsm_remote_importer *importer)
{
	spin_lock_irq(&importer->link->lock);
	importer->gets_no_turn = true;
	list_del_init(&importer->on_placing);
	spin_unlock_irq(&importer->link->lock);
	cancel_work_sync(&importer->placing);
	pass_turn(importer, false);
}

/* PLACE: a user there may have the segment. Ignored if the importer has memory already. */
void rsm_remote_importer_place(struct rsm_link *link, const struct rsm_msg_connection *msg)
{
	struct rsm_remote_importer *importer = find_named(link, msg);
	struct rsm_export *exp;

	if (!importer)
		return;
	exp = importer->exp;
	mutex_lock(&exp->importers_lock);
	if (!importer->now.mem && rsm_importer_change(importer, RSM_IMPORTER_PLACE, 0).make_keys)
		begin_placing(importer);
	mutex_unlock(&exp->importers_lock);
}

static struct rsm_remote_importer *make_importer(struct rsm_export *exp, struct rsm_link *link,
						 u32 cookie)
{
	struct rsm_remote_importer *importer = kzalloc(sizeof(*importer), GFP_KERNEL);

	if (!importer)
		return NULL;
	importer->link = link;
	importer->peer = READ_ONCE(link->machine.peer);
	importer->exp = exp;
	importer->cookie = cookie;
	INIT_LIST_HEAD(&importer->on_link);
	INIT_LIST_HEAD(&importer->on_untold);
	INIT_LIST_HEAD(&importer->on_placing);
	INIT_WORK(&importer->placing, placing_work);
	return importer;
}

static rsm_status_t add_importer(struct rsm_export *exp, struct rsm_link *link, u32 cookie,
				 int mode, struct rsm_remote_importer **added)
{
	struct rsm_remote_importer *importer = make_importer(exp, link, cookie);
	rsm_status_t status;

	lockdep_assert_held(&exp->importers_lock);
	if (!importer)
		return RSM_STS_INSUFFICIENT_MEM;
	if (!is_placed_later(link)) {
		status = rsm_lease_take(link, exp->mem, node_rights(mode), &importer->now);
		if (status)
			goto err_free;
	}
	/* The limit keeps a peer from using up the memory of this node. */
	status = RSM_STS_INSUFFICIENT_RESOURCES;
	importer->serial = atomic64_inc_return(&rsm_remote_importer_serial);
	if (xa_alloc_cyclic_irq(&link->importers, &importer->handle, importer,
				XA_LIMIT(1, rsm_max_segments), &link->next_handle,
				GFP_KERNEL) < 0)
		goto err_end_lease;
	atomic_inc(&link->importer_count);
	kref_get(&exp->seg.ref);
	list_add_tail(&importer->on_export, &exp->remote_importers);
	*added = importer;
	rsm_notify_importer_connect(exp, link);
	return RSM_STS_SUCCESS;

err_end_lease:
	rsm_lease_end(link, &importer->now);
err_free:
	kfree(importer);
	return status;
}

static void importer_describe(const struct rsm_remote_importer *importer, int mode,
			      struct rsm_msg_connected *answer)
{
	const struct rsm_export *exp = importer->exp;

	answer->handle = cpu_to_le32(importer->handle);
	answer->mode = cpu_to_le32(mode);
	answer->uid = cpu_to_le32(from_kuid(&init_user_ns, exp->owner.uid));
	answer->gid = cpu_to_le32(from_kgid(&init_user_ns, exp->owner.gid));
	answer->length = cpu_to_le64(exp->length);
	answer->place[0] = cpu_to_le64(importer->now.place.word[0]);
	answer->place[1] = cpu_to_le64(importer->now.place.word[1]);
}

static rsm_status_t admit(struct rsm_export *exp, struct rsm_link *link, u32 cookie,
			  struct rsm_msg_connected *answer)
{
	struct rsm_remote_importer *importer;
	rsm_status_t status = RSM_STS_SUCCESS;
	unsigned int others;
	int mode;

	lockdep_assert_held(&exp->importers_lock);
	if (!exp->open || exp->seg.ctl != link->ctl)
		return RSM_STS_SEG_NOT_PUBLISHED;
	mode = rsm_remote_importer_mode(exp, link);
	if (mode < 0)
		return RSM_STS_SEG_NOT_PUBLISHED_TO_NODE;
	importer = find_importer(exp, link, cookie, &others);
	/* A peer needs one importer, and has more while it takes back connects. */
	if (!importer && others >= RSM_LINK_REQUESTS)
		return RSM_STS_INSUFFICIENT_RESOURCES;
	if (!importer)
		status = add_importer(exp, link, cookie, mode, &importer);
	if (!status)
		importer_describe(importer, mode, answer);
	return status;
}

static void answer_connect(struct rsm_link *link, const struct rsm_msg_connect *msg,
			   struct rsm_msg_connected *answer, rsm_status_t status)
{
	answer->cookie = msg->cookie;
	answer->status = cpu_to_le32(rsm_status_to_number(status));
	rsm_answer(link, answer);
}

/*
 * CONNECT. Answer before dropping importers_lock: a later MOVE or UNPUBLISH is sent to importers
 * found under this lock and must not overtake CONNECTED.
 */
void rsm_remote_importer_connect(struct rsm_link *link, const struct rsm_msg_connect *msg)
{
	struct rsm_export *exp = rsm_published_get(le32_to_cpu(msg->id));
	struct rsm_msg_connected answer;
	rsm_status_t status;

	rsm_message_init(link, &answer.header, RSM_MSG_CONNECTED, sizeof(answer));
	if (!exp) {
		answer_connect(link, msg, &answer, RSM_STS_SEG_NOT_PUBLISHED);
		return;
	}
	mutex_lock(&exp->importers_lock);
	status = admit(exp, link, le32_to_cpu(msg->cookie), &answer);
	answer_connect(link, msg, &answer, status);
	mutex_unlock(&exp->importers_lock);
	rsm_segment_put(&exp->seg);
	if (status == RSM_STS_SEG_NOT_PUBLISHED_TO_NODE)
		rsm_denied_node(link, le32_to_cpu(msg->id));
}

static void leave_export(struct rsm_remote_importer *importer)
{
	struct rsm_export *exp = importer->exp;

	mutex_lock(&exp->importers_lock);
	list_del(&importer->on_export);
	mutex_unlock(&exp->importers_lock);
	rsm_remote_importers_changed(exp);
}

/* From now on no request to its node is made. */
static void begin_leaving(struct rsm_remote_importer *importer)
{
	lockdep_assert_held(&importer->exp->importers_lock);
	rsm_importer_change(importer, RSM_IMPORTER_LEAVE, 0);
}

/*
 * Called by the link's work only, which alone removes importers. The importer stays on the
 * segment's list until its node reaches nothing any more.
 */
void rsm_remote_importer_remove(struct rsm_remote_importer *importer)
{
	struct rsm_export *exp = importer->exp;

	rsm_notify_importer_disconnect(exp, importer->link);
	mutex_lock(&exp->importers_lock);
	begin_leaving(importer);
	mutex_unlock(&exp->importers_lock);
	rsm_forget_to_tell(importer);
	cancel_placing(importer);
	rsm_request_end(importer);
	rsm_lease_end(importer->link, &importer->now);
	rsm_lease_end(importer->link, &importer->next);
	/* From now on no event is delivered by it. */
	xa_erase_irq(&importer->link->importers, importer->handle);
	atomic_dec(&importer->link->importer_count);
	leave_export(importer);
	rsm_segment_put(&exp->seg);
	kfree(importer);
}

/*
 * Is the importer removed later? If its keys are being made, the link does not wait for that: the
 * end of that work asks the link to remove the importer.
 */
static bool leaves_later(struct rsm_remote_importer *importer)
{
	struct rsm_export *exp = importer->exp;
	bool later;

	mutex_lock(&exp->importers_lock);
	later = importer->machine.is_placing && !give_up_turn(importer);
	if (later) {
		begin_leaving(importer);
		rsm_request_end(importer);
	}
	mutex_unlock(&exp->importers_lock);
	return later;
}

/* DISCONNECT */
void rsm_remote_importer_disconnect(struct rsm_link *link, const struct rsm_msg_connection *msg)
{
	struct rsm_remote_importer *importer = find_named(link, msg);

	if (importer && !leaves_later(importer))
		rsm_remote_importer_remove(importer);
}

/* MOVED: nothing on that node reaches the segment's former memory any more. */
void rsm_remote_importer_moved(struct rsm_link *link, const struct rsm_msg_connection *msg)
{
	struct rsm_remote_importer *importer = find_named(link, msg);
	struct rsm_lease old = {};

	if (!importer || importer->machine.request != RSM_MSG_MOVE || !importer->machine.asked)
		return;
	mutex_lock(&importer->exp->importers_lock);
	swap(old, importer->now);
	swap(importer->now, importer->next);
	mutex_unlock(&importer->exp->importers_lock);
	rsm_lease_end(link, &old);
	rsm_request_end(importer);
	rsm_remote_importers_changed(importer->exp);
}

/* BELL from an importer; any context. */
void rsm_remote_importer_bell(struct rsm_link *link, u32 cookie, u32 handle, u32 flags)
{
	struct rsm_remote_importer *importer;
	unsigned long irq_flags;

	xa_lock_irqsave(&link->importers, irq_flags);
	importer = xa_load(&link->importers, handle);
	if (importer && importer->cookie == cookie)
		rsm_event_post(&importer->exp->seg, flags);
	xa_unlock_irqrestore(&link->importers, irq_flags);
}

/* No importer of the link gets a turn any more; each that has or awaits one is removed now. */
static void end_turns(struct rsm_link *link)
{
	spin_lock_irq(&link->lock);
	while (!list_empty(&link->to_place))
		list_del_init(link->to_place.next);
	spin_unlock_irq(&link->lock);
}

/* The link is down: remove all importers at its other end. */
void rsm_remote_importer_link_down(struct rsm_link *link)
{
	struct rsm_remote_importer *importer;
	unsigned long handle;

	end_turns(link);
	xa_for_each(&link->importers, handle, importer)
		rsm_remote_importer_remove(importer);
}
