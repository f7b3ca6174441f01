// SPDX-License-Identifier: GPL-2.0
/*
 * Malformed arguments of every command of /dev/rsm: a call that could not be
 * understood fails with an errno and changes nothing.
 */
#include "rsm_test.h"

struct command {
	const char *name;
	unsigned long number;
	size_t size;
	/* size of the first version of the structure */
	size_t first;
	/* offset of a field that must be 0, and of the flags or operation; 0 if there is none */
	size_t reserved;
	size_t flags;
};

#define COMMAND(name, type, ...)						\
	{ #name, RSM_IOC_##name, sizeof(struct type), sizeof(struct type), __VA_ARGS__ }
#define FIELD(type, field) offsetof(struct type, field)

static const struct command commands[] = {
	COMMAND(INFO, rsm_info, 0, 0),
	COMMAND(ATTR, rsm_attr, FIELD(rsm_attr, reserved), 0),
	COMMAND(TOPOLOGY, rsm_topology_query, FIELD(rsm_topology_query, reserved), 0),
	COMMAND(BIND, rsm_bind, FIELD(rsm_bind, reserved), FIELD(rsm_bind, flags)),
	COMMAND(REBIND, rsm_rebind, 0, 0),
	COMMAND(PUBLISH, rsm_publish, 0, 0),
	COMMAND(REPUBLISH, rsm_publish, 0, 0),
	COMMAND(UNPUBLISH, rsm_unpublish, 0, 0),
	COMMAND(CONNECT, rsm_connect, 0, 0),
	COMMAND(POST, rsm_post, FIELD(rsm_post, reserved), FIELD(rsm_post, flags)),
	COMMAND(WAIT, rsm_wait, 0, 0),
	{ "PUTV", RSM_IOC_PUTV, sizeof(struct rsm_transfer), FIELD(rsm_transfer, done),
	  FIELD(rsm_transfer, reserved), FIELD(rsm_transfer, flags) },
	{ "GETV", RSM_IOC_GETV, sizeof(struct rsm_transfer), FIELD(rsm_transfer, done),
	  FIELD(rsm_transfer, reserved), FIELD(rsm_transfer, flags) },
	COMMAND(BARRIER, rsm_barrier_request, FIELD(rsm_barrier_request, reserved),
		FIELD(rsm_barrier_request, op)),
	COMMAND(DESTROY, rsm_destroy, 0, 0),
	COMMAND(RANGE, rsm_range, FIELD(rsm_range, reserved), 0),
	COMMAND(GRANT, rsm_grant, 0, FIELD(rsm_grant, flags)),
	COMMAND(REVOKE, rsm_revoke, 0, 0),
	COMMAND(REDEEM, rsm_redeem, FIELD(rsm_redeem, reserved), 0),
	COMMAND(UNMAP, rsm_unmap, 0, 0),
	COMMAND(SEND, rsm_message, 0, 0),
	COMMAND(RECEIVE, rsm_message, 0, 0),
};

/* Numbers of commands are these and no others. */
#define FIRST_UNKNOWN 0x16

static int call(int fd, unsigned long command, void *argument)
{
	return ioctl(fd, command, argument) ? errno : 0;
}

static void set_word(void *at, __u32 value)
{
	memcpy(at, &value, sizeof(value));
}

/* Handles of all four kinds, and two pages for arguments. */
FIXTURE(arguments) {
	struct published published;
	int control;
	int blank;
	int imported;
	int handles[4];
	char *buffer;
	struct counters before;
};

FIXTURE_SETUP(arguments)
{
	ASSERT_TRUE(publish_pages(&self->published, 2, RSM_ALLOW_REBIND));
	self->control = open_control();
	self->blank = open_segment();
	self->imported = open_segment();
	ASSERT_LE(0, self->control);
	ASSERT_LE(0, self->blank);
	ASSERT_EQ(0, connect_segment(self->imported, self->published.id));
	self->handles[0] = self->control;
	self->handles[1] = self->blank;
	self->handles[2] = self->published.fd;
	self->handles[3] = self->imported;
	self->buffer = pages(3);
	ASSERT_NE(NULL, self->buffer);
	self->before = read_counters();
}

FIXTURE_TEARDOWN(arguments)
{
}

/* For each command and each kind of handle. */
#define FOR_EACH_CALL(command, fd, i)							\
	for (command = commands; command < commands + ARRAY_SIZE(commands); command++)	\
		for (i = 0; i < ARRAY_SIZE(self->handles) && ((fd = self->handles[i]), true); i++)

TEST_F(arguments, unknown_commands)
{
	char *argument = self->buffer;
	unsigned int number;
	size_t i;

	set_word(argument, 256);
	for (i = 0; i < ARRAY_SIZE(self->handles); i++) {
		int fd = self->handles[i];

		for (number = FIRST_UNKNOWN; number < 0x100; number++)
			ASSERT_EQ(ENOTTY, call(fd, _IO(RSM_IOC_TYPE, number), argument));
		EXPECT_EQ(ENOTTY, call(fd, _IOWR(RSM_IOC_TYPE, 0, struct rsm_info), argument));
		EXPECT_EQ(ENOTTY, call(fd, _IO(RSM_IOC_TYPE - 1, 0), argument));
		EXPECT_EQ(ENOTTY, call(fd, _IO('T', 1), argument));
		EXPECT_EQ(ENOTTY, call(fd, 0xffffffff, argument));
	}
	EXPECT_TRUE(same_counters(self->before));
}

TEST_F(arguments, each_command_is_in_the_table)
{
	unsigned int number;

	ASSERT_EQ(FIRST_UNKNOWN, ARRAY_SIZE(commands));
	for (number = 0; number < FIRST_UNKNOWN; number++)
		EXPECT_EQ(_IO(RSM_IOC_TYPE, number), commands[number].number);
}

TEST_F(arguments, structures_that_are_too_small)
{
	const struct command *command;
	int fd;
	size_t i, j;

	FOR_EACH_CALL(command, fd, i) {
		const __u32 sizes[] = { 0, 1, 4, 7, command->first - 1 };

		memset(self->buffer, 0, page_size());
		for (j = 0; j < ARRAY_SIZE(sizes); j++) {
			set_word(self->buffer, sizes[j]);
			EXPECT_EQ(EINVAL, call(fd, command->number, self->buffer)) {
				TH_LOG("%s of size %u", command->name, sizes[j]);
			}
		}
	}
	EXPECT_TRUE(same_counters(self->before));
}

TEST_F(arguments, structures_that_are_too_large)
{
	const __u32 sizes[] = { page_size() + 1, 2 * page_size(), 0x7fffffff, 0xffffffff };
	const struct command *command;
	int fd;
	size_t i, j;

	FOR_EACH_CALL(command, fd, i) {
		memset(self->buffer, 0, page_size());
		for (j = 0; j < ARRAY_SIZE(sizes); j++) {
			set_word(self->buffer, sizes[j]);
			EXPECT_EQ(E2BIG, call(fd, command->number, self->buffer)) {
				TH_LOG("%s of size %u", command->name, sizes[j]);
			}
		}
	}
	EXPECT_TRUE(same_counters(self->before));
}

TEST_F(arguments, bytes_that_the_kernel_does_not_know)
{
	const struct command *command;
	int fd;
	size_t i, j;

	FOR_EACH_CALL(command, fd, i) {
		const size_t places[] = { command->size, command->size + 77, page_size() - 1 };

		for (j = 0; j < ARRAY_SIZE(places); j++) {
			memset(self->buffer, 0, page_size());
			set_word(self->buffer, page_size());
			self->buffer[places[j]] = 1;
			EXPECT_EQ(E2BIG, call(fd, command->number, self->buffer)) {
				TH_LOG("%s, byte %zu", command->name, places[j]);
			}
		}
	}
	EXPECT_TRUE(same_counters(self->before));
}

TEST_F(arguments, larger_structures_of_zeros_are_fine)
{
	const __u32 sizes[] = { sizeof(struct rsm_info) + 1, sizeof(struct rsm_info) + 4,
				page_size() };
	struct rsm_info *info = (void *)self->buffer;
	struct rsm_post *event = (void *)self->buffer;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		memset(self->buffer, 0, page_size());
		info->size = sizes[i];
		EXPECT_EQ(0, call(self->control, RSM_IOC_INFO, info));
		EXPECT_EQ(RSM_SUCCESS, info->status);
		EXPECT_EQ(local_node(), info->node_id);
		memset(self->buffer, 0, page_size());
		event->size = sizes[i];
		EXPECT_EQ(0, call(self->imported, RSM_IOC_POST, event));
		EXPECT_EQ(RSM_SUCCESS, event->status);
	}
}

