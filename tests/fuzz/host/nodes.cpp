// SPDX-License-Identifier: GPL-2.0
// /etc/rsm/nodes: an input is the text of the file.
#include "require.hpp"

#include "connect/nodes.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <net/if.h>
#include <sstream>

namespace {

using rsmtest::fuzz::require;
using Entries = std::vector<rsmengine::NodeTable::Entry>;

Entries parse(const std::string &text)
{
    std::istringstream stream(text);
    return rsmengine::NodeTable::parse(stream);
}

bool same(const rsmengine::NodeTable::Entry &one, const rsmengine::NodeTable::Entry &other)
{
    return one.node == other.node &&
           std::memcmp(&one.address, &other.address, sizeof one.address) == 0;
}

std::string text_of(const sockaddr_storage &address)
{
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (address.ss_family == AF_INET) {
        const auto v4 = rsmengine::view<sockaddr_in>(address);
        require(::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size()), "it has a text");
        return text.data();
    }
    const auto v6 = rsmengine::view<sockaddr_in6>(address);
    require(::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size()), "it has a text");
    std::array<char, IF_NAMESIZE> link{};
    if (v6.sin6_scope_id == 0)
        return text.data();
    require(::if_indextoname(v6.sin6_scope_id, link.data()), "the link is a device");
    return std::string(text.data()) + "%" + link.data();
}

// Addresses that node_of() looks for are in this form, so an entry in another one would never be
// found.
void check_entry(const rsmengine::NodeTable::Entry &entry)
{
    const auto bare = rsmengine::bare(reinterpret_cast<const sockaddr &>(entry.address));
    require(bare && std::memcmp(&*bare, &entry.address, sizeof *bare) == 0,
            "an entry's address has the one form");
}

void check_round_trip(const Entries &entries)
{
    std::string text;
    for (const auto &[node, address] : entries)
        text += std::to_string(node) + "\t" + text_of(address) + " # comment\n";
    require(std::ranges::equal(parse(text), entries, same),
            "an entry that is written down is read again");
}

void check_lines(const std::string &text, const Entries &entries)
{
    std::istringstream stream(text);
    Entries alone;
    for (std::string line; std::getline(stream, line);)
        std::ranges::copy(parse(line), std::back_inserter(alone));
    require(std::ranges::equal(alone, entries, same), "lines are independent");
}

// Words that are an address end where the word ends.
void check_words(const std::string &text)
{
    std::istringstream stream(text);
    for (std::string word; stream >> word;)
        if (word.find('#') == std::string::npos && !parse("1 " + word).empty())
            require(word.find('\0') == std::string::npos, "no address has a zero byte");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const std::string text(reinterpret_cast<const char *>(data), size);
    const auto entries = parse(text);
    std::ranges::for_each(entries, check_entry);
    check_round_trip(entries);
    check_lines(text, entries);
    check_words(text);
    return 0;
}
