// SPDX-License-Identifier: GPL-2.0
// Messages of a peer of provider rsm, its words beside them and its answer when a connection is set up: an
// input is a program of the peer and of the consumer. The wire is that of the unit tests
// (tests/unit/rsm/transfer_fake.cpp).
#include "require.hpp"
#include "source.hpp"

#include "../../unit/rsm/transfer_fake.h"
#include "connect/link.h"

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

namespace {

using fake::Memory;
using rsmengine::Arrived;
using rsmengine::Channel;
using rsmengine::link_of;
using rsmengine::Message;
using rsmengine::MessageHeader;
using rsmengine::MessageKind;
using rsmtest::fuzz::Input;
using rsmtest::fuzz::require;
using Ring = Channel::Ring;

constexpr std::uint8_t FIRST = rsmengine::message_flags::FIRST;
constexpr std::uint8_t LAST = rsmengine::message_flags::LAST;
constexpr std::size_t SIZE = 8192;
constexpr rsmengine::Count EVENTS = 128; // of an EVD
constexpr std::uint64_t MOST_POSTS = 64;
constexpr std::uint32_t MOST_READS = 2; // attributes of the unit tests' endpoints

// An adapter for all inputs, with memory that a peer may read, that it may write and that it may not reach.
class Adapter : public fake::Transfers {
public:
    Adapter()
    {
        testing::GTEST_FLAG(throw_on_failure) = true;
        SetUp();
        readable = make_memory(SIZE, rsmengine::rights::LOCAL_READ | rsmengine::rights::REMOTE_READ);
        writable = make_memory(SIZE, rsmengine::rights::LOCAL_WRITE | rsmengine::rights::REMOTE_WRITE);
        own = make_memory(SIZE, rsmengine::rights::LOCAL_READ);
    }
    void TestBody() override {}

    // An endpoint that waits for the peer's word in this state, or is connected.
    fake::Side begin(std::uint32_t node, rsmengine::EpState state, std::unique_ptr<Channel> &peer)
    {
        readable.fill(1);
        own.fill(2);
        std::ranges::fill(writable.bytes, std::byte{});
        fake::Side side;
        side.ep = &ia->adopt(std::make_unique<rsmengine::Ep>(*ia, attributes()));
        side.ep->set_pz(pz);
        side.ep->set_recv_evd(side.recv = make_queue());
        side.ep->set_request_evd(side.request = make_queue());
        side.ep->set_connect_evd(side.connection = make_queue());
        peer = connect(side, node);
        channel_ = link_of(*side.ep).channel;
        if (state != rsmengine::EpState::CONNECTED)
            wait_in(state, side);
        return side;
    }

    // The endpoint ends; its channel goes on another thread, which wants the lock.
    void end(const fake::Side &side)
    {
        const std::array events{side.recv, side.request, side.connection};
        const DAT_EP_HANDLE ep = side.ep->handle();
        guard.unlock();
        require(rsmdat::ep_free(ep) == DAT_SUCCESS, "an endpoint can be freed");
        while (!channel_.expired())
            std::this_thread::yield();
        for (const auto *evd : events)
            require(rsmdat::evd_free(evd->handle()) == DAT_SUCCESS, "an EVD can be freed");
        guard.lock();
    }

    Memory readable;
    Memory writable;
    Memory own;

private:
    // As Connector leaves it when the peer's segment is attached to.
    static void wait_in(rsmengine::EpState state, const fake::Side &side)
    {
        side.ep->link->active = state == rsmengine::EpState::ACTIVE_PENDING;
        link_of(*side.ep).arrived = true;
        link_of(*side.ep).channel->ours().state = static_cast<std::uint32_t>(rsmengine::LinkState::OFFERED);
        side.ep->prepare();
        side.ep->state = state;
    }

    rsmengine::Evd *make_queue()
    {
        return &ia->adopt(std::make_unique<rsmengine::Evd>(*ia, EVENTS, DAT_EVD_DEFAULT_FLAG, nullptr));
    }

