// SPDX-License-Identifier: GPL-2.0
#include "rsmctl/program.hpp"

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rsmtest {

namespace {


std::string read_all(int fd)
{
    std::string text;
    char part[4096];
    ssize_t got = 0;
    while ((got = read(fd, part, sizeof(part))) > 0)
        text.append(part, static_cast<std::size_t>(got));
    return text;
}

} // namespace

Program::Program(const Words &arguments, const std::optional<User> &user)
{
    int out[2];
    int err[2];
    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
        ADD_FAILURE() << "no pipes";
        return;
    }
    out_end_ = Fd(out[0]);
    err_end_ = Fd(err[0]);
    const Fd its_out(out[1]);
    const Fd its_err(err[1]);
    std::fflush(nullptr);
    pid_ = fork();
    if (pid_ == 0)
        become_program(arguments, user, its_out.get(), its_err.get());
}

Program::~Program()
{
    if (pid_ > 0) {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
}

void Program::become_program(const Words &arguments, const std::optional<User> &user, int out,
                             int err)
{
    std::vector<const char *> pointers{"rsmctl"};
    for (const auto &argument : arguments)
        pointers.push_back(argument.c_str());
    pointers.push_back(nullptr);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    if (!user || become(*user)) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execvp("rsmctl", const_cast<char *const *>(pointers.data()));
    }
    _exit(127);
}

bool Program::read_more()
{
    const Waiting waiting("a line of rsmctl");
    char part[4096];
    const auto got = read(out_end_.get(), part, sizeof(part));
    if (got > 0)
        out_.append(part, static_cast<std::size_t>(got));
    return got > 0;
}

std::optional<std::string> Program::line()
{
    auto end = out_.find('\n');
    for (; end == std::string::npos; end = out_.find('\n')) {
        if (!read_more())
            return {};
    }
    const auto text = out_.substr(0, end);
    out_.erase(0, end + 1);
    return text;
}

int Program::wait()
{
    int status = 0;
    out_ += read_all(out_end_.get());
    err_ += read_all(err_end_.get());
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Outcome rsmctl(const Words &arguments, const std::optional<User> &user)
{
    Program program(arguments, user);
    const int status = program.wait();
    return {status, program.out(), program.err()};
}

Json rsmctl_json(Words arguments, const std::optional<User> &user)
{
    arguments.emplace_back("-j");
    const auto outcome = rsmctl(arguments, user);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.err, "");
    return Json::parse(outcome.out, nullptr, false);
}

Json find(const Json &list, const std::string &key, const Json &value)
{
    const auto matches = [&](const Json &item) { return item.contains(key) && item[key] == value; };
    if (!list.is_array() || std::count_if(list.begin(), list.end(), matches) != 1)
        return {};
    return *std::find_if(list.begin(), list.end(), matches);
}

Json next_event(Program &monitor, const std::string &event, const std::string &key,
                const Json &value)
{
    while (const auto line = monitor.line()) {
        const auto json = Json::parse(*line, nullptr, false);
        EXPECT_TRUE(json.is_object() && json.contains("time")) << *line;
        if (json.is_object() && json.value("event", "") == event &&
            json.value(key, Json()) == value)
            return json;
    }
    ADD_FAILURE() << "no " << event << ": " << monitor.err();
    return Json::object();
}

void hear_start(Program &monitor)
{
    EXPECT_EQ(next_event(monitor, "start", "event", "start")["event"], "start");
}

} // namespace rsmtest
