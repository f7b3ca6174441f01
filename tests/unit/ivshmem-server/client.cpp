// SPDX-License-Identifier: GPL-2.0
#include "client.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <stdexcept>
#include <utility>

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace ivshmem::test {

namespace {

std::int64_t decode(const std::array<std::uint8_t, 8> &bytes) {
    std::uint64_t number = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) {
        number = number << 8U | bytes[i];
    }
    return static_cast<std::int64_t>(number);
}

Descriptor descriptor_in(msghdr &header) {
    const auto *control = CMSG_FIRSTHDR(&header);
    if (control == nullptr) {
        return {};
    }
    EXPECT_EQ(control->cmsg_type, SCM_RIGHTS);
    EXPECT_EQ(control->cmsg_len, CMSG_LEN(sizeof(int))) << "one descriptor for each message";
    int number = -1;
    std::memcpy(&number, CMSG_DATA(control), sizeof(number));
    return Descriptor(number);
}

bool readable(int descriptor, int milliseconds) {
    pollfd entry{descriptor, POLLIN, 0};
    return poll(&entry, 1, milliseconds) > 0;
}

} // namespace

Client::Client(const std::string &path)
    : connection_(check_errno(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket")) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    check_errno(connect(connection(), reinterpret_cast<sockaddr *>(&address), sizeof(address)),
                "connect");
}

std::optional<Received> Client::receive() {
    std::array<std::uint8_t, 8> bytes{};
    iovec data{bytes.data(), bytes.size()};
    // Room for more than one descriptor, which would be an error.
    alignas(cmsghdr) std::array<char, CMSG_SPACE(4 * sizeof(int))> control{};
    msghdr header{};
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    const auto got = recvmsg(connection(), &header, MSG_CMSG_CLOEXEC | MSG_WAITALL);
    if (got == 0 || (got < 0 && errno == ECONNRESET)) {
        return std::nullopt;
    }
    if (check_errno(got, "recvmsg") != static_cast<ssize_t>(bytes.size())) {
        throw std::runtime_error("half a message");
    }
    return Received{decode(bytes), descriptor_in(header)};
}

Greeting Client::greeting(std::size_t vectors) {
    Greeting greeting;
    while (greeting.doorbells[greeting.id].size() < vectors) {
        auto message = receive();
        if (!message) {
            throw std::runtime_error("the server has closed the connection");
        }
        greeting.numbers.push_back(message->number);
        greeting.with_descriptor.push_back(static_cast<bool>(message->descriptor));
        if (greeting.numbers.size() == 2) {
            greeting.id = message->number;
        } else if (message->number == -1) {
            greeting.memory = std::move(message->descriptor);
        } else if (message->descriptor) {
            greeting.doorbells[message->number].push_back(std::move(message->descriptor));
        }
    }
    greeting.doorbells.erase(-1);
    return greeting;
}

bool Client::closed() {
    return !receive();
}

std::vector<Descriptor> expect_joined(Client &client, std::int64_t peer, std::size_t vectors) {
    std::vector<Descriptor> doorbells;
    for (; vectors > 0; vectors--) {
        auto message = client.receive();
        if (!message || message->number != peer || !message->descriptor) {
            ADD_FAILURE() << "no doorbell of peer " << peer;
            break;
        }
        doorbells.push_back(std::move(message->descriptor));
    }
    return doorbells;
}

void expect_nothing(Server &server, Client &client) {
    EXPECT_EQ(server.end(SIGTERM), 0);
    EXPECT_TRUE(client.closed());
}

void ring(const Descriptor &doorbell) {
    const std::uint64_t one = 1;
    ASSERT_EQ(write(doorbell.get(), &one, sizeof(one)), static_cast<ssize_t>(sizeof(one)));
}

bool has_rung(const Descriptor &doorbell) {
    std::uint64_t count = 0;
    return readable(doorbell.get(), 0) && read(doorbell.get(), &count, sizeof(count)) > 0;
}

Window::Window(const Descriptor &memory, std::size_t size)
    : words_(static_cast<std::uint64_t *>(
          mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0))),
      size_(size) {
    if (words_ == MAP_FAILED) {
        fail_errno("mmap");
    }
}

Window::~Window() {
    munmap(words_, size_);
}

bool Window::zeroed() const {
    return std::all_of(words_, words_ + size_ / sizeof(*words_),
                       [](std::uint64_t word) { return word == 0; });
}

} // namespace ivshmem::test
