// SPDX-License-Identifier: GPL-2.0
#include "access/ways.hpp"

#include "support/child.hpp"

#include <algorithm>
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/magic.h>
#include <optional>
#include <string_view>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rsmtest::access {
namespace {

using enum Outcome;

// ---- What a way has brought -----------------------------------------------------------------

// A word that was read from the start.
Outcome found(const Importer &importer, std::uint64_t word)
{
    return word == importer.secret ? SEGMENT : word == 0 ? OWN : WRONG;
}

Outcome found_if(bool done, const Importer &importer, std::uint64_t word)
{
    return done ? found(importer, word) : REFUSED;
}

// Only the exporter knows where a store went.
Outcome stored_if(bool done)
{
    return done ? STORED : REFUSED;
}

sigjmp_buf escape;

void leave(int)
{
    siglongjmp(escape, 1);
}

// False: an access of the action ended with a signal.
template <class Action> bool survives(const Action &action)
{
    struct sigaction catcher {
    }, segv{}, bus{};
    catcher.sa_handler = leave;
    sigaction(SIGSEGV, &catcher, &segv);
    sigaction(SIGBUS, &catcher, &bus);
    const bool fine = sigsetjmp(escape, 1) == 0;
    if (fine)
        action();
    sigaction(SIGSEGV, &segv, nullptr);
    sigaction(SIGBUS, &bus, nullptr);
    return fine;
}

Outcome load_at(const Importer &importer, const std::byte *base)
{
    static volatile std::uint64_t word;
    word = 0;
    const bool fine =
        survives([&] { word = *reinterpret_cast<const volatile std::uint64_t *>(base); });
    return found_if(fine, importer, word);
}

Outcome store_at(const Importer &importer, std::byte *base)
{
    auto *where = reinterpret_cast<volatile std::uint64_t *>(base + importer.slot);
    return stored_if(survives([&] { *where = importer.token; }));
}

// ---- Other processes ------------------------------------------------------------------------

// The same in a child: another process, with a copy of all that this one has.
template <class Action> Outcome by_child(const Action &action)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(static_cast<int>(action()));
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return WRONG;
    return static_cast<Outcome>(WEXITSTATUS(status));
}

// The same in a process that has the handle only by SCM_RIGHTS.
template <class Action> Outcome by_receiver(Importer &importer, const Action &action)
{
    Child receiver([&](Link &link) {
        importer.handle.reset();
        importer.handle = link.receive_fd();
        link.send(static_cast<std::uint64_t>(action(importer)));
    });
    receiver.link().send_fd(importer.handle.get());
    const auto outcome = static_cast<Outcome>(receiver.receive());
    receiver.expect_success();
    return outcome;
}

// A child that stands still and may be debugged; its copy of the mapping is at the same place.
template <class Action> Outcome of_debugged(const Action &action)
{
    const pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
        raise(SIGSTOP);
        _exit(0);
    }
    int status = 0;
    Outcome outcome = WRONG;
    if (child > 0 && waitpid(child, &status, 0) == child && WIFSTOPPED(status))
        outcome = action(child);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    return outcome;
}

// ---- Calls ----------------------------------------------------------------------------------

template <class Item, auto function> Outcome get_items(Importer &importer)
{
    std::array<Item, 8 / sizeof(Item)> items{};
    const int status = function(importer.library, 0, items.data(), items.size());
    std::uint64_t word = 0;
    std::memcpy(&word, items.data(), sizeof(word));
    return found_if(status == RSM_SUCCESS, importer, word);
}

template <class Item, auto function> Outcome put_items(Importer &importer)
{
    std::array<Item, 8 / sizeof(Item)> items{};
    std::memcpy(items.data(), &importer.token, sizeof(importer.token));
    return stored_if(function(importer.library, static_cast<off_t>(importer.slot), items.data(),
                              items.size()) == RSM_SUCCESS);
}

constexpr auto get8 = get_items<std::uint8_t, rsm_memseg_import_get8>;
constexpr auto get16 = get_items<std::uint16_t, rsm_memseg_import_get16>;
constexpr auto get32 = get_items<std::uint32_t, rsm_memseg_import_get32>;
constexpr auto get64 = get_items<std::uint64_t, rsm_memseg_import_get64>;
constexpr auto put8 = put_items<std::uint8_t, rsm_memseg_import_put8>;
constexpr auto put16 = put_items<std::uint16_t, rsm_memseg_import_put16>;
constexpr auto put32 = put_items<std::uint32_t, rsm_memseg_import_put32>;
constexpr auto put64 = put_items<std::uint64_t, rsm_memseg_import_put64>;

