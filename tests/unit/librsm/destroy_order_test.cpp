// SPDX-License-Identifier: MIT
// A handle lives until the kernel has ended what stands behind it: a child that is forked
// meanwhile can give back the descriptor that it inherits.
#include <cstdarg>
#include <gtest/gtest.h>
#include <linux/rsm.h>
#include <optional>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "controller.h"
#include "device.h"
#include "export_segment.h"
#include "local_memory.h"

namespace {

// Is the handle live when the first DESTROY arrives? Nothing: none has arrived.
std::optional<bool> live;
bool (*is_live)() noexcept;

void *handle;

rsmdev::Export memory_file() {
    return rsmdev::Export::adopt(rsm::device_policy,
                                 rsmdev::Descriptor(::memfd_create("segment", MFD_CLOEXEC)));
}

template <class Object>
void watch(const Object *object) {
    handle = rsm::handle_of<void *>(object);
    is_live = []() noexcept { return rsm::find<Object>(handle) != nullptr; };
    live.reset();
}

} // namespace

// In front of the C library's.
extern "C" int ioctl(int fd, unsigned long request, ...) noexcept {
    if (request == RSM_IOC_DESTROY && is_live != nullptr && !live)
        live = is_live();
    std::va_list arguments;
    va_start(arguments, request);
    void *const argument = va_arg(arguments, void *);
    va_end(arguments);
    return static_cast<int>(::syscall(SYS_ioctl, fd, request, argument));
}

namespace {

TEST(DestroyOrder, AnExportEndsBeforeItsHandle) {
    const auto *segment = rsm::create<rsm::ExportSegment>(memory_file());
    watch(segment);
    EXPECT_EQ(rsm_memseg_export_destroy(rsm::handle_of<rsm_memseg_export_handle_t>(segment)),
              RSM_SUCCESS);
    EXPECT_EQ(live, true);
    EXPECT_FALSE(is_live());
}

TEST(DestroyOrder, LocalMemoryEndsBeforeItsHandle) {
    auto *controller = rsm::create<rsm::Controller>();
    const auto *memory = rsm::create<rsm::LocalMemory>(memory_file(), std::size_t{0});
    watch(memory);
    EXPECT_EQ(rsm_free_localmemory_handle(rsm::handle_of<rsmapi_controller_handle_t>(controller),
                                          rsm::handle_of<rsm_localmemory_handle_t>(memory)),
              RSM_SUCCESS);
    EXPECT_EQ(live, true);
    EXPECT_FALSE(is_live());
    rsm::destroy(controller);
}

} // namespace
