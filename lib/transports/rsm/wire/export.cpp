// SPDX-License-Identifier: MIT
#include "wire/command.h"
#include "wire/device.h"

#include <algorithm>
#include <fcntl.h>

namespace rsmdat {
namespace {

rsm_publish publish_argument(std::span<const rsm_acl_entry> acl) noexcept {
    rsm_publish publish{};
    publish.acl_count = static_cast<std::uint32_t>(acl.size());
    publish.acl = address_of(acl.data());
    return publish;
}

} // namespace

Export &Export::operator=(Export &&other) noexcept {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
    std::swap(slot_, other.slot_);
    std::swap(window_, other.window_);
    return *this;
}

Export::~Export() {
    if (!handle_)
        return;
    rsm_destroy destroy{};
    (void)persistent_command(handle_.get(), RSM_IOC_DESTROY, destroy);
}

int Export::bind(const Device &device, std::string_view controller, void *address,
                 std::size_t length, std::uint32_t flags, Export &result) noexcept {
    rsm_bind bind{};
    if (!store_name(bind.controller, controller))
        return RSMERR_CTLR_NOT_PRESENT;
    Export made;
    if (const int status = open_handle(O_RDWR, made.handle_); status != RSM_SUCCESS)
        return status;
    bind.vaddr = address_of(address);
    bind.length = length;
    bind.flags = flags;
    bind.control_fd = device.control_fd();
    if (const int status = persistent_command(made.handle_.get(), RSM_IOC_BIND, bind);
        status != RSM_SUCCESS)
        return status;
    made.device_ = &device;
    made.slot_ = bind.slot;
    made.window_ = bind.window != 0;
    result = std::move(made);
    return RSM_SUCCESS;
}

int Export::publish(std::uint32_t &id, std::span<const rsm_acl_entry> acl) const noexcept {
    auto publish = publish_argument(acl);
    publish.id = id;
    const int status = persistent_command(handle_.get(), RSM_IOC_PUBLISH, publish);
    if (status == RSM_SUCCESS)
        id = publish.id;
    return status;
}

int Export::republish(std::span<const rsm_acl_entry> acl) const noexcept {
    auto publish = publish_argument(acl);
    return persistent_command(handle_.get(), RSM_IOC_REPUBLISH, publish);
}

int Export::grant(std::uint64_t offset, std::uint64_t length, std::uint32_t permission,
                  TicketUse use, Ticket &ticket) const noexcept {
    rsm_grant grant{};
    grant.flags = static_cast<std::uint32_t>(use);
    grant.offset = offset;
    grant.length = length;
    grant.permission = permission;
    const int status = persistent_command(handle_.get(), RSM_IOC_GRANT, grant);
    if (status == RSM_SUCCESS)
        std::ranges::copy(grant.ticket, ticket.begin());
    return status;
}

int Export::grant_letters(Ticket &ticket) const noexcept {
    rsm_grant grant{};
    grant.flags = RSM_GRANT_SEND;
    const int status = persistent_command(handle_.get(), RSM_IOC_GRANT, grant);
    if (status == RSM_SUCCESS)
        std::ranges::copy(grant.ticket, ticket.begin());
    return status;
}

int Export::receive(Letter &letter) const noexcept {
    rsm_message message{};
    const int status = persistent_command(handle_.get(), RSM_IOC_RECEIVE, message);
    if (status == RSM_SUCCESS)
        std::ranges::copy(message.word, letter.begin());
    return status;
}

int Export::revoke(const Ticket &ticket) const noexcept {
    rsm_revoke revoke{};
    std::ranges::copy(ticket, revoke.ticket);
    return persistent_command(handle_.get(), RSM_IOC_REVOKE, revoke);
}

int Export::post() const noexcept {
    rsm_post post{};
    post.flags = RSM_SIGPOST_NO_ACCUMULATE;
    return persistent_command(handle_.get(), RSM_IOC_POST, post);
}

std::uint32_t Export::take_events() const noexcept {
    return device_->take_events(slot_);
}

} // namespace rsmdat
