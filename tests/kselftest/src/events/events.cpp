// SPDX-License-Identifier: GPL-2.0
// Posting and waiting: S10 to S14.
#include "support/loopback.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <pthread.h>
#include <thread>

using namespace rsmtest;

namespace {

class Events : public PublishedTest {
protected:
    rsm_memseg_export_handle_t exported() const { return seg; }
};

rsm_memseg_import_handle_t raw_handle(const ImportSegment &h)
{
    return h;
}

// So that nobody gives up before it is told.
constexpr int endless = -1;

int pending(void *handle)
{
    int count = 0;
    while (rsm_intr_signal_wait(handle, 0) == RSM_SUCCESS)
        count++;
    return count;
}

long elapsed_ms(const std::function<void()> &action)
{
    const auto start = std::chrono::steady_clock::now();
    action();
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                                 start)
        .count();
}

void do_nothing(int)
{
}

void install_handler(int flags)
{
    struct sigaction action {};
    action.sa_handler = do_nothing;
    action.sa_flags = flags;
    ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
}

} // namespace

TEST_F(Events, S10_post_n_times_wait_n_times)
{
    ImportSegment h(ctl, seg.id());
    for (const int n : {1, 2, 100}) {
        for (int i = 0; i < n; i++)
            ASSERT_EQ(rsm_intr_signal_post(raw_handle(h), 0), RSM_SUCCESS);
        for (int i = 0; i < n; i++)
            EXPECT_EQ(rsm_intr_signal_wait(exported(), -1), RSM_SUCCESS);
        EXPECT_EQ(rsm_intr_signal_wait(exported(), 0), RSMERR_TIMEOUT);
    }
}

