// SPDX-License-Identifier: GPL-2.0
#include "netlink/support/client.hpp"

#include "support/system.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>

namespace rsmtest::netlink {

namespace {

constexpr std::size_t most_at_once = 1 << 16;

std::uint64_t to_number(std::span<const std::uint8_t> bytes)
{
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof(value)));
    return value;
}

std::vector<std::uint8_t> payload(const nlattr *attribute)
{
    const auto *data = static_cast<const std::uint8_t *>(nla_data(attribute));
    return {data, data + nla_len(attribute)};
}

// The kernel's words in an error message or behind the error of a dump.
std::string words_of(const nlmsghdr &header, std::size_t skip)
{
    const auto *base = static_cast<const char *>(nlmsg_data(&header));
    const int left = static_cast<int>(nlmsg_datalen(&header)) - static_cast<int>(skip);
    if (!(header.nlmsg_flags & NLM_F_ACK_TLVS) || left <= 0)
        return {};
    const nlattr *words = nla_find(reinterpret_cast<const nlattr *>(base + skip), left,
                                   NLMSGERR_ATTR_MSG);
    return words ? nla_get_string(words) : std::string();
}

} // namespace

Message::Message(const nlmsghdr &header)
    : command_(genlmsg_hdr(const_cast<nlmsghdr *>(&header))->cmd),
      interrupted_(header.nlmsg_flags & NLM_F_DUMP_INTR)
{
    const auto *body = static_cast<const std::uint8_t *>(nlmsg_data(&header)) + GENL_HDRLEN;
    attributes_.assign(body, body + nlmsg_datalen(&header) - GENL_HDRLEN);
}

std::vector<Message::Bytes> Message::all(int attribute) const
{
    const auto *first = reinterpret_cast<const nlattr *>(attributes_.data());
    std::vector<Bytes> found;
    int left = 0;
    const nlattr *at = nullptr;
    nla_for_each_attr(at, first, static_cast<int>(attributes_.size()), left)
        if (nla_type(at) == attribute)
            found.push_back(payload(at));
    return found;
}

std::vector<int> Message::types() const
{
    const auto *first = reinterpret_cast<const nlattr *>(attributes_.data());
    std::vector<int> found;
    int left = 0;
    const nlattr *at = nullptr;
    nla_for_each_attr(at, first, static_cast<int>(attributes_.size()), left)
        found.push_back(nla_type(at));
    return found;
}

std::uint64_t Message::number(int attribute) const
{
    const auto found = all(attribute);
    EXPECT_EQ(found.size(), 1U) << "attribute " << attribute << " of command " << command_;
    return found.empty() ? 0 : to_number(found[0]);
}

std::string Message::text(int attribute) const
{
    const auto found = all(attribute);
    EXPECT_EQ(found.size(), 1U) << "attribute " << attribute << " of command " << command_;
    if (found.empty() || found[0].empty())
        return {};
    EXPECT_EQ(found[0].back(), 0) << "a string that has no end";
    return reinterpret_cast<const char *>(found[0].data());
}

std::vector<std::uint64_t> Message::nested(int nest, int attribute) const
{
    std::vector<std::uint64_t> numbers;
    for (const Bytes &bytes : all(nest)) {
        const nlattr *found = nla_find(reinterpret_cast<const nlattr *>(bytes.data()),
                                       static_cast<int>(bytes.size()), attribute);
        EXPECT_TRUE(found) << "attribute " << attribute << " in nest " << nest;
        if (found)
            numbers.push_back(to_number(payload(found)));
    }
    return numbers;
}

Request &Request::put(int attribute, std::uint32_t value)
{
    std::array<std::uint8_t, sizeof(value)> bytes{};
    std::memcpy(bytes.data(), &value, sizeof(value));
    return raw(attribute, bytes);
}

Request &Request::put(int attribute, const std::string &value)
{
    const auto *bytes = reinterpret_cast<const std::uint8_t *>(value.c_str());
    return raw(attribute, {bytes, value.size() + 1});
}

Request &Request::raw(int attribute, std::span<const std::uint8_t> bytes)
{
    attributes.push_back({attribute, {bytes.begin(), bytes.end()}});
    return *this;
}

const Message &Result::one() const
{
    static const struct {
        nlmsghdr header{NLMSG_HDRLEN + GENL_HDRLEN, 0, 0, 0, 0};
        genlmsghdr command{};
    } empty;
    static const Message none(empty.header);
    EXPECT_EQ(error, 0) << words;
    EXPECT_EQ(messages.size(), 1U);
    return messages.empty() ? none : messages.front();
}

