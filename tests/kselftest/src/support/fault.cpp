// SPDX-License-Identifier: GPL-2.0
#include "support/fault.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace rsmtest {
namespace {

void configure(const char *probability)
{
    const auto set = [](const std::string &file, const char *value) {
        EXPECT_TRUE(write_text("/sys/kernel/debug/" + file, value)) << file << ": " << std::strerror(errno);
    };
    for (const std::string injector : {"failslab", "fail_page_alloc", "fail_usercopy"}) {
        set(injector + "/task-filter", "N");
        set(injector + "/times", "-1");
        set(injector + "/interval", "1");
        set(injector + "/verbose", "0");
        // fail-nth needs no probability: any other would hit everybody.
        set(injector + "/probability", probability);
    }
    set("failslab/ignore-gfp-wait", "N");
    set("fail_page_alloc/ignore-gfp-wait", "N");
    set("fail_page_alloc/ignore-gfp-highmem", "N");
    set("fail_page_alloc/min-order", "0");
}

// Whenever a thread was preempted, the kernel writes its processor to the
// thread's rseq area on the way back from a system call, and kills it if it
// can't. After a fork that page is copied on write: the fault meant for the
// call then hits the copy. Without an area nothing of ours is written there.
void leave_rseq()
{
    void *place = static_cast<std::byte *>(__builtin_thread_pointer()) + __rseq_offset;
    const auto *area = static_cast<struct rseq *>(place);
    if (__rseq_size == 0 || static_cast<int>(area->cpu_id) < 0)
        return;
    if (syscall(SYS_rseq, area, sizeof(*area), RSEQ_FLAG_UNREGISTER, RSEQ_SIG) != 0)
        ADD_FAILURE() << "rseq stays: " << std::strerror(errno);
}

} // namespace

FaultInjection::FaultInjection() : file_(open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC))
{
    if (!available())
        return;
    leave_rseq();
    configure("0");
}

FaultInjection::~FaultInjection()
{
    if (available())
        configure("0");
}

bool FaultInjection::nth(int n, const std::function<void()> &action)
{
    const std::string text = std::to_string(n);
    if (pwrite(file_.get(), text.data(), text.size(), 0) < 0) {
        ADD_FAILURE() << "fail-nth: " << std::strerror(errno);
        return false;
    }
    action();
    // The rest of the count tells whether it was used up.
    char left[16] = {};
    const ssize_t got = pread(file_.get(), left, sizeof(left) - 1, 0);
    if (pwrite(file_.get(), "0", 1, 0) < 0)
        return false;
    return got > 0 && std::atoi(left) == 0;
}

void FaultInjection::tell(int injected)
{
    EXPECT_GT(injected, 0) << "no fault has reached the call";
    std::printf("note: %d faults injected\n", injected);
}

} // namespace rsmtest
