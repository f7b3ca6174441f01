// SPDX-License-Identifier: MIT
#include "connect/nodes.h"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <sstream>

#include "support/regular_file.h"

namespace rsmengine {
namespace {

// The limit is enough for a thousand nodes.
constexpr std::size_t longest_file = 16U << 20U;

bool is_loopback(const sockaddr_storage &address) noexcept {
    if (address.ss_family == AF_INET)
        return ntohl(view<sockaddr_in>(address).sin_addr.s_addr) >> 24 == 127;
    const auto v6 = view<sockaddr_in6>(address);
    return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
}

// A link-local address may have a scope: "fe80::1%eth0". The text is a C string for the system.
std::optional<sockaddr_storage> parse_address(const std::string &text) {
    if (text.find('\0') != std::string::npos)
        return std::nullopt;
    sockaddr_in v4{};
    if (::inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
        v4.sin_family = AF_INET;
        return store(v4);
    }
    const auto sign = text.find('%');
    sockaddr_in6 v6{};
    if (::inet_pton(AF_INET6, text.substr(0, sign).c_str(), &v6.sin6_addr) != 1)
        return std::nullopt;
    v6.sin6_family = AF_INET6;
    if (sign == std::string::npos)
        return bare(reinterpret_cast<const sockaddr &>(v6));
    v6.sin6_scope_id = ::if_nametoindex(text.c_str() + sign + 1);
    if (v6.sin6_scope_id == 0 || !IN6_IS_ADDR_LINKLOCAL(&v6.sin6_addr))
        return std::nullopt;
    return store(v6);
}

std::optional<std::uint32_t> parse_node(const std::string &text) {
    std::uint32_t node = 0;
    const char *end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, node);
    if (error != std::errc{} || stop != end)
        return std::nullopt;
    return node;
}

void parse_line(std::istringstream words, std::vector<NodeTable::Entry> &entries) {
    std::string word;
    if (!(words >> word))
        return;
    const auto node = parse_node(word);
    if (!node)
        return;
    while (words >> word)
        if (const auto address = parse_address(word))
            entries.push_back({*node, *address});
}

struct Devices {
    std::vector<sockaddr_storage> all;
    std::optional<sockaddr_storage> first; // of a device that is up and no loopback
};

Devices read_devices() {
    ifaddrs *head = nullptr;
    Devices devices;
    if (::getifaddrs(&head) != 0)
        return devices;
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs *)> owner(head, ::freeifaddrs);
    for (const ifaddrs *one = head; one != nullptr; one = one->ifa_next) {
        const auto address = one->ifa_addr ? bare(*one->ifa_addr) : std::nullopt;
        if (!address)
            continue;
        devices.all.push_back(*address);
        const bool outside = (one->ifa_flags & (IFF_UP | IFF_LOOPBACK)) == IFF_UP;
        if (!devices.first && outside && address->ss_family == AF_INET)
            devices.first = address;
    }
    return devices;
}

} // namespace

NodeTable::NodeTable(const std::string &file, std::uint32_t own_node) : own_node_(own_node) {
    std::istringstream text(rsm::read_regular_file(file.c_str(), longest_file).value_or(""));
    entries_ = parse(text);
    const Devices devices = read_devices();
    local_ = devices.all;
    own_address_ = devices.first.value_or(internet(INADDR_LOOPBACK));
    const auto named = std::find_if(entries_.begin(), entries_.end(), [this](const Entry &entry) {
        return entry.node == own_node_ && is_local(entry.address);
    });
    if (named != entries_.end())
        own_address_ = named->address;
}

std::vector<NodeTable::Entry> NodeTable::parse(std::istream &text) {
    std::vector<Entry> entries;
    std::string line;
    while (std::getline(text, line))
        parse_line(std::istringstream(line.substr(0, line.find('#'))), entries);
    return entries;
}

bool NodeTable::is_local(const sockaddr_storage &address) const {
    const auto is_it = [&](const sockaddr_storage &one) { return same_address(one, address); };
    return is_loopback(address) || std::any_of(local_.begin(), local_.end(), is_it);
}

std::optional<std::uint32_t> NodeTable::node_of(const sockaddr &address) const {
    const auto plain = bare(address);
    if (!plain)
        return std::nullopt;
    if (is_local(*plain))
        return own_node_;
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry &entry) {
        return same_address(entry.address, *plain);
    });
    return found == entries_.end() ? std::nullopt : std::optional(found->node);
}

sockaddr_storage NodeTable::address_of(std::uint32_t node) const {
    if (node == own_node_)
        return own_address_;
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [node](const Entry &entry) { return entry.node == node; });
    return found == entries_.end() ? internet(INADDR_ANY) : found->address;
}

} // namespace rsmengine
