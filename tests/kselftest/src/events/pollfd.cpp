// SPDX-License-Identifier: GPL-2.0
// Multiplexed waiting: S15 to S17, and readiness for poll, epoll and select.
#include "support/loopback.hpp"

#include <atomic>
#include <array>
#include <csignal>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <thread>
#include <unistd.h>

using namespace rsmtest;

namespace {

class Pollfd : public PublishedTest {
protected:
    void SetUp() override
    {
        PublishedTest::SetUp();
        ASSERT_EQ(h.status(), RSM_SUCCESS);
    }
    rsm_memseg_export_handle_t exported() const { return seg; }
    rsm_memseg_import_handle_t imported() const { return h; }
    void post(int times = 1)
    {
        for (int i = 0; i < times; i++)
            EXPECT_EQ(rsm_intr_signal_post(imported(), 0), RSM_SUCCESS);
    }
    pollfd get(void *handle)
    {
        pollfd entry{-1, 0, 0x55};
        EXPECT_EQ(rsm_memseg_get_pollfd(handle, &entry), RSM_SUCCESS);
        EXPECT_EQ(entry.events, POLLRDNORM);
        EXPECT_EQ(entry.revents, 0x55) << "revents was touched";
        return entry;
    }
    ImportSegment h{ctl, seg.id()};
};

int wait_pollfd(pollfd *entries, nfds_t count, int timeout, int *ready)
{
    return rsm_intr_signal_wait_pollfd(entries, count, timeout, ready);
}

} // namespace

TEST_F(Pollfd, S15_poll_does_not_consume)
{
    pollfd entry = get(exported());
    EXPECT_EQ(poll(&entry, 1, 0), 0);
    post();
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(poll(&entry, 1, -1), 1);
        EXPECT_EQ(entry.revents, POLLRDNORM);
    }
    entry.events = POLLIN;
    EXPECT_EQ(poll(&entry, 1, 0), 1);
    EXPECT_EQ(entry.revents, POLLIN);
    entry.events = 0;
    EXPECT_EQ(poll(&entry, 1, 0), 0) << "an error condition on a live handle";
    EXPECT_EQ(rsm_intr_signal_wait(exported(), 0), RSM_SUCCESS);
    entry.events = POLLRDNORM | POLLIN;
    EXPECT_EQ(poll(&entry, 1, 0), 0);
    EXPECT_EQ(rsm_memseg_release_pollfd(exported()), RSM_SUCCESS);
}

TEST_F(Pollfd, S15_same_descriptor_every_time)
{
    const pollfd first = get(exported());
    const pollfd second = get(exported());
    EXPECT_EQ(first.fd, second.fd);
    EXPECT_NE(first.fd, get(imported()).fd);
    EXPECT_EQ(rsm_memseg_release_pollfd(exported()), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_release_pollfd(exported()), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_release_pollfd(imported()), RSM_SUCCESS);
}

TEST_F(Pollfd, S15_wait_pollfd_consumes_one)
{
    pollfd entry = get(exported());
    int ready = 77;
    EXPECT_EQ(wait_pollfd(&entry, 1, 0, &ready), RSMERR_TIMEOUT);
    EXPECT_EQ(ready, 0);
    post(2);
    for (int i = 0; i < 2; i++) {
        ready = 77;
        EXPECT_EQ(wait_pollfd(&entry, 1, 1000, &ready), RSM_SUCCESS);
        EXPECT_EQ(ready, 1);
        EXPECT_EQ(entry.revents, POLLRDNORM);
    }
    EXPECT_EQ(wait_pollfd(&entry, 1, 0, &ready), RSMERR_TIMEOUT);
    EXPECT_EQ(rsm_intr_signal_wait(exported(), 0), RSMERR_TIMEOUT);
    post();
    EXPECT_EQ(wait_pollfd(&entry, 1, -1, nullptr), RSM_SUCCESS) << "the count is optional";
    EXPECT_EQ(rsm_memseg_release_pollfd(exported()), RSM_SUCCESS);
}

