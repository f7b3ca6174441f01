// SPDX-License-Identifier: GPL-2.0
// Other processes that a measurement needs, and the channel to talk to them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace rsmperf {

// A system call that failed, with errno spelled out.
[[noreturn]] void fail_errno(const char *what);

// Passes a system call's result on unless it is an error.
template <typename Result>
Result check_errno(Result result, const char *what) {
    if (result < 0)
        fail_errno(what);
    return result;
}

// Owns a descriptor.
class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor &&other) noexcept;
    Descriptor &operator=(Descriptor &&other) noexcept;
    ~Descriptor() { reset(); }

    int get() const { return number_; }
    void reset();

  private:
    int number_ = -1;
};

// One end of a socket pair that carries plain values.
class Channel {
  public:
    explicit Channel(Descriptor end) : end_(std::move(end)) {}

    template <typename Value>
    void send(const Value &value) {
        static_assert(std::is_trivially_copyable_v<Value>);
        send_bytes(&value, sizeof(value));
    }

    // Nothing when the other side is gone.
    template <typename Value>
    std::optional<Value> receive() {
        static_assert(std::is_trivially_copyable_v<Value>);
        Value value;
        if (!receive_bytes(&value, sizeof(value)))
            return std::nullopt;
        return value;
    }

    // Many values, and how many they are.
    template <typename Value>
    void send_all(const std::vector<Value> &values) {
        static_assert(std::is_trivially_copyable_v<Value>);
        send(values.size());
        send_bytes(values.data(), values.size() * sizeof(Value));
    }

    template <typename Value>
    std::vector<Value> expect_all() {
        std::vector<Value> values(expect<std::size_t>());
        if (!receive_bytes(values.data(), values.size() * sizeof(Value)))
            throw std::runtime_error("a helper process of the measurement has died");
        return values;
    }

    // For what must arrive.
    template <typename Value>
    Value expect() {
        if (auto value = receive<Value>())
            return *value;
        throw std::runtime_error("a helper process of the measurement has died");
    }

    // Returns when the other side has closed its end.
    void wait_closed();
    void close();

  private:
    void send_bytes(const void *data, std::size_t size);
    bool receive_bytes(void *data, std::size_t size);

    Descriptor end_;
};

// A child process that runs a function with the other end of channel(). The destructor closes
// the channel, on which the function is to return, and waits for the child.
class Peer {
  public:
    using Body = std::function<void(Channel &)>;

    explicit Peer(const Body &body);
    Peer(Peer &&other) noexcept;
    Peer &operator=(Peer &&) = delete;
    ~Peer();

    Channel &channel() { return channel_; }
    pid_t pid() const { return pid_; }
    // For a body that never returns.
    void kill() const;

  private:
    Channel channel_{Descriptor()};
    pid_t pid_ = -1;
};

// Two processors are what a measurement uses: the measuring process sits on the first, its
// peers on the second. With one processor nothing happens.
enum class Place { measuring, peer };
void run_on(Place place);

} // namespace rsmperf
