// SPDX-License-Identifier: GPL-2.0
// Feeds a fuzz target the files of a corpus, as a unit test: no libFuzzer, any compiler.
#include "require.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

std::vector<std::filesystem::path> files_of(const char *directory)
{
    const std::filesystem::directory_iterator entries(directory);
    std::vector<std::filesystem::path> files(begin(entries), end(entries));
    std::ranges::sort(files);
    return files;
}

// The name comes first: if the target aborts, the last line of the output is the input.
void replay(const std::filesystem::path &file)
{
    std::printf("%s\n", file.c_str());
    std::fflush(stdout);
    std::ifstream input(file, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(input), {});
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t *>(bytes.data()), bytes.size());
}

} // namespace

int main(int count, char **words)
{
    if (count != 2) {
        std::fprintf(stderr, "usage: %s CORPUS\n", words[0]);
        return 2;
    }
    const auto files = files_of(words[1]);
    std::ranges::for_each(files, replay);
    std::printf("%zu inputs\n", files.size());
    return files.empty() ? 1 : 0;
}
