/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the tests of /dev/rsm: calls whose result is a number, memory,
 * and processes that take part in a test.
 */
#ifndef RSM_TEST_H
#define RSM_TEST_H

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/rsm.h>

#include "../kselftest_harness.h"

/* A slow machine fails no test: the limit of time is in the file settings. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 0

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#endif

#define RSM_DEVICE	"/dev/rsm"
#define PROT_RW		(PROT_READ | PROT_WRITE)

/* Where a kernel's memory is on x86: no address of a process. */
#define KERNEL_ADDRESS	0xffff888000000000ULL

#define UNUSED __attribute__((unused))

/*
 * A check in a process besides the test's, or in a function that knows of no
 * test: expected() of the process that it runs in tells whether all held.
 */
static int rsm_failures UNUSED;

#define CHECK(condition)						\
	do {								\
		if (!(condition)) {					\
			fprintf(stderr, "# %s:%d: not true: %s\n",	\
				__FILE__, __LINE__, #condition);	\
			rsm_failures++;					\
		}							\
	} while (0)

/* Waits until a condition holds. A test that waits for ever is ended by what runs it. */
#define UNTIL(condition)						\
	do {								\
		while (!(condition))					\
			usleep(1000);					\
	} while (0)

/* Calls. Each returns the status of a command, or -errno when it was not understood. */

static inline long rsm_call(int fd, unsigned long command, void *argument)
{
	return ioctl(fd, command, argument) ? -errno : (long)((__u32 *)argument)[1];
}

/* Any command; the fields of its structure that all have are filled in. */
#define RSM_CALL(fd, command, argument)					\
	({								\
		(argument)->size = sizeof(*(argument));			\
		(argument)->status = 0xdeadbeef;			\
		rsm_call(fd, command, argument);			\
	})

static inline int open_segment(void)
{
	return open(RSM_DEVICE, O_RDWR | O_CLOEXEC);
}

static inline int open_control(void)
{
	return open(RSM_DEVICE, O_RDONLY | O_CLOEXEC);
}

static inline __u64 address_of(const volatile void *memory)
{
	return (uintptr_t)memory;
}

static inline __u32 local_node(void)
{
	struct rsm_info info = {};
	int control = open_control();
	long outcome = RSM_CALL(control, RSM_IOC_INFO, &info);

	close(control);
	return outcome ? ~0u : info.node_id;
}

static inline struct rsm_bind bind_to(const char *controller, const volatile void *memory,
				      __u64 length, __u32 flags)
{
	struct rsm_bind argument = {
		.size = sizeof(argument),
		.vaddr = address_of(memory),
		.length = length,
		.flags = flags,
		.control_fd = -1,
	};

	strncpy(argument.controller, controller, RSM_NAME_SIZE - 1);
	return argument;
}

static inline long bind_memory(int fd, const volatile void *memory, __u64 length, __u32 flags)
{
	struct rsm_bind argument = bind_to("loopback", memory, length, flags);

	return RSM_CALL(fd, RSM_IOC_BIND, &argument);
}

static inline long rebind(int fd, const volatile void *memory, __u64 length)
{
	struct rsm_rebind argument = { .vaddr = address_of(memory), .length = length };

	return RSM_CALL(fd, RSM_IOC_REBIND, &argument);
}

static inline long publish_to(int fd, __u32 *id, const struct rsm_acl_entry *acl, __u32 count)
{
	struct rsm_publish argument = {
		.id = *id,
		.acl_count = count,
		.acl = address_of(acl),
	};
	long outcome = RSM_CALL(fd, RSM_IOC_PUBLISH, &argument);

	if (!outcome)
		*id = argument.id;
	return outcome;
}

/* An id of 0 is replaced by the one that was assigned. */
static inline long publish(int fd, __u32 *id)
{
	return publish_to(fd, id, NULL, 0);
}

static inline long republish_to(int fd, const struct rsm_acl_entry *acl, __u32 count)
{
	struct rsm_publish argument = { .acl_count = count, .acl = address_of(acl) };

	return RSM_CALL(fd, RSM_IOC_REPUBLISH, &argument);
}

static inline long republish(int fd)
{
	return republish_to(fd, NULL, 0);
}

static inline long unpublish(int fd)
{
	struct rsm_unpublish argument = {};

	return RSM_CALL(fd, RSM_IOC_UNPUBLISH, &argument);
}

static inline long destroy(int fd)
{
	struct rsm_destroy argument = {};

	return RSM_CALL(fd, RSM_IOC_DESTROY, &argument);
}

static inline struct rsm_connect connect_to(__u32 id, __u32 permission, int control)
{
	struct rsm_connect argument = {
		.size = sizeof(argument),
		.controller = "loopback",
		.node = local_node(),
		.id = id,
		.permission = permission,
		.control_fd = control,
	};

	return argument;
}

static inline long connect_with(int fd, __u32 id, __u32 permission)
{
	struct rsm_connect argument = connect_to(id, permission, -1);

	return RSM_CALL(fd, RSM_IOC_CONNECT, &argument);
}

static inline long connect_segment(int fd, __u32 id)
{
	return connect_with(fd, id, RSM_PERM_RDWR);
}

static inline long post_flagged(int fd, __u32 flags)
{
	struct rsm_post argument = { .flags = flags };

	return RSM_CALL(fd, RSM_IOC_POST, &argument);
}

static inline long post(int fd)
{
	return post_flagged(fd, 0);
}

static inline long wait_event(int fd, __s64 timeout_ns)
{
	struct rsm_wait argument = { .timeout_ns = timeout_ns };

	return RSM_CALL(fd, RSM_IOC_WAIT, &argument);
}

/* Consumes an event that is there already. */
static inline long take_event(int fd)
{
	return wait_event(fd, 0);
}

static inline long barrier(int fd, __u32 operation)
{
	struct rsm_barrier_request argument = { .op = operation };

	return RSM_CALL(fd, RSM_IOC_BARRIER, &argument);
}

static inline struct rsm_transfer_entry entry_of(const volatile void *memory, __u64 remote,
						 __u64 length)
{
	return (struct rsm_transfer_entry) {
		.type = RSM_VA_TYPE,
		.fd = -1,
		.addr = address_of(memory),
		.remote_offset = remote,
		.length = length,
	};
}

static inline struct rsm_transfer_entry entry_of_handle(int handle, __u64 local, __u64 remote,
							__u64 length)
{
	return (struct rsm_transfer_entry) {
		.type = RSM_HANDLE_TYPE,
		.fd = handle,
		.local_offset = local,
		.remote_offset = remote,
		.length = length,
	};
}

static inline struct rsm_transfer transfer_of(const struct rsm_transfer_entry *entries,
					      __u32 count, __u32 flags)
{
	return (struct rsm_transfer) {
		.size = sizeof(struct rsm_transfer),
		.count = count,
		.flags = flags,
		.entries = address_of(entries),
	};
}

/* PUTV or GETV of one entry. */
static inline long transfer(int fd, unsigned long command, struct rsm_transfer_entry entry)
{
	struct rsm_transfer argument = transfer_of(&entry, 1, 0);

	return RSM_CALL(fd, command, &argument);
}

static inline long put(int fd, const volatile void *memory, __u64 remote, __u64 length)
{
	return transfer(fd, RSM_IOC_PUTV, entry_of(memory, remote, length));
}

static inline long get(int fd, volatile void *memory, __u64 remote, __u64 length)
{
	return transfer(fd, RSM_IOC_GETV, entry_of(memory, remote, length));
}

static inline long unmap(int fd, const volatile void *memory, __u64 length)
{
	struct rsm_unmap argument = { .vaddr = address_of(memory), .length = length };

	return RSM_CALL(fd, RSM_IOC_UNMAP, &argument);
}

struct ticket {
	__u64 word[2];
};

static inline long grant_flagged(int fd, struct ticket *ticket, __u64 offset, __u64 length,
				 __u32 permission, __u32 flags)
{
	struct rsm_grant argument = {
		.offset = offset,
		.length = length,
		.permission = permission,
		.flags = flags,
	};
	long outcome = RSM_CALL(fd, RSM_IOC_GRANT, &argument);

	if (!outcome)
		memcpy(ticket->word, argument.ticket, sizeof(ticket->word));
	return outcome;
}

static inline long grant_range(int fd, struct ticket *ticket, __u64 offset, __u64 length)
{
	return grant_flagged(fd, ticket, offset, length, RSM_PERM_RDWR, 0);
}

static inline long revoke_ticket(int fd, struct ticket ticket)
{
	struct rsm_revoke argument = { .ticket = { ticket.word[0], ticket.word[1] } };

	return RSM_CALL(fd, RSM_IOC_REVOKE, &argument);
}

static inline struct rsm_redeem redeem_of(struct ticket ticket, int control)
{
	return (struct rsm_redeem) {
		.size = sizeof(struct rsm_redeem),
		.ticket = { ticket.word[0], ticket.word[1] },
		.control_fd = control,
	};
}

static inline long redeem_ticket(int fd, struct ticket ticket)
{
	struct rsm_redeem argument = redeem_of(ticket, -1);

	return RSM_CALL(fd, RSM_IOC_REDEEM, &argument);
}

static inline long send_message(int fd, __u64 first)
{
	struct rsm_message message = {};
	int i;

	for (i = 0; i < RSM_MESSAGE_WORDS; i++)
		message.word[i] = first + i;
	return RSM_CALL(fd, RSM_IOC_SEND, &message);
}

static inline long receive_message(int fd, __u64 *first)
{
	struct rsm_message message = {};
	long outcome = RSM_CALL(fd, RSM_IOC_RECEIVE, &message);
	int i;

	*first = message.word[0];
	for (i = 0; !outcome && i < RSM_MESSAGE_WORDS; i++)
		CHECK(message.word[i] == *first + i);
	return outcome;
}

/* Events that poll() reports at once. */
static inline int polled(int fd, int events)
{
	struct pollfd entry = { .fd = fd, .events = events };

	return poll(&entry, 1, 0) == 1 ? entry.revents : 0;
}

/* Whether the connection, or the export, has ended. */
static inline bool hung_up(int fd)
{
	return polled(fd, POLLRDHUP) & POLLRDHUP;
}

static inline void wait_for_hangup(int fd)
{
	struct pollfd entry = { .fd = fd, .events = POLLRDHUP };

	while (poll(&entry, 1, -1) < 0)
		;
}

/* Memory. */

static inline size_t page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

/* Anonymous private memory of whole pages, all 0; NULL if there is none. */
static inline void *pages_with(size_t count, int protection)
{
	void *base = mmap(NULL, count * page_size(), protection, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	return base == MAP_FAILED ? NULL : base;
}

static inline void *pages(size_t count)
{
	return pages_with(count, PROT_RW);
}

static inline volatile __u64 *word_at(volatile void *base, size_t offset)
{
	return (volatile __u64 *)((volatile char *)base + offset);
}

static inline __u64 word(volatile void *base)
{
	return *word_at(base, 0);
}

/* A shared mapping of a handle; NULL, and errno, if it was refused. */
static inline void *map_at(int fd, size_t length, int protection, off_t offset)
{
	void *base = mmap(NULL, length, protection, MAP_SHARED, fd, offset);

	return base == MAP_FAILED ? NULL : base;
}

static inline void *map(int fd, size_t length)
{
	return map_at(fd, length, PROT_RW, 0);
}

/* errno of a mapping, which is gone at once; 0 if it was made. */
static inline int mapping_error(int fd, size_t length, int protection, off_t offset, int flags)
{
	void *base = mmap(NULL, length, protection, flags, fd, offset);

	if (base == MAP_FAILED)
		return errno;
	munmap(base, length);
	return 0;
}

static inline int refused(int fd, size_t length, int protection, off_t offset)
{
	return mapping_error(fd, length, protection, offset, MAP_SHARED);
}

/* A published export of its own memory, for tests that need something to connect to. */
struct published {
	int fd;
	__u32 id;
	size_t size;
	volatile void *memory;
};

static inline bool publish_pages(struct published *segment, size_t count, __u32 flags)
{
	segment->fd = open_segment();
	segment->id = 0;
	segment->size = count * page_size();
	segment->memory = pages(count);
	if (!segment->memory)
		return false;
	return !bind_memory(segment->fd, segment->memory, segment->size, flags) &&
	       !publish(segment->fd, &segment->id);
}

/* Counters of rsm.ko; -1 where debugfs can't be read. */
static inline long long kernel_counter(const char *wanted)
{
	FILE *file = fopen("/sys/kernel/debug/rsm/stats", "re");
	long long value, found = -1;
	char name[64];

	while (file && fscanf(file, "%63s %lld", name, &value) == 2)
		if (!strcmp(name, wanted))
			found = value;
	if (file)
		fclose(file);
	return found;
}

/* Counters that calls that fail do not change. */
struct counters {
	long long pinned, published, grants;
};

static inline struct counters read_counters(void)
{
	return (struct counters) {
		.pinned = kernel_counter("pinned_pages"),
		.published = kernel_counter("published"),
		.grants = kernel_counter("grants"),
	};
}

static inline bool same_counters(struct counters before)
{
	struct counters now = read_counters();

	return !memcmp(&before, &now, sizeof(now));
}

static inline bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return done;
}

/* Controllers that only tests have: rsm_testctl.ko. */
static inline bool load_test_controllers(void)
{
	return system("modprobe -q rsm_testctl 2>/dev/null") == 0;
}

#define NEEDS_CONTROLLERS(self)						\
	do {								\
		if (!(self)->loaded)					\
			SKIP(return, "rsm_testctl.ko is missing");	\
	} while (0)

static inline void unmap_device(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long begin, end;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, RSM_DEVICE) && sscanf(line, "%lx-%lx", &begin, &end) == 2)
			munmap((void *)begin, end - begin);
	if (maps)
		fclose(maps);
}

