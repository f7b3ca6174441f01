// SPDX-License-Identifier: MIT
// Import segments without a kernel agent: a memory file stands in for the
// connection, and the test writes the words that the kernel would.
#pragma once

#include <span>
#include <vector>

#include "import_segment.h"

namespace rsm::test {

struct FakeOptions {
    std::uint32_t rights = RSM_PERM_RDWR;
    bool mappable = true;
    std::size_t pages = 4;
};

class FakeSegment {
  public:
    explicit FakeSegment(const FakeOptions &options = {});
    ~FakeSegment(); // disconnects, unless the test has
    FakeSegment(const FakeSegment &) = delete;
    FakeSegment &operator=(const FakeSegment &) = delete;

    [[nodiscard]] rsm_memseg_import_handle_t handle() const { return handle_; }
    [[nodiscard]] std::size_t size() const { return memory_.size(); }

    // The segment's memory, as the exporter sees it.
    [[nodiscard]] std::span<std::byte> memory() const { return {memory_.data(), memory_.size()}; }
    template <class Item>
    [[nodiscard]] Item &item(std::size_t offset) const {
        return *reinterpret_cast<Item *>(memory_.data() + offset);
    }

    // The kernel's acts at a forced disconnect, and when an event arrives.
    void abort() { __atomic_fetch_add(&status().generation, 1, __ATOMIC_RELEASE); }
    void post() { __atomic_fetch_add(&status().posted, 1, __ATOMIC_RELEASE); }

  private:
    rsm_status_slot &status() const { return *reinterpret_cast<rsm_status_slot *>(words_.data()); }

    Mapping memory_;
    mutable std::vector<std::byte> words_;
    Table table_{device_policy};
    rsm_memseg_import_handle_t handle_;
};

} // namespace rsm::test
