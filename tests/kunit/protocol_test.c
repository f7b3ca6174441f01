// SPDX-License-Identifier: GPL-2.0
/* The form of messages between agents: what is let in and what is not. */

#include <kunit/test.h>

#include "../../kernel/agent/protocol.c"

union message {
	struct rsm_msg_header header;
	u8 bytes[2 * RSM_MESSAGE_MAX];
};

static const struct {
	u16 type;
	size_t size;
} types[] = {
	{ RSM_MSG_HELLO, sizeof(struct rsm_msg_hello) },
	{ RSM_MSG_WELCOME, sizeof(struct rsm_msg_hello) },
	{ RSM_MSG_HEARTBEAT, sizeof(struct rsm_msg_hello) },
	{ RSM_MSG_BYE, sizeof(struct rsm_msg_hello) },
	{ RSM_MSG_CONNECT, sizeof(struct rsm_msg_connect) },
	{ RSM_MSG_CONNECTED, sizeof(struct rsm_msg_connected) },
	{ RSM_MSG_DISCONNECT, sizeof(struct rsm_msg_connection) },
	{ RSM_MSG_UNPUBLISH, sizeof(struct rsm_msg_connection) },
	{ RSM_MSG_REPUBLISH, sizeof(struct rsm_msg_connection) },
	{ RSM_MSG_BELL, sizeof(struct rsm_msg_connection) },
	{ RSM_MSG_MOVE, sizeof(struct rsm_msg_move) },
	{ RSM_MSG_MOVED, sizeof(struct rsm_msg_connection) },
	{ RSM_MSG_PLACE, sizeof(struct rsm_msg_connection) },
};

static bool is_sound(u16 version, u16 type, u32 claimed, size_t len)
{
	union message message = {};

	message.header.version = cpu_to_le16(version);
	message.header.type = cpu_to_le16(type);
	message.header.len = cpu_to_le32(claimed);
	return rsm_message_is_sound(&message, len);
}

static void each_type_has_one_length(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(types); i++)
		for (size_t len = 0; len <= 2 * RSM_MESSAGE_MAX; len++) {
			bool fits = types[i].type == RSM_MSG_HELLO ?
				len >= types[i].size && len <= RSM_MESSAGE_MAX :
				len == types[i].size;

			KUNIT_EXPECT_EQ_MSG(test, fits,
					    is_sound(RSM_PROTOCOL_VERSION, types[i].type,
						     len, len),
					    "type %u, %zu bytes", types[i].type, len);
		}
}

static void claimed_length_is_the_real_one(struct kunit *test)
{
	static const u32 wrong[] = { 0, 1, 0x7fffffff, U32_MAX };

	for (int i = 0; i < ARRAY_SIZE(types); i++) {
		size_t len = types[i].size;

		for (int j = 0; j < ARRAY_SIZE(wrong); j++)
			KUNIT_EXPECT_FALSE(test, is_sound(RSM_PROTOCOL_VERSION, types[i].type,
							  wrong[j], len));
		KUNIT_EXPECT_FALSE(test, is_sound(RSM_PROTOCOL_VERSION, types[i].type,
						  len + 1, len));
		KUNIT_EXPECT_FALSE(test, is_sound(RSM_PROTOCOL_VERSION, types[i].type,
						  len - 1, len));
	}
}

static void unknown_types_are_dropped(struct kunit *test)
{
	for (u32 type = 0; type <= U16_MAX; type++) {
		bool known = false;

		for (int i = 0; i < ARRAY_SIZE(types); i++)
			known |= types[i].type == type;
		if (known)
			continue;
		for (size_t len = sizeof(struct rsm_msg_header); len <= RSM_MESSAGE_MAX; len += 8)
			if (is_sound(RSM_PROTOCOL_VERSION, type, len, len))
				KUNIT_FAIL(test, "type %u with %zu bytes", type, len);
	}
}

/* Only so do two versions find out about each other. */
static void hello_may_have_any_version(struct kunit *test)
{
	static const u16 versions[] = { 0, RSM_PROTOCOL_VERSION + 1, U16_MAX };

	for (int v = 0; v < ARRAY_SIZE(versions); v++)
		for (int i = 0; i < ARRAY_SIZE(types); i++)
			KUNIT_EXPECT_EQ(test, types[i].type == RSM_MSG_HELLO,
					is_sound(versions[v], types[i].type, types[i].size,
						 types[i].size));
}

static struct kunit_case protocol_cases[] = {
	KUNIT_CASE(each_type_has_one_length),
	KUNIT_CASE(claimed_length_is_the_real_one),
	KUNIT_CASE(unknown_types_are_dropped),
	KUNIT_CASE(hello_may_have_any_version),
	{}
};

static struct kunit_suite protocol_suite = {
	.name = "rsm_protocol",
	.test_cases = protocol_cases,
};

kunit_test_suite(protocol_suite);
