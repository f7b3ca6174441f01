// SPDX-License-Identifier: GPL-2.0
// Words between two processes, over a connection that has no other use.
#pragma once

#include "dat/support/side.hpp"

#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace rsmtest::dat {

// A call of the library that has to succeed; otherwise std::runtime_error.
void require(DAT_RETURN result, const char *call);

// The next event; `what` names the wait.
DAT_EVENT await_event(DAT_EVD_HANDLE evd, const std::string &what);

class Talk {
  public:
    // The side is connected, or will be.
    explicit Talk(Side &side);

    // Any number of bytes. Throws when the other process is gone.
    void send(std::span<const std::byte> bytes);
    std::vector<std::byte> receive();
    template <class Type>
    void send_value(const Type &value) {
        static_assert(std::is_trivially_copyable_v<Type>);
        send(std::as_bytes(std::span(&value, 1)));
    }
    template <class Type>
    Type receive_value() {
        static_assert(std::is_trivially_copyable_v<Type>);
        Type value{};
        copy_exactly(receive(), std::as_writable_bytes(std::span(&value, 1)));
        return value;
    }

    std::string topic; // names waits

  private:
    static constexpr std::size_t most = 8192; // of a message
    static constexpr std::size_t receives = 4;

    static void copy_exactly(std::span<const std::byte> from, std::span<std::byte> to);
    void offer(std::size_t slot);
    void send_one(std::span<const std::byte> message);
    std::span<const std::byte> receive_one(std::size_t &slot);

    Side &side_;
};

} // namespace rsmtest::dat
