// SPDX-License-Identifier: GPL-2.0
/* POST, WAIT, poll() and epoll, and what signals do to them. */
#include <pthread.h>
#include <sys/epoll.h>

#include "rsm_test.h"

FIXTURE(events) {
	struct published published;
	int exported;
	int imported;
	int blank;
	int control;
};

FIXTURE_SETUP(events)
{
	ASSERT_TRUE(publish_pages(&self->published, 1, RSM_ALLOW_REBIND));
	self->exported = self->published.fd;
	self->control = open_control();
	self->blank = open_segment();
	self->imported = open_segment();
	ASSERT_EQ(0, connect_segment(self->imported, self->published.id));
}

FIXTURE_TEARDOWN(events)
{
}

TEST_F(events, each_end_gets_those_of_the_other)
{
	EXPECT_EQ(0, post(self->imported));
	EXPECT_EQ(RSMERR_TIMEOUT, take_event(self->imported));
	EXPECT_EQ(0, take_event(self->exported));
	EXPECT_EQ(RSMERR_TIMEOUT, take_event(self->exported));
	EXPECT_EQ(0, post(self->exported));
	EXPECT_EQ(RSMERR_TIMEOUT, take_event(self->exported));
	EXPECT_EQ(0, take_event(self->imported));
}

TEST_F(events, are_counted)
{
	int i;

	for (i = 0; i < 100; i++)
		ASSERT_EQ(0, post(self->exported));
	for (i = 0; i < 100; i++)
		ASSERT_EQ(0, take_event(self->imported));
	EXPECT_EQ(RSMERR_TIMEOUT, take_event(self->imported));
}

TEST_F(events, that_do_not_accumulate)
{
	EXPECT_EQ(0, post_flagged(self->exported, RSM_SIGPOST_NO_ACCUMULATE));
	EXPECT_EQ(0, post_flagged(self->exported, RSM_SIGPOST_NO_ACCUMULATE));
	EXPECT_EQ(0, take_event(self->imported));
	EXPECT_EQ(RSMERR_TIMEOUT, take_event(self->imported));
	EXPECT_EQ(0, post_flagged(self->exported, RSM_SIGPOST_NO_ACCUMULATE));
	EXPECT_EQ(0, take_event(self->imported));
}

TEST_F(events, with_a_transfer)
{
	__u64 value = 3;
	struct rsm_transfer_entry entry = entry_of(&value, 0, sizeof(value));
	struct rsm_transfer request = transfer_of(&entry, 1, RSM_IMPLICIT_SIGPOST);

	EXPECT_EQ(0, RSM_CALL(self->imported, RSM_IOC_PUTV, &request));
	EXPECT_EQ(0, take_event(self->exported));
	request = transfer_of(&entry, 1, RSM_IMPLICIT_SIGPOST | RSM_SIGPOST_NO_ACCUMULATE);
	EXPECT_EQ(0, RSM_CALL(self->imported, RSM_IOC_GETV, &request));
	EXPECT_EQ(0, RSM_CALL(self->imported, RSM_IOC_PUTV, &request));
	EXPECT_EQ(0, take_event(self->exported));
	EXPECT_EQ(RSMERR_TIMEOUT, take_event(self->exported));
}

TEST_F(events, waits_of_any_length)
{
	EXPECT_EQ(RSMERR_TIMEOUT, wait_event(self->imported, 0));
	EXPECT_EQ(RSMERR_TIMEOUT, wait_event(self->imported, 1));
	EXPECT_EQ(RSMERR_TIMEOUT, wait_event(self->imported, 5000000));
	EXPECT_EQ(0, post(self->exported));
	EXPECT_EQ(0, post(self->exported));
	EXPECT_EQ(0, wait_event(self->imported, INT64_MAX));
	EXPECT_EQ(0, wait_event(self->imported, INT64_MIN));
	EXPECT_EQ(RSMERR_TIMEOUT, wait_event(self->imported, 0));
}

TEST_F(events, poll_states)
{
	const int all = POLLIN | POLLRDNORM | POLLOUT | POLLRDHUP;

	EXPECT_EQ(0, polled(self->control, all) & (POLLIN | POLLRDNORM | POLLRDHUP));
	EXPECT_EQ(0, polled(self->blank, all));
	EXPECT_EQ(0, polled(self->imported, all));
	EXPECT_EQ(0, polled(self->exported, all));
	ASSERT_EQ(0, post(self->exported));
	EXPECT_EQ(POLLIN | POLLRDNORM, polled(self->imported, all));
	EXPECT_EQ(POLLRDNORM, polled(self->imported, POLLRDNORM));
	ASSERT_EQ(0, unpublish(self->exported));
	/* An event of before the end is still there. */
	EXPECT_EQ(POLLIN | POLLRDNORM | POLLRDHUP, polled(self->imported, all));
	EXPECT_EQ(0, take_event(self->imported));
	EXPECT_EQ(POLLRDHUP, polled(self->imported, all));
	/* poll() reports POLLRDHUP to those who ask for it. */
	EXPECT_EQ(0, polled(self->imported, POLLIN));
	EXPECT_EQ(0, polled(self->exported, all));
	ASSERT_EQ(0, destroy(self->exported));
	EXPECT_EQ(POLLRDHUP, polled(self->exported, all));
}