    std::weak_ptr<Channel> channel_;
};

Adapter &adapter()
{
    static auto &instance = *new Adapter;
    return instance;
}

constexpr std::array STATES{rsmengine::EpState::CONNECTED, rsmengine::EpState::ACTIVE_PENDING,
                            rsmengine::EpState::COMPLETION_PENDING};

class Connection {
public:
    explicit Connection(Input &input)
        : input_(input), node_(input.below(2) != 0 ? fake::ELSEWHERE : fake::HERE),
          first_(STATES.at(input.below(STATES.size()))), side_(adapter().begin(node_, first_, peer_))
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
        switch (input_.below(12)) {
        case 0:
        case 1:
            return post();
        case 2:
            return speak();
        case 3:
            return receive();
        case 4:
            return disconnect();
        case 5:
        case 6:
            return say();
        default:
            return say_soundly();
        }
    }

    void check()
    {
        side_.ep->connector->poll(false);
        const auto state = side_.ep->state;
        require(state == first_ || state == rsmengine::EpState::CONNECTED ||
                    state == rsmengine::EpState::DISCONNECT_PENDING || state == rsmengine::EpState::DISCONNECTED,
                "a connection is set up, lasts and ends");
        take_events(*side_.recv);
        take_events(*side_.request);
        take_connection_events();
        require(state != rsmengine::EpState::DISCONNECTED || (posted_.empty() && told_end_),
                "all that was posted has ended when the connection has, and the consumer knows");
        if (side_.ep->link)
            require(side_.ep->link->max_rdma_read_in <= MOST_READS &&
                        side_.ep->link->max_rdma_read_out <= MOST_READS,
                    "the peer may agree to fewer reads at a time, not to more");
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
    [[nodiscard]] bool connected() const { return side_.ep->state == rsmengine::EpState::CONNECTED; }

    void remember(rsmengine::Status status, std::uint64_t length)
    {
        if (status == rsmengine::Status::OK)
            posted_[cookie_] = length;
        ++cookie_;
    }

    void post()
    {
        if (!connected() || cookie_ == MOST_POSTS)
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
        (void)put(input_.below(2) != 0 ? Ring::REQUEST : Ring::RESPONSE, header, length);
    }

    // A request that keeps the rules, or its next piece: else connections end before much has happened.
    void say_soundly()
    {
        if (left_ == 0)
            begin_request();
        const std::uint64_t size = std::min<std::uint64_t>(left_, 1 + input_.below(2048));
        const bool last = size == left_;
        MessageHeader header = arriving_;
        header.flags = static_cast<std::uint8_t>((left_ == arriving_.total ? FIRST : 0) | (last ? LAST : 0));
        const bool read = header.kind == MessageKind::READ;
        if (!put(Ring::REQUEST, header, read ? 0 : size))
            return;
        left_ = read ? 0 : left_ - size;
    }

    void begin_request()
    {
        constexpr std::array KINDS{MessageKind::SEND, MessageKind::WRITE, MessageKind::READ};
        arriving_ = {};
        arriving_.kind = KINDS.at(input_.below(KINDS.size()));
        left_ = arriving_.total = 1 + input_.below(SIZE / 2);
        const Memory &memory =
            arriving_.kind == MessageKind::READ ? adapter().readable : adapter().writable;
        arriving_.context = memory.region->context;
        arriving_.address = memory.address() + input_.below(SIZE / 2);
    }

    bool put(Ring ring, const MessageHeader &header, std::size_t length)
    {
        const std::vector<std::byte> payload(length, std::byte{0x5a});
        const std::array pieces{std::span<const std::byte>(payload)};
        return peer_->send(ring, header, pieces);
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

    // The peer's words beside messages: how far it is, its terms, how it goes on.
    void speak()
    {
        rsmengine::Handshake &handshake = peer_->peers();
        switch (input_.below(4)) {
        case 0:
            return offer(handshake.answer);
        case 1:
            handshake.state = static_cast<std::uint32_t>(
                input_.below(4) != 0 ? input_.below(10) : input_.number());
            return;
        default:
            return peer_->set_executed(input_.below(8) != 0 ? input_.below(16) : input_.number());
        }
    }

    void offer(rsmengine::Terms &terms)
    {
        terms.max_rdma_read_in = static_cast<std::uint32_t>(input_.number());
        terms.max_rdma_read_out = static_cast<std::uint32_t>(input_.number());
        terms.private_data_size = static_cast<std::uint32_t>(
            input_.below(4) != 0 ? input_.below(sizeof terms.private_data + 2) : input_.number());
        std::memset(terms.private_data, 0x5a, sizeof terms.private_data);
    }

    void disconnect()
    {
        if (side_.ep->state != rsmengine::EpState::DISCONNECTED)
            require(side_.ep->disconnect(input_.below(2) != 0 ? rsmengine::Close::ABRUPT
                                                              : rsmengine::Close::GRACEFUL) == rsmengine::Status::OK,
                    "a consumer can disconnect");
    }

    // The peer takes what it is sent: nothing that it may not read. It may do what it is asked for.
    void receive()
    {
        const bool obliging = input_.below(4) != 0;
        for (const Ring ring : {Ring::REQUEST, Ring::RESPONSE})
            for (Message message{}; peer_->receive(ring, message) == Arrived::MESSAGE;) {
                if (message.header.kind == MessageKind::READ_DATA)
                    check_data(message.payload);
                if (obliging)
                    oblige(message.header);
                peer_->consume(ring);
            }
    }

    void oblige(MessageHeader header)
    {
        if (header.kind == MessageKind::ASK) {
            header.kind = MessageKind::GRANT;
            header.status = rsmengine::on_wire(rsmengine::CompletionStatus::REMOTE_ACCESS);
            (void)put(Ring::RESPONSE, header, 0);
        } else if (header.kind == MessageKind::READ) {
            answer(header.total);
            peer_->set_executed(++carried_out_);
        } else if ((header.flags & LAST) != 0) {
            peer_->set_executed(++carried_out_);
        }
    }

    void answer(std::uint64_t length)
    {
        MessageHeader header{};
        header.kind = MessageKind::READ_DATA;
        for (std::uint64_t size = 0; length > 0; length -= size) {
            size = std::min<std::uint64_t>(length, peer_->limit(Ring::RESPONSE));
            if (!put(Ring::RESPONSE, header, size))
                return;
        }
    }

    static void check_data(std::span<const std::byte> data)
    {
        const auto &bytes = adapter().readable.bytes;
        require(std::search(bytes.begin(), bytes.end(), data.begin(), data.end()) != bytes.end(),
                "a peer reads what it may read");
    }

    void take_events(rsmengine::Evd &evd)
    {
        for (const rsmengine::Event *event = nullptr; evd.dequeue(event) == rsmengine::Status::OK;) {
            require(event->kind == rsmengine::EventKind::TRANSFER, "an EVD has its events");
            const auto &end = event->transfer;
            const auto posted = posted_.find(static_cast<std::uint64_t>(end.cookie));
            require(posted != posted_.end(), "what was posted ends once");
            require(end.status != rsmengine::CompletionStatus::OK || end.length <= posted->second,
                    "no more is moved than was posted");
            posted_.erase(posted);
        }
    }

    // It is established at most once, then it ends once.
    void take_connection_events()
    {
        for (const rsmengine::Event *event = nullptr;
             side_.connection->dequeue(event) == rsmengine::Status::OK;) {
            require(!told_end_, "nothing comes behind the end");
            if (event->kind == rsmengine::EventKind::ESTABLISHED)
                check_established(event->connection);
            else
                told_end_ = true;
        }
    }

    void check_established(const rsmengine::ConnectionChange &data)
    {
        require(first_ != rsmengine::EpState::CONNECTED && !std::exchange(told_established_, true),
                "it is established once");
        require(data.size >= 0 &&
                    data.size <= rsmengine::limits::PRIVATE_DATA,
                "private data has a limit");
        const std::span bytes(static_cast<const std::byte *>(data.private_data),
                              static_cast<std::size_t>(data.size));
        require(std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0x5a}; }),
                "private data is the peer's");
    }

    Input &input_;
    std::uint32_t node_;
    rsmengine::EpState first_;
    std::unique_ptr<Channel> peer_;
    fake::Side side_;
    std::map<std::uint64_t, std::uint64_t> posted_; // length by cookie
    std::uint64_t cookie_ = 0;
    MessageHeader arriving_{}; // the peer's request of which pieces are to come
    std::uint64_t left_ = 0;
    std::uint64_t carried_out_ = 0;
    bool told_established_ = false;
    bool told_end_ = false;
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