Client::Client() : socket_(nl_socket_alloc())
{
    if (!socket_ || genl_connect(socket_.get()) != 0)
        return;
    family_ = genl_ctrl_resolve(socket_.get(), RSM_FAMILY_NAME);
    const int on = 1;
    setsockopt(descriptor(), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
    setsockopt(descriptor(), SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
}

void Client::limit_buffer(int bytes)
{
    setsockopt(descriptor(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
}

Client::Encoded Client::encode(const Request &request, int flags) const
{
    Encoded message(nlmsg_alloc(), nlmsg_free);
    genlmsg_put(message.get(), NL_AUTO_PORT, NL_AUTO_SEQ, family_, 0, flags | request.flags,
                static_cast<std::uint8_t>(request.command), RSM_FAMILY_VERSION);
    for (const auto &attribute : request.attributes)
        EXPECT_EQ(nla_put(message.get(), attribute.type,
                          static_cast<int>(attribute.bytes.size()), attribute.bytes.data()),
                  0);
    return message;
}

std::vector<std::uint8_t> Client::encoded(const Request &request, int flags)
{
    const Encoded message = encode(request, flags);
    nl_complete_msg(socket_.get(), message.get());
    const auto *header = reinterpret_cast<const std::uint8_t *>(nlmsg_hdr(message.get()));
    return {header, header + nlmsg_hdr(message.get())->nlmsg_len};
}

bool Client::send(const Request &request, int flags)
{
    const Encoded message = encode(request, flags);
    if (addressed)
        return nl_send_auto(socket_.get(), message.get()) > 0;
    nl_complete_msg(socket_.get(), message.get());
    const nlmsghdr *header = nlmsg_hdr(message.get());
    return write(descriptor(), header, header->nlmsg_len) == ssize_t{header->nlmsg_len};
}

bool Client::take(const nlmsghdr &header, Result &result)
{
    result.interrupted |= bool(header.nlmsg_flags & NLM_F_DUMP_INTR);
    if (header.nlmsg_type == NLMSG_ERROR) {
        const auto *error = static_cast<const nlmsgerr *>(nlmsg_data(&header));
        result.error = -error->error;
        // The request is not repeated: NETLINK_CAP_ACK.
        result.words = words_of(header, sizeof(*error));
        return false;
    }
    if (header.nlmsg_type == NLMSG_DONE) {
        std::memcpy(&result.error, nlmsg_data(&header), sizeof(int));
        result.error = -result.error;
        result.words = words_of(header, sizeof(int));
        return false;
    }
    if (header.nlmsg_type == family_ && header.nlmsg_seq == 0)
        events_.emplace_back(header);
    else if (header.nlmsg_type == family_)
        result.messages.emplace_back(header);
    return true;
}

Result Client::answer()
{
    std::vector<std::uint8_t> buffer(most_at_once);
    Result result;
    for (;;) {
        const ssize_t got = recv(descriptor(), buffer.data(), buffer.size(), 0);
        if (got < 0) {
            result.error = errno;
            return result;
        }
        int left = static_cast<int>(got);
        for (auto *header = reinterpret_cast<nlmsghdr *>(buffer.data()); nlmsg_ok(header, left);
             header = nlmsg_next(header, &left))
            if (!take(*header, result))
                return result;
    }
}

Result Client::ask(const Request &request)
{
    EXPECT_TRUE(send(request, NLM_F_REQUEST | NLM_F_ACK));
    return answer();
}

Result Client::dump(Request request)
{
    EXPECT_TRUE(send(request, NLM_F_REQUEST | NLM_F_DUMP));
    return answer();
}

int Client::subscribe()
{
    const int group = genl_ctrl_resolve_grp(socket_.get(), RSM_FAMILY_NAME, RSM_MCGRP_EVENTS);
    EXPECT_GT(group, 0);
    return setsockopt(descriptor(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group,
                      sizeof(group)) == 0
               ? 0
               : errno;
}

std::optional<Message> Client::event(const Place &place)
{
    const Waiting waiting("an event of family rsm", place);
    std::vector<std::uint8_t> buffer(most_at_once);
    Result rest;
    while (events_.empty()) {
        int left = static_cast<int>(recv(descriptor(), buffer.data(), buffer.size(), 0));
        if (left < 0 && errno == EINTR)
            continue;
        if (left <= 0)
            return {};
        for (auto *header = reinterpret_cast<nlmsghdr *>(buffer.data()); nlmsg_ok(header, left);
             header = nlmsg_next(header, &left))
            take(*header, rest);
    }
    Message first = events_.front();
    events_.erase(events_.begin());
    return first;
}

} // namespace rsmtest::netlink
