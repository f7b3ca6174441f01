// SPDX-License-Identifier: GPL-2.0
// A node that the test plays: tests/controllers/nodes.c is its way to this node's agent.
#pragma once

#include "support/system.hpp"

#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <unistd.h>

extern "C" {
#include "kernel/agent/protocol.h"
}

namespace rsmtest {

inline constexpr std::uint32_t first_node = 10;
inline constexpr std::uint64_t node_incarnation = 0x2000;
inline constexpr std::uint64_t agent_incarnation = 0x1002;
inline constexpr std::uint64_t good_place = 0x1234;

// A message, as it is.
class Message {
public:
    Message() = default;
    template <class T> explicit Message(const T &body) : size_(sizeof(body))
    {
        static_assert(sizeof(body) <= sizeof(data_));
        std::memcpy(data_, &body, sizeof(body));
    }
    unsigned type() const { return as<rsm_msg_header>().type; }
    template <class T> const T &as() const { return *reinterpret_cast<const T *>(data_); }
    std::byte *data() { return data_; }
    const std::byte *data() const { return data_; }
    std::size_t size() const { return size_; }
    static constexpr std::size_t room() { return sizeof(data_); }
    void resize(std::size_t size) { size_ = size; }

private:
    alignas(8) std::byte data_[128] = {};
    std::size_t size_ = 0;
};

// The number of it is that of the order in which nodes are opened; it leaves when it goes.
class TestNode {
public:
    explicit TestNode(unsigned number)
        : fd_(open("/dev/rsm_testnode", O_RDWR | O_CLOEXEC)), number_(number)
    {
    }
    bool valid() const { return fd_.valid(); }
    std::uint32_t id() const { return first_node + number_; }
    int descriptor() const { return fd_.get(); }

    // The next message to this node, whenever it comes; nothing once the link has been lost.
    std::optional<Message> next()
    {
        Message message;
        const ssize_t got = read(fd_.get(), message.data(), Message::room());
        if (got <= 0)
            return {};
        message.resize(static_cast<std::size_t>(got));
        return message;
    }
    bool has_message()
    {
        pollfd entry{fd_.get(), POLLIN, 0};
        return poll(&entry, 1, 0) == 1 && (entry.revents & POLLIN) != 0;
    }
    // The link has been lost.
    bool has_ended() const
    {
        pollfd entry{fd_.get(), 0, 0};
        return poll(&entry, 1, 0) == 1 && (entry.revents & POLLHUP) != 0;
    }
    bool send(const Message &message)
    {
        return write(fd_.get(), message.data(), message.size()) ==
               static_cast<ssize_t>(message.size());
    }
    template <class T> T make(unsigned type) const
    {
        T body{};
        body.header.version = RSM_PROTOCOL_VERSION;
        body.header.type = static_cast<std::uint16_t>(type);
        body.header.len = sizeof(body);
        body.header.from = node_incarnation + number_;
        body.header.to = agent_incarnation;
        return body;
    }
    bool connect(std::uint32_t id, std::uint32_t cookie)
    {
        auto body = make<rsm_msg_connect>(RSM_MSG_CONNECT);
        body.id = id;
        body.cookie = cookie;
        return send(Message(body));
    }
    // DISCONNECT, UNPUBLISH, REPUBLISH, BELL, MOVED and PLACE.
    bool send_connection(unsigned type, std::uint32_t cookie, std::uint32_t handle,
                         std::uint32_t value = 0, std::uint32_t to_exporter = 0)
    {
        auto body = make<rsm_msg_connection>(type);
        body.cookie = cookie;
        body.handle = handle;
        body.value = value;
        body.to_exporter = to_exporter;
        return send(Message(body));
    }
    // Imports a segment: the handle that the exporter gives, 0 if it refuses.
    std::uint32_t import(std::uint32_t id, std::uint32_t cookie)
    {
        if (!connect(id, cookie))
            return 0;
        const auto answer = next();
        if (!answer || answer->type() != RSM_MSG_CONNECTED)
            return 0;
        const auto &body = answer->as<rsm_msg_connected>();
        return body.status == 0 ? body.handle : 0;
    }

    // Asks to reach an imported segment: whether it may.
    bool place(std::uint32_t cookie, std::uint32_t handle)
    {
        if (!send_connection(RSM_MSG_PLACE, cookie, handle))
            return false;
        const auto answer = next();
        return answer && answer->type() == RSM_MSG_MOVE &&
               send_connection(RSM_MSG_MOVED, cookie, handle);
    }

private:
    Fd fd_;
    unsigned number_;
};

} // namespace rsmtest
