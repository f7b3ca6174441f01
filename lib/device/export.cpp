// SPDX-License-Identifier: MIT
#include "device/export.h"

#include <algorithm>

namespace rsmdev {
namespace {

rsm_publish publish_argument(const AccessList &acl) noexcept {
    rsm_publish publish{};
    publish.acl_count = acl.count;
    publish.acl = address_of(acl.start);
    return publish;
}

} // namespace

int Export::bind(const Policy &policy, const Table *table, std::string_view controller,
                 void *address, std::size_t length, std::uint32_t flags, Export &result) noexcept {
    rsm_bind bind{};
    if (!store_name(bind.controller, controller))
        return RSMERR_CTLR_NOT_PRESENT;
    Export made;
    if (const int status = made.open(policy, table); status != RSM_SUCCESS)
        return status;
    bind.vaddr = address_of(address);
    bind.length = length;
    bind.flags = flags;
    bind.control_fd = made.control_fd();
    if (const int status = made.give(RSM_IOC_BIND, bind); status != RSM_SUCCESS)
        return status;
    made.slot_ = bind.slot;
    made.window_ = bind.window != 0;
    result = std::move(made);
    return RSM_SUCCESS;
}

// Without a slot there is nothing yet that ends: RSM_IOC_BIND has failed.
void Export::announce(const char *command) const noexcept {
    if (policy_->before_wait != nullptr && slot_ != RSM_NO_SLOT)
        policy_->before_wait(command);
}

int Export::rebind(const void *address, std::size_t length) const noexcept {
    announce("rebind");
    rsm_rebind rebind{};
    rebind.vaddr = address_of(address);
    rebind.length = length;
    return give(RSM_IOC_REBIND, rebind);
}

int Export::publish(std::uint32_t &id, const AccessList &acl) const noexcept {
    auto publish = publish_argument(acl);
    publish.id = id;
    const int status = give(RSM_IOC_PUBLISH, publish);
    if (status == RSM_SUCCESS)
        id = publish.id;
    return status;
}

int Export::republish(const AccessList &acl) const noexcept {
    announce("republish");
    auto publish = publish_argument(acl);
    return give(RSM_IOC_REPUBLISH, publish);
}

int Export::unpublish() const noexcept {
    announce("unpublish");
    rsm_unpublish unpublish{};
    return give(RSM_IOC_UNPUBLISH, unpublish);
}

int Export::range(rsm_range &range) const noexcept {
    return persistent_command(fd(), RSM_IOC_RANGE, range);
}

void Export::destroy() const noexcept {
    if (!*this)
        return;
    announce("destroy");
    rsm_destroy destroy{};
    (void)persistent_command(fd(), RSM_IOC_DESTROY, destroy);
}

int Export::grant(rsm_grant &grant, Ticket &ticket) const noexcept {
    const int status = give(RSM_IOC_GRANT, grant);
    if (status == RSM_SUCCESS)
        std::ranges::copy(grant.ticket, ticket.begin());
    return status;
}

int Export::grant(std::uint64_t offset, std::uint64_t length, std::uint32_t permission,
                  TicketUse use, Ticket &ticket) const noexcept {
    rsm_grant argument{};
    argument.flags = static_cast<std::uint32_t>(use);
    argument.offset = offset;
    argument.length = length;
    argument.permission = permission;
    return grant(argument, ticket);
}

int Export::grant_letters(Ticket &ticket) const noexcept {
    rsm_grant argument{};
    argument.flags = RSM_GRANT_SEND;
    return grant(argument, ticket);
}

int Export::revoke(const Ticket &ticket) const noexcept {
    rsm_revoke revoke{};
    std::ranges::copy(ticket, revoke.ticket);
    return give(RSM_IOC_REVOKE, revoke);
}

int Export::receive(Letter &letter) const noexcept {
    rsm_message message{};
    const int status = give(RSM_IOC_RECEIVE, message);
    if (status == RSM_SUCCESS)
        std::ranges::copy(message.word, letter.begin());
    return status;
}

} // namespace rsmdev
