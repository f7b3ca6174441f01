// SPDX-License-Identifier: GPL-2.0
#include "support/system.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace rsmtest {

int slow_factor()
{
    const char *text = std::getenv("RSM_TEST_SLOW");
    return text ? std::max(1, std::atoi(text)) : 1;
}

std::chrono::milliseconds scaled(int milliseconds)
{
    return std::chrono::milliseconds(milliseconds) * slow_factor();
}

bool eventually(const std::function<bool()> &condition, const Place &place)
{
    const Waiting waiting("a condition", place);
    while (!condition())
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return true;
}

void note_time(const std::string &what, std::chrono::steady_clock::time_point begin)
{
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begin);
    std::printf("note: %s: %lld ms\n", what.c_str(), static_cast<long long>(took.count()));
}

std::size_t page_size()
{
    static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return size;
}

Pages::Pages(std::size_t pages, int protection, int flags, int fd) : size_(pages * page_size())
{
    void *base = mmap(nullptr, size_, protection, flags, fd, 0);
    if (base != MAP_FAILED)
        base_ = static_cast<std::byte *>(base);
}

Pages::Pages(Pages &&other) noexcept
    : base_(std::exchange(other.base_, nullptr)), size_(std::exchange(other.size_, 0))
{
}

Pages::~Pages()
{
    release();
}

void Pages::release()
{
    if (base_)
        munmap(base_, size_);
    base_ = nullptr;
}

Fd &Fd::operator=(Fd &&other) noexcept
{
    if (this != &other) {
        reset();
        fd_ = other.release();
    }
    return *this;
}

int Fd::release()
{
    return std::exchange(fd_, -1);
}

void Fd::reset()
{
    if (fd_ >= 0)
        close(fd_);
    fd_ = -1;
}

User alice()
{
    return {1001, 1001, {}};
}

User bob()
{
    return {1002, 1002, {}};
}

User nobody_in(std::vector<gid_t> groups)
{
    return {65534, 65534, std::move(groups)};
}

bool become(const User &user)
{
    std::vector<gid_t> groups = user.groups;
    groups.push_back(rsm_group);
    if (setgroups(groups.size(), groups.data()) != 0 ||
        setresgid(user.gid, user.gid, user.gid) != 0 ||
        setresuid(user.uid, user.uid, user.uid) != 0)
        return false;
    // Changing the user clears both of these.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_DUMPABLE, 1);
    return true;
}

Counters kernel_counters()
{
    Counters counters;
    // The runner's --root.
    const char *root = std::getenv("RSM_TEST_ROOT");
    std::ifstream file((root ? root : std::string()) + "/sys/kernel/debug/rsm/stats");
    std::string name;
    std::int64_t value = 0;
    while (file >> name >> value)
        counters[name] = value;
    return counters;
}

std::optional<std::string> read_line(const std::string &path)
{
    std::ifstream file(path);
    std::string line;
    if (!file || !std::getline(file, line))
        return std::nullopt;
    return line;
}

bool write_text(const std::string &path, const std::string &text)
{
    const Fd file(open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    return file.valid() &&
           write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

ModuleParameter::ModuleParameter(const std::string &name)
    : path_("/sys/module/rsm/parameters/" + name)
{
    // access() would say yes to root in any case.
    struct stat file {};
    if (stat(path_.c_str(), &file) == 0 && (file.st_mode & S_IWUSR))
        before_ = read_line(path_);
}

ModuleParameter::~ModuleParameter()
{
    if (before_)
        write_text(path_, *before_);
}

bool ModuleParameter::set(const std::string &value)
{
    return write_text(path_, value);
}

std::uint64_t memory_info(const std::string &name)
{
    std::ifstream file("/proc/meminfo");
    std::string line;
    while (std::getline(file, line)) {
        if (line.compare(0, name.size() + 1, name + ":") == 0)
            return std::strtoull(line.c_str() + name.size() + 1, nullptr, 10) * 1024;
    }
    return 0;
}

} // namespace rsmtest
