// SPDX-License-Identifier: MIT
#include "device/table.h"

#include "device/command.h"
#include "device/open.h"
#include "device/order.h"

namespace rsmdev {
namespace {

constexpr std::size_t table_size = std::size_t{RSM_TABLE_SLOTS} * RSM_SLOT_SIZE;

// A child of another thread's fork() may inherit the mapping until the policy is applied, so that
// comes at once.
Mapping map_table(const Policy &policy, int control, int protection, unsigned long where) noexcept {
    Mapping table(
        ::mmap(nullptr, table_size, protection, MAP_SHARED, control, static_cast<off_t>(where)),
        table_size);
    if (!policy.children_inherit_mappings)
        table.keep_from_children();
    return table;
}

} // namespace

int Table::open() noexcept {
    if (const int status = open_device(HandleKind::control, *policy_, control_);
        status != RSM_SUCCESS)
        return status;
    return map_words();
}

int Table::map_words() noexcept {
    status_words_ = map_table(*policy_, control_.get(), PROT_READ, RSM_MMAP_STATUS);
    if (!status_words_)
        return status_of_errno(errno);
    consumed_words_ =
        map_table(*policy_, control_.get(), PROT_READ | PROT_WRITE, RSM_MMAP_CONSUMED);
    if (!consumed_words_)
        return status_of_errno(errno);
    adopt(status_words_.data(), consumed_words_.data());
    return RSM_SUCCESS;
}

int Table::ask_info(rsm_info &info) const noexcept {
    return command_by(*policy_, control_.get(), RSM_IOC_INFO, info);
}

int Table::ask_attributes(std::string_view controller, rsm_attr &attributes) const noexcept {
    if (!store_name(attributes.controller, controller))
        return RSMERR_CTLR_NOT_PRESENT;
    return command_by(*policy_, control_.get(), RSM_IOC_ATTR, attributes);
}

int Table::ask_topology(rsm_topology_query &query) const noexcept {
    return command_by(*policy_, control_.get(), RSM_IOC_TOPOLOGY, query);
}

// `posted` is read after `consumed`, so that it is never the older of the two: a difference means
// that an event is pending.
Table::Attempt Table::take_event(std::uint32_t slot) const noexcept {
    rsm_consumed_slot *words = consumed_slot(slot);
    if (words == nullptr)
        return Attempt::not_possible;
    const std::uint32_t &posted = status_slot(slot)->posted;
    std::uint32_t count = __atomic_load_n(&words->consumed, __ATOMIC_ACQUIRE);
    while (__atomic_load_n(&posted, __ATOMIC_ACQUIRE) != count)
        if (__atomic_compare_exchange_n(&words->consumed, &count, count + 1, true, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
            // The event may stand for posts that were dropped because it was pending: look at their
            // data after it is seen to be consumed. Pairs with the kernel's count_event().
            full_barrier_after_rmw();
            return Attempt::consumed;
        }
    return Attempt::none_pending;
}

std::uint32_t Table::take_events(std::uint32_t slot) const noexcept {
    rsm_consumed_slot *words = consumed_slot(slot);
    if (words == nullptr)
        return 0;
    std::uint32_t consumed = __atomic_load_n(&words->consumed, __ATOMIC_RELAXED);
    std::uint32_t posted = 0;
    do
        posted = __atomic_load_n(&status_slot(slot)->posted, __ATOMIC_ACQUIRE);
    while (!__atomic_compare_exchange_n(&words->consumed, &consumed, posted, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    // Posts that were dropped meanwhile, because an event was pending: their data is read after
    // this. Pairs with the kernel's count_event().
    full_barrier_after_rmw();
    return posted - consumed;
}

} // namespace rsmdev
