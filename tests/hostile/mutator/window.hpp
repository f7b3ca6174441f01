// SPDX-License-Identifier: GPL-2.0
// The shared window and its doorbells, as a client of the ivshmem server gets them.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <linux/types.h>

#include "tools/ivshmem-server/descriptor.hpp"

using u32 = std::uint32_t;
using u64 = std::uint64_t;
extern "C" {
#include "kernel/agent/protocol.h"
#include "kernel/ivshmem/layout.h"
}

namespace hostile {

// The kernel has a function of that name, too.
using Layout = struct rsm_window_layout;

constexpr std::size_t message_max = sizeof(rsm_window_message::data);

// One access each, as others do it at the same time. All numbers are as on x86.
template <class T>
T peek(const T &field) {
    return __atomic_load_n(&field, __ATOMIC_ACQUIRE);
}
template <class T>
void poke(T &field, std::type_identity_t<T> value) {
    __atomic_store_n(&field, value, __ATOMIC_RELEASE);
}

class Window {
  public:
    explicit Window(const std::string &socket);
    Window(const Window &) = delete;
    Window &operator=(const Window &) = delete;
    ~Window();

    u32 own_slot() const { return own_slot_; }
    const Layout &layout() const { return layout_; }
    rsm_window_super &super() const { return *at<rsm_window_super>(0); }
    rsm_window_node &node(u32 slot) const;
    rsm_window_queue &queue(u32 from, u32 to) const;
    std::span<__le64> chunks() const;

    // Slots in which somebody is, ourselves excepted; from the server, not from the window.
    std::vector<u32> guests();
    // Rings without regard to whether the bell has been answered.
    void ring(u32 slot);
    void ring_all();

  private:
    template <class T>
    T *at(u64 offset) const {
        return reinterpret_cast<T *>(base_ + offset);
    }
    void map(int memory);
    // Messages of the server that are there; waits for the first if told to.
    bool take_news(bool wait);

    ivshmem::Descriptor server_;
    ivshmem::Descriptor memory_;
    std::byte *base_ = nullptr;
    Layout layout_{};
    u32 own_slot_ = 0;
    bool greeted_ = false;
    std::mutex lock_; // of what follows
    std::map<u32, ivshmem::Descriptor> doorbells_;
};

} // namespace hostile