/* Lets go of all handles and their mappings, which hold the module. */
static inline void unload_test_controllers(void)
{
	unmap_device();
	close_range(STDERR_FILENO + 1, ~0U, 0);
	UNTIL(system("rmmod rsm_testctl 2>/dev/null") == 0);
}

/* Processes. */

/* Users of /dev/rsm who are not root. */
enum user { ROOT = 0, ALICE = 1001, BOB = 1002 };

/* Turns this process into a user, for good, who may still open the device. */
static inline bool become(enum user user)
{
	struct stat device;
	gid_t group;

	if (user == ROOT)
		return true;
	if (stat(RSM_DEVICE, &device))
		return false;
	group = device.st_gid;
	if (setgroups(1, &group) || setresgid(user, user, user) || setresuid(user, user, user))
		return false;
	/* Changing the user clears both of these. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 1);
	return true;
}

/* A process that takes part in a test, and the line to it. */
struct child {
	pid_t pid;
	int line;
};

static inline void tell(int line, __u64 value)
{
	CHECK(send(line, &value, sizeof(value), MSG_NOSIGNAL) == sizeof(value));
}

static inline __u64 hear(int line)
{
	__u64 value = 0;

	CHECK(recv(line, &value, sizeof(value), 0) == sizeof(value));
	return value;
}

static inline void send_descriptor(int line, int fd)
{
	char byte = 0;
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {};
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};

	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	CHECK(sendmsg(line, &message, MSG_NOSIGNAL) == 1);
}

static inline int receive_descriptor(int line)
{
	char byte;
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {};
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	int fd = -1;

	if (recvmsg(line, &message, MSG_CMSG_CLOEXEC) == 1)
		memcpy(&fd, CMSG_DATA(&control.head), sizeof(fd));
	return fd;
}

/*
 * Forks a process of a user: true in that process, which ends by child_end(),
 * and whose end of the line is child->line there.
 */
static inline bool child_start(struct child *child, enum user user)
{
	int ends[2];

	child->pid = -1;
	child->line = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return false;
	fflush(NULL);
	child->pid = fork();
	if (child->pid) {
		close(ends[1]);
		child->line = ends[0];
		return false;
	}
	close(ends[0]);
	child->line = ends[1];
	rsm_failures = 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CHECK(become(user));
	return true;
}

static inline void __attribute__((noreturn)) child_end(void)
{
	fflush(NULL);
	_exit(rsm_failures ? 1 : 0);
}

/* Waits for the end of a child: 0 if all of its checks held. */
static inline int child_status(struct child *child)
{
	int status = -1;

	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(child->line);
	return status;
}

static inline void child_kill(struct child *child)
{
	kill(child->pid, SIGKILL);
	child_status(child);
}

#endif /* RSM_TEST_H */
