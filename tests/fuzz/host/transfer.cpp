// SPDX-License-Identifier: GPL-2.0
// Messages of a peer of provider rsm, and its words beside them: an input is a program of the peer and of
// the consumer. The wire is that of the unit tests (tests/unit/dapl_transfer_fake.cpp).
#include "require.hpp"
#include "source.hpp"

#include "../../unit/dapl_transfer_fake.h"

#include <algorithm>
#include <map>
#include <thread>

namespace {

using fake::Memory;
using rsmdat::Arrived;
using rsmdat::Channel;
using rsmdat::Message;
using rsmdat::MessageHeader;
using rsmdat::MessageKind;
using rsmtest::fuzz::Input;
using rsmtest::fuzz::require;
using Ring = Channel::Ring;

constexpr std::size_t SIZE = 8192;
constexpr DAT_COUNT EVENTS = 128; // of an EVD
constexpr std::uint64_t MOST_POSTS = 64;

// An adapter for all inputs, with memory that a peer may read, that it may write and that it may not reach.
class Adapter : public fake::Transfers {
public:
    Adapter()
    {
        testing::GTEST_FLAG(throw_on_failure) = true;
        SetUp();
        readable = make_memory(SIZE, DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG);
        writable = make_memory(SIZE, DAT_MEM_PRIV_LOCAL_WRITE_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
        own = make_memory(SIZE, DAT_MEM_PRIV_LOCAL_READ_FLAG);
    }
    void TestBody() override {}

    fake::Side begin(std::uint32_t node, std::unique_ptr<Channel> &peer)
    {
        readable.fill(1);
        own.fill(2);
        std::ranges::fill(writable.bytes, std::byte{});
        fake::Side side;
        side.ep = &ia->adopt(std::make_unique<rsmdat::Ep>(*ia, attributes()));
        side.ep->set_pz(pz);
        side.ep->set_recv_evd(side.recv = make_queue());
        side.ep->set_request_evd(side.request = make_queue());
        side.ep->set_connect_evd(side.connection = make_queue());
        peer = connect(side, node);
        channel_ = side.ep->link->channel;
        return side;
    }

    // The endpoint ends; its channel goes on another thread, which wants the lock.
    void end(const fake::Side &side)
    {
        const std::array events{side.recv, side.request, side.connection};
        const DAT_EP_HANDLE ep = side.ep->handle();
        guard.unlock();
        require(rsmdat::api::ep_free(ep) == DAT_SUCCESS, "an endpoint can be freed");
        while (!channel_.expired())
            std::this_thread::yield();
        for (const auto *evd : events)
            require(rsmdat::api::evd_free(evd->handle()) == DAT_SUCCESS, "an EVD can be freed");
        guard.lock();
    }

    Memory readable;
    Memory writable;
    Memory own;

private:
    rsmdat::Evd *make_queue()
    {
        return &ia->adopt(std::make_unique<rsmdat::Evd>(*ia, EVENTS, DAT_EVD_DEFAULT_FLAG, nullptr));
    }

    std::weak_ptr<Channel> channel_;
};

Adapter &adapter()
{
    static auto &instance = *new Adapter;
    return instance;
}

class Connection {
public:
    explicit Connection(Input &input)
        : input_(input), node_(input.below(2) != 0 ? fake::ELSEWHERE : fake::HERE),
          side_(adapter().begin(node_, peer_))
    {
    }
    ~Connection()
    {
        adapter().end(side_);
    }
    Connection(const Connection &) = delete;
    Connection &operator=(const Connection &) = delete;

    void step()
    {
        switch (input_.below(8)) {
        case 0:
            return post();
        case 1:
            return speak();
        case 2:
            return hear();
        default:
            return say();
        }
    }

    void check()
    {
        side_.ep->connector.poll(false);
        const auto state = side_.ep->state;
        require(state == DAT_EP_STATE_CONNECTED || state == DAT_EP_STATE_DISCONNECTED,
                "a peer ends a connection, or it does not");
        take_events(*side_.recv);
        take_events(*side_.request);
        require(state == DAT_EP_STATE_CONNECTED || posted_.empty(),
                "all that was posted has ended when the connection has");
    }

    void check_memory()
    {
        Memory expected = adapter().readable;
        expected.fill(1);
        require(expected.bytes == adapter().readable.bytes, "a peer does not write what it may read");
        expected.fill(2);
        require(expected.bytes == adapter().own.bytes, "a peer does not reach other memory");
    }

private:
    [[nodiscard]] bool ended() const { return side_.ep->state != DAT_EP_STATE_CONNECTED; }

