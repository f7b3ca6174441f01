// SPDX-License-Identifier: GPL-2.0
#include "net/peer/shell.hpp"

#include <cerrno>
#include <cstdio>
#include <sys/wait.h>

namespace rsmtest::net {

Answer run_shell(Args &args) {
    const std::string command = "exec 2>&1; " + args.rest();
    FILE *pipe = popen(command.c_str(), "re");
    if (!pipe)
        return {errno};
    Answer answer;
    char buffer[512];
    while (std::fgets(buffer, sizeof(buffer), pipe))
        answer.text += buffer;
    const int status = pclose(pipe);
    answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return answer;
}

} // namespace rsmtest::net
