// SPDX-License-Identifier: GPL-2.0
#include "coverage.hpp"

#include <algorithm>
#include <fcntl.h>
#include <linux/kcov.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

namespace rsmtest::fuzz {

bool Coverage::open_area()
{
    fd_ = Fd(open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC));
    if (!fd_.valid() || ioctl(fd_.get(), KCOV_INIT_TRACE, words) != 0)
        return false;
    void *area = mmap(nullptr, words * sizeof(*area_), PROT_READ | PROT_WRITE, MAP_SHARED,
                      fd_.get(), 0);
    if (area == MAP_FAILED)
        return false;
    area_ = static_cast<std::uint64_t *>(area);
    return true;
}

Coverage::Coverage()
{
    if (open_area())
        ioctl(fd_.get(), KCOV_ENABLE, KCOV_TRACE_PC);
}

Coverage::Coverage(std::uint32_t common_handle)
{
    if (!open_area())
        return;
    kcov_remote_arg argument{};
    argument.trace_mode = KCOV_TRACE_PC;
    argument.area_size = words;
    argument.common_handle = common_handle;
    ioctl(fd_.get(), KCOV_REMOTE_ENABLE, &argument);
}

Coverage::~Coverage()
{
    if (fd_.valid())
        ioctl(fd_.get(), KCOV_DISABLE, 0);
    if (area_ != nullptr)
        munmap(area_, words * sizeof(*area_));
}

void Coverage::clear()
{
    __atomic_store_n(area_, 0, __ATOMIC_RELAXED);
}

std::span<const std::uint64_t> Coverage::places() const
{
    const std::uint64_t count = __atomic_load_n(area_, __ATOMIC_RELAXED);
    return {area_ + 1, std::min<std::size_t>(count, words - 1)};
}

} // namespace rsmtest::fuzz