/* The first version of a structure that has grown is still taken. */
TEST_F(arguments, first_versions)
{
	struct rsm_transfer_entry entry = entry_of(self->buffer, 0, 8);
	struct rsm_transfer request = transfer_of(&entry, 1, 0);

	request.size = FIELD(rsm_transfer, done);
	request.done = 77;
	EXPECT_EQ(RSM_SUCCESS, rsm_call(self->imported, RSM_IOC_PUTV, &request));
	EXPECT_EQ(RSM_SUCCESS, rsm_call(self->imported, RSM_IOC_GETV, &request));
	EXPECT_EQ(77, request.done);
}

static void expect_unsupported(struct __test_metadata *_metadata, const struct command *command,
			       int fd, char *argument, size_t field, __u32 bits)
{
	memset(argument, 0, page_size());
	set_word(argument, command->size);
	if (command->number == RSM_IOC_BIND)
		((struct rsm_bind *)argument)->control_fd = -1;
	set_word(argument + field, bits);
	EXPECT_EQ(EOPNOTSUPP, call(fd, command->number, argument)) {
		TH_LOG("%s, field at %zu, bits %x", command->name, field, bits);
	}
}

TEST_F(arguments, reserved_fields)
{
	const struct command *command;
	int fd, bit;
	size_t i;

	FOR_EACH_CALL(command, fd, i) {
		if (!command->reserved)
			continue;
		for (bit = 0; bit < 32; bit++)
			expect_unsupported(_metadata, command, fd, self->buffer,
					   command->reserved, 1u << bit);
	}
	EXPECT_TRUE(same_counters(self->before));
}

