// SPDX-License-Identifier: MIT
#include "engine/loop/blocking.h"
#include "wire/command.h"
#include "wire/device.h"

#include <algorithm>
#include <atomic>
#include <fcntl.h>

namespace rsmdat {
namespace {

int status_of_map_error(int error) noexcept {
    switch (error) {
    case ENODEV:
        return RSMERR_CONN_ABORTED;
    case ENOMEM:
    case EAGAIN:
        return RSMERR_INSUFFICIENT_RESOURCES;
    default:
        return RSMERR_MAP_FAILED;
    }
}

int transfer(int handle, unsigned long request, std::uint32_t flags, std::uint64_t offset,
             std::span<const std::byte> local) noexcept {
    rsm_transfer_entry entry{};
    entry.type = RSM_VA_TYPE;
    entry.fd = -1;
    entry.addr = address_of(local.data());
    entry.remote_offset = offset;
    entry.length = local.size();
    rsm_transfer transfer{};
    transfer.flags = flags;
    return rsmdev::transfer(handle, request, {&entry, 1}, transfer);
}

} // namespace

int Import::connect(const Device &device, std::string_view controller, std::uint32_t node,
                    std::uint32_t id, std::uint32_t permission, Import &result) noexcept {
    about_to_block("connect"); // a node that does not answer is waited for
    rsm_connect connect{};
    if (!store_name(connect.controller, controller))
        return RSMERR_CTLR_NOT_PRESENT;
    HandleFd handle;
    if (const int status = open_handle(O_RDWR, handle); status != RSM_SUCCESS)
        return status;
    connect.node = node;
    connect.id = id;
    connect.permission = permission;
    connect.control_fd = device.control_fd();
    if (const int status = persistent_command(handle.get(), RSM_IOC_CONNECT, connect);
        status != RSM_SUCCESS)
        return status;
    result = Import(device, std::move(handle), connect.slot, connect.generation, connect.length);
    return RSM_SUCCESS;
}

int Import::redeem(const Device &device, const Ticket &ticket, Import &result) noexcept {
    HandleFd handle;
    if (const int status = open_handle(O_RDWR, handle); status != RSM_SUCCESS)
        return status;
    rsm_redeem redeem{};
    std::ranges::copy(ticket, redeem.ticket);
    redeem.control_fd = device.control_fd();
    if (const int status = persistent_command(handle.get(), RSM_IOC_REDEEM, redeem);
        status != RSM_SUCCESS)
        return status;
    result = Import(device, std::move(handle), redeem.slot, redeem.generation, redeem.length);
    return RSM_SUCCESS;
}

int Import::map(std::uint64_t offset, std::size_t length, int protection) noexcept {
    Mapping mapping(
        ::mmap(nullptr, length, protection, MAP_SHARED, handle_.get(), static_cast<off_t>(offset)),
        length);
    if (!mapping)
        return status_of_map_error(errno);
    mapping_ = std::move(mapping);
    return RSM_SUCCESS;
}

int Import::put(std::uint64_t offset, std::span<const std::byte> from) const noexcept {
    return transfer(handle_.get(), RSM_IOC_PUTV, 0, offset, from);
}

int Import::get(std::uint64_t offset, std::span<std::byte> to) const noexcept {
    return transfer(handle_.get(), RSM_IOC_GETV, 0, offset, to);
}

int Import::post() const noexcept {
    rsm_post post{};
    post.flags = RSM_SIGPOST_NO_ACCUMULATE;
    return persistent_command(handle_.get(), RSM_IOC_POST, post);
}

int Import::send(const Letter &letter) const noexcept {
    rsm_message message{};
    std::ranges::copy(letter, message.word);
    return persistent_command(handle_.get(), RSM_IOC_SEND, message);
}

int Import::put_and_post(std::uint64_t offset, std::span<const std::byte> from) const noexcept {
    const std::uint32_t flags = RSM_IMPLICIT_SIGPOST | RSM_SIGPOST_NO_ACCUMULATE;
    return transfer(handle_.get(), RSM_IOC_PUTV, flags, offset, from);
}

} // namespace rsmdat
