// SPDX-License-Identifier: MIT
// Scatter-gather: two pieces from different places go into a segment in one call, which ends with
// an event for the exporter; then one comes back into memory that was prepared beforehand.
#include <array>
#include <chrono>
#include <iostream>
#include <span>
#include <string_view>

#include <rsm/rsm.hpp>

namespace {

std::string_view text_in(const rsm::Pages &memory, std::size_t where, std::size_t length) {
    return {memory.as<char>().subspan(where, length).data(), length};
}

} // namespace

int main() try {
    const rsm::Controller loopback;
    const rsm::Pages memory(4096);
    rsm::Export segment(loopback, memory.bytes());
    rsm::Import connection(loopback, rsm::local_node(), segment.publish());

    const std::string_view one = "one";
    const std::string_view two = "two";
    connection.putv(std::array{rsm::piece(std::as_bytes(std::span(one)), 0),
                               rsm::piece(std::as_bytes(std::span(two)), 100)},
                    rsm::Signal::post);
    if (!segment.wait_for(std::chrono::seconds(30)))
        return 1;

    const rsm::Pages local(4096);
    const rsm::LocalMemory prepared(loopback, local.bytes());
    connection.getv(std::array{rsm::piece(prepared, 64, two.size(), 100)});
    std::cout << text_in(memory, 0, 3) << ' ' << text_in(memory, 100, 3) << ' '
              << text_in(local, 64, 3) << '\n';
    return text_in(memory, 0, 3) == one && text_in(local, 64, 3) == two ? 0 : 1;
} catch (const rsm::Error &error) {
    std::cerr << error.what() << '\n';
    return 1;
}
