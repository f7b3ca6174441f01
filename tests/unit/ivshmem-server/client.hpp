// SPDX-License-Identifier: GPL-2.0
// The client's side of QEMU's ivshmem-spec, written from the specification, not from the server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "descriptor.hpp"
#include "process.hpp"

namespace ivshmem::test {

struct Received {
    std::int64_t number;
    Descriptor descriptor;
};

// The knowledge of a client that has read its handshake.
struct Greeting {
    std::vector<std::int64_t> numbers; // as they came
    std::vector<bool> with_descriptor; // likewise
    std::int64_t id = -1;
    Descriptor memory;
    std::map<std::int64_t, std::vector<Descriptor>> doorbells; // by peer; the own id's, too
};

class Client {
  public:
    explicit Client(const std::string &path);

    // The next message; nothing when the server has closed the connection. Throws after a while.
    std::optional<Received> receive();

    // Everything up to the last of so many doorbells of its own.
    Greeting greeting(std::size_t vectors = 1);

    // Takes the next message; true if there is none, and the server has closed the connection. Behind the server's
    // end it shows that nothing had come.
    bool closed();

    int connection() const { return connection_.get(); }
    void leave() { connection_.reset(); }

  private:
    Descriptor connection_;
};

// Expects so many messages about a peer whose id is new, each with a doorbell.
std::vector<Descriptor> expect_joined(Client &client, std::int64_t peer, std::size_t vectors = 1);

// Ends the server: nothing more had come to the client from it.
void expect_nothing(Server &server, Client &client);

void ring(const Descriptor &doorbell);
bool has_rung(const Descriptor &doorbell);

// The shared memory, mapped.
class Window {
  public:
    Window(const Descriptor &memory, std::size_t size);
    Window(const Window &) = delete;
    Window &operator=(const Window &) = delete;
    ~Window();

    volatile std::uint64_t &word(std::size_t at) const { return words_[at]; }
    bool zeroed() const;

  private:
    std::uint64_t *words_;
    std::size_t size_;
};

} // namespace ivshmem::test
