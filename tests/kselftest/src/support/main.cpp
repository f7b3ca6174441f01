// SPDX-License-Identifier: GPL-2.0
#include "support/serve.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    // The form of a test that goes on as another program.
    if (std::getenv("RSM_TEST_SLEEPER")) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    // Children write to the same stream: whole lines only.
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
    std::signal(SIGPIPE, SIG_IGN);
    testing::InitGoogleTest(&argc, argv);
    if (argc == 4 && std::strcmp(argv[1], "--serve") == 0)
        return rsmtest::serve(std::atoi(argv[2]), std::atoi(argv[3]));
    return RUN_ALL_TESTS();
}
