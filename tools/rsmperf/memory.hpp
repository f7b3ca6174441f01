// SPDX-License-Identifier: GPL-2.0
// Memory to measure on: private, POSIX shm, memfd.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sys/resource.h>

#include "peer.hpp"

namespace rsmperf {

constexpr std::size_t KiB = 1024;
constexpr std::size_t MiB = 1024 * KiB;

std::size_t page_size();
// Rounded up to pages.
std::size_t whole_pages(std::size_t size);

// Owns an mmap()ed range.
class Mapping {
  public:
    Mapping(std::size_t size, int flags, int descriptor);
    Mapping(const Mapping &) = delete;
    Mapping &operator=(const Mapping &) = delete;
    ~Mapping();

    char *data() const { return static_cast<char *>(start_); }
    std::size_t size() const { return size_; }

  private:
    void *start_;
    std::size_t size_;
};

// Anonymous memory with all its pages present.
class PrivateMemory : public Mapping {
  public:
    explicit PrivateMemory(std::size_t size);
};

// Private memory to copy from. A load and a store that need the same entry of a direct-mapped
// address cache (an emulator's, for one) cost several times as much, and chance decides whether
// they do. So the copy for each destination begins behind its end and half a small cache further.
class CopySource {
  public:
    explicit CopySource(std::size_t size);

    char *apart_from(const char *destination) const;

  private:
    std::size_t size_;
    PrivateMemory memory_;
};

// A memfd with all its pages allocated.
Descriptor filled_memfd(std::size_t size);

// POSIX shared memory with all its pages present. The name is gone once it is mapped.
class PosixShm : public Mapping {
  public:
    explicit PosixShm(std::size_t size);
};

// Raises a limit of this process and of its children, as far as it may.
void raise_limit(__rlimit_resource resource, rlim_t wanted);

// Writes a byte to every page.
void touch_pages(char *start, std::size_t size);

} // namespace rsmperf
