// SPDX-License-Identifier: GPL-2.0
#include "support/child.hpp"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rsmtest {

void Link::send(std::uint64_t value)
{
    const ssize_t sent = ::send(end_.get(), &value, sizeof(value), MSG_NOSIGNAL);
    EXPECT_EQ(sent, static_cast<ssize_t>(sizeof(value))) << "the other process is gone";
}

std::optional<std::uint64_t> Link::receive_unless_ended(const Place &place)
{
    const Waiting waiting("a word of another process", place);
    std::uint64_t value = 0;
    ssize_t got = 0;
    do {
        got = recv(end_.get(), &value, sizeof(value), 0);
    } while (got < 0 && errno == EINTR);
    if (got != static_cast<ssize_t>(sizeof(value)))
        return std::nullopt;
    return value;
}

std::uint64_t Link::receive(const Place &place)
{
    const auto value = receive_unless_ended(place);
    EXPECT_TRUE(value) << "the other process ended before it said anything";
    return value.value_or(~std::uint64_t{0});
}

bool Link::is_readable() const
{
    pollfd entry{end_.get(), POLLIN, 0};
    return poll(&entry, 1, 0) == 1;
}

void Link::send_fd(int fd)
{
    char byte = 0;
    iovec data{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &fd, sizeof(fd));
    EXPECT_EQ(sendmsg(end_.get(), &message, MSG_NOSIGNAL), 1);
}

Fd Link::receive_fd(const Place &place)
{
    const Waiting waiting("a descriptor of another process", place);
    char byte = 0;
    iovec data{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    ssize_t got = 0;
    do {
        got = recvmsg(end_.get(), &message, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got != 1)
        return Fd();
    const cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (!header || header->cmsg_type != SCM_RIGHTS)
        return Fd();
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof(fd));
    return Fd(fd);
}

Child::Child(const Body &body)
{
    start(nullptr, body);
}

Child::Child(const User &user, const Body &body)
{
    start(&user, body);
}

void Child::start(const User *user, const Body &body)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        ADD_FAILURE() << "socketpair: " << std::strerror(errno);
        return;
    }
    Fd mine(ends[0]);
    Fd its(ends[1]);
    std::fflush(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
        mine.reset();
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        Link link(std::move(its));
        if (user && !become(*user)) {
            ADD_FAILURE() << "can't become user " << user->uid << ": " << std::strerror(errno);
        } else {
            body(link);
        }
        std::fflush(nullptr);
        _exit(testing::Test::HasFailure() ? 99 : 0);
    }
    if (pid_ < 0)
        ADD_FAILURE() << "fork: " << std::strerror(errno);
    link_ = Link(std::move(mine));
}

Child::~Child()
{
    if (pid_ > 0)
        kill();
}

int Child::wait(const Place &place)
{
    const Waiting waiting("the end of another process", place);
    int status = -1;
    if (pid_ <= 0)
        return status;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR)
        continue;
    pid_ = -1;
    return status;
}

void Child::expect_success(const Place &place)
{
    const int status = wait(place);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << "the other process "
        << (WIFSIGNALED(status) ? "was killed by signal " : "ended with status ")
        << (WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

void Child::stop()
{
    int status = 0;
    ASSERT_EQ(::kill(pid_, SIGSTOP), 0);
    ASSERT_EQ(waitpid(pid_, &status, WUNTRACED), pid_);
    ASSERT_TRUE(WIFSTOPPED(status));
}

void Child::kill()
{
    if (pid_ <= 0)
        return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
}

void in_child(const std::function<void()> &body)
{
    Child child([&](Link &) { body(); });
    child.expect_success();
}

void in_child_as(const User &user, const std::function<void()> &body)
{
    Child child(user, [&](Link &) { body(); });
    child.expect_success();
}

} // namespace rsmtest
