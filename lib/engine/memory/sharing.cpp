// SPDX-License-Identifier: MIT
#include "engine/memory/sharing.h"

#include <charconv>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace rsmengine {

namespace {

struct MapsLine {
    std::uint64_t start;
    std::uint64_t end;
    bool shared;
};

// "7f12a000-7f12b000 rw-s 00000000 ..."
std::optional<MapsLine> parse(std::string_view line) noexcept {
    constexpr std::size_t SHARED_AT = 4; // "-" or " ", "rwx", then this letter
    MapsLine result{};
    const char *last = line.data() + line.size();
    auto [dash, error] = std::from_chars(line.data(), last, result.start, 16);
    if (error != std::errc() || dash == last || *dash != '-')
        return {};
    const auto end = std::from_chars(dash + 1, last, result.end, 16);
    if (end.ec != std::errc() || last - end.ptr <= static_cast<std::ptrdiff_t>(SHARED_AT))
        return {};
    result.shared = end.ptr[SHARED_AT] == 's';
    return result;
}

} // namespace

Sharing sharing_of(std::istream &maps, std::uint64_t address, std::uint64_t length) {
    const std::uint64_t end = address + length;
    bool all_shared = true;
    std::string text;
    while (address < end && std::getline(maps, text)) {
        const auto line = parse(text);
        if (!line || line->end <= address)
            continue;
        if (line->start > address)
            return Sharing::ABSENT;
        all_shared = all_shared && line->shared;
        address = line->end;
    }
    if (address < end)
        return Sharing::ABSENT;
    return all_shared ? Sharing::SHARED : Sharing::PRIVATE;
}

Sharing sharing_of(std::uint64_t address, std::uint64_t length) {
    std::ifstream maps("/proc/self/maps");
    return maps ? sharing_of(maps, address, length) : Sharing::PRIVATE;
}

} // namespace rsmengine