Outcome get(Importer &importer)
{
    std::uint64_t word = 0;
    const int status = rsm_memseg_import_get(importer.library, 0, &word, sizeof(word));
    return found_if(status == RSM_SUCCESS, importer, word);
}

Outcome put(Importer &importer)
{
    return stored_if(rsm_memseg_import_put(importer.library, static_cast<off_t>(importer.slot),
                                           &importer.token, sizeof(importer.token)) == RSM_SUCCESS);
}

Outcome getv_by(int handle, const Importer &importer)
{
    std::uint64_t word = 0;
    const rsm_transfer_entry entry = raw::entry(&word, 0, sizeof(word));
    const auto outcome = raw::transfer(handle, RSM_IOC_GETV, {&entry, 1});
    return found_if(outcome == raw::success, importer, word);
}

Outcome putv_by(int handle, const Importer &importer)
{
    const rsm_transfer_entry entry =
        raw::entry(&importer.token, importer.slot, sizeof(importer.token));
    return stored_if(raw::transfer(handle, RSM_IOC_PUTV, {&entry, 1}) == raw::success);
}

Outcome getv(Importer &importer)
{
    return getv_by(importer.handle.get(), importer);
}

Outcome putv(Importer &importer)
{
    return putv_by(importer.handle.get(), importer);
}

Outcome passed_getv(Importer &importer)
{
    return by_child([&] { return getv(importer); });
}

Outcome passed_putv(Importer &importer)
{
    return by_child([&] { return putv(importer); });
}

Outcome sent_getv(Importer &importer)
{
    return by_receiver(importer, getv);
}

Outcome sent_putv(Importer &importer)
{
    return by_receiver(importer, putv);
}

Outcome second_getv(Importer &importer)
{
    const Fd again = importer.connect_again();
    return again.valid() ? getv_by(again.get(), importer) : REFUSED;
}

Outcome second_putv(Importer &importer)
{
    const Fd again = importer.connect_again();
    return again.valid() ? putv_by(again.get(), importer) : REFUSED;
}

struct Pipe {
    Pipe() { (void)!pipe2(ends, O_CLOEXEC | O_NONBLOCK); }
    ~Pipe()
    {
        close(ends[0]);
        close(ends[1]);
    }
    Pipe(const Pipe &) = delete;
    Pipe &operator=(const Pipe &) = delete;
    // The bytes that were written to it.
    Outcome brought(const Importer &importer, bool written) const
    {
        std::uint64_t word = 0;
        const bool done = written && ::read(ends[0], &word, sizeof(word)) == sizeof(word);
        return found_if(done, importer, word);
    }
    int ends[2] = {-1, -1};
};

Outcome splice_out(Importer &importer)
{
    const Pipe pipe;
    const auto moved = splice(importer.handle.get(), nullptr, pipe.ends[1], nullptr, 8, 0);
    return pipe.brought(importer, moved == 8);
}

// ---- Mappings made for the access -----------------------------------------------------------

constexpr int both_ways = PROT_READ | PROT_WRITE;

template <class Use>
Outcome mapped(const Importer &importer, int protection, const Use &use, int flags = MAP_SHARED)
{
    void *base = raw::map(importer.handle.get(), importer.size, protection, 0, flags);
    if (!base)
        return REFUSED;
    const Outcome outcome = use(importer, static_cast<std::byte *>(base));
    munmap(base, importer.size);
    return outcome;
}

template <int protection, auto use, int flags = MAP_SHARED> Outcome map_and(Importer &importer)
{
    return mapped(importer, protection, use, flags);
}

constexpr auto map_none = map_and<PROT_NONE, load_at>;
constexpr auto map_read = map_and<PROT_READ, load_at>;
constexpr auto map_write = map_and<PROT_WRITE, store_at>;
constexpr auto map_peep = map_and<PROT_WRITE, load_at>;
constexpr auto map_both = map_and<both_ways, store_at>;
constexpr auto map_exec = map_and<PROT_READ | PROT_EXEC, load_at>;
constexpr auto map_private = map_and<PROT_READ, load_at, MAP_PRIVATE>;

template <int protection, auto use> Outcome protect_and(Importer &importer)
{
    return mapped(importer, PROT_NONE, [](const Importer &user, std::byte *base) {
        return mprotect(base, user.size, protection) == 0 ? use(user, base) : REFUSED;
    });
}

