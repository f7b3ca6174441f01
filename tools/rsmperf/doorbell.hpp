// SPDX-License-Identifier: GPL-2.0
// The bare doorbell of an ivshmem device, by way of the ivshmem_raw module, which must be loaded.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <unistd.h>

#include "peer.hpp"

namespace rsmperf {

constexpr std::uint32_t most_doorbell_address = 0xffff;

// Takes the device from rsm_ivshmem, and gives it back.
class BorrowedDevice {
  public:
    BorrowedDevice();
    BorrowedDevice(const BorrowedDevice &) = delete;
    BorrowedDevice &operator=(const BorrowedDevice &) = delete;
    ~BorrowedDevice();

  private:
    explicit BorrowedDevice(std::string name) : name_(std::move(name)) {}
    void give_back() const;

    std::string name_;
};

// Throws unless the module is there.
void check_doorbell_driver();

// Interrupts system calls that sleep, over and over again. One at a time.
class Ticks {
  public:
    explicit Ticks(unsigned interval_ms);
    Ticks(const Ticks &) = delete;
    Ticks &operator=(const Ticks &) = delete;
    ~Ticks();
};

class Doorbell {
  public:
    Doorbell();

    void ring(std::uint32_t address) const {
        const std::uint32_t value = address << 16;
        check_errno(write(file_.get(), &value, sizeof(value)), "write to /dev/ivshmem_raw");
    }
    // Sleeps until rung; false if a tick came first.
    [[nodiscard]] bool wait() const;

    // Answers each ring of the peer with this address, until none has come for some seconds.
    void answer(std::uint32_t address) const;
    // Returns when the other side answers each ring once.
    void wait_for_answers(std::uint32_t address) const;

  private:
    BorrowedDevice device_;
    Descriptor file_;
};

} // namespace rsmperf
