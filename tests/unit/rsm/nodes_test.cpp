// SPDX-License-Identifier: MIT
// Which addresses are which node, for the provider `rsm`.
#include "connect/nodes.h"

#include <arpa/inet.h>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace rsmengine;

constexpr std::uint32_t OWN = 3;

sockaddr_storage v4(const char *text, std::uint16_t port = 0) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    EXPECT_EQ(::inet_pton(AF_INET, text, &address.sin_addr), 1);
    sockaddr_storage result{};
    std::memcpy(&result, &address, sizeof address);
    return result;
}

sockaddr_storage v6(const char *text) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(7);
    address.sin6_scope_id = 2;
    EXPECT_EQ(::inet_pton(AF_INET6, text, &address.sin6_addr), 1);
    sockaddr_storage result{};
    std::memcpy(&result, &address, sizeof address);
    return result;
}

const sockaddr &plain(const sockaddr_storage &address) {
    return reinterpret_cast<const sockaddr &>(address);
}

std::string text_of(const sockaddr_storage &address) {
    sockaddr_in internet{};
    std::memcpy(&internet, &address, sizeof internet);
    std::array<char, INET_ADDRSTRLEN> text{};
    ::inet_ntop(AF_INET, &internet.sin_addr, text.data(), text.size());
    return text.data();
}

class DaplRsmNodes : public testing::Test {
  protected:
    explicit DaplRsmNodes(const char *text = "# node address\n"
                                             "4 192.0.2.4 2001:db8::4\n"
                                             "  5\t192.0.2.5 # five\n"
                                             "5 192.0.2.55\n"
                                             "3 127.0.0.9\n") {
        std::ofstream(file_) << text;
    }
    ~DaplRsmNodes() override { std::filesystem::remove(file_); }

    const std::string file_ =
        std::filesystem::temp_directory_path() / ("rsm-nodes-" + std::to_string(::getpid()));
};

TEST_F(DaplRsmNodes, the_file_says_who_others_are) {
    const NodeTable table(file_, OWN);
    EXPECT_EQ(table.node_of(plain(v4("192.0.2.4"))), 4U);
    EXPECT_EQ(table.node_of(plain(v4("192.0.2.55"))), 5U);
    EXPECT_EQ(table.node_of(plain(v4("192.0.2.6"))), std::nullopt);
}

TEST_F(DaplRsmNodes, ports_and_scopes_do_not_matter) {
    const NodeTable table(file_, OWN);
    EXPECT_EQ(table.node_of(plain(v4("192.0.2.4", 4711))), 4U);
    EXPECT_EQ(table.node_of(plain(v6("2001:db8::4"))), 4U);
    EXPECT_EQ(table.node_of(plain(v6("2001:db8::5"))), std::nullopt);
}

TEST_F(DaplRsmNodes, an_ipv4_address_may_come_as_ipv6) {
    const NodeTable table(file_, OWN);
    EXPECT_EQ(table.node_of(plain(v6("::ffff:192.0.2.5"))), 5U);
    EXPECT_EQ(table.node_of(plain(v6("::ffff:127.0.0.1"))), OWN);
}

TEST_F(DaplRsmNodes, the_file_may_write_an_ipv4_address_as_ipv6) {
    std::ofstream(file_) << "6 ::ffff:192.0.2.6\n";
    const NodeTable table(file_, OWN);
    EXPECT_EQ(table.node_of(plain(v4("192.0.2.6"))), 6U);
    EXPECT_EQ(table.node_of(plain(v6("::ffff:192.0.2.6"))), 6U);
    EXPECT_EQ(table.address_of(6).ss_family, AF_INET);
}

TEST_F(DaplRsmNodes, loopback_is_this_node_whatever_the_file_says) {
    std::ofstream(file_) << "9 127.0.0.1 ::1\n";
    const NodeTable table(file_, OWN);
    EXPECT_EQ(table.node_of(plain(v4("127.0.0.1"))), OWN);
    EXPECT_EQ(table.node_of(plain(v4("127.1.2.3"))), OWN);
    EXPECT_EQ(table.node_of(plain(v6("::1"))), OWN);
}

TEST_F(DaplRsmNodes, the_own_address_is_the_files_if_it_is_a_local_one) {
    const NodeTable table(file_, OWN);
    EXPECT_EQ(text_of(table.own_address()), "127.0.0.9");
    EXPECT_EQ(text_of(table.address_of(OWN)), "127.0.0.9");
}

TEST_F(DaplRsmNodes, the_own_address_is_never_one_of_others) {
    const NodeTable table(file_, 4); // 192.0.2.4 is no device's here
    EXPECT_NE(text_of(table.own_address()), "192.0.2.4");
    EXPECT_EQ(table.own_address().ss_family, AF_INET);
    EXPECT_EQ(table.node_of(plain(table.own_address())), 4U);
}

TEST_F(DaplRsmNodes, others_are_shown_with_their_first_address) {
    const NodeTable table(file_, OWN);
    EXPECT_EQ(text_of(table.address_of(5)), "192.0.2.5");
    EXPECT_EQ(text_of(table.address_of(6)), "0.0.0.0");
}

