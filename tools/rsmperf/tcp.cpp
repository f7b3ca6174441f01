// SPDX-License-Identifier: GPL-2.0
#include "tcp.hpp"

#include <tuple>

#include <netinet/tcp.h>
#include <sys/socket.h>

namespace rsmperf {

namespace {

const sockaddr *generic(const sockaddr_in &address) {
    return reinterpret_cast<const sockaddr *>(&address);
}

Descriptor new_socket() {
    return Descriptor(check_errno(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
}

// Listens at a free port, and tells it.
Descriptor listen_and_tell(Channel &channel) {
    auto listener = new_socket();
    sockaddr_in address{
        .sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    socklen_t length = sizeof(address);
    check_errno(bind(listener.get(), generic(address), length), "bind");
    check_errno(getsockname(listener.get(), reinterpret_cast<sockaddr *>(&address), &length),
                "getsockname");
    check_errno(listen(listener.get(), 16), "listen");
    channel.send(address);
    return listener;
}

Descriptor next_client(const Descriptor &listener) {
    return Descriptor(check_errno(accept(listener.get(), nullptr, nullptr), "accept"));
}

// A client that has gone is no error.
void greet(const Descriptor &client) {
    char byte = 0;
    std::ignore = ::send(client.get(), &byte, 1, MSG_NOSIGNAL);
    std::ignore = ::recv(client.get(), &byte, 1, 0);
}

void send_at_once(const Descriptor &end) {
    const int yes = 1;
    check_errno(setsockopt(end.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)), "setsockopt");
}

void send_whole(const Descriptor &end, const std::vector<char> &message) {
    for (std::size_t at = 0; at < message.size();) {
        const auto sent = check_errno(
            ::send(end.get(), message.data() + at, message.size() - at, MSG_NOSIGNAL), "send");
        at += static_cast<std::size_t>(sent);
    }
}

// False when the other side is gone.
bool receive_whole(const Descriptor &end, std::vector<char> &message) {
    const auto got =
        check_errno(::recv(end.get(), message.data(), message.size(), MSG_WAITALL), "recv");
    return static_cast<std::size_t>(got) == message.size();
}

void echo(const Descriptor &client, std::size_t size) {
    std::vector<char> message(size);
    send_at_once(client);
    while (receive_whole(client, message)) {
        send_whole(client, message);
    }
}

} // namespace

TcpServer::TcpServer(TcpRole role, std::size_t size)
    : peer_([role, size](Channel &channel) {
          const auto listener = listen_and_tell(channel);
          for (;;) {
              const auto client = next_client(listener);
              if (role == TcpRole::greet) {
                  greet(client);
              } else {
                  echo(client, size);
              }
          }
      }),
      address_(peer_.channel().expect<sockaddr_in>()) {}

Descriptor TcpServer::connect_to_it() const {
    auto end = new_socket();
    check_errno(connect(end.get(), generic(address_), sizeof(address_)), "connect");
    return end;
}

void TcpServer::connect_and_close() const {
    const auto end = connect_to_it();
    const linger at_once{1, 0};
    char byte = 0;
    check_errno(setsockopt(end.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)),
                "setsockopt");
    check_errno(recv(end.get(), &byte, 1, 0), "recv");
}

TcpPingPong::TcpPingPong(std::size_t size)
    : server_(TcpRole::echo, size), end_(server_.connect_to_it()), message_(size) {
    send_at_once(end_);
}

void TcpPingPong::round_trip() {
    send_whole(end_, message_);
    if (!receive_whole(end_, message_)) {
        throw std::runtime_error("the TCP server has gone");
    }
}

} // namespace rsmperf
