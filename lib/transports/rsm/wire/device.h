// SPDX-License-Identifier: MIT
// /dev/rsm as an Ia uses it. No Ia::lock is needed for the functions of one handle.
#pragma once

#include "device/export.h"
#include "device/import.h"
#include "device/table.h"
#include "engine/transport.h"

#include <stdexcept>
#include <string_view>

namespace rsmengine {

using rsmdev::Export;
using rsmdev::Import;
using rsmdev::Letter;
using rsmdev::Ticket;
using rsmdev::TicketUse;

// An Ia's table of words, and the node.
class Device : public rsmdev::Table {
  public:
    Device(); // throws Unavailable, std::bad_alloc
    ~Device();
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;

    [[nodiscard]] std::uint32_t node() const noexcept { return node_; }
    [[nodiscard]] bool has_controller(std::string_view name) const noexcept;

  private:
    std::uint32_t node_ = 0;
};

} // namespace rsmengine