    void remember(DAT_RETURN status, std::uint64_t length)
    {
        if (status == DAT_SUCCESS)
            posted_[cookie_] = length;
        ++cookie_;
    }

    void post()
    {
        if (ended() || cookie_ == MOST_POSTS)
            return;
        const std::uint64_t length = input_.below(SIZE + 1);
        const auto remote = adapter().readable.remote(0, length);
        switch (input_.below(4)) {
        case 0:
            return remember(side_.receive({adapter().writable.at(0, length)}, cookie_), length);
        case 1:
            return remember(side_.send({adapter().own.at(0, length)}, cookie_), length);
        case 2:
            return remember(side_.write({adapter().own.at(0, length)}, remote, cookie_), length);
        default:
            return remember(side_.read({adapter().writable.at(0, length)}, remote, cookie_), length);
        }
    }

    // A message: its parts are such as make sense, or not.
    void say()
    {
        MessageHeader header{};
        header.kind = static_cast<MessageKind>(input_.below(10));
        header.flags = static_cast<std::uint8_t>(input_.below(8));
        header.status = static_cast<std::uint16_t>(input_.below(16));
        header.context = context();
        header.address = base(header.context) + (input_.below(8) != 0 ? input_.below(SIZE) : input_.number());
        header.total = input_.below(8) != 0 ? input_.below(SIZE) : input_.number();
        const std::size_t length = input_.below(2) != 0 ? std::min<std::uint64_t>(header.total, 2048)
                                                        : input_.below(2048);
        const std::vector<std::byte> payload(length, std::byte{0x5a});
        const std::array pieces{std::span<const std::byte>(payload)};
        (void)peer_->send(input_.below(2) != 0 ? Ring::REQUEST : Ring::RESPONSE, header, pieces);
    }

    std::uint32_t context()
    {
        switch (input_.below(4)) {
        case 0:
            return adapter().readable.region->context;
        case 1:
            return adapter().writable.region->context;
        case 2:
            return adapter().own.region->context;
        default:
            return static_cast<std::uint32_t>(input_.number());
        }
    }

    static std::uint64_t base(std::uint32_t context)
    {
        for (const auto *memory : {&adapter().readable, &adapter().writable, &adapter().own})
            if (context == memory->region->context)
                return memory->address();
        return 0;
    }

    // What the peer says beside messages: how far it is, how it goes on.
    void speak()
    {
        if (ended())
            return;
        if (input_.below(4) != 0)
            return peer_->set_executed(input_.below(8) != 0 ? input_.below(16) : input_.number());
        side_.ep->link->channel->ours().state = static_cast<std::uint32_t>(
            input_.below(4) != 0 ? input_.below(10) : input_.number());
    }

    // The peer takes what it is sent: nothing that it may not read.
    void hear()
    {
        for (const Ring ring : {Ring::REQUEST, Ring::RESPONSE})
            for (Message message{}; peer_->receive(ring, message) == Arrived::MESSAGE;) {
                if (message.header.kind == MessageKind::READ_DATA)
                    check_data(message.payload);
                peer_->consume(ring);
            }
    }

    static void check_data(std::span<const std::byte> data)
    {
        const auto &bytes = adapter().readable.bytes;
        require(std::search(bytes.begin(), bytes.end(), data.begin(), data.end()) != bytes.end(),
                "a peer reads what it may read");
    }

    void take_events(rsmdat::Evd &evd)
    {
        for (DAT_EVENT event{}; evd.dequeue(event) == DAT_SUCCESS;) {
            require(event.event_number == DAT_DTO_COMPLETION_EVENT, "an EVD has its events");
            const auto &end = event.event_data.dto_completion_event_data;
            const auto posted = posted_.find(end.user_cookie.as_64);
            require(posted != posted_.end(), "what was posted ends once");
            require(end.status != DAT_DTO_SUCCESS || end.transfered_length <= posted->second,
                    "no more is moved than was posted");
            posted_.erase(posted);
        }
    }

    Input &input_;
    std::uint32_t node_;
    std::unique_ptr<Channel> peer_;
    fake::Side side_;
    std::map<std::uint64_t, std::uint64_t> posted_; // length by cookie
    std::uint64_t cookie_ = 0;
};

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    Input input({data, size});
    Connection connection(input);
    while (!input.exhausted()) {
        connection.step();
        connection.check();
    }
    connection.check_memory();
    return 0;
}
