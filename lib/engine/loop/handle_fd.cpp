// SPDX-License-Identifier: MIT
#include "engine/loop/handle_fd.h"

#include "device/uncancelled.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

namespace rsmdat {
namespace {

constexpr int LOWEST_FD = 1024; // FD_SETSIZE

// A connection takes two descriptors, and the usual soft limit is for programs that use select().
bool raise_limit() noexcept {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max)
        return false;
    limit.rlim_cur = limit.rlim_max;
    return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

// Both system calls that make a descriptor say so when the limit is in the way.
template <class Call>
int within_limit(Call &&call) noexcept {
    int fd = call();
    if (fd < 0 && (errno == EMFILE || errno == EINVAL) && raise_limit())
        fd = call();
    return fd;
}

// Which descriptors are ours, a bit for each.
class Ours {
  public:
    void add(int fd) noexcept {
        if (const auto place = place_of(fd); place < words_.size())
            words_[place].fetch_or(bit_of(fd), std::memory_order_relaxed);
    }
    // Before it is closed: then it may be anybody's.
    void remove(int fd) noexcept {
        if (const auto place = place_of(fd); place < words_.size())
            words_[place].fetch_and(~bit_of(fd), std::memory_order_relaxed);
    }
    void close_all() noexcept {
        for (std::size_t place = 0; place < words_.size(); ++place)
            close_all(place, words_[place].exchange(0, std::memory_order_relaxed));
    }

  private:
    static constexpr std::size_t MOST = std::size_t{1} << 20; // usual hard limit
    static constexpr std::size_t BITS = 64;

    static std::size_t place_of(int fd) noexcept { return static_cast<std::size_t>(fd) / BITS; }
    static std::uint64_t bit_of(int fd) noexcept {
        return std::uint64_t{1} << static_cast<std::size_t>(fd) % BITS;
    }
    static void close_all(std::size_t place, std::uint64_t bits) noexcept {
        for (; bits != 0; bits &= bits - 1)
            ::close(static_cast<int>(place * BITS) + std::countr_zero(bits));
    }
    std::array<std::atomic<std::uint64_t>, MOST / BITS> words_{};
};
constinit Ours ours;

// A forked child has no use for them, and would keep what the parent closes.
[[gnu::constructor]] void close_them_in_children() {
    (void)::pthread_atfork(nullptr, nullptr, [] { ours.close_all(); });
}

} // namespace

bool leaves_descriptors(int fd) noexcept {
    constexpr rlim_t ENOUGH = 64;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return true;
    return static_cast<rlim_t>(fd) + std::min(ENOUGH, limit.rlim_max / 8) < limit.rlim_max;
}

HandleFd::HandleFd(int fd) noexcept : fd_(fd) {
    if (fd >= 0)
        ours.add(fd);
}

HandleFd &HandleFd::operator=(HandleFd &&other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
}

HandleFd::~HandleFd() {
    if (fd_ < 0)
        return;
    const rsmdev::Uncancelled uncancelled;
    ours.remove(fd_);
    ::close(fd_);
}

// Without room above it stays where it is.
HandleFd HandleFd::keep(int fd) noexcept {
    const rsmdev::Uncancelled uncancelled;
    HandleFd kept(fd);
    if (fd < 0 || fd >= LOWEST_FD)
        return kept;
    HandleFd moved(within_limit([&] { return ::fcntl(fd, F_DUPFD_CLOEXEC, LOWEST_FD); }));
    return moved ? std::move(moved) : std::move(kept);
}

void keep_room_above(int fd) noexcept {
    constexpr rlim_t ROOM = 64;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && static_cast<rlim_t>(fd) + ROOM >= limit.rlim_cur)
        (void)raise_limit();
}

int HandleFd::open(const char *path, int flags, HandleFd &handle) noexcept {
    const rsmdev::Uncancelled uncancelled;
    const int fd = within_limit([&] { return ::open(path, flags | O_CLOEXEC); });
    if (fd < 0)
        return errno;
    handle = keep(fd);
    return 0;
}

} // namespace rsmdat
