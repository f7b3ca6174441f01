// SPDX-License-Identifier: GPL-2.0
// Orders about the memory of a session: buffers, and mappings of imports by the
// import's name.
#include "net/peer/worker.hpp"
#include "net/support/pattern.hpp"

#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

namespace rsmtest::net {
namespace {

std::byte *system_v(std::size_t size) {
    const int id = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
    void *base = id < 0 ? MAP_FAILED : shmat(id, nullptr, 0);
    shmctl(id, IPC_RMID, nullptr);
    return static_cast<std::byte *>(base);
}

std::byte *anonymous(std::size_t size, int flags) {
    return static_cast<std::byte *>(
        mmap(nullptr, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0));
}

// buffer NAME PAGES [private|shared|sysv]
Answer buffer(Worker &worker, Args &args) {
    const std::string name = args.word();
    const std::size_t size = args.number() * page_size();
    const std::string kind = args.empty() ? "private" : args.word();
    std::byte *base = kind == "sysv"     ? system_v(size)
                      : kind == "shared" ? anonymous(size, MAP_SHARED)
                                         : anonymous(size, MAP_PRIVATE);
    if (base == MAP_FAILED)
        return {RSMERR_INSUFFICIENT_MEM};
    worker.buffers[name] = {base, size};
    return {RSM_SUCCESS, {size}};
}

// munmap NAME [OFFSET LENGTH]: behind the library's back
Answer unmap_memory(Worker &worker, Args &args) {
    const Memory memory = worker.memory(args.word());
    const std::uint64_t offset = args.number_or(0);
    const std::uint64_t length = args.number_or(memory.size);
    return {munmap(memory.base + offset, length) ? errno : 0};
}

// protect NAME read|write
Answer protect(Worker &worker, Args &args) {
    const Memory memory = worker.memory(args.word());
    const int protection = args.word() == "read" ? PROT_READ : PROT_READ | PROT_WRITE;
    return {mprotect(memory.base, memory.size, protection) ? errno : 0};
}

// fill NAME OFFSET LENGTH SEED
Answer fill_memory(Worker &worker, Args &args) {
    const Memory memory = worker.memory(args.word());
    const std::uint64_t offset = args.number();
    const auto words = memory.words(offset, args.number());
    fill(words, args.number());
    return {};
}

// differ NAME OFFSET LENGTH SEED: words that are not the pattern's
Answer differ(Worker &worker, Args &args) {
    const Memory memory = worker.memory(args.word());
    const std::uint64_t offset = args.number();
    const auto words = memory.words(offset, args.number());
    return {RSM_SUCCESS, {mismatches(words, args.number())}};
}

// nonzero NAME: words that are not 0
Answer nonzero(Worker &worker, Args &args) {
    const Memory memory = worker.memory(args.word());
    std::uint64_t count = 0;
    for (const std::uint64_t word : memory.words(0, memory.size))
        count += word != 0;
    return {RSM_SUCCESS, {count}};
}

// peek NAME OFFSET
Answer peek(Worker &worker, Args &args) {
    const Memory memory = worker.memory(args.word());
    return {RSM_SUCCESS, {memory.words(args.number(), 8)[0]}};
}

// poke NAME OFFSET VALUE
Answer poke(Worker &worker, Args &args) {
    const Memory memory = worker.memory(args.word());
    const auto words = memory.words(args.number(), 8);
    words[0] = args.number();
    return {};
}

constexpr Verb verbs[] = {
    {"buffer", buffer}, {"munmap", unmap_memory}, {"protect", protect}, {"fill", fill_memory},
    {"differ", differ}, {"nonzero", nonzero},     {"peek", peek},       {"poke", poke},
};

} // namespace

std::span<const Verb> memory_verbs() {
    return verbs;
}

} // namespace rsmtest::net
