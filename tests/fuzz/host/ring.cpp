// SPDX-License-Identifier: GPL-2.0
// A ring of messages of provider rsm: an input is a program of a writer and a reader. As long as both
// keep the rules, messages arrive as they were put; a hostile writer or reader harms itself alone.
#include "require.hpp"
#include "source.hpp"

#include "wire/ring.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <vector>

namespace {

using rsmengine::Arrived;
using rsmengine::CELL;
using rsmengine::Message;
using rsmengine::MessageHeader;
using rsmengine::MessageKind;
using rsmengine::MIN_RING;
using rsmengine::ring_limit;
using rsmtest::fuzz::Input;
using rsmtest::fuzz::require;

struct alignas(CELL) Cell {
    std::array<std::byte, CELL> bytes{};
};

struct Sent {
    std::uint64_t total;
    std::vector<std::byte> payload;
};

class Ring {
public:
    explicit Ring(Input &input) : input_(input) {}

    void step()
    {
        switch (input_.below(6)) {
        case 0:
        case 1:
            return put();
        case 2:
            return look();
        case 3:
            return consume();
        case 4:
            return forge();
        default:
            return lie();
        }
    }

private:
    std::span<std::byte> bytes()
    {
        return {cells_.front().bytes.data(), MIN_RING};
    }

    void put()
    {
        Sent sent{++count_, {}};
        sent.payload.assign(input_.below(ring_limit(MIN_RING) + 2),
                            static_cast<std::byte>(input_.below(256)));
        MessageHeader header{};
        header.kind = MessageKind::SEND;
        header.total = sent.total;
        const auto middle = sent.payload.begin() +
                            static_cast<std::ptrdiff_t>(input_.below(sent.payload.size() + 1));
        const std::array<std::span<const std::byte>, 2> pieces{
            std::span(sent.payload.begin(), middle), std::span(middle, sent.payload.end())};
        const bool fits = sent.payload.size() <= ring_limit(MIN_RING);
        if (writer_.put(header, pieces)) {
            require(fits, "a payload beyond the limit is refused");
            sent_.push_back(std::move(sent));
        } else {
            require(!fits || !honest_ || !sent_.empty(), "an empty ring takes a message");
        }
    }

    // Twice: a message stays until it is consumed, and a refusal changes nothing.
    void look()
    {
        Message first{};
        Message second{};
        const auto before = consumed_.load();
        const Arrived arrived = reader_.get(first);
        require(reader_.get(second) == arrived, "the answer stays");
        require(consumed_ == before, "looking takes nothing");
        require(!honest_ || (arrived == Arrived::MESSAGE) == !sent_.empty(),
                "a message arrives if one was put");
        if (arrived == Arrived::MESSAGE)
            check(first, second);
    }

    void check(const Message &message, const Message &again)
    {
        const auto ring = bytes();
        require(message.payload.size() <= ring_limit(MIN_RING), "a payload has a limit");
        require(message.payload.size() == message.header.length, "the header has its length");
        require(message.payload.data() >= ring.data() + sizeof(MessageHeader) &&
                    message.payload.data() + message.payload.size() <= ring.data() + ring.size(),
                "a payload is inside the ring");
        require(std::memcmp(&message.header, &again.header, sizeof message.header) == 0 &&
                    message.payload.data() == again.payload.data(),
                "the message is the same until it is consumed");
        require(message.header.kind != MessageKind::PAD, "a PAD is no message");
        if (honest_)
            require(message.header.total == sent_.front().total &&
                        std::ranges::equal(message.payload, sent_.front().payload),
                    "a message arrives as it was put");
    }

    void consume()
    {
        Message message{};
        const bool any = reader_.get(message) == Arrived::MESSAGE;
        const auto before = consumed_.load();
        reader_.consume();
        if (!any)
            return require(consumed_ == before, "nothing is no message to consume");
        require(consumed_ % CELL == 0 && consumed_ > before && consumed_ - before <= MIN_RING,
                "whole cells are consumed, a ring of them at most");
        if (!sent_.empty())
            sent_.pop_front();
        if (honest_)
            said_ = consumed_.load();
    }

    // A header, or a piece of one, as a hostile writer leaves it.
    void forge()
    {
        honest_ = false;
        MessageHeader header{};
        header.kind = static_cast<MessageKind>(input_.below(10));
        header.length = static_cast<std::uint32_t>(
            input_.below(4) != 0 ? input_.below(MIN_RING) : input_.number());
        header.present = static_cast<std::uint32_t>(input_.below(3));
        const auto cell = input_.below(4) != 0 ? consumed_ % MIN_RING / CELL
                                               : input_.below(MIN_RING / CELL);
        std::memcpy(bytes().data() + cell * CELL, &header, sizeof header);
    }

    // A hostile reader says that it has taken something else. The sound reader has a word of its own.
    void lie()
    {
        honest_ = false;
        said_ = input_.below(2) != 0 ? input_.number() : consumed_ + input_.below(2 * MIN_RING);
    }

    Input &input_;
    // On the heap: ASan sees a step outside.
    std::vector<Cell> cells_ = std::vector<Cell>(MIN_RING / CELL);
    std::atomic<std::uint64_t> consumed_ = 0;
    std::atomic<std::uint64_t> said_ = 0; // of it, to the writer
    rsmengine::RingWriter writer_{bytes(), said_};
    rsmengine::RingReader reader_{bytes(), consumed_};
    std::uint64_t count_ = 0;
    std::deque<Sent> sent_;
    bool honest_ = true;
};

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    Input input({data, size});
    Ring ring(input);
    while (!input.exhausted())
        ring.step();
    return 0;
}
