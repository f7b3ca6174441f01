// SPDX-License-Identifier: GPL-2.0
// The tests' needs of the machine: time, users, memory, kernel counters.
#pragma once

#include "support/waiting.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <sys/types.h>
#include <vector>

namespace rsmtest {

// How much slower than usual this machine is: RSM_TEST_SLOW, at least 1.
int slow_factor();

// A time that grows with the slowness of this machine. No test fails because something took longer.
std::chrono::milliseconds scaled(int milliseconds);

// Polls until the condition holds, and returns true. A wait has no limit of its own: see Waiting.
bool eventually(const std::function<bool()> &condition, const Place &place = Place::here());

// Prints how long something took, in a line that the runner shows. A test judges nothing by it.
void note_time(const std::string &what, std::chrono::steady_clock::time_point begin);

// Page size of this machine.
std::size_t page_size();

// Anonymous, private, zeroed, page-aligned memory, or another mapping.
class Pages {
public:
    explicit Pages(std::size_t pages, int protection = PROT_READ | PROT_WRITE,
                   int flags = MAP_PRIVATE | MAP_ANONYMOUS, int fd = -1);
    ~Pages();
    Pages(Pages &&other) noexcept;
    Pages(const Pages &) = delete;
    Pages &operator=(const Pages &) = delete;
    Pages &operator=(Pages &&) = delete;

    bool valid() const { return base_ != nullptr; }
    std::byte *data() const { return base_; }
    std::size_t size() const { return size_; }
    template <class T = std::uint64_t> volatile T &at(std::size_t offset = 0) const
    {
        return *reinterpret_cast<volatile T *>(base_ + offset);
    }
    template <class T = std::uint64_t> T *pointer(std::size_t offset = 0) const
    {
        return reinterpret_cast<T *>(base_ + offset);
    }
    // Unmaps now; the object is invalid afterwards.
    void release();

private:
    std::byte *base_ = nullptr;
    std::size_t size_ = 0;
};

// A file descriptor that closes itself.
class Fd {
public:
    explicit Fd(int fd = -1) : fd_(fd) {}
    ~Fd() { reset(); }
    Fd(Fd &&other) noexcept : fd_(other.release()) {}
    Fd &operator=(Fd &&other) noexcept;
    Fd(const Fd &) = delete;
    Fd &operator=(const Fd &) = delete;

    int get() const { return fd_; }
    bool valid() const { return fd_ >= 0; }
    int release();
    void reset();

private:
    int fd_;
};

// The user of a process: numbers, so that no user database is needed.
struct User {
    uid_t uid;
    gid_t gid;
    std::vector<gid_t> groups;
};
inline constexpr gid_t rsm_group = 900;
User alice();
User bob();
User nobody_in(std::vector<gid_t> groups = {});

// Turns this process into the user, for good. False: not possible.
bool become(const User &user);

// Counters of the kernel agent; empty when debugfs can't be read.
using Counters = std::map<std::string, std::int64_t>;
Counters kernel_counters();

// First line of a file, or nothing.
std::optional<std::string> read_line(const std::string &path);
bool write_text(const std::string &path, const std::string &text);

// A module parameter that gets its old value back.
class ModuleParameter {
public:
    explicit ModuleParameter(const std::string &name);
    ~ModuleParameter();
    ModuleParameter(const ModuleParameter &) = delete;
    ModuleParameter &operator=(const ModuleParameter &) = delete;
    bool writable() const { return before_.has_value(); }
    bool set(const std::string &value);

private:
    std::string path_;
    std::optional<std::string> before_;
};

// A line of /proc/meminfo in bytes, 0 if there is none.
std::uint64_t memory_info(const std::string &name);

} // namespace rsmtest