constexpr auto protect_read = protect_and<PROT_READ, load_at>;
constexpr auto protect_write = protect_and<PROT_WRITE, store_at>;
constexpr auto protect_exec = protect_and<PROT_READ | PROT_EXEC, load_at>;

Outcome passed_map_read(Importer &importer)
{
    return by_child([&] { return map_read(importer); });
}

Outcome passed_map_write(Importer &importer)
{
    return by_child([&] { return map_write(importer); });
}

Outcome sent_map_read(Importer &importer)
{
    return by_receiver(importer, map_read);
}

Outcome sent_map_write(Importer &importer)
{
    return by_receiver(importer, map_write);
}

// ---- The mapping that there is --------------------------------------------------------------

Outcome load(Importer &importer)
{
    return load_at(importer, importer.base);
}

Outcome store(Importer &importer)
{
    return store_at(importer, importer.base);
}

// To another place, and back.
Outcome move_load(Importer &importer)
{
    const std::size_t size = importer.size;
    void *room = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *there = mremap(importer.base, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, room);
    if (there == MAP_FAILED)
        return WRONG;
    const Outcome outcome = load_at(importer, static_cast<std::byte *>(there));
    return mremap(there, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, importer.base) == importer.base
               ? outcome
               : WRONG;
}

Outcome grow(Importer &importer)
{
    const std::size_t size = importer.size;
    void *there = mremap(importer.base, size, 2 * size, MREMAP_MAYMOVE);
    if (there == MAP_FAILED)
        return REFUSED;
    importer.base = static_cast<std::byte *>(there);
    return WRONG;
}

Outcome fork_load(Importer &importer)
{
    return by_child([&] { return load(importer); });
}

Outcome fork_store(Importer &importer)
{
    return by_child([&] { return store(importer); });
}

Outcome write_from(Importer &importer)
{
    const Pipe pipe;
    return pipe.brought(importer, write(pipe.ends[1], importer.base, 8) == 8);
}

Outcome read_into(Importer &importer)
{
    const Pipe pipe;
    const bool there = write(pipe.ends[1], &importer.token, sizeof(importer.token)) > 0;
    return stored_if(there && ::read(pipe.ends[0], importer.base + importer.slot, 8) == 8);
}

// A ring for one request, without liburing.
class Ring {
public:
    Ring() : fd_(static_cast<int>(syscall(SYS_io_uring_setup, 1, &params_)))
    {
        if (!fd_.valid())
            return;
        const std::size_t entries = params_.sq_entries * sizeof(io_uring_sqe);
        const std::size_t size = std::max<std::size_t>(
            params_.sq_off.array + params_.sq_entries * sizeof(unsigned),
            params_.cq_off.cqes + params_.cq_entries * sizeof(io_uring_cqe));
        queues_.emplace((size + page_size() - 1) / page_size(), both_ways, MAP_SHARED, fd_.get());
        void *place = mmap(nullptr, entries, both_ways, MAP_SHARED, fd_.get(), IORING_OFF_SQES);
        requests_ = place == MAP_FAILED ? nullptr : static_cast<io_uring_sqe *>(place);
    }
    ~Ring()
    {
        if (requests_)
            munmap(requests_, params_.sq_entries * sizeof(io_uring_sqe));
    }
    Ring(const Ring &) = delete;
    Ring &operator=(const Ring &) = delete;
    bool there() const { return queues_ && queues_->valid() && requests_; }
    int descriptor() const { return fd_.get(); }
    // Bytes that IORING_OP_READ or IORING_OP_WRITE has moved, or -errno.
    int move(io_uring_op operation, int file, const void *memory, unsigned length)
    {
        *requests_ = {};
        requests_->opcode = static_cast<std::uint8_t>(operation);
        requests_->fd = file;
        requests_->addr = reinterpret_cast<std::uintptr_t>(memory);
        requests_->len = length;
        requests_->off = ~0ull;
        queues_->at<unsigned>(params_.sq_off.array) = 0;
        std::atomic_ref(*queues_->pointer<unsigned>(params_.sq_off.tail)).fetch_add(1);
        if (syscall(SYS_io_uring_enter, fd_.get(), 1, 1, IORING_ENTER_GETEVENTS, nullptr, 0) != 1)
            return -errno;
        return queues_->at<io_uring_cqe>(params_.cq_off.cqes).res;
    }

private:
    io_uring_params params_{};
    Fd fd_;
    std::optional<Pages> queues_;
    io_uring_sqe *requests_ = nullptr;
};

