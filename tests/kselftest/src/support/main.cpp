// SPDX-License-Identifier: GPL-2.0
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    // What a test becomes when it wants to go on as another program.
    if (std::getenv("RSM_TEST_SLEEPER")) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    // Children write to the same stream: whole lines only.
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
    std::signal(SIGPIPE, SIG_IGN);
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