TEST_F(Pollfd, S15_mixed_with_other_descriptors)
{
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const Fd reader(ends[0]);
    const Fd writer(ends[1]);
    std::array<pollfd, 4> entries{get(exported()), pollfd{reader.get(), POLLIN, 0},
                                  pollfd{-1, POLLRDNORM, 0x77}, get(imported())};
    int ready = 0;
    ASSERT_EQ(write(writer.get(), "x", 1), 1);
    EXPECT_EQ(wait_pollfd(entries.data(), entries.size(), 1000, &ready), RSM_SUCCESS);
    EXPECT_EQ(ready, 1);
    EXPECT_EQ(entries[1].revents, POLLIN);
    EXPECT_EQ(entries[0].revents, 0);
    EXPECT_EQ(entries[2].revents, 0) << "a negative descriptor is ignored";

    post(2);
    EXPECT_EQ(rsm_intr_signal_post(exported(), 0), RSM_SUCCESS);
    EXPECT_EQ(wait_pollfd(entries.data(), entries.size(), 1000, &ready), RSM_SUCCESS);
    EXPECT_EQ(ready, 3) << "one event of each";
    EXPECT_EQ(entries[0].revents, POLLRDNORM);
    EXPECT_EQ(entries[1].revents, POLLIN);
    EXPECT_EQ(entries[3].revents, POLLRDNORM);
    EXPECT_EQ(wait_pollfd(entries.data(), entries.size(), 1000, &ready), RSM_SUCCESS);
    EXPECT_EQ(ready, 2);
    EXPECT_EQ(entries[3].revents, 0);
    char byte = 0;
    ASSERT_EQ(read(reader.get(), &byte, 1), 1);
    EXPECT_EQ(wait_pollfd(entries.data(), entries.size(), 0, &ready), RSMERR_TIMEOUT);
    EXPECT_EQ(ready, 0);
    EXPECT_EQ(rsm_memseg_release_pollfd(exported()), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_release_pollfd(imported()), RSM_SUCCESS);
}

TEST_F(Pollfd, S15_errors_and_no_entries)
{
    int ready = 77;
    EXPECT_EQ(wait_pollfd(nullptr, 0, 10, &ready), RSMERR_TIMEOUT);
    EXPECT_EQ(ready, 0);
    const Pages hole(1, PROT_NONE);
    ready = 77;
    EXPECT_EQ(wait_pollfd(hole.pointer<pollfd>(), 1, 0, &ready), RSMERR_BAD_ADDR);
    EXPECT_EQ(ready, 0);
    EXPECT_EQ(wait_pollfd(nullptr, 1, 0, &ready), RSMERR_BAD_ADDR);
    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    pollfd entry = get(exported());
    ready = 77;
    EXPECT_EQ(wait_pollfd(&entry, limit.rlim_cur + 1, 0, &ready), RSMERR_BAD_ARGS_ERRORS);
    EXPECT_EQ(ready, 0);
    EXPECT_EQ(rsm_memseg_release_pollfd(exported()), RSM_SUCCESS);
}