Outcome uring_plain(Importer &importer)
{
    const Pipe pipe;
    Ring ring;
    if (!ring.there())
        return ABSENT;
    return pipe.brought(importer,
                        ring.move(IORING_OP_WRITE, pipe.ends[1], importer.base, 8) == 8);
}

Outcome uring_read(Importer &importer)
{
    const Pipe pipe;
    Ring ring;
    if (!ring.there() ||
        write(pipe.ends[1], &importer.token, sizeof(importer.token)) != sizeof(importer.token))
        return ABSENT;
    return stored_if(
        ring.move(IORING_OP_READ, pipe.ends[0], importer.base + importer.slot, 8) == 8);
}

Outcome uring_fixed(Importer &importer)
{
    const Ring ring;
    if (!ring.there())
        return ABSENT;
    const iovec buffer{importer.base, page_size()};
    const long done = syscall(SYS_io_uring_register, ring.descriptor(), IORING_REGISTER_BUFFERS,
                              &buffer, 1);
    return done == 0 ? WRONG : REFUSED;
}

// Says whether a word is the one that is expected.
Outcome futex_private(Importer &importer)
{
    const timespec at_once{};
    const auto word = static_cast<std::uint32_t>(importer.secret);
    syscall(SYS_futex, importer.base, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, word, &at_once, nullptr, 0);
    return errno == ETIMEDOUT ? SEGMENT : errno == EAGAIN ? OWN : REFUSED;
}

Outcome futex_shared(Importer &importer)
{
    return syscall(SYS_futex, importer.base, FUTEX_WAKE, 1, nullptr, nullptr, 0) < 0 ? REFUSED
                                                                                     : WRONG;
}

// ---- From outside ---------------------------------------------------------------------------

off_t address_of(const void *place)
{
    return static_cast<off_t>(reinterpret_cast<std::uintptr_t>(place));
}

std::string mem_of(pid_t process)
{
    return "/proc/" + std::to_string(process) + "/mem";
}

Outcome read_mem(const Importer &importer, pid_t process)
{
    const Fd mem(open(mem_of(process).c_str(), O_RDONLY | O_CLOEXEC));
    std::uint64_t word = 0;
    const auto got = pread(mem.get(), &word, sizeof(word), address_of(importer.base));
    return found_if(got == sizeof(word), importer, word);
}

Outcome write_mem(const Importer &importer, pid_t process)
{
    const Fd mem(open(mem_of(process).c_str(), O_WRONLY | O_CLOEXEC));
    return stored_if(pwrite(mem.get(), &importer.token, sizeof(importer.token),
                            address_of(importer.base + importer.slot)) > 0);
}

Outcome mem_read(Importer &importer)
{
    return read_mem(importer, getpid());
}

Outcome mem_write(Importer &importer)
{
    return write_mem(importer, getpid());
}

Outcome other_mem_read(Importer &importer)
{
    return of_debugged([&](pid_t child) { return read_mem(importer, child); });
}

Outcome other_mem_write(Importer &importer)
{
    return of_debugged([&](pid_t child) { return write_mem(importer, child); });
}

Outcome peek(Importer &importer)
{
    return of_debugged([&](pid_t child) {
        errno = 0;
        const long word = ptrace(PTRACE_PEEKDATA, child, importer.base, nullptr);
        return found_if(errno == 0, importer, static_cast<std::uint64_t>(word));
    });
}

Outcome poke(Importer &importer)
{
    return of_debugged([&](pid_t child) {
        return stored_if(ptrace(PTRACE_POKEDATA, child, importer.base + importer.slot,
                                importer.token) == 0);
    });
}

// Bytes that an ELF core has of the mapping at an address; nothing if it has no such mapping.
std::optional<std::size_t> dumped(const std::string &path, const void *address)
{
    const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    Elf64_Ehdr head{};
    if (pread(file.get(), &head, sizeof(head), 0) != sizeof(head))
        return {};
    for (unsigned i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr part{};
        const auto at = static_cast<off_t>(head.e_phoff + i * sizeof(part));
        if (pread(file.get(), &part, sizeof(part), at) == sizeof(part) &&
            part.p_vaddr == reinterpret_cast<std::uintptr_t>(address))
            return part.p_filesz;
    }
    return {};
}

// The test has set the pattern of names.
Outcome core(Importer &importer)
{
    const pid_t child = fork();
    if (child == 0) {
        const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
        setrlimit(RLIMIT_CORE, &unlimited);
        prctl(PR_SET_DUMPABLE, 1);
        signal(SIGABRT, SIG_DFL);
        madvise(importer.base, importer.size, MADV_DODUMP);
        abort();
    }
    waitpid(child, nullptr, 0);
    const std::string path = "/tmp/access-core." + std::to_string(child);
    const auto bytes = dumped(path, importer.base);
    unlink(path.c_str());
    return !bytes ? ABSENT : *bytes == 0 ? REFUSED : WRONG;
}

