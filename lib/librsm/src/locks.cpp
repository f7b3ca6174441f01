// SPDX-License-Identifier: MIT
#include "locks.h"

#include <pthread.h>

#include "api.h"
#include "event_table.h"

namespace rsm {

constinit Locks locks;

namespace {

void lock_all() noexcept {
    locks.ranges.lock();
    for (auto &segment : locks.segments)
        segment.lock();
    locks.controllers.lock();
    locks.pollfds.lock();
    locks.table.lock();
    locks.pool.lock();
}

void unlock_all() noexcept {
    locks.pool.unlock();
    locks.table.unlock();
    locks.pollfds.unlock();
    locks.controllers.unlock();
    for (auto &segment : locks.segments)
        segment.unlock();
    locks.ranges.unlock();
}

void continue_in_child() noexcept {
    abandon_event_table();
    unlock_all();
}

} // namespace

int install_fork_handlers() noexcept {
    const int error = ::pthread_atfork(lock_all, unlock_all, continue_in_child);
    return error == 0 ? RSM_SUCCESS : RSMERR_INSUFFICIENT_MEM;
}

} // namespace rsm