TEST_F(arguments, unknown_flags)
{
	const __u32 wrong[] = { 0x80000000, 0x40000, 0x8000, 0xfffffffc, 0x80 };
	const struct command *command;
	int fd;
	size_t i, j;

	FOR_EACH_CALL(command, fd, i) {
		if (!command->flags)
			continue;
		for (j = 0; j < ARRAY_SIZE(wrong); j++)
			expect_unsupported(_metadata, command, fd, self->buffer,
					   command->flags, wrong[j]);
	}
	EXPECT_TRUE(same_counters(self->before));
}

TEST_F(arguments, fields_that_must_be_zero_here)
{
	struct rsm_publish publish = { .id = 5 };

	EXPECT_EQ(-EOPNOTSUPP, bind_memory(self->blank, self->buffer, page_size(), RSM_BIND_READ));
	EXPECT_EQ(-EOPNOTSUPP, RSM_CALL(self->published.fd, RSM_IOC_REPUBLISH, &publish));
	EXPECT_TRUE(same_counters(self->before));
}

TEST_F(arguments, structures_that_can_not_be_read)
{
	const struct command *command;
	char *hole = pages(3);
	char *edge = hole + page_size();
	int fd;
	size_t i;

	ASSERT_EQ(0, mprotect(edge, page_size(), PROT_NONE));
	FOR_EACH_CALL(command, fd, i) {
		EXPECT_EQ(EFAULT, call(fd, command->number, NULL));
		EXPECT_EQ(EFAULT, call(fd, command->number, edge));
		EXPECT_EQ(EFAULT, call(fd, command->number, edge - 2));
		EXPECT_EQ(EFAULT, call(fd, command->number, (void *)~2ul));
		EXPECT_EQ(EFAULT, call(fd, command->number, (void *)KERNEL_ADDRESS));
		set_word(edge - 4, command->size);
		EXPECT_EQ(EFAULT, call(fd, command->number, edge - 4));
	}
	EXPECT_TRUE(same_counters(self->before));
}

