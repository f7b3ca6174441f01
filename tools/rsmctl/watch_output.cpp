// SPDX-License-Identifier: GPL-2.0
#include "watch_output.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "monitor.hpp"
#include "output.hpp"
#include "watch.hpp"

namespace rsmctl {

namespace {

constexpr const char *enter_screen = "\x1b[?1049h\x1b[?25l";
constexpr const char *leave_screen = "\x1b[?25h\x1b[?1049l";

// Signals as something to poll for.
class Signals {
  public:
    Signals() {
        sigset_t set{};
        (void)sigemptyset(&set);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP}) {
            (void)sigaddset(&set, signal);
        }
        (void)sigprocmask(SIG_BLOCK, &set, &before_);
        fd_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        if (fd_ < 0) {
            throw std::system_error(errno, std::generic_category(), "signals");
        }
    }
    ~Signals() {
        (void)close(fd_);
        (void)sigprocmask(SIG_SETMASK, &before_, nullptr);
    }
    Signals(const Signals &) = delete;
    Signals &operator=(const Signals &) = delete;
    Signals(Signals &&) = delete;
    Signals &operator=(Signals &&) = delete;

    [[nodiscard]] int fd() const { return fd_; }
    // The one that has come, or 0.
    [[nodiscard]] int next() const {
        signalfd_siginfo info{};
        return read(fd_, &info, sizeof(info)) == sizeof(info) ? static_cast<int>(info.ssi_signo)
                                                              : 0;
    }

  private:
    sigset_t before_{};
    int fd_ = -1;
};

// The terminal as a screen of its own, whose keys arrive one by one and are not shown.
class Screen {
  public:
    Screen() : has_keys_(tcgetattr(STDIN_FILENO, &before_) == 0) { enter(); }
    ~Screen() { leave(); }
    Screen(const Screen &) = delete;
    Screen &operator=(const Screen &) = delete;
    Screen(Screen &&) = delete;
    Screen &operator=(Screen &&) = delete;

    // The entries for poll(): none if keys come from elsewhere.
    [[nodiscard]] int key_fd() const { return has_keys_ ? STDIN_FILENO : -1; }

    static ScreenSize size() {
        constexpr ScreenSize usual{24, 80};
        winsize found{};
        const bool known =
            ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) == 0 && found.ws_row != 0 && found.ws_col != 0;
        return known ? ScreenSize{found.ws_row, found.ws_col} : usual;
    }

    void stop() {
        leave();
        (void)raise(SIGSTOP);
        enter();
    }

  private:
    void enter() {
        if (has_keys_) {
            termios keys = before_;
            keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
            (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &keys);
        }
        write(enter_screen);
    }
    void leave() {
        write(leave_screen);
        if (has_keys_) {
            (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
        }
    }
    // Nothing more is wanted of a terminal that is gone.
    static void write(std::string_view text) {
        [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, text.data(), text.size());
    }

    termios before_{};
    bool has_keys_;
};

class Output : public Viewer {
  public:
    WatchTime now() override { return std::chrono::steady_clock::now(); }

    Wake wait_until(WatchTime due) override {
        for (;;) {
            std::array<pollfd, 3> ends{
                {{signals_.fd(), POLLIN, 0}, {STDOUT_FILENO, 0, 0}, {key_fd(), POLLIN, 0}}};
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - now()).count();
            const int found =
                poll(ends.data(), ends.size(), static_cast<int>(std::max<decltype(left)>(0, left)));
            if (found == 0) {
                return Wake::due;
            }
            if (const auto wake = look_at(ends); found > 0 && wake != Wake::due) {
                return wake;
            }
        }
    }

  protected:
    [[nodiscard]] virtual int key_fd() const { return -1; }
    virtual Wake handle_key(char /*key*/) { return Wake::due; }
    virtual Wake on_signal(int signal) {
        return signal == SIGINT || signal == SIGTERM || signal == SIGHUP ? Wake::quit : Wake::due;
    }

  private:
    // Why to stop waiting; due: there is no reason yet.
    Wake look_at(const std::array<pollfd, 3> &ends) {
        if (ends[1].revents != 0) {
            return Wake::quit;
        }
        if (ends[2].revents != 0) {
            char key = 'q';
            const auto got = read(STDIN_FILENO, &key, 1);
            return got <= 0 || key == 'q' ? Wake::quit : handle_key(key);
        }
        return ends[0].revents != 0 ? on_signal(signals_.next()) : Wake::due;
    }

    Signals signals_;
};

// Lists beneath each other, with an empty line between tables.
class Stream : public Output {
  public:
    explicit Stream(const char *between) : between_(between) {}

    void show(const std::string &text) override {
        print(first_ ? text : between_ + text);
        first_ = false;
    }

  protected:
    // A stream can be stopped as any program.
    Wake on_signal(int signal) override {
        if (signal == SIGTSTP) {
            (void)raise(SIGSTOP);
        }
        return Output::on_signal(signal);
    }

  private:
    const char *between_;
    bool first_ = true;
};

class Drawn : public Output {
  public:
    Drawn(std::string title, std::function<bool(char key)> on_key)
        : title_(std::move(title)), on_key_(std::move(on_key)) {}

    void show(const std::string &text) override {
        const auto time = time_text(std::chrono::system_clock::now());
        // Without parts of a second.
        constexpr std::size_t seconds = sizeof("2026-11-22T07:30:00") - 1;
        print(frame(time.substr(0, seconds) + "Z  " + title_ + "\n\n" + text, Screen::size()));
    }

  protected:
    [[nodiscard]] int key_fd() const override { return screen_.key_fd(); }
    Wake on_signal(int signal) override {
        if (signal == SIGTSTP) {
            screen_.stop();
        }
        return signal == SIGTSTP || signal == SIGWINCH ? Wake::redraw : Output::on_signal(signal);
    }

    Wake handle_key(char key) override {
        return on_key_ && on_key_(key) ? Wake::redraw : Wake::due;
    }

  private:
    std::string title_;
    std::function<bool(char key)> on_key_;
    Screen screen_;
};

} // namespace

void watch_output(const Options &options, const Listing &list,
                  const std::function<bool(char key)> &on_key) {
    if (isatty(STDOUT_FILENO) == 1 && !options.json) {
        Drawn drawn("rsmctl " + options.object + "  (q quits)", on_key);
        watch(drawn, *options.watch, list);
    } else {
        Stream stream(options.json ? "" : "\n");
        watch(stream, *options.watch, list);
    }
}

} // namespace rsmctl
