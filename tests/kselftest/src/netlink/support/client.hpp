// SPDX-License-Identifier: GPL-2.0
// Generic netlink family `rsm` as a test talks to it: anything may be asked, everything is seen.
#pragma once

#include "support/waiting.hpp"

#include <cstdint>
#include <linux/rsm_netlink.h>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

namespace rsmtest::netlink {

// An answer or an event.
class Message {
  public:
    explicit Message(const nlmsghdr &header);

    int command() const { return command_; }
    bool interrupted() const { return interrupted_; }
    bool has(int attribute) const { return !all(attribute).empty(); }
    // The number under an attribute; a test failure if there is none.
    std::uint64_t number(int attribute) const;
    std::string text(int attribute) const;
    // Numbers of all its nests of this type, by the attribute within.
    std::vector<std::uint64_t> nested(int nest, int attribute) const;
    // Its types, in their order.
    std::vector<int> types() const;

  private:
    using Bytes = std::vector<std::uint8_t>;
    std::vector<Bytes> all(int attribute) const;

    int command_;
    bool interrupted_;
    Bytes attributes_;
};

// The arguments of a command.
class Request {
  public:
    explicit Request(int command) : command(command) {}
    Request &put(int attribute, std::uint32_t value);
    Request &put(int attribute, const std::string &value);
    Request &raw(int attribute, std::span<const std::uint8_t> bytes);

    struct Attribute {
        int type;
        std::vector<std::uint8_t> bytes;
    };
    int command;
    int flags = 0;
    std::vector<Attribute> attributes;
};

// The outcome of a request.
struct Result {
    int error = 0; // as errno
    std::string words; // the kernel's
    std::vector<Message> messages;
    bool interrupted = false;

    // The only message; a test failure if there is another number of them.
    const Message &one() const;
};

class Client {
  public:
    Client();
    bool valid() const { return family_ > 0; }

    Result ask(const Request &request);
    Result dump(int command) { return dump(Request(command)); }
    Result dump(Request request);
    // errno, 0 if events arrive here from now on.
    int subscribe();
    // Waits for the next event; none when the kernel has dropped some.
    std::optional<Message> event(
        const Place &place = Place::here());
    // The kernel keeps no more than this for us.
    void limit_buffer(int bytes);
    int descriptor() const { return nl_socket_get_fd(socket_.get()); }
    // False if the kernel does not take it.
    bool send(const Request &request, int flags);
    Result answer();
    // The bytes of a request, for somebody who sends them by a system call.
    std::vector<std::uint8_t> encoded(const Request &request, int flags);
    // Does send() say that it is for the kernel?
    bool addressed = true;

  private:
    using Encoded = std::unique_ptr<nl_msg, void (*)(nl_msg *)>;
    Encoded encode(const Request &request, int flags) const;
    // False when the answer is complete.
    bool take(const nlmsghdr &header, Result &result);

    struct Free {
        void operator()(nl_sock *socket) const { nl_socket_free(socket); }
    };
    std::unique_ptr<nl_sock, Free> socket_;
    int family_ = 0;
    std::vector<Message> events_;
};

} // namespace rsmtest::netlink
