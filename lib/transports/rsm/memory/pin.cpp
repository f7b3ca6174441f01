// SPDX-License-Identifier: MIT
#include "memory/pin.h"

#include "engine/core/status.h"
#include "engine/loop/handle_fd.h"

namespace rsmengine {

namespace {

Status error_of(int status) noexcept {
    switch (status) {
    case RSMERR_BAD_ADDR: // not mapped, or a kind of memory that can't be pinned
        return Status::BAD_ADDRESS;
    case RSMERR_BAD_LENGTH:
        return Status::BAD_LENGTH;
    case RSMERR_PERM_DENIED:
        return Status::BAD_RIGHTS;
    case RSMERR_INSUFFICIENT_MEM:
        return Status::NO_MEMORY;
    case RSMERR_INSUFFICIENT_RESOURCES:
        return Status::NO_REGIONS;
    default:
        return Status::INTERNAL_ERROR;
    }
}

// The pages as peers' requests reach them.
int make_view(const Device &device, RsmPinned &pinned) noexcept {
    const std::uint32_t permission = pinned.writable ? RSM_PERM_RDWR : RSM_PERM_READ;
    const int protection = pinned.writable ? PROT_READ | PROT_WRITE : PROT_READ;
    Ticket ticket{};
    Import &view = pinned.view.emplace();
    int status = pinned.handle.grant(0, pinned.length, permission, TicketUse::ONCE, ticket);
    if (status == RSM_SUCCESS)
        status = Import::redeem(device, ticket, view);
    if (status == RSM_SUCCESS)
        status = view.map(0, pinned.length, protection);
    view.close_handle();
    return status;
}

} // namespace

Status pin(const Device &device, const PageRange &pages, bool writable,
           std::shared_ptr<Pinned> &result) {
    auto pinned = std::make_shared<RsmPinned>(pages.start, pages.length, writable);
    const std::uint32_t flags = writable ? RSM_BIND_LOCAL : RSM_BIND_LOCAL | RSM_BIND_READ;
    int status = Export::bind(device, "loopback", reinterpret_cast<void *>(pages.start),
                              pages.length, flags, pinned->handle);
    if (status != RSM_SUCCESS)
        return error_of(status);
    if (!leaves_descriptors(pinned->handle.fd()))
        return Status::NO_REGIONS;
    status = make_view(device, *pinned);
    if (status != RSM_SUCCESS)
        return Status::NO_REGIONS;
    result = std::move(pinned);
    return Status::OK;
}

} // namespace rsmengine