/* The call may have taken place; it has to say so and to leave nothing broken. */
#define EXPECT_NOT_STORED(fd, command, argument)					\
	do {										\
		ASSERT_EQ(0, mprotect(shown, page_size(), PROT_RW));			\
		(argument).size = sizeof(argument);					\
		(argument).status = 0xdeadbeef;						\
		memcpy(shown, &(argument), sizeof(argument));				\
		ASSERT_EQ(0, mprotect(shown, page_size(), PROT_READ));			\
		EXPECT_EQ(EFAULT, call(fd, command, shown));				\
	} while (0)

TEST_F(arguments, results_of_questions_that_can_not_be_stored)
{
	struct rsm_attr attr = { .controller = "loopback" };
	struct rsm_topology_query query = {};
	struct rsm_range range = {};
	struct rsm_info info = {};
	char *shown = self->buffer;

	EXPECT_NOT_STORED(self->control, RSM_IOC_INFO, info);
	EXPECT_NOT_STORED(self->control, RSM_IOC_ATTR, attr);
	EXPECT_NOT_STORED(self->control, RSM_IOC_TOPOLOGY, query);
	EXPECT_NOT_STORED(self->published.fd, RSM_IOC_RANGE, range);
	EXPECT_TRUE(same_counters(self->before));
}

TEST_F(arguments, results_of_exports_that_can_not_be_stored)
{
	struct rsm_bind bind = bind_to("loopback", pages(1), page_size(), RSM_ALLOW_REBIND);
	struct rsm_publish publish = {}, republish = {};
	struct rsm_unpublish unpublish = {};
	struct rsm_rebind rebind = { .vaddr = address_of(pages(1)), .length = page_size() };
	struct rsm_destroy destroy = {};
	char *shown = self->buffer;

	EXPECT_NOT_STORED(self->blank, RSM_IOC_BIND, bind);
	EXPECT_NOT_STORED(self->blank, RSM_IOC_PUBLISH, publish);
	EXPECT_NOT_STORED(self->blank, RSM_IOC_REPUBLISH, republish);
	EXPECT_NOT_STORED(self->blank, RSM_IOC_REBIND, rebind);
	EXPECT_NOT_STORED(self->blank, RSM_IOC_UNPUBLISH, unpublish);
	EXPECT_NOT_STORED(self->blank, RSM_IOC_DESTROY, destroy);
	EXPECT_TRUE(same_counters(self->before));
}

TEST_F(arguments, results_of_imports_that_can_not_be_stored)
{
	struct rsm_transfer_entry entry = entry_of(self->buffer + page_size(), 0, 8);
	struct rsm_transfer transfer = transfer_of(&entry, 1, 0);
	struct rsm_connect connect = connect_to(self->published.id, RSM_PERM_RDWR, -1);
	struct rsm_barrier_request order = { .op = RSM_BARRIER_ORDER };
	struct rsm_unmap unmap = { .vaddr = address_of(self->buffer), .length = page_size() };
	struct rsm_message message = {};
	struct rsm_post post = {};
	struct rsm_wait wait = {};
	char *shown = self->buffer + 2 * page_size();

	EXPECT_NOT_STORED(self->blank, RSM_IOC_CONNECT, connect);
	EXPECT_NOT_STORED(self->imported, RSM_IOC_POST, post);
	EXPECT_NOT_STORED(self->published.fd, RSM_IOC_WAIT, wait);
	EXPECT_NOT_STORED(self->imported, RSM_IOC_PUTV, transfer);
	EXPECT_NOT_STORED(self->imported, RSM_IOC_GETV, transfer);
	EXPECT_NOT_STORED(self->imported, RSM_IOC_BARRIER, order);
	EXPECT_NOT_STORED(self->imported, RSM_IOC_UNMAP, unmap);
	EXPECT_NOT_STORED(self->imported, RSM_IOC_SEND, message);
	EXPECT_NOT_STORED(self->published.fd, RSM_IOC_RECEIVE, message);
}

