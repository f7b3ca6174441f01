// SPDX-License-Identifier: GPL-2.0
// A program of kernel selftests as the runner starts it: one_by_one.h tells of the tests.
#include "support/serve.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

extern "C" {
int rsm_selftest_main(int argc, char **argv);
bool rsm_selftest_name(unsigned int wanted, char *name, std::size_t size);
void rsm_selftest_select(unsigned int wanted);
}

namespace {

class Selftests : public rsmtest::Tests {
public:
    std::vector<std::string> names() const override
    {
        std::vector<std::string> found;
        char name[rsmtest::longest_name];
        for (unsigned int i = 0; rsm_selftest_name(i, name, sizeof(name)); i++)
            found.emplace_back(name);
        return found;
    }
    int run(const std::string &wanted) const override
    {
        const auto all = names();
        for (unsigned int i = 0; i < all.size(); i++) {
            if (all[i] == wanted)
                rsm_selftest_select(i);
        }
        char name[] = "selftest";
        char *arguments[] = {name, nullptr};
        return rsm_selftest_main(1, arguments);
    }
};

} // namespace

int main(int argc, char **argv)
{
    if (argc >= 4 && std::strcmp(argv[argc - 3], "--serve") == 0)
        return rsmtest::serve(std::atoi(argv[argc - 2]), std::atoi(argv[argc - 1]), Selftests());
    return rsm_selftest_main(argc, argv);
}
