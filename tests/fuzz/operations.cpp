// SPDX-License-Identifier: GPL-2.0
#include "operations.hpp"

#include "netlink.hpp"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <linux/rsm.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rsmtest::fuzz {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t most_handles = 24;
constexpr std::size_t most_mappings = 16;
constexpr std::size_t most_tickets = 16;

void *pages(std::size_t bytes)
{
    void *base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        _exit(1);
    return base;
}

template <class T> T &as(std::byte *memory)
{
    return *reinterpret_cast<T *>(memory);
}

} // namespace

Fuzzer::Fuzzer(Nodes *nodes, std::uint64_t burst_calls)
    : nodes_(nodes), burst_calls_(burst_calls), arena_(static_cast<std::byte *>(pages(arena_size))),
      argument_(static_cast<std::byte *>(pages(2 * page)))
{
    mprotect(argument_ + page, page, PROT_NONE);
    // Not any descriptor of the process: a write to a mapping of the runner's output would be a test
    // of which no result is known.
    strangers_.emplace_back(memfd_create("fuzz", MFD_CLOEXEC));
    strangers_.emplace_back(open("/dev/null", O_RDWR | O_CLOEXEC));
    strangers_.emplace_back(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
}

// A random wait may be one without end: a signal ends it. Forked children do
// not inherit the timer. One that rings goes on, so that it rings in the middle of calls.
static void ring_regularly()
{
    itimerval now{};
    getitimer(ITIMER_REAL, &now);
    if (now.it_interval.tv_usec != 0)
        return;
    struct sigaction action = {};
    action.sa_handler = [](int) {};
    sigaction(SIGALRM, &action, nullptr);
    const itimerval interval{{0, 200000}, {0, 200000}};
    setitimer(ITIMER_REAL, &interval, nullptr);
}

std::uint64_t Fuzzer::run(Source &source, std::uint64_t steps)
{
    source_ = &source;
    ring_regularly();
    calls_ = 0;
    for (; steps > 0 && !source.exhausted(); steps--)
        step();
    return calls_;
}

// Calls that a few bytes of the input decide all at once: a changed byte is another burst. These
// calls cost little each, compared with what it costs to open and to map.
void Fuzzer::burst()
{
    Source &input = *source_;
    Chance chance(input.below(65536));
    source_ = &chance;
    for (std::uint64_t i = 0; i < burst_calls_; i++) {
        if (chance.below(512) == 0)
            netlink();
        else if (chance.below(16) == 0)
            garbage_command();
        else
            command(cheap_command());
    }
    source_ = &input;
}

void Fuzzer::clear_arena()
{
    if (mmap(arena_, arena_size, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_ANONYMOUS | MAP_PRIVATE,
             -1, 0) == MAP_FAILED)
        _exit(1);
}

void Fuzzer::reset()
{
    for (const Mapping &mapping : mappings_)
        munmap(mapping.base, mapping.length);
    mappings_.clear();
    for (const int fd : handles_)
        close(fd);
    handles_.clear();
    tickets_.clear();
    if (arena_changed_)
        clear_arena();
    arena_changed_ = false;
    if (nodes_ != nullptr)
        nodes_->reset();
}

// Those that take a list of all nodes, load modules or sleep come once in a while.
unsigned Fuzzer::cheap_command()
{
    const auto which = static_cast<unsigned>(below(last_command + 1));
    const bool dear = which == 0x01 || which == 0x02 || which == 0x0a;
    return dear && !one_in(16) ? 0x0d : which;
}

void Fuzzer::step()
{
    switch (below(32)) {
    case 0:
    case 1:
        open_handle();
        break;
    case 2:
        close_handle();
        break;
    case 3:
        duplicate();
        break;
    case 4:
        garbage_command();
        break;
    case 5:
        map();
        break;
    case 6:
        unmap_or_change();
        break;
    case 7:
    case 8:
        touch();
        break;
    case 9:
        if (one_in(8))
            change_arena();
        break;
    case 10:
        wait_for_events();
        break;
    case 11:
        if (one_in(64))
            fork_briefly();
        break;
    case 12:
        netlink();
        break;
    case 13:
    case 14:
    case 15:
    case 16:
        act_as_node();
        break;
    case 17:
    case 18:
    case 19:
    case 20:
        burst();
        break;
    case 21:
        export_and_import();
        break;
    default:
        command(static_cast<unsigned>(below(last_command + 1)));
        break;
    }
}

// An export that is published and an import of it: few inputs would get there by chance, and most of
// the code is behind that.
void Fuzzer::export_and_import()
{
    if (handles_.size() + 2 > most_handles)
        reset();
    rsm_bind bind{};
    bind.size = sizeof(bind);
    controller(bind.controller);
    bind.vaddr = reinterpret_cast<std::uintptr_t>(arena_) + below(arena_size / page / 2) * page;
    bind.length = (1 + below(8)) * page;
    bind.flags = static_cast<std::uint32_t>(below(4));
    bind.control_fd = -1;
    rsm_publish publish{};
    publish.size = sizeof(publish);
    publish.id = id();
    const rsm_acl_entry acl[] = {{1, static_cast<std::uint32_t>(0666 & ~below(512))},
                                 {first_node, 0666}};
    publish.acl_count = static_cast<std::uint32_t>(below(3));
    publish.acl = reinterpret_cast<std::uintptr_t>(acl);
    rsm_connect connect{};
    connect.size = sizeof(connect);
    std::copy(std::begin(bind.controller), std::end(bind.controller), connect.controller);
    connect.node = 1;
    connect.id = publish.id;
    connect.permission = static_cast<std::uint32_t>((1 + below(3)) << 7);
    connect.control_fd = -1;
    for (int i = 0; i < 2; i++)
        handles_.push_back(open("/dev/rsm", O_RDWR | O_CLOEXEC | O_NONBLOCK));
    const int importer = handles_.back();
    const int exporter = handles_[handles_.size() - 2];
    ioctl(exporter, RSM_IOC_BIND, &bind);
    ioctl(exporter, RSM_IOC_PUBLISH, &publish);
    ioctl(importer, RSM_IOC_CONNECT, &connect);
    calls_ += 5;
}

void Fuzzer::act_as_node()
{
    if (nodes_ == nullptr)
        return;
    for (std::uint64_t i = below(8); i > 0; i--) {
        nodes_->act(*source_);
        calls_++;
    }
}

// Asking for one that does not exist runs modprobe, which takes as long as many other calls.
void Fuzzer::controller(char *name)
{
    static const char *const names[] = {"loopback", "nodes0", "window0", "nomap0", ""};
    if (one_in(64))
        std::strcpy(name, "nosuch0");
    else if (nodes_ != nullptr)
        std::strcpy(name, names[below(std::size(names))]);
    else
        std::strcpy(name, one_in(16) ? "" : "loopback");
}

// Any command with some attributes, and whatever comes back of it.
void Fuzzer::netlink()
{
    static NetlinkSocket socket;
    NetlinkSocket::Request request(static_cast<std::uint8_t>(below(16)), one_in(2));
    for (std::uint64_t i = below(4); i > 0; i--) {
        const auto type = static_cast<std::uint16_t>(below(12));
        char name[16] = {};
        switch (below(4)) {
        case 0:
            controller(name);
            request.put(type, name, std::strlen(name) + 1);
            break;
        case 1: {
            const std::uint64_t value = number();
            request.put(type, &value, below(9));
            break;
        }
        default: {
            const auto value = static_cast<std::uint32_t>(one_in(4) ? id() : below(32));
            request.put(type, &value, sizeof(value));
        }
        }
    }
    socket.send(request);
    calls_++;
}

std::uint64_t Fuzzer::interesting()
{
    static const std::uint64_t values[] = {
        0, 1, 7, 8, 16, 4095, 4096, 4097, 8192, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
        0x7fffffffffffffff, 0x8000000000000000, ~0ull, ~0ull - 4095, 0xffff888000000000,
        0x00007ffffffff000};
    return one_in(4) ? number() : values[below(std::size(values))];
}

std::uint64_t Fuzzer::address()
{
    if (one_in(12))
        return interesting();
    const auto base = reinterpret_cast<std::uintptr_t>(arena_);
    return base + (one_in(8) ? below(arena_size) : below(arena_size / page) * page);
}

std::uint64_t Fuzzer::length()
{
    return one_in(12) ? interesting() : one_in(8) ? below(4 * page) : (1 + below(8)) * page;
}

std::uint32_t Fuzzer::id()
{
    return one_in(16) ? static_cast<std::uint32_t>(interesting())
                      : 0x620000 + static_cast<std::uint32_t>(below(4));
}

// One that is good or was, mostly.
void Fuzzer::ticket(__u64 (&words)[2])
{
    if (!tickets_.empty())
        std::copy_n(tickets_[below(tickets_.size())].word, 2, words);
    if (one_in(16))
        words[below(2)] = interesting();
}

int Fuzzer::descriptor()
{
    if (handles_.empty() || one_in(32)) {
        const auto which = static_cast<std::size_t>(below(64));
        return which < strangers_.size() ? strangers_[which].get() : -static_cast<int>(which) * 16;
    }
    return handles_[below(handles_.size())];
}

void Fuzzer::open_handle()
{
    if (handles_.size() >= most_handles) {
        close_handle();
        return;
    }
    calls_++;
    const int fd = open("/dev/rsm", (one_in(4) ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0)
        handles_.push_back(fd);
}

void Fuzzer::close_handle()
{
    if (handles_.empty())
        return;
    const std::size_t which = below(handles_.size());
    calls_++;
    close(handles_[which]);
    handles_.erase(handles_.begin() + static_cast<std::ptrdiff_t>(which));
}

void Fuzzer::duplicate()
{
    if (handles_.empty() || handles_.size() >= most_handles)
        return;
    calls_++;
    const int fd = one_in(2) ? dup(descriptor()) : dup2(descriptor(), handles_[0]);
    if (fd > 2 && fd != handles_[0])
        handles_.push_back(fd);
}

// Fills in a plausible argument; returns its size.
std::size_t Fuzzer::prepare(unsigned command)
{
    std::memset(argument_, 0, page);
    const auto name = [&](char *to) { controller(to); };
    switch (command) {
    case 0x00:
        return sizeof(rsm_info);
    case 0x01:
        name(as<rsm_attr>(argument_).controller);
        return sizeof(rsm_attr);
    case 0x02: {
        auto &query = as<rsm_topology_query>(argument_);
        query.controllers = address();
        query.peers = address();
        query.controller_count = static_cast<std::uint32_t>(one_in(16) ? interesting() : below(8));
        query.peer_count = static_cast<std::uint32_t>(one_in(16) ? interesting() : below(8));
        return sizeof(query);
    }
    case 0x03: {
        auto &bind = as<rsm_bind>(argument_);
        name(bind.controller);
        bind.vaddr = address();
        bind.length = length();
        bind.flags = static_cast<std::uint32_t>(one_in(16) ? number() : below(4));
        if (one_in(2))
            bind.flags |= one_in(3) ? RSM_BIND_LOCAL | RSM_BIND_READ : RSM_BIND_LOCAL;
        bind.control_fd = one_in(3) ? descriptor() : -1;
        return sizeof(bind);
    }
    case 0x04:
        as<rsm_rebind>(argument_).vaddr = address();
        as<rsm_rebind>(argument_).length = length();
        return sizeof(rsm_rebind);
    case 0x05:
    case 0x06: {
        auto &publish = as<rsm_publish>(argument_);
        publish.id = command == 0x06 && !one_in(8) ? 0 : id();
        publish.acl_count = static_cast<std::uint32_t>(one_in(8) ? interesting() : below(3));
        publish.acl = address();
        return sizeof(publish);
    }
    case 0x07:
    case 0x0e:
        return sizeof(rsm_unpublish);
    case 0x08: {
        auto &connect = as<rsm_connect>(argument_);
        name(connect.controller);
        connect.node = static_cast<std::uint32_t>(one_in(16) ? interesting() : nodes_ != nullptr && one_in(2) ? first_node + below(4) : 1);
        connect.id = id();
        connect.permission = static_cast<std::uint32_t>(one_in(16) ? number() : below(4) << 7);
        connect.control_fd = one_in(3) ? descriptor() : -1;
        return sizeof(connect);
    }
    case 0x09:
        as<rsm_post>(argument_).flags = static_cast<std::uint32_t>(below(3) ? 0 : 2);
        return sizeof(rsm_post);
    case 0x0a:
        as<rsm_wait>(argument_).timeout_ns = static_cast<std::int64_t>(below(100000));
        return sizeof(rsm_wait);
    case 0x0b:
    case 0x0c: {
        auto &transfer = as<rsm_transfer>(argument_);
        auto *entries = reinterpret_cast<rsm_transfer_entry *>(argument_ + 1024);
        transfer.count = static_cast<std::uint32_t>(one_in(16) ? interesting() : below(18));
        transfer.flags = static_cast<std::uint32_t>(below(4));
        transfer.entries = one_in(32) ? address() : reinterpret_cast<std::uintptr_t>(entries);
        for (unsigned i = 0; i < 17; i++) {
            const bool handle = one_in(4);
            entries[i].type = static_cast<std::uint32_t>(one_in(64) ? number() : handle ? 1 : 2);
            entries[i].fd = handle ? descriptor() : -1;
            entries[i].addr = handle ? 0 : address();
            entries[i].local_offset = one_in(16) ? interesting() : 0;
            entries[i].remote_offset = one_in(16) ? interesting() : below(8 * page);
            entries[i].length = one_in(32) ? interesting() : below(2 * page);
        }
        return sizeof(transfer);
    }
    case 0x0f:
        return sizeof(rsm_range);
    case 0x10: {
        auto &grant = as<rsm_grant>(argument_);
        grant.offset = one_in(16) ? interesting() : below(4 * page);
        grant.length = one_in(16) ? interesting() : 1 + below(4 * page);
        grant.permission = static_cast<std::uint32_t>(one_in(16) ? number() : (1 + below(3)) << 7);
        grant.flags = static_cast<std::uint32_t>(one_in(16) ? number() : below(4));
        return sizeof(grant);
    }
    case 0x11:
        ticket(as<rsm_revoke>(argument_).ticket);
        return sizeof(rsm_revoke);
    case 0x12: {
        auto &redeem = as<rsm_redeem>(argument_);
        ticket(redeem.ticket);
        redeem.control_fd = one_in(3) ? descriptor() : -1;
        return sizeof(redeem);
    }
    case 0x13: {
        // Not of the fuzzer's own pages: only mappings of the handle go.
        auto &unmap = as<rsm_unmap>(argument_);
        unmap.vaddr = address();
        unmap.length = length();
        return sizeof(unmap);
    }
    case 0x14:
    case 0x15:
        return sizeof(rsm_message);
    default:
        as<rsm_barrier_request>(argument_).op = static_cast<std::uint32_t>(below(4));
        return sizeof(rsm_barrier_request);
    }
}

void Fuzzer::command(unsigned which)
{
    std::size_t size = prepare(which);
    if (one_in(32))
        size = static_cast<std::uint32_t>(one_in(2) ? below(page + 16) : number());
    as<std::uint32_t>(argument_) = static_cast<std::uint32_t>(size);
    if (one_in(24))
        argument_[below(page)] ^= static_cast<std::byte>(1u << below(8));
    calls_++;
    const int result = ioctl(descriptor(), _IO(RSM_IOC_TYPE, which), argument_);
    if (which == 0x10 && result == 0)
        remember_ticket();
}

void Fuzzer::remember_ticket()
{
    const auto &grant = as<rsm_grant>(argument_);
    if (grant.status != RSM_SUCCESS)
        return;
    if (tickets_.size() >= most_tickets)
        tickets_.erase(tickets_.begin());
    tickets_.push_back({{grant.ticket[0], grant.ticket[1]}});
}

void Fuzzer::garbage_command()
{
    for (std::size_t i = 0; i < 512; i += 8)
        as<std::uint64_t>(argument_ + i) = interesting();
    if (!one_in(4))
        as<std::uint32_t>(argument_) = static_cast<std::uint32_t>(below(160));
    void *where = one_in(4) ? reinterpret_cast<void *>(interesting())
                  : one_in(4) ? argument_ + page - below(64)
                              : argument_;
    // Waiting without a limit is no bug, but no progress either.
    const std::uint64_t which = below(0x20);
    if (which == 0x0a)
        return;
    calls_++;
    ioctl(descriptor(), _IO(RSM_IOC_TYPE, which), where);
}

void Fuzzer::map()
{
    if (mappings_.size() >= most_mappings) {
        unmap_or_change();
        return;
    }
    const int protection = static_cast<int>(one_in(16) ? below(8) : below(4));
    const std::uint64_t offset = one_in(3)   ? RSM_MMAP_CONSUMED
                                 : one_in(8) ? interesting() & ~(page - 1)
                                             : below(4) * page;
    const std::uint64_t bytes = one_in(16) ? interesting() & 0xffffffff : (1 + below(8)) * page;
    calls_++;
    void *base = mmap(nullptr, bytes, protection, one_in(16) ? MAP_PRIVATE : MAP_SHARED,
                      descriptor(), static_cast<off_t>(offset));
    if (base == MAP_FAILED)
        return;
    mappings_.push_back({base, bytes, (protection & PROT_READ) != 0, (protection & PROT_WRITE) != 0});
}

void Fuzzer::unmap_or_change()
{
    if (mappings_.empty())
        return;
    const std::size_t which = below(mappings_.size());
    Mapping &mapping = mappings_[which];
    calls_++;
    switch (below(5)) {
    case 0:
        madvise(mapping.base, mapping.length, static_cast<int>(below(26)));
        return;
    case 1: {
        const int protection = static_cast<int>(below(4));
        if (mprotect(mapping.base, mapping.length, protection) == 0) {
            mapping.readable = protection & PROT_READ;
            mapping.writable = protection & PROT_WRITE;
        }
        return;
    }
    case 2: {
        void *moved = mremap(mapping.base, mapping.length, mapping.length, MREMAP_MAYMOVE);
        if (moved != MAP_FAILED)
            mapping.base = moved;
        return;
    }
    default:
        munmap(mapping.base, mapping.length);
        mappings_.erase(mappings_.begin() + static_cast<std::ptrdiff_t>(which));
    }
}

void Fuzzer::touch()
{
    if (mappings_.empty())
        return;
    const Mapping &mapping = mappings_[below(mappings_.size())];
    auto *words = static_cast<volatile std::uint32_t *>(mapping.base);
    for (std::size_t at = 0; at + 4 <= mapping.length && at < 64 * page; at += page) {
        // A table ends where its slots end; the kernel is asked first.
        if (mapping.writable)
            words[at / 4] = static_cast<std::uint32_t>(number());
        else if (mapping.readable)
            static_cast<void>(words[at / 4]);
    }
}

void Fuzzer::change_arena()
{
    std::byte *where = arena_ + below(arena_size / page) * page;
    const std::size_t bytes = (1 + below(4)) * page;
    if (where + bytes > arena_ + arena_size)
        return;
    arena_changed_ = true;
    calls_++;
    switch (below(6)) {
    case 0:
        munmap(where, bytes);
        break;
    case 1:
        mprotect(where, bytes, PROT_READ);
        break;
    case 2:
        madvise(where, bytes, MADV_DONTNEED);
        break;
    default:
        mmap(where, bytes, PROT_READ | PROT_WRITE,
             MAP_FIXED | MAP_ANONYMOUS | (one_in(3) ? MAP_SHARED : MAP_PRIVATE), -1, 0);
        break;
    }
}

void Fuzzer::wait_for_events()
{
    pollfd entries[4];
    for (pollfd &entry : entries)
        entry = {descriptor(), static_cast<short>(number()), 0};
    calls_++;
    poll(entries, 4, 0);
}

void Fuzzer::fork_briefly()
{
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        ring_regularly();
        burst();
        _exit(0);
    }
    if (child > 0 && waitpid(child, nullptr, 0) != child) {
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
    }
}

} // namespace rsmtest::fuzz
