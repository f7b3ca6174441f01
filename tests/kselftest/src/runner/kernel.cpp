// SPDX-License-Identifier: GPL-2.0
#include "runner/kernel.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <thread>
#include <unistd.h>

namespace rsmrun {
namespace {

constexpr char reports[] =
    "BUG|WARNING|Oops|KASAN|KCSAN|UBSAN|possible [a-z ]*(lock|deadlock)"
    "|suspicious RCU|sleeping function|hung task|blocked for more than|unreferenced object"
    "|general protection|soft lockup|rcu.*stall|refcount_t:|Bad page|bad page"
    "|list_(add|del) corruption";

// Soft RoCE of 6.1 itself says these, when a queue pair fails or goes: see tools/rsmvm/klog.py.
constexpr char harmless[] =
    "WARNING: .* at (drivers/infiniband/sw/rxe/(rxe_comp.c:[0-9]+ rxe_completer"
    "|rxe_pool.c:[0-9]+ __rxe_cleanup)|kernel/softirq.c:[0-9]+ tasklet_clear_sched)";

bool matches(const regex_t &pattern, const std::string &line)
{
    return regexec(&pattern, line.c_str(), 0, nullptr, 0) == 0;
}

bool has(const std::string &line, const char *text)
{
    return line.find(text) != std::string::npos;
}

// It loses count of the references to a queue pair that goes under traffic, too: the trace of such a report of refcount_t,
// which begins in this line, begins in its module, and no module of ours has called it. The kernel then keeps the queue
// pair for ever.
bool is_miscount_of_soft_roce(Lines::const_iterator line, Lines::const_iterator end)
{
    if (!has(*line, "refcount_t:") && !has(*line, "refcount_warn_saturate"))
        return false;
    const auto ends = [](const std::string &each) { return has(each, "[ cut here ]") || has(each, "[ end trace"); };
    end = std::find_if(line, end, ends);
    line = std::find_if(line, end, [](const std::string &each) { return has(each, "Call Trace:"); });
    const auto is_frame = [](const std::string &each) { return has(each, "+0x") && !has(each, "? ") && !has(each, "refcount_warn"); };
    line = std::find_if(line, end, is_frame);
    const auto is_own = [&](const std::string &each) { return is_frame(each) && has(each, "[rsm"); };
    return line != end && has(*line, "[rdma_rxe]") && std::none_of(line, end, is_own);
}

// Blocks of kmemleak, each of which begins with "unreferenced object", that name a module of ours.
Lines own_leaks(std::istream &report)
{
    Lines found, block;
    bool own = false;
    const auto finish = [&] {
        if (own)
            found.insert(found.end(), block.begin(), block.end());
        block.clear();
        own = false;
    };
    for (std::string line; std::getline(report, line);) {
        if (line.rfind("unreferenced object", 0) == 0)
            finish();
        block.push_back(line);
        own = own || line.find("[rsm") != std::string::npos;
    }
    finish();
    return found;
}

} // namespace

KernelLog::KernelLog(const std::string &root)
    : file_(open((root + "/dev/kmsg").c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_APPEND)),
      once_(open((root + "/sys/kernel/debug/clear_warn_once").c_str(), O_WRONLY | O_CLOEXEC))
{
    regcomp(&reports_, reports, REG_EXTENDED | REG_NOSUB);
    regcomp(&harmless_, harmless, REG_EXTENDED | REG_NOSUB);
}

KernelLog::~KernelLog()
{
    regfree(&reports_);
    regfree(&harmless_);
}

void KernelLog::write(const std::string &line) const
{
    const std::string text = "<6>" + line + "\n";
    if (file_.valid() && ::write(file_.get(), text.data(), text.size()) < 0)
        return;
}

void KernelLog::skip()
{
    // The kernel warns of most things once: also of those of which an earlier test had a warning.
    if (once_.valid() && ::write(once_.get(), "1", 1) < 0)
        once_.reset();
    lseek(file_.get(), 0, SEEK_END);
    last_.reset();
}

// "priority,sequence,time,flags;message"; lines of a record that begin with a blank say more of it.
void KernelLog::take(const std::string &record, Lines &messages)
{
    const auto comma = record.find(',');
    const auto semicolon = record.find(';');
    if (comma == std::string::npos || semicolon == std::string::npos)
        return;
    const std::uint64_t number = std::strtoull(record.c_str() + comma + 1, nullptr, 10);
    if (last_ && number > *last_ + 1)
        messages.push_back("[" + std::to_string(number - *last_ - 1) +
                           " records of the kernel log were overwritten before they were read]");
    last_ = number;
    messages.push_back(record.substr(semicolon + 1));
}

Lines KernelLog::read()
{
    Lines messages;
    char buffer[16384];
    for (;;) {
        const ssize_t length = ::read(file_.get(), buffer, sizeof(buffer));
        // EPIPE: the kernel has overwritten records; the next read goes on at the oldest there is.
        if (length < 0 && (errno == EPIPE || errno == EINTR))
            continue;
        if (length <= 0)
            return messages;
        std::istringstream text(std::string(buffer, static_cast<std::size_t>(length)));
        for (std::string line; std::getline(text, line);) {
            if (line.empty() || line[0] != ' ')
                take(line, messages);
        }
    }
}

bool KernelLog::has_report(const Lines &messages) const
{
    for (auto line = messages.begin(); line != messages.end(); ++line) {
        if (matches(reports_, *line) && !matches(harmless_, *line) && !is_miscount_of_soft_roce(line, messages.end()))
            return true;
    }
    return false;
}

Counters::Counters(const std::string &root) : path_(root + "/sys/kernel/debug/rsm/stats") {}

bool Counters::readable() const
{
    return access(path_.c_str(), R_OK) == 0;
}

std::string Counters::read() const
{
    std::ifstream file(path_);
    std::string name, value, all;
    while (file >> name >> value) {
        if (name == "pinned_pages" || name == "handles" || name == "published" || name == "grants")
            all += " " + name + " " + value;
    }
    return all;
}

LeakScan::LeakScan(const std::string &root) : path_(root + "/sys/kernel/debug/kmemleak") {}

bool LeakScan::clear() const
{
    return access(path_.c_str(), W_OK) == 0 && rsmtest::write_text(path_, "clear");
}

Lines LeakScan::scan() const
{
    // kmemleak counts an object as lost only when the object is older than five seconds.
    std::this_thread::sleep_for(std::chrono::seconds(6));
    rsmtest::write_text(path_, "scan");
    std::this_thread::sleep_for(std::chrono::seconds(1));
    rsmtest::write_text(path_, "scan");
    std::ifstream report(path_);
    return own_leaks(report);
}

Coverage::Coverage(const std::string &root) : root_(root) {}

Lines Coverage::read() const
{
    std::ifstream file(root_ + "/sys/kernel/debug/rsm_cov");
    if (!file)
        return {};
    Lines lines;
    for (const std::string module : {"rsm", "rsm_ivshmem", "rsm_rdma"}) {
        std::ifstream section(root_ + "/sys/module/" + module + "/sections/.text");
        if (std::string address; section >> address)
            lines.push_back("module " + module + ' ' + address);
    }
    std::string reached = "reached";
    for (std::string address; file >> address;)
        reached += ' ' + address;
    lines.push_back(reached);
    return lines;
}

} // namespace rsmrun
