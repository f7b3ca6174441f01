// SPDX-License-Identifier: GPL-2.0
// Threads that wait for events, and software events to wake them.
#pragma once

#include "dat/support/side.hpp"

#include <atomic>
#include <functional>
#include <sys/types.h>
#include <thread>

namespace rsmtest::dat {

// A thread that waits in the library, and can be seen to sleep until an event comes. Whether it has
// come so far is not to be had from the library: its events would wake it.
class Waiter {
public:
    Waiter(const Waiter &) = delete;
    Waiter &operator=(const Waiter &) = delete;

    bool waits();    // it sleeps: nothing that the caller has done so far has woken it; false: it has come back
    Result result(); // once it has come back
    void signal();   // SIGUSR1, which does nothing but interrupt
    void cancel();   // pthread_cancel()

protected:
    Waiter() = default;
    ~Waiter() = default;
    void start(const std::function<DAT_RETURN()> &wait);
    void join();

private:
    bool sleeps() const;

    std::atomic<pid_t> tid_{0};
    std::atomic<bool> back_{false};
    DAT_RETURN result_ = 0;
    std::thread thread_;
};

// In dat_evd_wait.
class EvdWaiter : public Waiter {
public:
    EvdWaiter(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold = 1);
    ~EvdWaiter() { join(); }

    DAT_EVENT event{};
    DAT_COUNT more = -1;
};

// In dat_cno_wait.
class CnoWaiter : public Waiter {
public:
    CnoWaiter(DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout);
    ~CnoWaiter() { join(); }

    DAT_EVD_HANDLE evd = nullptr;
};

// A software event that carries a number.
DAT_RETURN post_software(DAT_EVD_HANDLE evd, std::uintptr_t number);
void expect_software(const DAT_EVENT &event, std::uintptr_t number);
// Takes one that has to be there.
void dequeue_software(DAT_EVD_HANDLE evd, std::uintptr_t number);

} // namespace rsmtest::dat
