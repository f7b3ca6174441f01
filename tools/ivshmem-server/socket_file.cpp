// SPDX-License-Identifier: GPL-2.0
#include "socket_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace ivshmem {

namespace {

constexpr int backlog = 64;
constexpr mode_t nobody_yet = S_IRUSR | S_IWUSR;

[[noreturn]] void fail_in_use(const std::string &path) {
    throw std::runtime_error("another server listens on " + path);
}

std::string lock_path(const std::string &path) {
    return path + ".lock";
}

bool same_file(const struct stat &one, const struct stat &other) {
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

Descriptor open_lock(const std::string &name) {
    const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
    const int lock = open(name.c_str(), flags, nobody_yet);
    if (lock < 0 && errno == ENOENT) {
        const auto directory = std::filesystem::path(name).parent_path().string();
        throw std::runtime_error("the directory of the socket is not there: mkdir -p " + directory);
    }
    return Descriptor(check_errno(lock, name));
}

Descriptor try_lock(const std::string &path) {
    const auto name = lock_path(path);
    auto lock = open_lock(name);
    if (flock(lock.get(), LOCK_EX | LOCK_NB) < 0) {
        if (errno == EWOULDBLOCK) {
            fail_in_use(path);
        }
        fail_errno(name);
    }
    return lock;
}

// Its last owner may have removed the file between open() and flock().
bool still_there(const Descriptor &lock, const std::string &path) {
    struct stat held {};
    struct stat named {};
    check_errno(fstat(lock.get(), &held), path);
    return stat(lock_path(path).c_str(), &named) == 0 && same_file(held, named);
}

Descriptor take_lock(const std::string &path) {
    for (;;) {
        if (auto lock = try_lock(path); still_there(lock, path)) {
            return lock;
        }
    }
}

sockaddr_un address_of(const std::string &path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path)) {
        throw std::runtime_error("too long for a socket: " + path);
    }
    std::memcpy(address.sun_path, path.c_str(), path.size());
    return address;
}

Descriptor make_socket() {
    return Descriptor(
        check_errno(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket"));
}

const sockaddr *generic(const sockaddr_un &address) {
    return reinterpret_cast<const sockaddr *>(&address);
}

} // namespace

SocketFile::SocketFile(std::string path)
    : path_(std::move(path)), socket_(make_socket()), lock_(take_lock(path_)) {}

SocketFile::SocketFile(std::string path, mode_t mode, std::optional<gid_t> group)
    : SocketFile(std::move(path)) {
    remove_stale();
    bind_socket(mode, group);
}

// A socket without a server refuses connections; a full queue shows that there is a server.
void SocketFile::remove_stale() const {
    const auto address = address_of(path_);
    const auto probe = make_socket();
    if (connect(probe.get(), generic(address), sizeof(address)) == 0 || errno == EAGAIN) {
        fail_in_use(path_);
    }
    if (errno == ENOENT) {
        return;
    }
    struct stat status {};
    if (errno != ECONNREFUSED || lstat(path_.c_str(), &status) < 0 || !S_ISSOCK(status.st_mode)) {
        throw std::runtime_error(path_ + " is there and no socket of a dead server");
    }
    check_errno(unlink(path_.c_str()), "cannot remove " + path_);
}

// Nobody else can connect before group and mode are right.
void SocketFile::bind_socket(mode_t mode, std::optional<gid_t> group) {
    const auto address = address_of(path_);
    const auto umask_before = umask(static_cast<mode_t>(~nobody_yet) & ACCESSPERMS);
    const int bound = bind(socket_.get(), generic(address), sizeof(address));
    umask(umask_before);
    check_errno(bound, "cannot make " + path_);
    check_errno(lstat(path_.c_str(), &made_), path_);
    check_errno(listen(socket_.get(), backlog), "listen");
    if (group) {
        check_errno(chown(path_.c_str(), static_cast<uid_t>(-1), *group), "group of " + path_);
    }
    check_errno(chmod(path_.c_str(), mode), "mode of " + path_);
}

// Somebody may have put another socket in its place.
SocketFile::~SocketFile() {
    struct stat now {};
    if (lstat(path_.c_str(), &now) == 0 && same_file(now, made_)) {
        unlink(path_.c_str());
    }
    unlink(lock_path(path_).c_str());
}

} // namespace ivshmem
