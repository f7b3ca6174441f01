// SPDX-License-Identifier: GPL-2.0
#include "net/peer/daemon.hpp"

#include "net/peer/worker.hpp"
#include "runner/kernel.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rsmtest::net {

void Daemon::run() {
    while (listen())
        while (const auto line = hub_.next())
            obey(*line);
    end_all();
}

bool Daemon::listen() {
    std::vector<pollfd> entries{{hub_.descriptor(), POLLIN, 0}};
    std::vector<Session *> sessions;
    for (auto &[number, session] : sessions_) {
        if (!session.end.valid())
            continue;
        entries.push_back({session.end.get(), POLLIN, 0});
        sessions.push_back(&session);
    }
    if (poll(entries.data(), entries.size(), -1) < 0)
        return errno == EINTR;
    for (std::size_t i = 0; i < sessions.size(); i++)
        if (entries[i + 1].revents)
            relay(*sessions[i]);
    return !entries[0].revents || hub_.fill();
}

void Daemon::obey(std::string_view line) {
    std::string to(first_word(line));
    to.append(" ").append(first_word(line));
    const std::uint64_t number = to_number(first_word(line));
    try {
        Args args(line);
        if (number)
            hand_over(number, to, std::string(line));
        else
            reply(to, obey_myself(args));
    } catch (const BadOrder &error) {
        reply(to, {bad_order, {}, error.what()});
    }
}

Answer Daemon::obey_myself(Args &args) {
    const std::string verb = args.word();
    if (verb == "new")
        return start();
    if (verb == "kill")
        return signal(args);
    if (verb == "reap")
        return reap(args.number());
    if (verb == "reset") {
        end_all();
        show_coverage(args.rest());
    } else if (verb != "stats") {
        throw BadOrder("no verb " + verb);
    }
    Counters counters = kernel_counters();
    Answer answer;
    for (const char *name : {"handles", "pinned_pages", "published"})
        answer.data.push_back(static_cast<std::uint64_t>(counters[name]));
    return answer;
}

void Daemon::hand_over(std::uint64_t number, const std::string &to, const std::string &order) {
    Session &target = session(number);
    if (!target.owes.empty())
        throw BadOrder("the session has something to do");
    target.owes = to;
    if (!target.end.valid() ||
        send(target.end.get(), order.data(), order.size(), MSG_NOSIGNAL) < 0) {
        reply(to, {session_ended});
        target.owes.clear();
    }
}

void Daemon::relay(Session &session) {
    char packet[line_max];
    const ssize_t got = recv(session.end.get(), packet, sizeof(packet), 0);
    if (got > 0) {
        hub_.write(session.owes + ' ' + std::string(packet, static_cast<std::size_t>(got)));
    } else {
        session.end.reset();
        if (!session.owes.empty())
            reply(session.owes, {session_ended});
    }
    session.owes.clear();
}

void Daemon::reply(const std::string &to, const Answer &answer) {
    hub_.write(to + ' ' + answer.line());
}

Answer Daemon::start() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return {errno};
    Fd mine(ends[0]);
    Fd its(ends[1]);
    const pid_t pid = fork();
    if (pid == 0)
        become_session(std::move(its));
    if (pid < 0)
        return {errno};
    setpgid(pid, pid);
    sessions_[++started_] = {pid, std::move(mine), {}};
    return {0, {started_, static_cast<std::uint64_t>(pid)}};
}

void Daemon::become_session(Fd end) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    hub_.close();
    for (auto &[number, session] : sessions_)
        session.end.reset();
    serve_session(std::move(end));
}

Answer Daemon::signal(Args &args) {
    Session &target = session(args.number());
    const int number = args.as<int>();
    if (::kill(target.pid, number) != 0)
        return {errno};
    if (number == SIGKILL)
        waitpid(target.pid, nullptr, 0);
    return {};
}

Answer Daemon::reap(std::uint64_t number) {
    int status = 0;
    const pid_t pid = session(number).pid;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return {0, {static_cast<std::uint64_t>(status)}};
}

// With whatever the session has left behind in its process group.
void Daemon::end(Session &session) {
    ::kill(-session.pid, SIGKILL);
    waitpid(session.pid, nullptr, 0);
}

// For tests/fuzz/report, as ksft-run does it on the first node.
void Daemon::show_coverage(const std::string &test) {
    if (test.empty())
        return;
    const rsmrun::Lines lines = rsmrun::Coverage("").read();
    if (lines.empty())
        return;
    std::printf("# coverage %s\n", test.c_str());
    for (const std::string &line : lines)
        std::printf("# %s\n", line.c_str());
    std::fflush(stdout);
}

void Daemon::end_all() {
    for (auto &[number, session] : sessions_)
        end(session);
    sessions_.clear();
}

Daemon::Session &Daemon::session(std::uint64_t number) {
    const auto found = sessions_.find(number);
    if (found == sessions_.end())
        throw BadOrder("no such session");
    return found->second;
}

} // namespace rsmtest::net
