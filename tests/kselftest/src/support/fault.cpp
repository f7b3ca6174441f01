// SPDX-License-Identifier: GPL-2.0
#include "support/fault.hpp"

#include <cerrno>
#include <cstddef>
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
    const std::string root = "/sys/kernel/debug/";
    for (const std::string injector : {"failslab", "fail_page_alloc", "fail_usercopy"}) {
        const std::string directory = root + injector + "/";
        write_text(directory + "task-filter", "N");
        write_text(directory + "times", "-1");
        write_text(directory + "interval", "1");
        write_text(directory + "verbose", "0");
        write_text(directory + "ignore-gfp-wait", "N");
        write_text(directory + "ignore-gfp-highmem", "N");
        write_text(directory + "min-order", "0");
        // fail-nth needs no probability: any other would hit everybody.
        write_text(directory + "probability", probability);
    }
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
    if (pwrite(file_.get(), text.data(), text.size(), 0) < 0)
        return false;
    action();
    // The rest of the count tells whether it was used up.
    char left[16] = {};
    const ssize_t got = pread(file_.get(), left, sizeof(left) - 1, 0);
    if (pwrite(file_.get(), "0", 1, 0) < 0)
        return false;
    return got > 0 && std::atoi(left) == 0;
}

} // namespace rsmtest