TEST_F(Events, S10_errors)
{
    EXPECT_EQ(rsm_intr_signal_post(nullptr, 0), RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(rsm_intr_signal_wait(nullptr, 0), RSMERR_BAD_SEG_HNDL);
    pollfd entry{};
    EXPECT_EQ(rsm_memseg_get_pollfd(nullptr, nullptr), RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(rsm_memseg_get_pollfd(exported(), nullptr), RSMERR_BAD_ADDR);
    EXPECT_EQ(rsm_memseg_get_pollfd(nullptr, &entry), RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(rsm_memseg_release_pollfd(nullptr), RSMERR_BAD_SEG_HNDL);
    // A failed get_pollfd counts nothing.
    EXPECT_EQ(seg.unpublish(), RSM_SUCCESS);
    rsmapi_controller_handle_t controller = ctl;
    EXPECT_EQ(rsm_intr_signal_post(controller, 0), RSMERR_BAD_SEG_HNDL) << "no segment";
}

TEST_F(Events, S10_poster_rights_do_not_matter)
{
    for (const rsm_permission_t rights : {0u, 0400u, 0200u}) {
        ImportSegment h(ctl, seg.id(), rights);
        EXPECT_EQ(rsm_intr_signal_post(raw_handle(h), ~0u & ~RSM_SIGPOST_NO_ACCUMULATE), RSM_SUCCESS)
            << "unknown flags are ignored";
    }
    EXPECT_EQ(pending(exported()), 3);
}

TEST_F(Events, S11_no_accumulate)
{
    ImportSegment h(ctl, seg.id());
    for (int i = 0; i < 5; i++)
        EXPECT_EQ(rsm_intr_signal_post(raw_handle(h), RSM_SIGPOST_NO_ACCUMULATE), RSM_SUCCESS);
    EXPECT_EQ(pending(exported()), 1);
    EXPECT_EQ(rsm_intr_signal_post(raw_handle(h), 0), RSM_SUCCESS);
    EXPECT_EQ(rsm_intr_signal_post(raw_handle(h), RSM_SIGPOST_NO_ACCUMULATE), RSM_SUCCESS);
    EXPECT_EQ(rsm_intr_signal_post(raw_handle(h), 0), RSM_SUCCESS);
    EXPECT_EQ(pending(exported()), 2);
}

TEST_F(Events, S11_no_accumulate_is_judged_per_target)
{
    ImportSegment busy(ctl, seg.id());
    ASSERT_EQ(rsm_intr_signal_post(exported(), 0), RSM_SUCCESS);
    ImportSegment idle(ctl, seg.id());
    ASSERT_EQ(rsm_intr_signal_post(exported(), RSM_SIGPOST_NO_ACCUMULATE), RSM_SUCCESS);
    EXPECT_EQ(pending(raw_handle(busy)), 1);
    EXPECT_EQ(pending(raw_handle(idle)), 1);
}

TEST_F(Events, S12_export_post_reaches_every_importer)
{
    EXPECT_EQ(rsm_intr_signal_post(exported(), 0), RSM_SUCCESS) << "no importer is no error";
    std::vector<std::unique_ptr<ImportSegment>> importers;
    for (int i = 0; i < 20; i++)
        importers.push_back(std::make_unique<ImportSegment>(ctl, seg.id()));
    EXPECT_EQ(rsm_intr_signal_post(exported(), 0), RSM_SUCCESS);
    for (const auto &h : importers)
        EXPECT_EQ(pending(raw_handle(*h)), 1);
    EXPECT_EQ(pending(exported()), 0);
    EXPECT_EQ(rsm_intr_signal_post(raw_handle(*importers[0]), 0), RSM_SUCCESS);
    EXPECT_EQ(pending(exported()), 1);
    for (const auto &h : importers)
        EXPECT_EQ(pending(raw_handle(*h)), 0) << "an import post reached an importer";
}

TEST_F(Events, S12_in_every_state_of_the_export)
{
    ImportSegment h(ctl, seg.id());
    ASSERT_EQ(rsm_intr_signal_post(raw_handle(h), 0), RSM_SUCCESS);
    ASSERT_EQ(seg.unpublish(), RSM_SUCCESS);
    EXPECT_EQ(rsm_intr_signal_post(exported(), 0), RSM_SUCCESS);
    ASSERT_EQ(seg.publish(), RSM_SUCCESS);
    EXPECT_EQ(pending(exported()), 1) << "events survive unpublish and publish";
}

TEST_F(Events, S13_timeouts)
{
    int result = -1;
    EXPECT_EQ(rsm_intr_signal_wait(exported(), 0), RSMERR_TIMEOUT);
    EXPECT_GE(elapsed_ms([&] { result = rsm_intr_signal_wait(exported(), 50); }), 50);
    EXPECT_EQ(result, RSMERR_TIMEOUT);

    for (const int timeout : {-1, -7, 3600000}) {
        Child child([&](Link &link) {
            Controller own;
            ImportSegment h(own, seg.id());
            link.send();
            link.receive();
            EXPECT_EQ(rsm_intr_signal_post(raw_handle(h), 0), RSM_SUCCESS);
        });
        child.receive();
        child.send();
        EXPECT_EQ(rsm_intr_signal_wait(exported(), timeout), RSM_SUCCESS) << timeout;
        child.expect_success();
    }
    EXPECT_EQ(rsm_intr_signal_wait(exported(), 0), RSMERR_TIMEOUT);
}

TEST_F(Events, S13_a_signal_interrupts)
{
    // SA_RESTART must make no difference.
    for (const int flags : {0, SA_RESTART}) {
        install_handler(flags);
        for (const int timeout : {-1, 3600000}) {
            const pthread_t waiter = pthread_self();
            std::atomic<bool> returned{false};
            std::thread poker([&] {
                while (!returned) {
                    pthread_kill(waiter, SIGUSR1);
                    std::this_thread::sleep_for(std::chrono::milliseconds(10));
                }
            });
            const int result = rsm_intr_signal_wait(exported(), timeout);
            returned = true;
            poker.join();
            EXPECT_EQ(result, RSMERR_INTERRUPTED) << timeout;
        }
    }
}

TEST_F(Events, S14_two_waiters_one_event)
{
    ImportSegment h(ctl, seg.id());
    for (int round = 0; round < 20; round++) {
        std::atomic<int> successes{0};
        std::vector<std::thread> waiters;
        for (int i = 0; i < 2; i++) {
            waiters.emplace_back([&] {
                successes += rsm_intr_signal_wait(exported(), endless) == RSM_SUCCESS;
            });
        }
        for (int posted = 1; posted <= 2; posted++) {
            EXPECT_EQ(rsm_intr_signal_post(raw_handle(h), 0), RSM_SUCCESS);
            EXPECT_TRUE(eventually([&] { return successes == posted; }));
        }
        for (std::thread &waiter : waiters)
            waiter.join();
        EXPECT_EQ(successes, 2);
        EXPECT_EQ(pending(exported()), 0);
    }
}

// Only one of those who hear of the event gets it, the others' time runs out.
TEST_F(Events, S14_one_of_those_who_look_gets_it)
{
    ImportSegment h(ctl, seg.id());
    for (int round = 0; round < 20; round++) {
        std::atomic<int> successes{0};
        std::atomic<int> timeouts{0};
        std::vector<std::thread> waiters;
        for (int i = 0; i < 2; i++) {
            waiters.emplace_back([&] {
                const int result = rsm_intr_signal_wait(exported(), 20);
                successes += result == RSM_SUCCESS;
                timeouts += result == RSMERR_TIMEOUT;
            });
        }
        EXPECT_EQ(rsm_intr_signal_post(raw_handle(h), 0), RSM_SUCCESS);
        for (std::thread &waiter : waiters)
            waiter.join();
        EXPECT_EQ(successes + timeouts, 2);
        EXPECT_EQ(successes + pending(exported()), 1);
    }
}

TEST_F(Events, S14_many_waiters_in_processes_and_threads)
{
    // Every event is consumed exactly once, whoever gets it. A waiter that takes one behind them all
    // leaves: there is one for each waiter.
    constexpr int total = 2000;
    constexpr int waiters = 3;
    ImportSegment h(ctl, seg.id());
    const Pages shared(1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
    std::atomic<int> &taken = *shared.pointer<std::atomic<int>>();
    const auto consume = [&] {
        do {
            EXPECT_EQ(rsm_intr_signal_wait(exported(), endless), RSM_SUCCESS);
        } while (++taken <= total);
    };
    Child child([&](Link &link) {
        link.send();
        consume();
    });
    child.receive();
    std::thread first(consume);
    std::thread second(consume);
    for (int i = 0; i < total + waiters; i++)
        ASSERT_EQ(rsm_intr_signal_post(raw_handle(h), 0), RSM_SUCCESS);
    first.join();
    second.join();
    child.expect_success();
    EXPECT_EQ(taken, total + waiters);
    EXPECT_EQ(pending(exported()), 0);
}

TEST_F(Events, S14_a_loser_waits_for_the_rest_of_its_time)
{
    ImportSegment h(ctl, seg.id());
    std::atomic<bool> stop{false};
    // Somebody who snatches every event.
    std::thread thief([&] {
        while (!stop)
            rsm_intr_signal_wait(exported(), 0);
    });
    std::thread poster([&] {
        while (!stop) {
            rsm_intr_signal_post(raw_handle(h), RSM_SIGPOST_NO_ACCUMULATE);
            std::this_thread::yield();
        }
    });
    for (int i = 0; i < 20; i++) {
        int result = -1;
        const long took = elapsed_ms([&] { result = rsm_intr_signal_wait(exported(), 20); });
        if (result == RSMERR_TIMEOUT) {
            EXPECT_GE(took, 20) << "gave up early";
        } else {
            EXPECT_EQ(result, RSM_SUCCESS);
        }
    }
    stop = true;
    thief.join();
    poster.join();
}
