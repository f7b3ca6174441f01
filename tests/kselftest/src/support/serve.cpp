// SPDX-License-Identifier: GPL-2.0
#include "support/serve.hpp"

#include "support/waiting.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <execinfo.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rsmtest {
namespace {

bool send_text(int control, const std::string &text)
{
    return send(control, text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
}

bool send_number(int control, std::int64_t value)
{
    return send(control, &value, sizeof(value), MSG_NOSIGNAL) == sizeof(value);
}

bool send_list(int control, const Tests &tests)
{
    for (const std::string &name : tests.names()) {
        if (!send_text(control, name))
            return false;
    }
    return send_text(control, end_of_list);
}

// Each thread of a test that takes too long is sent this signal: it shows where the thread is.
void show_stack(int)
{
    Waiting::show();
    void *frames[64];
    backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
}

void prepare_stacks()
{
    // The first call loads a library, which a signal handler must not.
    void *frame = nullptr;
    backtrace(&frame, 1);
}

// The test's process before the test runs in it.
void become_test(int output)
{
    setsid();
    // Without the runner there is nobody to end a test that goes on.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct sigaction action {};
    action.sa_handler = show_stack;
    action.sa_flags = SA_RESTART;
    sigaction(SIGQUIT, &action, nullptr);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    close(output);
}

// Orphans of the test end here, too, since this process adopts them.
int reap_until(pid_t test)
{
    for (;;) {
        int status = 0;
        const pid_t ended = waitpid(-1, &status, 0);
        if (ended == test)
            return status;
        if (ended < 0 && errno != EINTR)
            return -1;
    }
}

bool orphans_left()
{
    pid_t ended = 1;
    while (ended > 0 || (ended < 0 && errno == EINTR))
        ended = waitpid(-1, nullptr, WNOHANG);
    return ended == 0;
}

bool tell_end(int control, pid_t test)
{
    return send_number(control, test) && (test < 0 || send_number(control, reap_until(test)));
}

} // namespace

int serve(int control, int output, const Tests &tests)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prepare_stacks();
    bool heard = send_list(control, tests);
    while (heard) {
        char name[longest_name];
        const ssize_t length = recv(control, name, sizeof(name), 0);
        if (length <= 0)
            break;
        const std::string order(name, static_cast<std::size_t>(length));
        if (order == orphans_request) {
            heard = send_number(control, orphans_left() ? 1 : 0);
            continue;
        }
        std::fflush(nullptr);
        const pid_t test = fork();
        if (test == 0) {
            close(control);
            become_test(output);
            return tests.run(order);
        }
        heard = tell_end(control, test);
    }
    return 0;
}

} // namespace rsmtest
