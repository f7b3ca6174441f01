// SPDX-License-Identifier: GPL-2.0
#include "support/sequel.hpp"
#include "support/serve.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace {

class GoogleTests : public rsmtest::Tests {
public:
    std::vector<std::string> names() const override
    {
        std::vector<std::string> found;
        const testing::UnitTest &all = *testing::UnitTest::GetInstance();
        for (int i = 0; i < all.total_test_suite_count(); i++) {
            const testing::TestSuite &suite = *all.GetTestSuite(i);
            for (int j = 0; j < suite.total_test_count(); j++)
                found.push_back(std::string(suite.name()) + "." + suite.GetTestInfo(j)->name());
        }
        return found;
    }
    int run(const std::string &name) const override
    {
        testing::GTEST_FLAG(filter) = name;
        return RUN_ALL_TESTS();
    }
};

} // namespace

int main(int argc, char **argv)
{
    int result = 0;
    if (rsmtest::Sequel::run(result))
        return result;
    // Children write to the same stream: whole lines only.
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
    std::signal(SIGPIPE, SIG_IGN);
    testing::InitGoogleTest(&argc, argv);
    if (argc == 4 && std::strcmp(argv[1], "--serve") == 0)
        return rsmtest::serve(std::atoi(argv[2]), std::atoi(argv[3]), GoogleTests());
    return RUN_ALL_TESTS();
}
