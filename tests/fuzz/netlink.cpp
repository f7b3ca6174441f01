// SPDX-License-Identifier: GPL-2.0
#include "netlink.hpp"

#include <cstring>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <unistd.h>

namespace rsmtest::fuzz {
namespace {

constexpr std::size_t header_size = NLMSG_HDRLEN + GENL_HDRLEN;

std::vector<std::uint8_t> &buffer()
{
    static std::vector<std::uint8_t> bytes(std::size_t{1} << 16);
    return bytes;
}

// CTRL_ATTR_FAMILY_ID of an answer, or 0.
std::uint16_t family_id(const std::uint8_t *message, std::size_t size)
{
    for (std::size_t at = header_size; at + NLA_HDRLEN <= size;) {
        nlattr attribute;
        std::memcpy(&attribute, message + at, sizeof(attribute));
        std::uint16_t id = 0;
        if (attribute.nla_type == CTRL_ATTR_FAMILY_ID) {
            std::memcpy(&id, message + at + NLA_HDRLEN, sizeof(id));
            return id;
        }
        at += NLA_ALIGN(attribute.nla_len);
    }
    return 0;
}

} // namespace

NetlinkSocket::Request::Request(std::uint8_t command, bool dump) : bytes_(header_size)
{
    auto &header = *reinterpret_cast<nlmsghdr *>(bytes_.data());
    header.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | (dump ? NLM_F_DUMP : NLM_F_ACK));
    bytes_[NLMSG_HDRLEN] = command;
    bytes_[NLMSG_HDRLEN + 1] = 1;
}

void NetlinkSocket::Request::put(std::uint16_t type, const void *value, std::size_t size)
{
    const nlattr attribute{static_cast<std::uint16_t>(NLA_HDRLEN + size), type};
    const std::size_t at = bytes_.size();
    bytes_.resize(at + NLA_HDRLEN + NLA_ALIGN(size));
    std::memcpy(&bytes_[at], &attribute, sizeof(attribute));
    if (size > 0)
        std::memcpy(&bytes_[at + NLA_HDRLEN], value, size);
}

NetlinkSocket::NetlinkSocket() : fd_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC))
{
    Request request(CTRL_CMD_GETFAMILY, false);
    request.put(CTRL_ATTR_FAMILY_NAME, "rsm", 4);
    send_bytes(request.bytes(), GENL_ID_CTRL);
    const ssize_t got = recv(fd_.get(), buffer().data(), buffer().size(), 0);
    if (got > 0)
        family_ = family_id(buffer().data(), static_cast<std::size_t>(got));
}

void NetlinkSocket::send_bytes(const std::vector<std::uint8_t> &bytes, std::uint16_t family)
{
    std::vector<std::uint8_t> copy = bytes;
    auto &header = *reinterpret_cast<nlmsghdr *>(copy.data());
    header.nlmsg_len = static_cast<std::uint32_t>(copy.size());
    header.nlmsg_type = family;
    ::send(fd_.get(), copy.data(), copy.size(), 0);
}

void NetlinkSocket::send(const Request &request)
{
    send_bytes(request.bytes(), family_);
    while (recv(fd_.get(), buffer().data(), buffer().size(), MSG_DONTWAIT) > 0)
        ;
}

} // namespace rsmtest::fuzz
