// SPDX-License-Identifier: GPL-2.0
// Questions to the kernel's generic netlink family `rsm`, and what it says, by libnl.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

namespace rsmctl {

// The kernel has no family `rsm`: rsm.ko is not loaded.
class NoFamily : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// The kernel has refused. what() says why, in its own words where it has any.
class Refused : public std::runtime_error {
  public:
    Refused(int error, const std::string &text) : std::runtime_error(text), error_(error) {}
    int error() const { return error_; } // as errno

  private:
    int error_;
};

// The text of an error: what the kernel says with it, or else what errno means.
std::string refusal_text(int error, const std::string &said);

// Why, in the kernel's words, after the header of an error message or of a dump's last one; empty
// where it says nothing. The words are behind `offset` bytes of payload.
std::string words_of(const nlmsghdr &header, std::size_t offset);

// Calls with each message of an answer.
using Handler = std::function<void(const nlmsghdr &)>;

struct FreeMessage {
    void operator()(nl_msg *message) const { nlmsg_free(message); }
};

// A command and its attributes.
class Request {
  public:
    explicit Request(std::uint8_t command, int flags = 0);

    Request &number(int attribute, std::uint32_t value);
    Request &text(int attribute, const std::string &value);
    Request &bytes(int attribute, const void *data, std::size_t size);

    // With a header whose family is not known yet.
    nl_msg *message() const { return message_.get(); }

  private:
    std::unique_ptr<nl_msg, FreeMessage> message_;
};

// How a dump went.
enum class Dump { whole, interrupted };

// A socket to the family.
class Socket {
  public:
    Socket();

    // A command that may have an answer. Throws Refused.
    void ask(const Request &request, const Handler &handler);
    // All there is. When the kernel says that it has changed meanwhile, what was handed over is not
    // of one moment.
    Dump dump(const Request &request, const Handler &handler);

    // From now on the family's events arrive here.
    void subscribe(const std::string &name);
    // Waits for events and hands them over. False: some have been lost before. Throws NoFamily when
    // the family is gone.
    bool receive(const Handler &handler);

  private:
    struct Free {
        void operator()(nl_sock *socket) const { nl_socket_free(socket); }
    };

    void send(const Request &request);
    int group(const char *family, const std::string &name);
    void join(int group);

    std::unique_ptr<nl_sock, Free> socket_;
    int family_ = 0;
};

} // namespace rsmctl