TEST_F(arguments, results_of_grants_that_can_not_be_stored)
{
	struct rsm_grant given = { .length = 1, .permission = RSM_PERM_READ };
	struct rsm_redeem redeem;
	struct rsm_revoke revoke = {};
	struct ticket ticket;
	char *shown = self->buffer;

	ASSERT_EQ(0, bind_memory(self->blank, pages(1), page_size(), RSM_BIND_LOCAL));
	EXPECT_NOT_STORED(self->blank, RSM_IOC_GRANT, given);
	ASSERT_EQ(0, grant_range(self->blank, &ticket, 0, 1));
	redeem = redeem_of(ticket, -1);
	EXPECT_NOT_STORED(open_segment(), RSM_IOC_REDEEM, redeem);
	memcpy(revoke.ticket, ticket.word, sizeof(revoke.ticket));
	EXPECT_NOT_STORED(self->blank, RSM_IOC_REVOKE, revoke);
}

/* A command whose only result is the status does not store one that is there already. */
TEST_F(arguments, a_status_that_is_there_already_is_not_stored)
{
	struct rsm_post *event = (void *)self->buffer;

	event->size = sizeof(*event);
	event->status = RSM_SUCCESS;
	ASSERT_EQ(0, mprotect(event, page_size(), PROT_READ));
	EXPECT_EQ(0, call(self->imported, RSM_IOC_POST, event));
	EXPECT_EQ(RSM_SUCCESS, take_event(self->published.fd));
}

TEST_F(arguments, strings_without_an_end)
{
	struct rsm_connect connect = connect_to(self->published.id, RSM_PERM_RDWR, -1);
	struct rsm_bind bind = bind_to("", self->buffer, page_size(), 0);
	struct rsm_attr attr = {};

	memset(attr.controller, 'l', RSM_NAME_SIZE);
	EXPECT_EQ(-EINVAL, RSM_CALL(self->control, RSM_IOC_ATTR, &attr));
	memset(bind.controller, 'l', RSM_NAME_SIZE);
	EXPECT_EQ(-EINVAL, RSM_CALL(self->blank, RSM_IOC_BIND, &bind));
	memset(connect.controller, 'l', RSM_NAME_SIZE);
	EXPECT_EQ(-EINVAL, RSM_CALL(self->blank, RSM_IOC_CONNECT, &connect));
	EXPECT_TRUE(same_counters(self->before));
	EXPECT_EQ(0, bind_memory(self->blank, self->buffer, page_size(), 0));
}

TEST_F(arguments, control_descriptors_of_another_kind)
{
	const int wrong[] = { open("/dev/null", O_RDWR | O_CLOEXEC),
			      open(RSM_DEVICE, O_PATH | O_CLOEXEC), self->blank, self->imported,
			      self->published.fd, 12345, -2, INT32_MIN };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct rsm_bind bind = bind_to("loopback", self->buffer, page_size(), 0);
		struct rsm_connect connect = connect_to(self->published.id, 0, wrong[i]);
		struct rsm_redeem redeem = redeem_of((struct ticket) {}, wrong[i]);

		bind.control_fd = wrong[i];
		EXPECT_EQ(-EBADF, RSM_CALL(self->blank, RSM_IOC_BIND, &bind));
		EXPECT_EQ(-EBADF, RSM_CALL(self->blank, RSM_IOC_CONNECT, &connect));
		EXPECT_EQ(-EBADF, RSM_CALL(self->blank, RSM_IOC_REDEEM, &redeem));
	}
	EXPECT_TRUE(same_counters(self->before));
}

TEST_F(arguments, descriptors_that_take_no_ioctl)
{
	int path = open(RSM_DEVICE, O_PATH | O_CLOEXEC);
	struct rsm_info info = {};

	EXPECT_EQ(-EBADF, RSM_CALL(path, RSM_IOC_INFO, &info));
}

/* Whatever a handle is that was opened for writing only, it is not a crash. */
TEST_F(arguments, a_handle_for_writing_only)
{
	int fd = open(RSM_DEVICE, O_WRONLY | O_CLOEXEC);
	struct rsm_info info = {};

	if (fd < 0)
		return;
	RSM_CALL(fd, RSM_IOC_INFO, &info);
	bind_memory(fd, self->buffer, page_size(), 0);
}

TEST_F(arguments, neither_read_nor_write)
{
	char data[16] = {};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(self->handles); i++) {
		EXPECT_GT(0, read(self->handles[i], data, sizeof(data)));
		EXPECT_GT(0, write(self->handles[i], data, sizeof(data)));
	}
}

TEST_HARNESS_MAIN
