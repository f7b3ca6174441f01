// SPDX-License-Identifier: GPL-2.0
// put and get in implicit barrier mode: the call, its barrier and its checks included.
#include <atomic>
#include <cstdint>
#include <cstring>

#include <sys/uio.h>

#include "access.hpp"
#include "rows.hpp"
#include "segment.hpp"

namespace rsmperf {

namespace {

Batch put64_batch(const Import &import) {
    return repeat([handle = import.get()] {
        std::uint64_t value = 1;
        check_rsm(rsm_memseg_import_put64(handle, 0, &value, 1), "rsm_memseg_import_put64");
    });
}

} // namespace

Batch put_batch(const Import &import, char *from) {
    return repeat([handle = import.get(), from] {
        check_rsm(rsm_memseg_import_put(handle, 0, from, MiB), "rsm_memseg_import_put");
    });
}

Times put64(const Settings &settings) {
    const Exporter exporter(MiB);
    const PosixShm shm(MiB);
    const Controller controller;
    Import import(controller, exporter.id());
    import.map(MiB);

    const auto store = repeat([word = reinterpret_cast<volatile std::uint64_t *>(shm.data())] {
        *word = 1;
        std::atomic_thread_fence(std::memory_order_seq_cst);
    });
    return compare(settings, put64_batch(import), store);
}

Times get64(const Settings &settings) {
    const Exporter exporter(MiB);
    const PosixShm shm(MiB);
    const Controller controller;
    Import import(controller, exporter.id());
    import.map(MiB);

    const auto get = repeat([handle = import.get()] {
        std::uint64_t value = 0;
        check_rsm(rsm_memseg_import_get64(handle, 0, &value, 1), "rsm_memseg_import_get64");
    });
    const auto load = repeat([word = reinterpret_cast<const volatile std::uint64_t *>(shm.data())] {
        (void)*word;
        std::atomic_thread_fence(std::memory_order_seq_cst);
    });
    return compare(settings, get, load);
}

Times put64_writev(const Settings &settings) {
    const Exporter exporter(MiB);
    Peer target([](Channel &channel) {
        const PrivateMemory memory(page_size());
        channel.send(memory.data());
        channel.wait_closed();
    });
    char *address = target.channel().expect<char *>();
    const Controller controller;
    Import import(controller, exporter.id());
    import.map(MiB);

    const auto write = repeat([address, pid = target.pid()] {
        std::uint64_t value = 1;
        const iovec local{&value, sizeof(value)};
        const iovec remote{address, sizeof(value)};
        check_errno(process_vm_writev(pid, &local, 1, &remote, 1, 0), "process_vm_writev");
    });
    return compare(settings, put64_batch(import), write);
}

Times put_1m(const Settings &settings) {
    const Exporter exporter(MiB);
    const PosixShm shm(MiB);
    const CopySource source(MiB);
    const Controller controller;
    Import import(controller, exporter.id());
    const char *mapped = import.map(MiB);

    const auto copy = repeat([to = shm.data(), from = source.apart_from(shm.data())] {
        std::memcpy(to, from, MiB);
        touched(to);
    });
    return compare(settings, put_batch(import, source.apart_from(mapped)), copy);
}

} // namespace rsmperf
