// SPDX-License-Identifier: GPL-2.0
#include "runner/interrupt.hpp"

#include "runner/processes.hpp"

#include <csignal>
#include <mutex>
#include <pthread.h>
#include <thread>

namespace rsmrun {
namespace {

// Held from an interrupt to the end of the runner, which so reports nothing about what was interrupted.
std::mutex session_mutex;
pid_t session_of_test = 0;

bool is_ignored(int number)
{
    struct sigaction action {};
    return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

// The program that started the runner may have set some to be ignored: nohup does, and a shell for "&".
sigset_t find_interrupts()
{
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGHUP, SIGINT, SIGTERM})
        if (!is_ignored(number))
            sigaddset(&set, number);
    return set;
}

const sigset_t &interrupts()
{
    static const sigset_t set = find_interrupts();
    return set;
}

void wait_for_interrupt()
{
    const sigset_t set = interrupts();
    int number = 0;
    while (sigwait(&set, &number) != 0)
        ;
    const std::scoped_lock lock(session_mutex);
    if (session_of_test > 0)
        kill_session(session_of_test);
    signal(number, SIG_DFL);
    unblock_interrupts();
    raise(number);
}

} // namespace

void end_tests_at_interrupt()
{
    if (sigisemptyset(&interrupts()))
        return;
    pthread_sigmask(SIG_BLOCK, &interrupts(), nullptr);
    std::thread(wait_for_interrupt).detach();
}

void unblock_interrupts()
{
    pthread_sigmask(SIG_UNBLOCK, &interrupts(), nullptr);
}

std::optional<pid_t> start_session(const std::function<std::optional<pid_t>()> &start)
{
    const std::scoped_lock lock(session_mutex);
    const std::optional<pid_t> session = start();
    session_of_test = session.value_or(0);
    return session;
}

void end_session()
{
    const std::scoped_lock lock(session_mutex);
    session_of_test = 0;
}

} // namespace rsmrun