/* The end of an export's memory is the end of the export. */
TEST_F(events, poll_tells_an_exporter_of_a_lost_range)
{
	ASSERT_EQ(0, munmap((void *)self->published.memory, self->published.size));
	wait_for_hangup(self->exported);
	wait_for_hangup(self->imported);
}

/* epoll asks a file only once where to wait for it. */
TEST_F(events, epoll_of_a_blank_handle)
{
	struct epoll_event wanted = { .events = EPOLLIN | EPOLLRDHUP | EPOLLET }, event = {};
	int poller = epoll_create1(EPOLL_CLOEXEC);

	ASSERT_EQ(0, epoll_ctl(poller, EPOLL_CTL_ADD, self->blank, &wanted));
	EXPECT_EQ(0, epoll_wait(poller, &event, 1, 0));
	ASSERT_EQ(0, connect_segment(self->blank, self->published.id));
	ASSERT_EQ(0, post(self->exported));
	ASSERT_EQ(1, epoll_wait(poller, &event, 1, -1));
	EXPECT_TRUE(event.events & EPOLLIN);
	ASSERT_EQ(0, take_event(self->blank));
	ASSERT_EQ(0, unpublish(self->exported));
	ASSERT_EQ(1, epoll_wait(poller, &event, 1, -1));
	EXPECT_EQ(EPOLLRDHUP, event.events);
}

/* An aborted connection does not end a wait: an event is behind it, or time is up. */
TEST_F(events, waits_for_the_dead_last)
{
	ASSERT_EQ(0, unpublish(self->exported));
	EXPECT_EQ(RSMERR_TIMEOUT, wait_event(self->imported, 1000));
}

static void *wait_for_one(void *handle)
{
	return (void *)wait_event(*(int *)handle, -1);
}

TEST_F(events, wake_a_thread_that_waits)
{
	pthread_t thread;
	void *outcome;

	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_one, &self->imported));
	ASSERT_EQ(0, post(self->exported));
	ASSERT_EQ(0, pthread_join(thread, &outcome));
	EXPECT_EQ(NULL, outcome);
}

static int told;

static void note_signal(int signal)
{
	told = signal;
}

/* A process that waits in the kernel: state S in its stat file. */
static bool sleeps(pid_t pid)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	if (file)
		fclose(file);
	return state == 'S';
}

static bool stopped(pid_t pid)
{
	int status = 0;

	return waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status);
}

TEST_F(events, a_signal_with_a_handler_ends_a_wait)
{
	struct child child;

	if (child_start(&child, ROOT)) {
		struct sigaction action = { .sa_handler = note_signal };
		struct rsm_wait wait = { .timeout_ns = 3600000000000LL };

		sigaction(SIGUSR1, &action, NULL);
		tell(child.line, 1);
		CHECK(RSM_CALL(self->imported, RSM_IOC_WAIT, &wait) == -EINTR);
		CHECK(told == SIGUSR1);
		/* The rest of the time is told. */
		CHECK(wait.timeout_ns > 0 && wait.timeout_ns <= 3600000000000LL);
		child_end();
	}
	hear(child.line);
	UNTIL(sleeps(child.pid));
	kill(child.pid, SIGUSR1);
	EXPECT_EQ(0, child_status(&child));
}

TEST_F(events, a_stop_does_not_end_a_wait)
{
	struct child child;

	if (child_start(&child, ROOT)) {
		tell(child.line, 1);
		CHECK(wait_event(self->imported, -1) == 0);
		child_end();
	}
	hear(child.line);
	UNTIL(sleeps(child.pid));
	kill(child.pid, SIGSTOP);
	ASSERT_TRUE(stopped(child.pid));
	kill(child.pid, SIGCONT);
	UNTIL(sleeps(child.pid));
	ASSERT_EQ(0, post(self->exported));
	EXPECT_EQ(0, child_status(&child));
}

TEST_F(events, a_process_that_waits_can_be_killed)
{
	struct child child;

	if (child_start(&child, ROOT)) {
		tell(child.line, 1);
		wait_event(self->imported, -1);
		child_end();
	}
	hear(child.line);
	UNTIL(sleeps(child.pid));
	kill(child.pid, SIGKILL);
	EXPECT_EQ(SIGKILL, child_status(&child));
}

/* An event is consumed once, whoever waits on a handle that is shared by a fork. */
TEST_F(events, shared_by_a_forked_child)
{
	struct child child;

	if (child_start(&child, ROOT)) {
		hear(child.line);
		CHECK(take_event(self->imported) == 0);
		CHECK(take_event(self->imported) == RSMERR_TIMEOUT);
		child_end();
	}
	ASSERT_EQ(0, post(self->exported));
	ASSERT_EQ(0, post(self->exported));
	EXPECT_EQ(0, take_event(self->imported));
	tell(child.line, 1);
	EXPECT_EQ(0, child_status(&child));
	EXPECT_EQ(RSMERR_TIMEOUT, take_event(self->imported));
}

TEST_HARNESS_MAIN
