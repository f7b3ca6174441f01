// SPDX-License-Identifier: GPL-2.0
// --watch: when it lists, what it draws, and what ends it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include "watch.hpp"
#include "watch_output.hpp"

namespace rsmctl::test {

using namespace std::chrono_literals;

using testing::ElementsAre;
using testing::HasSubstr;

namespace {

constexpr WatchTime start{1h};

// A viewer whose time passes as the test says.
class FakeViewer : public Viewer {
  public:
    WatchTime now() override { return now_; }
    void show(const std::string &text) override { shown.push_back(text); }
    Wake wait_until(WatchTime due) override {
        waited.push_back(due - start);
        const auto wake = wakes.front();
        wakes.erase(wakes.begin());
        now_ = wake == Wake::due ? due : now_;
        return wake;
    }
    void pass(WatchTime::duration time) { now_ += time; }

    std::vector<Wake> wakes;
    std::vector<std::string> shown;
    std::vector<WatchTime::duration> waited;

  private:
    WatchTime now_ = start;
};

} // namespace

TEST(RsmctlWatch, ListsAtOnceAndAfterEachInterval) {
    FakeViewer viewer;
    viewer.wakes = {Wake::due, Wake::due, Wake::quit};
    int count = 0;
    watch(viewer, 2s, [&](Wake) { return std::to_string(++count); });
    EXPECT_THAT(viewer.shown, ElementsAre("1", "2", "3"));
    EXPECT_THAT(viewer.waited, ElementsAre(2s, 4s, 6s));
}

TEST(RsmctlWatch, KeepsItsTimesWhenItListsInBetween) {
    FakeViewer viewer;
    viewer.wakes = {Wake::redraw, Wake::redraw, Wake::due, Wake::quit};
    std::vector<Wake> reasons;
    watch(viewer, 2s, [&](Wake reason) {
        reasons.push_back(reason);
        viewer.pass(500ms);
        return std::string();
    });
    EXPECT_THAT(reasons, ElementsAre(Wake::due, Wake::redraw, Wake::redraw, Wake::due));
    EXPECT_THAT(viewer.waited, ElementsAre(2s, 2s, 2s, 4s));
}

TEST(RsmctlWatch, LeavesOutWhatIsDueWhileItStillLists) {
    EXPECT_EQ(next_due(start, 2s, start + 1999ms), start + 2s);
    EXPECT_EQ(next_due(start, 2s, start + 2s), start + 4s);
    EXPECT_EQ(next_due(start, 2s, start + 7s), start + 8s);
    EXPECT_EQ(next_due(start, 100ms, start + 1h), start + 1h + 100ms);
}

TEST(RsmctlWatch, CutsLinesThatAreTooLong) {
    EXPECT_EQ(clipped("abcdef", 4), "abcd");
    EXPECT_EQ(clipped("abc", 4), "abc");
    EXPECT_EQ(clipped("", 4), "");
    EXPECT_EQ(clipped("a\xc3\xa9\xc3\xa9z", 2), "a\xc3\xa9") << "characters, not bytes";
    EXPECT_EQ(clipped("\x1b[1mabcdef\x1b[0m", 4), "\x1b[1mabcd\x1b[0m") << "colours end";
}

TEST(RsmctlWatch, DrawsOverWhatIsThere) {
    EXPECT_EQ(frame("ab\nc\n", {3, 80}), "\x1b[Hab\x1b[K\nc\x1b[K\n\x1b[J");
    EXPECT_EQ(frame("ab\nc\nd\n", {3, 80}), "\x1b[Hab\x1b[K\nc\x1b[K\nd\x1b[K")
        << "no line break in the last row, which would scroll";
    EXPECT_EQ(frame("a\nb\nc\nd\n", {3, 80}), "\x1b[Ha\x1b[K\nb\x1b[K\n(2 more lines)\x1b[K");
    EXPECT_EQ(frame("a\nb\n", {1, 80}), "\x1b[H(2 more lines)\x1b[K");
}

namespace {

// watch_output() in a process of its own, whose output the test reads. It lists "list 1.", "list 2.", ...
class WatchProcess {
  public:
    enum class Ends { terminal, pipe };

