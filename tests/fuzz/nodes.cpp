// SPDX-License-Identifier: GPL-2.0
#include "nodes.hpp"

#include <linux/rsm.h>
#include <poll.h>

namespace rsmtest::fuzz {
namespace {

// Bits of the manners: mode (9 bits), then these.
constexpr std::uint32_t refuses = 1u << 9;
constexpr std::uint32_t places_at_once = 1u << 10;
constexpr std::uint32_t bad_place = 1u << 11;
constexpr std::uint32_t bad_length = 1u << 12;
constexpr std::uint32_t declines = 1u << 13;

} // namespace

Nodes::Nodes()
{
    for (unsigned i = 0; i < most; i++) {
        auto node = std::make_unique<TestNode>(i);
        if (!node->valid())
            break;
        fcntl(node->descriptor(), F_SETFL, O_NONBLOCK);
        nodes_.push_back(std::move(node));
    }
    if (valid())
        thread_ = std::thread(&Nodes::answer_all, this);
}

Nodes::~Nodes()
{
    leaving_ = true;
    if (thread_.joinable())
        thread_.join();
}

void Nodes::answer_all()
{
    while (!leaving_) {
        pollfd entries[most];
        for (std::size_t i = 0; i < nodes_.size(); i++)
            entries[i] = {nodes_[i]->descriptor(), POLLIN, 0};
        if (poll(entries, nodes_.size(), 50) <= 0)
            continue;
        for (auto &node : nodes_) {
            while (const auto message = node->next())
                answer(*node, *message);
        }
    }
}

void Nodes::answer(TestNode &node, const Message &message)
{
    const auto &body = message.as<rsm_msg_connection>();
    const std::uint32_t manners = manners_;
    switch (message.type()) {
    case RSM_MSG_CONNECT:
        answer_connect(node, message.as<rsm_msg_connect>());
        break;
    case RSM_MSG_UNPUBLISH:
        node.send_connection(RSM_MSG_DISCONNECT, body.cookie, body.handle);
        break;
    case RSM_MSG_MOVE:
        node.send_connection(manners & declines ? RSM_MSG_DISCONNECT : RSM_MSG_MOVED, body.cookie,
                             body.handle);
        break;
    case RSM_MSG_PLACE: {
        auto move = node.make<rsm_msg_move>(RSM_MSG_MOVE);
        move.cookie = body.cookie;
        move.handle = body.handle;
        move.place[0] = manners & bad_place ? 1 : good_place;
        node.send(Message(move));
        break;
    }
    default:
        break;
    }
}

void Nodes::answer_connect(TestNode &node, const rsm_msg_connect &request)
{
    const std::uint32_t manners = manners_;
    auto answer = node.make<rsm_msg_connected>(RSM_MSG_CONNECTED);
    answer.cookie = request.cookie;
    if (manners & refuses) {
        answer.status = RSMERR_SEG_NOT_PUBLISHED_TO_NODE;
    } else {
        answer.handle = 1 + request.cookie % 4;
        answer.mode = (manners & 0777) ^ 0666;
        answer.length = manners & bad_length ? 4095 : 4 * page_size();
        if (manners & places_at_once)
            answer.place[0] = manners & bad_place ? 1 : good_place;
    }
    node.send(Message(answer));
}

// Numbers are small, as cookies and handles are at first.
void Nodes::forge(TestNode &node, Source &source)
{
    const auto type = static_cast<unsigned>(1 + source.below(17));
    const auto cookie = static_cast<std::uint32_t>(source.below(8));
    const auto handle = static_cast<std::uint32_t>(source.below(8));
    const auto value = static_cast<std::uint32_t>(source.below(65536));
    switch (type) {
    case RSM_MSG_CONNECT:
        node.connect(0x620000 + value % 4, cookie);
        return;
    case RSM_MSG_CONNECTED: {
        auto body = node.make<rsm_msg_connected>(RSM_MSG_CONNECTED);
        body.cookie = cookie;
        body.handle = handle;
        body.status = source.below(2) == 0 ? 0 : value;
        body.mode = value;
        body.length = source.below(9) * 2048;
        body.place[0] = source.below(2) == 0 ? 0 : good_place;
        node.send(Message(body));
        return;
    }
    case RSM_MSG_MOVE: {
        auto body = node.make<rsm_msg_move>(RSM_MSG_MOVE);
        body.cookie = cookie;
        body.handle = handle;
        body.place[0] = good_place + source.below(2);
        node.send(Message(body));
        return;
    }
    case RSM_MSG_HELLO:
    case RSM_MSG_WELCOME:
    case RSM_MSG_HEARTBEAT: {
        auto body = node.make<rsm_msg_hello>(type);
        body.header.version = static_cast<std::uint16_t>(1 + (value & 7) / 7);
        body.node = node.id() + (value >> 3 & 7) / 7;
        body.interval_ms = value;
        node.send(Message(body));
        return;
    }
    default:
        node.send_connection(type, cookie, handle, source.below(2) == 0 ? value : value << 16,
                             static_cast<std::uint32_t>(source.below(3)));
    }
}

void Nodes::act(Source &source)
{
    if (!valid())
        return;
    TestNode &node = *nodes_[source.below(nodes_.size())];
    if (source.below(4) == 0)
        manners_ = static_cast<std::uint32_t>(source.below(65536));
    else
        forge(node, source);
}

} // namespace rsmtest::fuzz
