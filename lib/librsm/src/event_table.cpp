// SPDX-License-Identifier: MIT
#include "event_table.h"

#include <memory>
#include <mutex>
#include <new>

#include "device.h"
#include "locks.h"
#include "mapping.h"

namespace rsm {
namespace {

constexpr std::size_t table_size = std::size_t{RSM_TABLE_SLOTS} * RSM_SLOT_SIZE;

constinit std::atomic<EventTable *> current = nullptr;
constinit bool fork_handlers_installed = false;

Mapping map_words(const UniqueFd &control, int protection, unsigned long where) noexcept {
    return {::mmap(nullptr, table_size, protection, MAP_SHARED, control.get(),
                   static_cast<off_t>(where)),
            table_size};
}

int make_table(EventTable *&result) noexcept {
    std::unique_ptr<EventTable> table(new (std::nothrow) EventTable);
    if (!table)
        return RSMERR_INSUFFICIENT_MEM;
    if (const int status = open_control_device(table->control); status != RSM_SUCCESS)
        return status;
    auto words = map_words(table->control, PROT_READ, RSM_MMAP_STATUS);
    if (!words)
        return status_of_errno(errno);
    auto consumed = map_words(table->control, PROT_READ | PROT_WRITE, RSM_MMAP_CONSUMED);
    if (!consumed)
        return status_of_errno(errno);
    table->status = static_cast<const std::byte *>(words.release());
    table->consumed = static_cast<std::byte *>(consumed.release());
    result = table.release();
    return RSM_SUCCESS;
}

} // namespace

int event_table(EventTable *&table) noexcept {
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
        inherited->consumed.store(nullptr, std::memory_order_relaxed);
}

} // namespace rsm
