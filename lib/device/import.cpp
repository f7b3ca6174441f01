// SPDX-License-Identifier: MIT
#include "device/import.h"

#include <algorithm>

namespace rsmdev {
namespace {

rsm_transfer_entry piece(std::uint64_t offset, std::span<const std::byte> local) noexcept {
    rsm_transfer_entry entry{};
    entry.type = RSM_VA_TYPE;
    entry.fd = -1;
    entry.addr = address_of(local.data());
    entry.remote_offset = offset;
    entry.length = local.size();
    return entry;
}

} // namespace

template <class Answer>
void Import::take(const Answer &answer) noexcept {
    slot_ = answer.slot;
    facts_.generation_word = &table_->status_slot(answer.slot)->generation;
    facts_.generation = answer.generation;
    facts_.length = answer.length;
    facts_.permission = answer.permission;
}

int Import::connect(const Table &table, std::string_view controller, std::uint32_t node,
                    std::uint32_t id, std::uint32_t permission, Import &result) noexcept {
    if (table.policy().before_wait != nullptr)
        table.policy().before_wait("connect");
    rsm_connect connect{};
    if (!store_name(connect.controller, controller))
        return RSMERR_CTLR_NOT_PRESENT;
    Import made;
    if (const int status = made.open(table.policy(), &table); status != RSM_SUCCESS)
        return status;
    connect.node = node;
    connect.id = id;
    connect.permission = permission;
    connect.control_fd = table.control_fd();
    if (const int status = made.give(RSM_IOC_CONNECT, connect); status != RSM_SUCCESS)
        return status;
    made.take(connect);
    made.facts_.mappable = connect.mappable != 0;
    made.facts_.connected = true;
    result = std::move(made);
    return RSM_SUCCESS;
}

int Import::redeem(const Table &table, const Ticket &ticket, Import &result) noexcept {
    Import made;
    if (const int status = made.open(table.policy(), &table); status != RSM_SUCCESS)
        return status;
    rsm_redeem redeem{};
    std::ranges::copy(ticket, redeem.ticket);
    redeem.control_fd = table.control_fd();
    if (const int status = made.give(RSM_IOC_REDEEM, redeem); status != RSM_SUCCESS)
        return status;
    made.take(redeem);
    result = std::move(made);
    return RSM_SUCCESS;
}

Import Import::adopt(const Table &table, Descriptor descriptor,
                     const rsm_connect &answer) noexcept {
    Import made;
    made.policy_ = &table.policy();
    made.table_ = &table;
    made.descriptor_ = std::move(descriptor);
    made.take(answer);
    made.facts_.mappable = answer.mappable != 0;
    return made;
}

Mapping Import::view(std::uint64_t offset, std::size_t length, int protection) const noexcept {
    Mapping mapping(
        ::mmap(nullptr, length, protection, MAP_SHARED, fd(), static_cast<off_t>(offset)), length);
    if (mapping && !policy_->children_inherit_mappings)
        mapping.keep_from_children();
    return mapping;
}

int Import::map(std::uint64_t offset, std::size_t length, int protection) noexcept {
    Mapping mapping = view(offset, length, protection);
    if (!mapping)
        return status_of_mapping_error(errno);
    mapping_ = std::move(mapping);
    return RSM_SUCCESS;
}

void Import::unmap(std::byte *begin, std::size_t length) const noexcept {
    rsm_unmap range{};
    range.vaddr = address_of(begin);
    range.length = length;
    range.size = sizeof(range);
    if (::ioctl(fd(), RSM_IOC_UNMAP, &range) != 0 && errno == ENOTTY)
        ::munmap(begin, length);
}

int Import::transfer(Direction direction, std::span<rsm_transfer_entry> entries,
                     rsm_transfer &request) const noexcept {
    const auto number = direction == Direction::put ? RSM_IOC_PUTV : RSM_IOC_GETV;
    announce("copy");
    return rsmdev::transfer(fd(), number, entries, request);
}

int Import::put(std::uint64_t offset, std::span<const std::byte> from,
                std::uint32_t flags) const noexcept {
    rsm_transfer_entry entry = piece(offset, from);
    rsm_transfer request{};
    request.flags = flags;
    return transfer(Direction::put, {&entry, 1}, request);
}

int Import::get(std::uint64_t offset, std::span<std::byte> to) const noexcept {
    rsm_transfer_entry entry = piece(offset, to);
    rsm_transfer request{};
    return transfer(Direction::get, {&entry, 1}, request);
}

int Import::barrier(rsm_barrier_op operation) const noexcept {
    rsm_barrier_request request{};
    request.op = operation;
    return give(RSM_IOC_BARRIER, request);
}

int Import::send(const Letter &letter) const noexcept {
    rsm_message message{};
    std::ranges::copy(letter, message.word);
    return give(RSM_IOC_SEND, message);
}

} // namespace rsmdev
