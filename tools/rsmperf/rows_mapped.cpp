// SPDX-License-Identifier: GPL-2.0
// An import mapping against POSIX shared memory: the very same loops on another pointer.
#include <cstdint>
#include <cstring>

#include "access.hpp"
#include "rows.hpp"
#include "segment.hpp"

namespace rsmperf {

namespace {

[[gnu::noinline]] void load_and_store(char *start, std::size_t size) {
    auto *words = reinterpret_cast<volatile std::uint64_t *>(start);
    for (std::size_t at = 0; at < size / sizeof(*words); at++) {
        words[at] = words[at] + 1;
    }
}

[[gnu::noinline]] void copy(char *to, const char *from, std::size_t size) {
    std::memcpy(to, from, size);
    touched(to);
}

} // namespace

Batch load_store_batch(char *memory) {
    return repeat([memory] { load_and_store(memory, MiB); });
}

Times load_store(const Settings &settings) {
    const Exporter exporter(MiB);
    const PosixShm shm(MiB);
    const Controller controller;
    Import import(controller, exporter.id());
    char *mapped = import.map(MiB);

    return compare(settings, load_store_batch(mapped), load_store_batch(shm.data()));
}

Times memcpy_1m(const Settings &settings) {
    const Exporter exporter(MiB);
    const PosixShm shm(MiB);
    const CopySource source(MiB);
    const Controller controller;
    Import import(controller, exporter.id());
    char *mapped = import.map(MiB);

    const auto batch = [&source](char *memory) {
        return repeat([memory, from = source.apart_from(memory)] { copy(memory, from, MiB); });
    };
    return compare(settings, batch(mapped), batch(shm.data()));
}

} // namespace rsmperf
