// SPDX-License-Identifier: GPL-2.0
/* Room for transfers in the send queue of a connection. */

#include <kunit/test.h>

#include "../../kernel/rdma/room.c"

#define WRS	64U	/* of all transfers */
#define MOST	RSM_RDMA_TRANSFERS

/* Room, and operations that ask for some. Each belongs to a user. */
struct scene {
	struct rsm_rdma_room room;
	struct rsm_rdma_claim claim[2 * MOST];
	u32 n;
};

static struct scene *make_scene(struct kunit *test)
{
	struct scene *scene = kunit_kzalloc(test, sizeof(*scene), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, scene);
	rsm_rdma_room_init(&scene->room);
	scene->room.most_wrs = WRS;
	return scene;
}

static struct rsm_rdma_claim *ask_as(struct scene *scene, u64 user, u32 wrs, u32 bytes)
{
	struct rsm_rdma_claim *claim = &scene->claim[scene->n++];

	rsm_rdma_claim_init(claim, wrs, bytes);
	claim->turn.user = user;
	rsm_rdma_room_ask(&scene->room, claim);
	return claim;
}

static struct rsm_rdma_claim *ask(struct scene *scene, char user, u32 wrs, u32 bytes)
{
	return ask_as(scene, 2 * user, wrs, bytes);
}

/* As a user in a namespace of that user. */
static struct rsm_rdma_claim *ask_nested(struct scene *scene, char owner, u32 wrs, u32 bytes)
{
	return ask_as(scene, 2 * owner + 1, wrs, bytes);
}

/* Some operations of a user; returns how many of them have room. */
static u32 ask_often(struct scene *scene, u32 n, char user, u32 wrs, u32 bytes)
{
	u32 granted = 0;

	while (n--)
		granted += !ask(scene, user, wrs, bytes)->waits;
	return granted;
}

static void expect_empty(struct kunit *test, struct scene *scene)
{
	KUNIT_EXPECT_EQ(test, scene->room.contexts, 0);
	KUNIT_EXPECT_EQ(test, scene->room.wrs, 0);
	KUNIT_EXPECT_EQ(test, scene->room.bytes, 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&scene->room.unposted));
	KUNIT_EXPECT_NULL(test, rsm_turns_first(&scene->room.waiting));
}

/* All threads run, and all operations end. */
static void run_all(struct rsm_rdma_room *room)
{
	while (!list_empty(&room->unposted)) {
		struct rsm_rdma_claim *claim =
			list_first_entry(&room->unposted, struct rsm_rdma_claim, unposted);

		rsm_rdma_room_posted(room, claim);
		rsm_rdma_room_give(room, claim);
	}
}

static void a_claim_that_fits_is_granted_at_once(struct kunit *test)
{
	struct scene *scene = make_scene(test);
	struct rsm_rdma_claim *claim = ask(scene, 'a', WRS, RSM_RDMA_TRANSFER_BYTES);

	KUNIT_EXPECT_FALSE(test, claim->waits);
	KUNIT_EXPECT_TRUE(test, completion_done(&claim->granted));
	rsm_rdma_room_posted(&scene->room, claim);
	claim = ask(scene, 'a', 1, 1);
	KUNIT_EXPECT_TRUE(test, claim->waits);
	KUNIT_EXPECT_FALSE(test, completion_done(&claim->granted));
	rsm_rdma_room_give(&scene->room, &scene->claim[0]);
	KUNIT_EXPECT_FALSE(test, claim->waits);
	run_all(&scene->room);
	expect_empty(test, scene);
}

static void none_passes_because_it_needs_less(struct kunit *test)
{
	struct scene *scene = make_scene(test);
	struct rsm_rdma_claim *first = ask(scene, 'a', WRS - 1, 1);
	struct rsm_rdma_claim *large, *small;

	rsm_rdma_room_posted(&scene->room, first);
	large = ask(scene, 'b', 2, 1);
	small = ask(scene, 'c', 1, 1);
	KUNIT_EXPECT_TRUE(test, large->waits);
	KUNIT_EXPECT_TRUE(test, small->waits);
	rsm_rdma_room_give(&scene->room, first);
	KUNIT_EXPECT_FALSE(test, large->waits);
	KUNIT_EXPECT_FALSE(test, small->waits);
	run_all(&scene->room);
	expect_empty(test, scene);
}

