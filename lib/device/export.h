// SPDX-License-Identifier: MIT
// An export handle. It is destroyed with RSM_IOC_DESTROY: closing it would wait for forked children
// that have inherited it. In such a child RSM_IOC_DESTROY does nothing.
#pragma once

#include "device/handle.h"

#include <span>
#include <string_view>

namespace rsmdev {

enum class TicketUse : std::uint32_t { MANY = 0, ONCE = RSM_GRANT_ONCE };

// The entries are at the caller's address; the kernel checks that they are readable.
struct AccessList {
    explicit AccessList(std::span<const rsm_acl_entry> all) noexcept
        : start(all.data()), count(static_cast<std::uint32_t>(all.size())) {}
    static AccessList at(const volatile void *start, std::uint32_t count) noexcept {
        AccessList list({});
        list.start = start;
        list.count = count;
        return list;
    }

    const volatile void *start; // of rsm_acl_entry
    std::uint32_t count;
};

class Export : public Handle {
  public:
    Export() noexcept = default;
    Export(Export &&other) noexcept : Handle(std::move(other)), window_(other.window_) {}
    Export &operator=(Export &&other) noexcept {
        swap(other);
        std::swap(window_, other.window_);
        return *this;
    }
    ~Export() { destroy(); }

    // Makes an export of whole pages, with a slot in the table. Flags: those of RSM_IOC_BIND.
    static int bind(const Table &table, std::string_view controller, void *address,
                    std::size_t length, std::uint32_t flags, Export &result) noexcept {
        return bind(table.policy(), &table, controller, address, length, flags, result);
    }
    // `table` nullptr: without a slot.
    static int bind(const Policy &policy, const Table *table, std::string_view controller,
                    void *address, std::size_t length, std::uint32_t flags,
                    Export &result) noexcept;
    // For tests: a descriptor that can be mapped.
    static Export adopt(const Policy &policy, Descriptor descriptor) noexcept {
        Export made;
        made.policy_ = &policy;
        made.descriptor_ = std::move(descriptor);
        return made;
    }
    // rebind, republish, unpublish and destroy may wait for other nodes.
    [[nodiscard]] int rebind(const void *address, std::size_t length) const noexcept;
    int publish(std::uint32_t &id, const AccessList &acl) const noexcept;
    int publish(std::uint32_t &id, std::span<const rsm_acl_entry> acl) const noexcept {
        return publish(id, AccessList(acl));
    }
    int republish(const AccessList &acl) const noexcept;
    int republish(std::span<const rsm_acl_entry> acl) const noexcept {
        return republish(AccessList(acl));
    }
    [[nodiscard]] int unpublish() const noexcept;
    // Where the segment was bound, and whether the program sees it there. Signals do not end it.
    int range(rsm_range &range) const noexcept;
    // Ends the export for all processes at once. Signals do not end it.
    void destroy() const noexcept;

    int grant(std::uint64_t offset, std::uint64_t length, std::uint32_t permission, TicketUse use,
              Ticket &ticket) const noexcept;
    // A ticket that gives the right to send letters to this export, and no other.
    int grant_letters(Ticket &ticket) const noexcept;
    [[nodiscard]] int revoke(const Ticket &ticket) const noexcept;
    int receive(Letter &letter) const noexcept; // RSMERR_TIMEOUT: there is none

    // See RSM_IOC_BIND: the memory is not where it was bound, this handle has to be mapped.
    [[nodiscard]] bool in_window() const noexcept { return window_; }

  private:
    int grant(rsm_grant &grant, Ticket &ticket) const noexcept;
    void announce(const char *command) const noexcept; // by the policy, that the command may wait

    bool window_ = false;
};

} // namespace rsmdev
