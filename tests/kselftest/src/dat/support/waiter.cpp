// SPDX-License-Identifier: GPL-2.0
#include "dat/support/waiter.hpp"

#include "support/system.hpp"

#include <csignal>
#include <linux/futex.h>
#include <pthread.h>
#include <sstream>
#include <sys/syscall.h>
#include <unistd.h>

namespace rsmtest::dat {

namespace {

void ignore_signal()
{
    struct sigaction action {};
    action.sa_handler = [](int) {};
    EXPECT_EQ(0, sigaction(SIGUSR1, &action, nullptr));
}

// The library's locks wait without bits.
bool waits_for_an_event(const std::string &system_call)
{
    std::istringstream words(system_call);
    long number = -1;
    std::string word, operation;
    words >> number >> word >> operation;
    return number == SYS_futex && !operation.empty() &&
           std::stoul(operation, nullptr, 16) == FUTEX_WAIT_BITSET_PRIVATE;
}

} // namespace

bool Waiter::sleeps() const
{
    const auto line = read_line("/proc/self/task/" + std::to_string(tid_) + "/syscall");
    return line && waits_for_an_event(*line);
}

void Waiter::start(const std::function<DAT_RETURN()> &wait)
{
    ignore_signal();
    thread_ = std::thread([this, wait] {
        tid_ = gettid();
        result_ = wait();
        back_ = true;
    });
}

void Waiter::join()
{
    if (thread_.joinable())
        thread_.join();
}

// The kernel shows a thread as running from the moment that another thread wakes it, even before it gets a processor.
bool Waiter::waits()
{
    EXPECT_TRUE(eventually([this] { return back_ || sleeps(); }));
    return !back_;
}

Result Waiter::result()
{
    EXPECT_TRUE(eventually([this] { return back_.load(); })) << "the wait goes on";
    join();
    return {result_};
}

void Waiter::signal()
{
    EXPECT_EQ(0, pthread_kill(thread_.native_handle(), SIGUSR1));
}

void Waiter::cancel()
{
    EXPECT_EQ(0, pthread_cancel(thread_.native_handle()));
}

EvdWaiter::EvdWaiter(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold)
{
    start([=, this] { return dat_evd_wait(evd, timeout, threshold, &event, &more); });
}

CnoWaiter::CnoWaiter(DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout)
{
    start([=, this] { return dat_cno_wait(cno, timeout, &evd); });
}

DAT_RETURN post_software(DAT_EVD_HANDLE evd, std::uintptr_t number)
{
    DAT_EVENT event{};
    event.event_number = DAT_SOFTWARE_EVENT;
    event.event_data.software_event_data.pointer = reinterpret_cast<DAT_PVOID>(number);
    return dat_evd_post_se(evd, &event);
}

void expect_software(const DAT_EVENT &event, std::uintptr_t number)
{
    EXPECT_EQ(event.event_number, DAT_SOFTWARE_EVENT);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(event.event_data.software_event_data.pointer),
              number);
}

void dequeue_software(DAT_EVD_HANDLE evd, std::uintptr_t number)
{
    DAT_EVENT event{};
    EXPECT_OK(dat_evd_dequeue(evd, &event));
    EXPECT_EQ(event.evd_handle, evd);
    expect_software(event, number);
}

} // namespace rsmtest::dat