static void threads_that_do_not_run_leave_half_to_other_users(struct kunit *test)
{
	static const struct {
		u32 wrs;
		u32 bytes;
		u32 half;
	} of[] = {
		{ 1, 1, MOST / 2 },
		{ WRS / 4, 1, 2 },
		{ 1, RSM_RDMA_TRANSFER_BYTES / 4, 2 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
		struct scene *scene = make_scene(test);

		for (char user = 'a'; user <= 'b'; user++)
			KUNIT_EXPECT_EQ(test, of[i].half,
					ask_often(scene, MOST, user, of[i].wrs, of[i].bytes));
		run_all(&scene->room);
		expect_empty(test, scene);
	}
}

static void users_in_namespaces_share_the_half_of_their_owner(struct kunit *test)
{
	struct scene *scene = make_scene(test);

	KUNIT_EXPECT_FALSE(test, ask_nested(scene, 'a', 1, 1)->waits);
	KUNIT_EXPECT_EQ(test, MOST / 2 - 1, ask_often(scene, MOST, 'a', 1, 1));
	KUNIT_EXPECT_FALSE(test, ask(scene, 'b', 1, 1)->waits);
	run_all(&scene->room);
	expect_empty(test, scene);
}

/* Users in a container of root do not stop root. */
static void an_owner_gets_one_operation_besides_users_in_namespaces(struct kunit *test)
{
	struct scene *scene = make_scene(test);

	for (u32 i = 0; i < MOST / 2; i++)
		KUNIT_EXPECT_FALSE(test, ask_nested(scene, 'a', 1, 1)->waits);
	KUNIT_EXPECT_FALSE(test, ask(scene, 'a', 1, 1)->waits);
	KUNIT_EXPECT_TRUE(test, ask(scene, 'a', 1, 1)->waits);
	KUNIT_EXPECT_FALSE(test, ask(scene, 'b', 1, 1)->waits);
	run_all(&scene->room);
	expect_empty(test, scene);
}

static void threads_that_run_get_all(struct kunit *test)
{
	struct scene *scene = make_scene(test);

	for (u32 i = 0; i < MOST; i++) {
		struct rsm_rdma_claim *claim = ask(scene, 'a', 1, 1);

		KUNIT_ASSERT_FALSE(test, claim->waits);
		rsm_rdma_room_posted(&scene->room, claim);
	}
	KUNIT_EXPECT_EQ(test, scene->room.contexts, MOST);
	KUNIT_EXPECT_TRUE(test, ask(scene, 'b', 1, 1)->waits);
}

static void a_thread_that_runs_makes_way_for_its_user(struct kunit *test)
{
	struct scene *scene = make_scene(test);
	struct rsm_rdma_claim *last;

	ask_often(scene, MOST / 2, 'a', 1, 1);
	last = ask(scene, 'a', 1, 1);
	KUNIT_EXPECT_TRUE(test, last->waits);
	rsm_rdma_room_posted(&scene->room, &scene->claim[3]);
	KUNIT_EXPECT_FALSE(test, last->waits);
}

static void one_operation_may_need_more_than_half(struct kunit *test)
{
	struct scene *scene = make_scene(test);

	KUNIT_EXPECT_FALSE(test, ask(scene, 'a', WRS / 2 + 1, 1)->waits);
	KUNIT_EXPECT_TRUE(test, ask(scene, 'a', 1, 1)->waits);
	KUNIT_EXPECT_FALSE(test, ask(scene, 'b', 1, 1)->waits);
}

static void a_withdrawn_claim_lets_the_next_pass(struct kunit *test)
{
	struct scene *scene = make_scene(test);
	struct rsm_rdma_claim *holder = ask(scene, 'a', WRS, 1);
	struct rsm_rdma_claim *waiting = ask(scene, 'b', WRS, 1);
	struct rsm_rdma_claim *next = ask(scene, 'c', WRS, 1);

	rsm_rdma_room_withdraw(&scene->room, waiting);
	KUNIT_EXPECT_TRUE(test, next->waits);
	rsm_rdma_room_withdraw(&scene->room, holder);
	KUNIT_EXPECT_FALSE(test, next->waits);
	rsm_rdma_room_withdraw(&scene->room, next);
	expect_empty(test, scene);
}

static struct kunit_case room_cases[] = {
	KUNIT_CASE(a_claim_that_fits_is_granted_at_once),
	KUNIT_CASE(none_passes_because_it_needs_less),
	KUNIT_CASE(threads_that_do_not_run_leave_half_to_other_users),
	KUNIT_CASE(users_in_namespaces_share_the_half_of_their_owner),
	KUNIT_CASE(an_owner_gets_one_operation_besides_users_in_namespaces),
	KUNIT_CASE(threads_that_run_get_all),
	KUNIT_CASE(a_thread_that_runs_makes_way_for_its_user),
	KUNIT_CASE(one_operation_may_need_more_than_half),
	KUNIT_CASE(a_withdrawn_claim_lets_the_next_pass),
	{}
};

static struct kunit_suite room_suite = {
	.name = "rsm_rdma_room",
	.test_cases = room_cases,
};

kunit_test_suite(room_suite);