TEST_F(Pollfd, S15_a_signal_interrupts)
{
    struct sigaction action {};
    action.sa_handler = [](int) {};
    action.sa_flags = SA_RESTART;
    ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
    pollfd entry = get(exported());
    const pthread_t waiter = pthread_self();
    std::atomic<bool> returned{false};
    std::thread poker([&] {
        while (!returned) {
            pthread_kill(waiter, SIGUSR1);
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    });
    int ready = 77;
    EXPECT_EQ(wait_pollfd(&entry, 1, -1, &ready), RSMERR_INTERRUPTED);
    returned = true;
    poker.join();
    EXPECT_EQ(ready, 0);
    EXPECT_EQ(rsm_memseg_release_pollfd(exported()), RSM_SUCCESS);
}

TEST_F(Pollfd, S15_two_waiters_one_event)
{
    pollfd entry = get(exported());
    for (int round = 0; round < 10; round++) {
        std::atomic<int> successes{0};
        std::vector<std::thread> waiters;
        for (int i = 0; i < 3; i++) {
            waiters.emplace_back([&, own = entry]() mutable {
                int ready = 0;
                successes += wait_pollfd(&own, 1, -1, &ready) == RSM_SUCCESS && ready == 1;
            });
        }
        for (int posted = 1; posted <= 3; posted++) {
            post();
            EXPECT_TRUE(eventually([&] { return successes == posted; }));
        }
        for (std::thread &waiter : waiters)
            waiter.join();
        EXPECT_EQ(successes, 3);
        EXPECT_EQ(rsm_intr_signal_wait(exported(), 0), RSMERR_TIMEOUT);
    }
    EXPECT_EQ(rsm_memseg_release_pollfd(exported()), RSM_SUCCESS);
}

// Only one of those who hear of the event gets it, the others' time runs out.
TEST_F(Pollfd, S15_one_of_those_who_look_gets_it)
{
    pollfd entry = get(exported());
    for (int round = 0; round < 10; round++) {
        std::atomic<int> successes{0};
        std::atomic<int> timeouts{0};
        std::vector<std::thread> waiters;
        for (int i = 0; i < 3; i++) {
            waiters.emplace_back([&, own = entry]() mutable {
                int ready = 0;
                const int result = wait_pollfd(&own, 1, 20, &ready);
                successes += result == RSM_SUCCESS && ready == 1;
                timeouts += result == RSMERR_TIMEOUT && ready == 0;
            });
        }
        post();
        for (std::thread &waiter : waiters)
            waiter.join();
        EXPECT_EQ(successes + timeouts, 3);
        EXPECT_EQ(successes + (rsm_intr_signal_wait(exported(), 0) == RSM_SUCCESS), 1);
    }
    EXPECT_EQ(rsm_memseg_release_pollfd(exported()), RSM_SUCCESS);
}

TEST_F(Pollfd, S16_release_beyond_zero)
{
    EXPECT_EQ(rsm_memseg_release_pollfd(exported()), RSM_SUCCESS);
    get(exported());
    EXPECT_EQ(seg.unpublish(), RSMERR_POLLFD_IN_USE) << "the count went below zero";
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(rsm_memseg_release_pollfd(exported()), RSM_SUCCESS);
    EXPECT_EQ(seg.unpublish(), RSM_SUCCESS);
}

TEST_F(Pollfd, S17_after_release_readiness_is_not_consumed)
{
    pollfd entry = get(exported());
    EXPECT_EQ(rsm_memseg_release_pollfd(exported()), RSM_SUCCESS);
    post();
    for (int i = 0; i < 3; i++) {
        int ready = 0;
        EXPECT_EQ(wait_pollfd(&entry, 1, 0, &ready), RSM_SUCCESS);
        EXPECT_EQ(ready, 1);
        EXPECT_EQ(entry.revents & POLLRDNORM, POLLRDNORM);
    }
    EXPECT_EQ(rsm_intr_signal_wait(exported(), 0), RSM_SUCCESS);
    EXPECT_EQ(rsm_intr_signal_wait(exported(), 0), RSMERR_TIMEOUT);
}

TEST_F(Pollfd, S15_epoll_and_select)
{
    const int fd = descriptor_of(exported());
    const Fd epoll(epoll_create1(EPOLL_CLOEXEC));
    epoll_event wanted{};
    wanted.events = EPOLLRDNORM;
    ASSERT_EQ(epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &wanted), 0);
    epoll_event got{};
    EXPECT_EQ(epoll_wait(epoll.get(), &got, 1, 0), 0);
    std::thread poster([&] { post(); });
    EXPECT_EQ(epoll_wait(epoll.get(), &got, 1, -1), 1);
    poster.join();
    EXPECT_EQ(got.events, static_cast<std::uint32_t>(EPOLLRDNORM));
    EXPECT_EQ(epoll_wait(epoll.get(), &got, 1, 0), 1) << "not level-triggered";

    ASSERT_LT(fd, FD_SETSIZE);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(fd, &set);
    timeval now{};
    EXPECT_EQ(select(fd + 1, &set, nullptr, nullptr, &now), 1);
    EXPECT_EQ(rsm_intr_signal_wait(exported(), 0), RSM_SUCCESS);
    FD_SET(fd, &set);
    EXPECT_EQ(select(fd + 1, &set, nullptr, nullptr, &now), 0);
    EXPECT_EQ(epoll_wait(epoll.get(), &got, 1, 0), 0);
}

TEST_F(Pollfd, POLLRDHUP_tells_of_a_forced_disconnect)
{
    pollfd asks{descriptor_of(imported()), POLLRDHUP, 0};
    pollfd asks_not{asks.fd, POLLRDNORM, 0};
    EXPECT_EQ(poll(&asks, 1, 0), 0);
    std::atomic<int> woken{0};
    std::thread sleeper([&] { woken = poll(&asks, 1, -1); });
    EXPECT_EQ(seg.unpublish(), RSM_SUCCESS);
    sleeper.join();
    EXPECT_EQ(woken, 1);
    EXPECT_EQ(asks.revents, POLLRDHUP);
    EXPECT_EQ(poll(&asks_not, 1, 0), 0) << "told without asking";
    EXPECT_EQ(asks_not.revents, 0);
    EXPECT_EQ(rsm_intr_signal_wait(imported(), 0), RSMERR_TIMEOUT);
}

TEST_F(Pollfd, POLLRDHUP_is_not_reported_to_the_exporter_or_a_live_importer)
{
    pollfd entries[2] = {{descriptor_of(imported()), POLLRDHUP, 0},
                         {descriptor_of(exported()), POLLRDHUP, 0}};
    EXPECT_EQ(poll(entries, 2, 0), 0);
    EXPECT_EQ(seg.unpublish(), RSM_SUCCESS);
    EXPECT_EQ(poll(entries, 2, 0), 1);
    EXPECT_EQ(entries[1].revents, 0);
}
