// SPDX-License-Identifier: GPL-2.0
#include "memory.hpp"

#include <stdexcept>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ivshmem {

namespace {

void resize(const Descriptor &memory, std::uint64_t size, const std::string &what) {
    check_errno(ftruncate(memory.get(), static_cast<off_t>(size)), what);
}

// Others could read, write or shrink memory that is not this user's alone.
void check_private(const struct stat &status, const std::string &name) {
    if (status.st_uid != geteuid() || (status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        throw std::runtime_error("shared memory " + name + " is not this user's alone");
    }
}

} // namespace

Descriptor anonymous_memory(std::uint64_t size) {
    Descriptor memory(
        check_errno(memfd_create("rsm-ivshmem", MFD_CLOEXEC | MFD_ALLOW_SEALING), "memfd_create"));
    resize(memory, size, "cannot have so much memory");
    check_errno(fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL),
                "cannot seal the memory");
    return memory;
}

Descriptor named_memory(const std::string &name, std::uint64_t size) {
    const auto what = "shared memory " + name;
    Descriptor memory(
        check_errno(shm_open(name.c_str(), O_RDWR | O_CREAT, S_IRUSR | S_IWUSR), what));
    struct stat status {};
    check_errno(fstat(memory.get(), &status), what);
    check_private(status, name);
    if (status.st_size == 0) {
        resize(memory, size, what);
    } else if (static_cast<std::uint64_t>(status.st_size) != size) {
        throw std::runtime_error(what + " has " + std::to_string(status.st_size) +
                                 " bytes already; remove it or ask for as many");
    }
    return memory;
}

} // namespace ivshmem
