// SPDX-License-Identifier: GPL-2.0
#include "work/worker.hpp"

#include <string>
#include <sys/mman.h>

namespace hostile {

Memory::Memory(std::size_t size)
    : base_(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
      size_(size) {
    if (base_ == MAP_FAILED)
        give_up("no memory");
}

Memory::~Memory() {
    munmap(base_, size_);
}

rsmapi_controller_handle_t controller(const char *name) {
    std::string text(name);
    rsmapi_controller_handle_t handle = nullptr;
    const int status = rsm_get_controller(text.data(), &handle);
    if (status != RSM_SUCCESS)
        give_up("no controller " + text + ": " + std::to_string(status));
    return handle;
}

Worker::Worker(Step step)
    : thread_([this, step = std::move(step)] {
          std::mt19937 chance(std::random_device{}());
          while (!stop_) {
              step(watched_, chance);
              rounds_++;
          }
      }) {}

Worker::~Worker() {
    stop_ = true;
    thread_.join();
}

} // namespace hostile