TEST_F(DaplRsmNodes, without_a_file_there_is_this_node_alone) {
    const NodeTable table("/nonexistent/nodes", OWN);
    EXPECT_EQ(table.node_of(plain(v4("127.0.0.1"))), OWN);
    EXPECT_EQ(table.node_of(plain(v4("192.0.2.4"))), std::nullopt);
}

// Nobody writes to the FIFO, and /dev/zero does not end.
TEST_F(DaplRsmNodes, without_a_regular_file_there_is_this_node_alone) {
    std::filesystem::remove(file_);
    ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
    for (const auto &file : {file_, std::string("/dev/zero"), std::string("/tmp")}) {
        const NodeTable table(file, OWN);
        EXPECT_EQ(table.node_of(plain(v4("127.0.0.1"))), OWN) << file;
        EXPECT_EQ(table.node_of(plain(v4("192.0.2.4"))), std::nullopt) << file;
    }
}

TEST(DaplRsmNodesText, what_can_not_be_understood_is_skipped) {
    std::istringstream text("x 192.0.2.1\n"
                            "-1 192.0.2.1\n"
                            "4294967296 192.0.2.1\n"
                            "1x 192.0.2.1\n"
                            "1\n"
                            "2 192.0.2.256 nonsense 192.0.2.2\n"
                            "\n#\n \t \n"
                            "3 192.0.2.3");
    const auto entries = NodeTable::parse(text);
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_EQ(entries[0].node, 2U);
    EXPECT_EQ(text_of(entries[0].address), "192.0.2.2");
    EXPECT_EQ(entries[1].node, 3U);
}

TEST(DaplRsmNodesText, an_address_ends_where_its_word_ends) {
    using namespace std::string_literals;
    std::istringstream text("1 192.0.2.1\0x 2001:db8::4\0 fe80::7%lo\0\n2 192.0.2.2\n"s);
    const auto entries = NodeTable::parse(text);
    ASSERT_EQ(entries.size(), 1U);
    EXPECT_EQ(entries[0].node, 2U);
}

TEST(DaplRsmNodesText, which_addresses_a_service_can_have) {
    EXPECT_EQ(kind_of(plain(v4("192.0.2.1"))), AddressKind::UNICAST);
    EXPECT_EQ(kind_of(plain(v4("224.0.0.1"))), AddressKind::UNSUPPORTED);
    EXPECT_EQ(kind_of(plain(v4("255.255.255.255"))), AddressKind::UNSUPPORTED);
    EXPECT_EQ(kind_of(plain(v4("0.0.0.0"))), AddressKind::MALFORMED);
    EXPECT_EQ(kind_of(plain(v4("240.0.0.1"))), AddressKind::MALFORMED);
    EXPECT_EQ(kind_of(plain(v6("2001:db8::1"))), AddressKind::UNICAST);
    EXPECT_EQ(kind_of(plain(v6("ff02::1"))), AddressKind::UNSUPPORTED);
    EXPECT_EQ(kind_of(plain(v6("::"))), AddressKind::MALFORMED);
    sockaddr_storage other{};
    other.ss_family = AF_UNIX;
    EXPECT_EQ(kind_of(plain(other)), AddressKind::MALFORMED);
}

sockaddr_storage link_local(std::uint32_t scope) {
    sockaddr_storage address = v6("fe80::7");
    auto with = view<sockaddr_in6>(address);
    with.sin6_scope_id = scope;
    return store(with);
}

// The scope of a link-local address says which link; that of any other address says nothing.
TEST(DaplRsmAddresses, LinkLocalAddressesKeepTheirScope) {
    EXPECT_EQ(view<sockaddr_in6>(*bare(plain(link_local(5)))).sin6_scope_id, 5U);
    EXPECT_EQ(view<sockaddr_in6>(*bare(plain(v6("2001:db8::4")))).sin6_scope_id, 0U);
    const auto on_5 = *bare(plain(link_local(5)));
    EXPECT_TRUE(same_address(on_5, *bare(plain(link_local(5)))));
    EXPECT_TRUE(same_address(on_5, *bare(plain(link_local(0)))));
    EXPECT_FALSE(same_address(on_5, *bare(plain(link_local(6)))));
}

TEST(DaplRsmAddresses, ALinkLocalAddressWithoutScopeIsOnTheOwnLink) {
    auto peer = link_local(0);
    complete_scope(peer, v4("192.0.2.1"));
    EXPECT_EQ(view<sockaddr_in6>(peer).sin6_scope_id, 0U);
    complete_scope(peer, link_local(5));
    EXPECT_EQ(view<sockaddr_in6>(peer).sin6_scope_id, 5U);
    complete_scope(peer, link_local(6));
    EXPECT_EQ(view<sockaddr_in6>(peer).sin6_scope_id, 5U);
}

TEST(DaplRsmAddresses, TheFileMayNameTheLink) {
    std::istringstream text("4 fe80::7%lo\n5 fe80::8%no-such-device\n");
    const auto entries = NodeTable::parse(text);
    ASSERT_EQ(entries.size(), 1U);
    EXPECT_EQ(view<sockaddr_in6>(entries[0].address).sin6_scope_id, ::if_nametoindex("lo"));
}

} // namespace
