// SPDX-License-Identifier: GPL-2.0
#include "runner/processes.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iomanip>
#include <optional>
#include <sstream>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace rsmrun {
namespace {

namespace fs = std::filesystem;

std::string path_of(pid_t process, const std::string &file)
{
    return "/proc/" + std::to_string(process) + "/" + file;
}

std::string whole(const std::string &path)
{
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string line_of(const std::string &path)
{
    std::string text = whole(path);
    return text.substr(0, text.find('\n'));
}

// The entries of a directory of /proc that are numbers.
std::vector<pid_t> numbers_in(const std::string &directory)
{
    std::vector<pid_t> found;
    std::error_code error;
    for (auto entry = fs::directory_iterator(directory, error); entry != fs::directory_iterator();
         entry.increment(error)) {
        const std::string name = entry->path().filename();
        pid_t number = 0;
        const auto end = name.data() + name.size();
        if (const auto result = std::from_chars(name.data(), end, number); result.ptr == end)
            found.push_back(number);
        if (error)
            break;
    }
    return found;
}

// State and session of a process; its name, which comes before these, may hold anything.
bool lives_in(pid_t process, pid_t session)
{
    const std::string stat = line_of(path_of(process, "stat"));
    const auto name_end = stat.rfind(')');
    if (name_end == std::string::npos)
        return false;
    std::istringstream fields(stat.substr(name_end + 1));
    char state = 0;
    pid_t parent = 0, group = 0, its_session = 0;
    fields >> state >> parent >> group >> its_session;
    return its_session == session && state != 'Z' && state != 'X';
}

// "FILE+OFFSET" of an address.
std::string place(pid_t process, std::uint64_t address)
{
    std::ifstream maps(path_of(process, "maps"));
    for (std::string line; std::getline(maps, line);) {
        std::uint64_t start = 0, end = 0, offset = 0;
        char dash = 0;
        std::string rights, device, inode, file;
        std::istringstream fields(line);
        fields >> std::hex >> start >> dash >> end >> rights >> offset >> device >> inode >> file;
        if (address < start || address >= end)
            continue;
        std::ostringstream text;
        text << (file.empty() ? "anonymous memory" : file) << "+0x" << std::hex
             << address - start + offset;
        return text.str();
    }
    return "nowhere";
}

// The last field of /proc/PID/task/TID/syscall is the program counter.
std::string counter_place(pid_t process, const std::string &syscall)
{
    const auto blank = syscall.rfind(' ');
    if (blank == std::string::npos)
        return "unknown";
    return place(process, std::strtoull(syscall.c_str() + blank + 1, nullptr, 16));
}

void describe_thread(pid_t process, pid_t thread, std::vector<std::string> &lines)
{
    const std::string task = path_of(process, "task/" + std::to_string(thread) + "/");
    const std::string syscall = line_of(task + "syscall");
    lines.push_back("thread " + std::to_string(thread) + " (" + line_of(task + "comm") +
                    ") of process " + std::to_string(process) + ": wchan " +
                    line_of(task + "wchan") + ", syscall " + syscall + ", at " +
                    counter_place(process, syscall));
    std::istringstream stack(whole(task + "stack"));
    for (std::string line; std::getline(stack, line);)
        lines.push_back("    " + line);
}

// One of the signals of a thread, of the sets of /proc/PID/task/TID/status with these names.
bool is_in_sets(const std::string &status, int number, std::initializer_list<const char *> names)
{
    std::istringstream lines(status);
    for (std::string line; std::getline(lines, line);)
        for (const std::string name : names)
            if (line.starts_with(name + ":") &&
                std::strtoull(line.c_str() + name.size() + 1, nullptr, 16) >> (number - 1) & 1)
                return true;
    return false;
}

using Deadline = std::chrono::steady_clock::time_point;

// Sends the signal to a thread that does not block it, and waits until its handler has ended, or the thread has: the
// signal is neither pending nor, as while the handler runs, blocked. A thread that the kernel holds gets none. Returns
// why the handler has not run to its end, if so.
std::string signal_and_wait(pid_t process, pid_t thread, int number, Deadline deadline)
{
    const std::string status = path_of(process, "task/" + std::to_string(thread) + "/status");
    if (is_in_sets(whole(status), number, {"SigBlk"}))
        return "blocks the signal that asks for its stack";
    syscall(SYS_tgkill, process, thread, number);
    while (is_in_sets(whole(status), number, {"SigPnd", "SigBlk"})) {
        if (std::chrono::steady_clock::now() >= deadline)
            return "does not show its stack in time";
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return "";
}

void request_stack(pid_t process, pid_t thread, Deadline deadline, std::vector<std::string> &lines)
{
    // A thread that the kernel holds leaves time to the others.
    const Deadline share = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    const std::string why = signal_and_wait(process, thread, SIGQUIT, std::min(deadline, share));
    if (!why.empty())
        lines.push_back("thread " + std::to_string(thread) + " of process " + std::to_string(process) + " " + why);
}

} // namespace

std::vector<pid_t> session_members(pid_t session)
{
    std::vector<pid_t> members;
    for (const pid_t process : numbers_in("/proc")) {
        if (lives_in(process, session))
            members.push_back(process);
    }
    return members;
}

void kill_session(pid_t session)
{
    // Each round kills all that the rounds before have missed because it was forked meanwhile.
    for (int round = 0; round < 100; round++) {
        const auto members = session_members(session);
        if (members.empty())
            return;
        for (const pid_t process : members)
            kill(process, SIGKILL);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

std::string describe(const std::vector<pid_t> &processes)
{
    std::string text;
    for (const pid_t process : processes)
        text += " " + std::to_string(process) + " (" + line_of(path_of(process, "comm")) + ")";
    return text;
}

std::vector<std::string> describe_waits(pid_t session)
{
    std::vector<std::string> lines;
    for (const pid_t process : session_members(session)) {
        for (const pid_t thread : numbers_in(path_of(process, "task")))
            describe_thread(process, thread, lines);
    }
    return lines;
}

std::vector<std::string> request_stacks(pid_t session)
{
    std::vector<std::string> lines;
    const Deadline deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (const pid_t process : session_members(session)) {
        // One after the other, or their lines mix.
        for (const pid_t thread : numbers_in(path_of(process, "task")))
            request_stack(process, thread, deadline, lines);
    }
    return lines;
}

} // namespace rsmrun
