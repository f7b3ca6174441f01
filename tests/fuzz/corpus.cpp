// SPDX-License-Identifier: GPL-2.0
#include "corpus.hpp"

#include <array>
#include <fstream>
#include <unistd.h>

namespace rsmtest::fuzz {

std::vector<Bytes> load_corpus(const std::string &path)
{
    std::vector<Bytes> corpus;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#')
            continue;
        Bytes input;
        for (std::size_t i = 0; i + 1 < line.size() && input.size() < longest_input; i += 2)
            input.push_back(static_cast<std::uint8_t>(std::stoul(line.substr(i, 2), nullptr, 16)));
        corpus.push_back(std::move(input));
    }
    return corpus;
}

std::string to_text(const Bytes &input)
{
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const std::uint8_t byte : input) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

std::string corpus_beside_program()
{
    std::array<char, 4096> path{};
    const ssize_t length = readlink("/proc/self/exe", path.data(), path.size() - 1);
    const std::string program(path.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
    return program.substr(0, program.rfind('/') + 1) + "fuzz-corpus";
}

} // namespace rsmtest::fuzz
