// SPDX-License-Identifier: MIT
#include "event_table.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <new>

#include "device.h"
#include "locks.h"

namespace rsm {
namespace {

constinit std::atomic<Table *> current = nullptr;
constinit bool fork_handlers_installed = false;

int make_table(Table *&result) noexcept {
    std::unique_ptr<Table> table(new (std::nothrow) Table(device_policy));
    if (!table)
        return RSMERR_INSUFFICIENT_MEM;
    if (const int status = table->open(); status != RSM_SUCCESS)
        return status;
    result = table.release();
    return RSM_SUCCESS;
}

} // namespace

int event_table(Table *&table) noexcept {
    table = current.load(std::memory_order_acquire);
    if (table != nullptr)
        return RSM_SUCCESS;
    const std::lock_guard guard(locks.table);
    table = current.load(std::memory_order_relaxed);
    if (table != nullptr)
        return RSM_SUCCESS;
    if (!fork_handlers_installed) {
        if (const int status = install_fork_handlers(); status != RSM_SUCCESS)
            return status;
        fork_handlers_installed = true;
    }
    if (const int status = make_table(table); status != RSM_SUCCESS)
        return status;
    current.store(table, std::memory_order_release);
    return RSM_SUCCESS;
}

void abandon_event_table() noexcept {
    auto *inherited = current.exchange(nullptr, std::memory_order_relaxed);
    if (inherited != nullptr)
        inherited->be_inherited();
}

} // namespace rsm
