// SPDX-License-Identifier: GPL-2.0
#include "memory.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace rsmperf {

namespace {

Descriptor anonymous_posix_shm(std::size_t size) {
    const auto name = "/rsmperf." + std::to_string(getpid());
    Descriptor shm(
        check_errno(shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600), "shm_open"));
    shm_unlink(name.c_str());
    check_errno(ftruncate(shm.get(), static_cast<off_t>(size)), "ftruncate");
    return shm;
}

// Entries of the smallest and the largest address cache that matters. Each has a multiple of the
// smaller one's.
constexpr std::uintptr_t least_cache_pages = 64;
constexpr std::uintptr_t cache_pages = 1024;

std::uintptr_t page_number(const char *address) {
    return reinterpret_cast<std::uintptr_t>(address) / page_size();
}

} // namespace

std::size_t page_size() {
    static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return size;
}

std::size_t whole_pages(std::size_t size) {
    return (size + page_size() - 1) / page_size() * page_size();
}

Mapping::Mapping(std::size_t size, int flags, int descriptor)
    : start_(mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, descriptor, 0)), size_(size) {
    if (start_ == MAP_FAILED) {
        fail_errno("mmap");
    }
}

Mapping::~Mapping() {
    munmap(start_, size_);
}

PrivateMemory::PrivateMemory(std::size_t size) : Mapping(size, MAP_PRIVATE | MAP_ANONYMOUS, -1) {
    std::memset(data(), 1, size);
}

CopySource::CopySource(std::size_t size) : size_(size), memory_(size + cache_pages * page_size()) {}

char *CopySource::apart_from(const char *destination) const {
    const auto wanted = page_number(destination) + size_ / page_size() + least_cache_pages / 2;
    const auto skipped = (wanted - page_number(memory_.data())) % cache_pages;
    return memory_.data() + skipped * page_size();
}

PosixShm::PosixShm(std::size_t size) : Mapping(size, MAP_SHARED, anonymous_posix_shm(size).get()) {
    std::memset(data(), 1, size);
}

Descriptor filled_memfd(std::size_t size) {
    Descriptor file(check_errno(memfd_create("rsmperf", MFD_CLOEXEC), "memfd_create"));
    check_errno(ftruncate(file.get(), static_cast<off_t>(size)), "ftruncate");
    const Mapping mapping(size, MAP_SHARED, file.get());
    std::memset(mapping.data(), 1, size);
    return file;
}

void raise_limit(__rlimit_resource resource, rlim_t wanted) {
    rlimit limit{};
    check_errno(getrlimit(resource, &limit), "getrlimit");
    if (limit.rlim_cur >= wanted) {
        return;
    }
    const rlimit higher{wanted, std::max(limit.rlim_max, wanted)};
    if (setrlimit(resource, &higher) == 0) {
        return;
    }
    limit.rlim_cur = std::min(wanted, limit.rlim_max);
    check_errno(setrlimit(resource, &limit), "setrlimit");
}

[[gnu::noinline]] void touch_pages(char *start, std::size_t size) {
    const auto step = page_size();
    for (std::size_t at = 0; at < size; at += step) {
        *reinterpret_cast<volatile char *>(start + at) = 1;
    }
}

} // namespace rsmperf
