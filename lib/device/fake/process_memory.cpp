// SPDX-License-Identifier: MIT
#include "device/fake/process_memory.h"

#include <algorithm>
#include <cstddef>
#include <sys/uio.h>
#include <vector>

namespace rsmfake {
namespace {

constexpr std::uint64_t CHUNK = std::uint64_t{1} << 16;

iovec at(std::uint64_t address, std::size_t length) {
    return {reinterpret_cast<void *>(address), length};
}

} // namespace

bool copy_between(ProcessMemory from, ProcessMemory to, std::uint64_t length) {
    static std::vector<std::byte> buffer(CHUNK);
    for (std::uint64_t done = 0; done < length;) {
        const auto count = static_cast<std::size_t>(std::min(length - done, CHUNK));
        const iovec local{buffer.data(), count};
        const iovec source = at(from.address + done, count);
        const iovec target = at(to.address + done, count);
        const auto all = static_cast<ssize_t>(count);
        if (::process_vm_readv(from.process, &local, 1, &source, 1, 0) != all ||
            ::process_vm_writev(to.process, &local, 1, &target, 1, 0) != all)
            return false;
        done += count;
    }
    return true;
}

} // namespace rsmfake