    WatchProcess(Ends ends, Interval interval) {
        const bool is_terminal = ends == Ends::terminal;
        int fds[2] = {-1, -1};
        const winsize size{24, 80, 0, 0};
        if ((is_terminal ? openpty(&fds[0], &fds[1], nullptr, nullptr, &size) : pipe(fds)) != 0)
            return;
        if (is_terminal)
            tcgetattr(fds[1], &at_start_);
        pid_ = fork();
        if (pid_ == 0) {
            close(fds[0]);
            if (is_terminal)
                login_tty(fds[1]);
            else
                dup2(fds[1], STDOUT_FILENO);
            run(interval);
        }
        fd_ = fds[0];
        close(fds[1]);
    }
    ~WatchProcess() {
        close_output();
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
        }
    }
    WatchProcess(const WatchProcess &) = delete;
    WatchProcess &operator=(const WatchProcess &) = delete;

    int fd() const { return fd_; }
    // The terminal before the process began.
    const termios &at_start() const { return at_start_; }
    void close_output() {
        if (fd_ >= 0)
            close(fd_);
        fd_ = -1;
    }
    // Its output up to a text, or to its end.
    std::string read_to(const std::string &text) {
        std::string got;
        char byte = 0;
        while (got.find(text) == std::string::npos && read(fd_, &byte, 1) == 1)
            got += byte;
        return got;
    }
    void type(const std::string &keys) const {
        EXPECT_EQ(write(fd_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
    }
    // Its exit status, or -1.
    int wait() {
        int status = 0;
        waitpid(pid_, &status, 0);
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

  private:
    [[noreturn]] static void run(Interval interval) {
        Options options;
        options.object = "segment";
        options.watch = interval;
        int count = 0;
        watch_output(
            options, [&](Wake) { return "list " + std::to_string(++count) + ".\n"; },
            [](char key) { return key == 't'; });
        _exit(0);
    }

    pid_t pid_ = -1;
    int fd_ = -1;
    termios at_start_{};
};

using Ends = WatchProcess::Ends;

} // namespace

TEST(RsmctlWatchTerminal, EndsAtQAndLeavesTheTerminalAsItWas) {
    WatchProcess process(Ends::terminal, 24h);
    const auto drawn = process.read_to("list 1.");
    EXPECT_THAT(drawn, HasSubstr("\x1b[?1049h"));
    EXPECT_THAT(drawn, HasSubstr("rsmctl segment"));
    process.type("xq");
    EXPECT_THAT(process.read_to("\x1b[?1049l"), HasSubstr("\x1b[?25h"));
    EXPECT_EQ(process.wait(), 0);
    termios after{};
    if (tcgetattr(process.fd(), &after) == 0) {
        EXPECT_EQ(after.c_lflag, process.at_start().c_lflag);
    }
}

TEST(RsmctlWatchTerminal, DrawsAgainAtAKeyThatMeansSomething) {
    WatchProcess process(Ends::terminal, 24h);
    process.read_to("list 1.");
    process.type("xt");
    EXPECT_THAT(process.read_to("list 2."), HasSubstr("list 2."));
    process.type("q");
    EXPECT_EQ(process.read_to("\x1b[?1049l").find("list"), std::string::npos) << "x means nothing";
}

TEST(RsmctlWatchTerminal, EndsAtAnInterrupt) {
    WatchProcess process(Ends::terminal, 24h);
    process.read_to("list 1.");
    process.type("\x03");
    EXPECT_THAT(process.read_to("\x1b[?1049l"), HasSubstr("\x1b[?1049l"));
    EXPECT_EQ(process.wait(), 0);
}

TEST(RsmctlWatchTerminal, DrawsAgainForAnotherSize) {
    WatchProcess process(Ends::terminal, 24h);
    process.read_to("list 1.");
    const winsize size{2, 6, 0, 0};
    EXPECT_EQ(ioctl(process.fd(), TIOCSWINSZ, &size), 0);
    EXPECT_THAT(process.read_to("(2 mor\x1b[K"), HasSubstr("(2 mor"));
}

TEST(RsmctlWatchPipe, HasOneListAfterTheOther) {
    WatchProcess process(Ends::pipe, 100ms);
    EXPECT_EQ(process.read_to("list 3.\n"), "list 1.\n\nlist 2.\n\nlist 3.\n");
}

TEST(RsmctlWatchPipe, EndsWhenNobodyReads) {
    WatchProcess process(Ends::pipe, 24h);
    process.read_to("list 1.\n");
    process.close_output();
    EXPECT_EQ(process.wait(), 0);
}

} // namespace rsmctl::test
