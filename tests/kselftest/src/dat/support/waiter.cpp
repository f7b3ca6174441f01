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

void Sleeper::begins()
{
    tid_ = gettid();
}

bool Sleeper::sleeps() const
{
    const auto line = read_line("/proc/self/task/" + std::to_string(tid_) + "/syscall");
    return line && waits_for_an_event(*line);
}

EvdWaiter::EvdWaiter(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold)
{
    ignore_signal();
    thread_ = std::thread([this, evd, timeout, threshold] {
        sleeper_.begins();
        result_ = dat_evd_wait(evd, timeout, threshold, &event, &more);
        back_ = true;
    });
}

EvdWaiter::~EvdWaiter()
{
    if (thread_.joinable())
        thread_.join();
}

bool EvdWaiter::waits_for(int milliseconds)
{
    EXPECT_TRUE(eventually([this] { return back_ || sleeper_.sleeps(); }, 20000));
    std::this_thread::sleep_for(scaled(milliseconds));
    return !back_;
}

Result EvdWaiter::result()
{
    EXPECT_TRUE(eventually([this] { return back_.load(); }, 15000)) << "dat_evd_wait goes on";
    if (thread_.joinable())
        thread_.join();
    return {result_};
}

void EvdWaiter::signal()
{
    EXPECT_EQ(0, pthread_kill(thread_.native_handle(), SIGUSR1));
}

CnoWaiter::CnoWaiter(DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout)
{
    ignore_signal();
    thread_ = std::thread([this, cno, timeout] {
        sleeper_.begins();
        result_ = dat_cno_wait(cno, timeout, &evd);
        back_ = true;
    });
}

CnoWaiter::~CnoWaiter()
{
    if (thread_.joinable())
        thread_.join();
}

bool CnoWaiter::waits_for(int milliseconds)
{
    EXPECT_TRUE(eventually([this] { return back_ || sleeper_.sleeps(); }, 20000));
    std::this_thread::sleep_for(scaled(milliseconds));
    return !back_;
}

Result CnoWaiter::result()
{
    EXPECT_TRUE(eventually([this] { return back_.load(); }, 15000)) << "dat_cno_wait goes on";
    if (thread_.joinable())
        thread_.join();
    return {result_};
}

void CnoWaiter::signal()
{
    EXPECT_EQ(0, pthread_kill(thread_.native_handle(), SIGUSR1));
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
