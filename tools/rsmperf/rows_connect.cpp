// SPDX-License-Identifier: GPL-2.0
// Getting at another process's memory by name, against the usual way without RSM: a socket over
// which a server hands out a memfd.
#include <array>
#include <cstddef>
#include <cstring>
#include <string>

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "connection.hpp"
#include "rows.hpp"

namespace rsmperf {

namespace {

struct SocketAddress {
    sockaddr_un address{};
    socklen_t size;

    // In the abstract name space, so that nothing stays behind.
    explicit SocketAddress(pid_t owner) {
        const auto name = "rsmperf." + std::to_string(owner);
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path + 1, name.data(), name.size());
        size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    }

    [[nodiscard]] const sockaddr *get() const {
        return reinterpret_cast<const sockaddr *>(&address);
    }
};

Descriptor new_socket() {
    return Descriptor(check_errno(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
}

// A message of one byte with room for one descriptor.
struct Message {
    char byte = 0;
    iovec data{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr header{};

    Message() {
        header.msg_iov = &data;
        header.msg_iovlen = 1;
        header.msg_control = control;
        header.msg_controllen = sizeof(control);
    }
    Message(const Message &) = delete;
    Message(Message &&) = delete;
    Message &operator=(const Message &) = delete;
    Message &operator=(Message &&) = delete;
    ~Message() = default;
};

void send_descriptor(const Descriptor &socket, const Descriptor &file) {
    Message message;
    cmsghdr *rights = CMSG_FIRSTHDR(&message.header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    const int number = file.get();
    std::memcpy(CMSG_DATA(rights), &number, sizeof(number));
    check_errno(sendmsg(socket.get(), &message.header, MSG_NOSIGNAL), "sendmsg");
}

Descriptor receive_descriptor(const Descriptor &socket) {
    Message message;
    check_errno(recvmsg(socket.get(), &message.header, MSG_CMSG_CLOEXEC), "recvmsg");
    const cmsghdr *rights = CMSG_FIRSTHDR(&message.header);
    if (!rights || rights->cmsg_type != SCM_RIGHTS) {
        throw std::runtime_error("the socket carried no descriptor");
    }
    int number = -1;
    std::memcpy(&number, CMSG_DATA(rights), sizeof(number));
    return Descriptor(number);
}

// Sends a memfd to each client that connects.
class MemoryServer {
  public:
    MemoryServer()
        : peer_([](Channel &channel) {
              const SocketAddress address(getpid());
              const Descriptor listener = new_socket();
              check_errno(bind(listener.get(), address.get(), address.size), "bind");
              check_errno(listen(listener.get(), 16), "listen");
              const Descriptor file = filled_memfd(connect_size);
              channel.send(true);
              for (;;) {
                  const Descriptor client(check_errno(
                      accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC), "accept"));
                  send_descriptor(client, file);
              }
          }),
          address_(peer_.pid()) {
        peer_.channel().expect<bool>();
    }
    MemoryServer(const MemoryServer &) = delete;
    MemoryServer(MemoryServer &&) = delete;
    MemoryServer &operator=(const MemoryServer &) = delete;
    MemoryServer &operator=(MemoryServer &&) = delete;
    ~MemoryServer() { peer_.kill(); }

    void connect_and_map() const {
        const Descriptor socket = new_socket();
        check_errno(connect(socket.get(), address_.get(), address_.size), "connect");
        const Descriptor file = receive_descriptor(socket);
        const Mapping mapping(connect_size, MAP_SHARED, file.get());
    }

  private:
    Peer peer_;
    SocketAddress address_;
};

// A connection that is made and given up step by step.
class Cycle {
  public:
    Cycle(const Controller &controller, rsm_memseg_id_t id) : controller_(controller), id_(id) {}

    void connect() {
        check_rsm(rsm_memseg_import_connect(controller_.get(), controller_.node(), id_,
                                            RSM_PERM_RDWR, &handle_),
                  "rsm_memseg_import_connect");
    }
    void map() {
        void *address = nullptr;
        check_rsm(
            rsm_memseg_import_map(handle_, &address, RSM_MAP_NONE, RSM_PERM_RDWR, 0, connect_size),
            "rsm_memseg_import_map");
    }
    void unmap() { check_rsm(rsm_memseg_import_unmap(handle_), "rsm_memseg_import_unmap"); }
    void disconnect() {
        check_rsm(rsm_memseg_import_disconnect(handle_), "rsm_memseg_import_disconnect");
    }

  private:
    const Controller &controller_;
    rsm_memseg_id_t id_;
    rsm_memseg_import_handle_t handle_ = nullptr;
};

} // namespace

Batch connect_batch(const Controller &controller, rsm_memseg_id_t id) {
    return repeat([&controller, id] {
        Cycle cycle(controller, id);
        cycle.connect();
        cycle.map();
        cycle.unmap();
        cycle.disconnect();
    });
}

double time_step(const Controller &controller, rsm_memseg_id_t id, Step step, std::size_t count) {
    constexpr std::array steps{&Cycle::connect, &Cycle::map, &Cycle::unmap, &Cycle::disconnect};
    const auto timed = steps.at(static_cast<std::size_t>(step));
    double total = 0;

    for (std::size_t at = 0; at < count; at++) {
        Cycle cycle(controller, id);
        for (const auto next : steps) {
            const Batch run = [&cycle, next](std::size_t) { (cycle.*next)(); };
            if (next == timed) {
                total += time_batch(run, 1);
            } else {
                run(1);
            }
        }
    }
    return total / static_cast<double>(count);
}

Times connect_cycle(const Settings &settings) {
    const Exporter exporter(connect_size);
    const MemoryServer server;
    const Controller controller;

    return compare(settings, connect_batch(controller, exporter.id()),
                   repeat([&server] { server.connect_and_map(); }));
}

} // namespace rsmperf
