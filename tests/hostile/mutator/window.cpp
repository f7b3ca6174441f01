// SPDX-License-Identifier: GPL-2.0
#include "mutator/window.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

using ivshmem::check_errno;
using ivshmem::Descriptor;

namespace hostile {
namespace {

Descriptor connect_to(const std::string &path) {
    Descriptor end(check_errno(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path))
        throw std::runtime_error("the socket's path is too long");
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    check_errno(connect(end.get(), reinterpret_cast<sockaddr *>(&address), sizeof(address)),
                "connect to " + path);
    return end;
}

Descriptor descriptor_in(msghdr &header) {
    const cmsghdr *control = CMSG_FIRSTHDR(&header);
    int number = -1;
    if (control != nullptr && control->cmsg_type == SCM_RIGHTS)
        std::memcpy(&number, CMSG_DATA(control), sizeof(number));
    return Descriptor(number);
}

struct News {
    bool any = false;
    std::int64_t number = 0;
    Descriptor descriptor;
};

// The server writes a message at once, so there is all of it or nothing.
News receive(int server, int flags) {
    News news;
    iovec data{&news.number, sizeof(news.number)};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr header{};
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    const ssize_t got = recvmsg(server, &header, MSG_CMSG_CLOEXEC | flags);
    if (got < 0 && errno == EAGAIN)
        return news;
    if (got != sizeof(news.number))
        throw std::runtime_error("the server has gone");
    news.any = true;
    news.descriptor = descriptor_in(header);
    return news;
}

} // namespace

// Version, our id, the memory; then the doorbells, ours last.
Window::Window(const std::string &socket) : server_(connect_to(socket)) {
    if (receive(server_.get(), MSG_WAITALL).number != 0)
        throw std::runtime_error("the server speaks another version");
    own_slot_ = static_cast<u32>(receive(server_.get(), MSG_WAITALL).number);
    memory_ = receive(server_.get(), MSG_WAITALL).descriptor;
    map(memory_.get());
    if (own_slot_ >= layout_.slots)
        throw std::runtime_error("the window has no slot for us");
    while (!greeted_)
        take_news(true);
}

Window::~Window() {
    munmap(base_, layout_.size);
}

void Window::map(int memory) {
    struct stat status {};
    check_errno(fstat(memory, &status), "fstat");
    if (rsm_window_layout(&layout_, static_cast<u64>(status.st_size)) != 0)
        throw std::runtime_error("no window has that size");
    void *base = mmap(nullptr, layout_.size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (base == MAP_FAILED)
        ivshmem::fail_errno("mmap");
    base_ = static_cast<std::byte *>(base);
}

bool Window::take_news(bool wait) {
    News news = receive(server_.get(), wait ? MSG_WAITALL : MSG_DONTWAIT);
    if (!news.any)
        return false;
    const auto slot = static_cast<u32>(news.number);
    if (slot == own_slot_)
        greeted_ = true;
    else if (news.descriptor)
        doorbells_.insert_or_assign(slot, std::move(news.descriptor));
    else
        doorbells_.erase(slot);
    return true;
}

rsm_window_node &Window::node(u32 slot) const {
    return at<rsm_window_node>(RSM_WINDOW_NODES)[slot];
}

rsm_window_queue &Window::queue(u32 from, u32 to) const {
    return at<rsm_window_queue>(layout_.queues)[from * layout_.slots + to];
}

std::span<__le64> Window::chunks() const {
    return {at<__le64>(layout_.chunk_table), layout_.chunks};
}

std::vector<u32> Window::guests() {
    const std::scoped_lock lock(lock_);
    while (take_news(false)) {
    }
    std::vector<u32> slots;
    for (const auto &[slot, doorbell] : doorbells_)
        slots.push_back(slot);
    return slots;
}

void Window::ring(u32 slot) {
    const std::scoped_lock lock(lock_);
    const auto found = doorbells_.find(slot);
    const std::uint64_t one = 1;
    if (found != doorbells_.end())
        check_errno(write(found->second.get(), &one, sizeof(one)), "doorbell");
}

void Window::ring_all() {
    for (const u32 slot : guests()) {
        __atomic_fetch_or(&node(slot).bell, ~__le64{0}, __ATOMIC_ACQ_REL);
        ring(slot);
    }
}

} // namespace hostile
