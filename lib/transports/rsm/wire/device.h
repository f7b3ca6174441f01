// SPDX-License-Identifier: MIT
// /dev/rsm as an Ia uses it: handles, their words, and the commands given to them. Status values
// are RSM_SUCCESS and RSMERR_*. No Ia::lock is needed for the functions of one handle.
#pragma once

#include "engine/loop/handle_fd.h"
#include "wire/mapping.h"

#include <linux/rsm.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>

namespace rsmdat {

// /dev/rsm can't be opened or does not answer.
class Unavailable : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

using Ticket = std::array<std::uint64_t, 2>; // of RSM_IOC_GRANT
using Letter = std::array<std::uint64_t, RSM_MESSAGE_WORDS>;
enum class TicketUse : std::uint32_t { MANY = 0, ONCE = RSM_GRANT_ONCE };

// The control handle and the tables of words that it owns.
class Device {
  public:
    Device(); // throws Unavailable, std::bad_alloc
    ~Device();
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;

    [[nodiscard]] int control_fd() const noexcept { return control_.get(); }
    [[nodiscard]] std::uint32_t node() const noexcept { return node_; }
    [[nodiscard]] bool has_controller(std::string_view name) const noexcept;
    [[nodiscard]] std::uint32_t generation(std::uint32_t slot) const noexcept;
    // Consumes all pending events of a handle; how many there were.
    std::uint32_t take_events(std::uint32_t slot) const noexcept;

  private:
    HandleFd control_;
    std::uint32_t node_ = 0;
    Mapping status_; // of the whole tables: pages appear when they are touched
    Mapping consumed_;
};

// An export handle: destroyed with RSM_IOC_DESTROY so that a forked child does not keep it alive.
class Export {
  public:
    Export() noexcept = default;
    Export(Export &&) noexcept = default;
    Export &operator=(Export &&other) noexcept;
    ~Export();

    // flags: RSM_BIND_LOCAL, RSM_BIND_READ. address and length: whole pages.
    static int bind(const Device &device, std::string_view controller, void *address,
                    std::size_t length, std::uint32_t flags, Export &result) noexcept;
    int publish(std::uint32_t &id, std::span<const rsm_acl_entry> acl) const noexcept;
    int republish(std::span<const rsm_acl_entry> acl) const noexcept;
    int grant(std::uint64_t offset, std::uint64_t length, std::uint32_t permission, TicketUse use,
              Ticket &ticket) const noexcept;
    // A ticket with which letters can be sent to us, and nothing else be done.
    int grant_letters(Ticket &ticket) const noexcept;
    int receive(Letter &letter) const noexcept; // RSMERR_TIMEOUT: there is none
    int revoke(const Ticket &ticket) const noexcept;
    int post() const noexcept; // wakes the importers
    std::uint32_t take_events() const noexcept;

    [[nodiscard]] int fd() const noexcept { return handle_.get(); }
    // See RSM_IOC_BIND: the memory is not where it was bound, this handle has to be mapped.
    [[nodiscard]] bool in_window() const noexcept { return window_; }
    explicit operator bool() const noexcept { return static_cast<bool>(handle_); }

  private:
    const Device *device_ = nullptr;
    HandleFd handle_;
    std::uint32_t slot_ = RSM_NO_SLOT;
    bool window_ = false;
};

// An import handle and, once map() was called, its mapping (not inherited by fork).
class Import {
  public:
    Import() noexcept = default;

    static int connect(const Device &device, std::string_view controller, std::uint32_t node,
                       std::uint32_t id, std::uint32_t permission, Import &result) noexcept;
    static int redeem(const Device &device, const Ticket &ticket, Import &result) noexcept;
    int map(std::uint64_t offset, std::size_t length, int protection) noexcept;

    [[nodiscard]] std::span<std::byte> mapping() const noexcept { return mapping_.bytes(); }
    [[nodiscard]] std::uint64_t length() const noexcept { return length_; }
    // Is the connection alive? True means that all accesses before the call reached the segment.
    [[nodiscard]] bool alive() const noexcept {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        return connected();
    }
    // The same after loads alone: true means that these, acquiring, came from the segment.
    [[nodiscard]] bool connected() const noexcept {
        return device_->generation(slot_) == generation_;
    }
    int put(std::uint64_t offset, std::span<const std::byte> from) const noexcept; // by the kernel
    int get(std::uint64_t offset, std::span<std::byte> to) const noexcept;
    int post() const noexcept; // rings the exporter
    int put_and_post(std::uint64_t offset, std::span<const std::byte> from) const noexcept;
    int send(const Letter &letter) const noexcept; // to the exporter

    // The mapping is enough from now on; it keeps the connection.
    void close_handle() noexcept { const HandleFd closed = std::move(handle_); }

    [[nodiscard]] int fd() const noexcept { return handle_.get(); }
    explicit operator bool() const noexcept { return static_cast<bool>(handle_); }

  private:
    Import(const Device &device, HandleFd handle, std::uint32_t slot, std::uint32_t generation,
           std::uint64_t length) noexcept
        : device_(&device), handle_(std::move(handle)), slot_(slot), generation_(generation),
          length_(length) {}

    const Device *device_ = nullptr;
    HandleFd handle_;
    std::uint32_t slot_ = RSM_NO_SLOT;
    std::uint32_t generation_ = 0;
    std::uint64_t length_ = 0;
    Mapping mapping_;
};

} // namespace rsmdat
