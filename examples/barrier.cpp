// SPDX-License-Identifier: MIT
// Writes a record and then the flag that says it is complete, without waiting for each; and shows
// both ways to hear of an error.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <span>
#include <string_view>

#include <rsm/rsm.hpp>

namespace {

struct Mailbox {
    std::uint64_t complete;
    char text[56];
};

void send(rsm::Import &connection, std::string_view text) {
    rsm::BarrierScope scope = connection.barrier();
    connection.put_bytes(offsetof(Mailbox, text), std::as_bytes(std::span(text)));
    scope.order();
    connection.store<std::uint64_t>(offsetof(Mailbox, complete), 1);
    scope.close(); // throws unless everything has arrived
}

} // namespace

int main() try {
    const rsm::Controller loopback;
    const rsm::Pages memory(4096);
    rsm::Export segment(loopback, memory.bytes());
    rsm::Import connection(loopback, rsm::local_node(), segment.publish());

    send(connection, "in this order");
    const Mailbox &mailbox = memory.as<Mailbox>()[0];
    std::cout << mailbox.text << '\n';
    if (mailbox.complete != 1 || std::strcmp(mailbox.text, "in this order") != 0)
        return 1;

    segment.unpublish();
    const std::error_code error = connection.try_post();
    std::cout << "the segment has gone: " << error.message() << '\n';
    return error == rsm::Errc::conn_aborted ? 0 : 1;
} catch (const rsm::Error &error) {
    std::cerr << error.what() << '\n';
    return 1;
}