// ---- Pages of the process's own -------------------------------------------------------------

Outcome readv_of(const Importer &importer, pid_t process)
{
    std::uint64_t word = 0;
    const iovec here{&word, sizeof(word)};
    const iovec there{importer.base, sizeof(word)};
    return found_if(process_vm_readv(process, &here, 1, &there, 1, 0) > 0, importer, word);
}

Outcome writev_of(const Importer &importer, pid_t process)
{
    std::uint64_t token = importer.token;
    const iovec here{&token, sizeof(token)};
    const iovec there{importer.base + importer.slot, sizeof(token)};
    return stored_if(process_vm_writev(process, &here, 1, &there, 1, 0) > 0);
}

Outcome vm_readv(Importer &importer)
{
    return readv_of(importer, getpid());
}

Outcome vm_writev(Importer &importer)
{
    return writev_of(importer, getpid());
}

Outcome other_vm_readv(Importer &importer)
{
    return of_debugged([&](pid_t child) { return readv_of(importer, child); });
}

Outcome other_vm_writev(Importer &importer)
{
    return of_debugged([&](pid_t child) { return writev_of(importer, child); });
}

Outcome vmsplice_from(Importer &importer)
{
    const Pipe pipe;
    const iovec piece{importer.base, 8};
    return pipe.brought(importer, vmsplice(pipe.ends[1], &piece, 1, SPLICE_F_NONBLOCK) == 8);
}

// From Linux 6.6 on tmpfs takes O_DIRECT, and copies as write() does.
bool on_tmpfs(const Fd &file)
{
    struct statfs system = {};
    return fstatfs(file.get(), &system) == 0 && system.f_type == TMPFS_MAGIC;
}

// A disk of brd.ko if there is one, which the test has opened to all. Its node lies on devtmpfs, which
// has the magic number of tmpfs.
Fd direct_file()
{
    Fd disk(open(ram_disk, O_RDWR | O_DIRECT | O_CLOEXEC));
    if (disk.valid())
        return disk;
    Fd file(open("/tmp", O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600));
    return on_tmpfs(file) ? Fd() : std::move(file);
}

// Where there is no such file, or it does not take pages of the process's own, all would be refused.
template <auto move> Outcome direct(Importer &importer)
{
    const Fd file = direct_file();
    const Pages own(1);
    const auto whole = static_cast<ssize_t>(page_size());
    if (!file.valid() || move(file.get(), own.data(), page_size(), 0) != whole)
        return ABSENT;
    return move(file.get(), importer.base, page_size(), 0) < 0 ? REFUSED : WRONG;
}

constexpr auto direct_write = direct<pwrite>;
constexpr auto direct_read = direct<pread>;

// ---- The table ------------------------------------------------------------------------------

using enum Kind;

constexpr Way table[] = {
#define GROUP(title)
#define WAY(function, name, kind, none, read, write, blind, both, ended)                           \
    {name, kind, function, {none, read, write, blind, both}, ended,                                \
     std::string_view(name).starts_with("rsm_memseg")},
#include "access/matrix.def"
#undef WAY
#undef GROUP
};

} // namespace

const char *name_of(Outcome outcome)
{
    const char *const names[] = {"refused",   "the segment",           "a page of its own",
                                 "something", "something it must not", "absent"};
    return names[static_cast<std::size_t>(outcome)];
}

const RightsInfo &info_of(Rights rights)
{
    static constexpr RightsInfo infos[] = {{"none", RSM_PERM_NONE, 0660},
                                           {"read", RSM_PERM_READ, 0664},
                                           {"write", RSM_PERM_WRITE, 0666},
                                           {"blind", RSM_PERM_WRITE, 0662},
                                           {"both", RSM_PERM_RDWR, 0666}};
    return infos[rights];
}

std::span<const Way> all_ways()
{
    return table;
}

Outcome expected(const Way &way, Rights rights, const Phase &phase, bool mappable)
{
    const bool by_mapping = way.kind == VIEW || way.kind == MAP;
    const Outcome connected = way.connected[rights];
    if (connected == REFUSED || (by_mapping && !mappable))
        return REFUSED;
    if (way.kind == OPEN && phase.closed)
        return REFUSED;
    return phase.ended ? way.ended : connected;
}

} // namespace rsmtest::access
