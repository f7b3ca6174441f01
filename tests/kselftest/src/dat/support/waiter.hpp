// SPDX-License-Identifier: GPL-2.0
// Threads that wait for events, and software events to wake them.
#pragma once

#include "dat/support/side.hpp"

#include <atomic>
#include <sys/types.h>
#include <thread>

namespace rsmtest::dat {

// A thread that can be seen to sleep until an event comes. Whether it has come so far is not to be
// had from the library: its events would wake it.
class Sleeper {
public:
    void begins(); // says the thread
    bool sleeps() const;

private:
    std::atomic<pid_t> tid_{0};
};

// A thread in dat_evd_wait.
class EvdWaiter {
public:
    EvdWaiter(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold = 1);
    ~EvdWaiter(); // joins
    EvdWaiter(const EvdWaiter &) = delete;
    EvdWaiter &operator=(const EvdWaiter &) = delete;

    bool waits_for(int milliseconds = 50); // it sleeps, and does so after that time
    Result result();                       // once it has come back
    void signal();                         // SIGUSR1, which does nothing but interrupt

    DAT_EVENT event{};
    DAT_COUNT more = -1;

private:
    Sleeper sleeper_;
    std::atomic<bool> back_{false};
    DAT_RETURN result_ = 0;
    std::thread thread_;
};

// A thread in dat_cno_wait.
class CnoWaiter {
public:
    CnoWaiter(DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout);
    ~CnoWaiter();
    CnoWaiter(const CnoWaiter &) = delete;
    CnoWaiter &operator=(const CnoWaiter &) = delete;

    bool waits_for(int milliseconds = 50);
    Result result();
    void signal();

    DAT_EVD_HANDLE evd = nullptr;

private:
    Sleeper sleeper_;
    std::atomic<bool> back_{false};
    DAT_RETURN result_ = 0;
    std::thread thread_;
};

// A software event that carries a number.
DAT_RETURN post_software(DAT_EVD_HANDLE evd, std::uintptr_t number);
void expect_software(const DAT_EVENT &event, std::uintptr_t number);
// Takes one that has to be there.
void dequeue_software(DAT_EVD_HANDLE evd, std::uintptr_t number);

} // namespace rsmtest::dat
