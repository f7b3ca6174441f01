// SPDX-License-Identifier: GPL-2.0
// put and get in implicit barrier mode: the call, its barrier and its checks included.
#include <atomic>
#include <cstdint>
#include <cstring>

#include <sys/uio.h>

#include "rows.hpp"
#include "segment.hpp"

namespace rsmperf {

namespace {

Batch put64_batch(const Import &import)
{
    return [handle = import.get()](std::size_t count) {
        std::uint64_t value = 1;
        while (count--) {
            if (rsm_memseg_import_put64(handle, 0, &value, 1) != RSM_SUCCESS)
                throw std::runtime_error("rsm_memseg_import_put64 failed");
        }
    };
}

}  // namespace

Times put64(const Settings &settings)
{
    const Exporter exporter(MiB);
    const PosixShm shm(MiB);
    const Controller controller;
    Import import(controller, exporter.id());
    import.map(MiB);

    return compare(settings, put64_batch(import), [&shm](std::size_t count) {
        auto *word = reinterpret_cast<volatile std::uint64_t *>(shm.data());
        while (count--) {
            *word = 1;
            std::atomic_thread_fence(std::memory_order_seq_cst);
        }
    });
}

Times get64(const Settings &settings)
{
    const Exporter exporter(MiB);
    const PosixShm shm(MiB);
    const Controller controller;
    Import import(controller, exporter.id());
    import.map(MiB);

    const Batch get = [handle = import.get()](std::size_t count) {
        std::uint64_t value = 0;
        while (count--) {
            if (rsm_memseg_import_get64(handle, 0, &value, 1) != RSM_SUCCESS)
                throw std::runtime_error("rsm_memseg_import_get64 failed");
        }
    };
    return compare(settings, get, [&shm](std::size_t count) {
        const auto *word = reinterpret_cast<const volatile std::uint64_t *>(shm.data());
        while (count--) {
            (void)*word;
            std::atomic_thread_fence(std::memory_order_seq_cst);
        }
    });
}

Times put64_writev(const Settings &settings)
{
    const Exporter exporter(MiB);
    Peer target([](Channel &channel) {
        const PrivateMemory memory(page_size());
        channel.send(memory.data());
        channel.wait_closed();
    });
    char *remote_address = target.channel().expect<char *>();
    const Controller controller;
    Import import(controller, exporter.id());
    import.map(MiB);

    return compare(settings, put64_batch(import), [&](std::size_t count) {
        std::uint64_t value = 1;
        const iovec local{&value, sizeof(value)};
        const iovec remote{remote_address, sizeof(value)};
        while (count--)
            check_errno(process_vm_writev(target.pid(), &local, 1, &remote, 1, 0),
                        "process_vm_writev");
    });
}

Times put_1m(const Settings &settings)
{
    const Exporter exporter(MiB);
    const PosixShm shm(MiB);
    const PrivateMemory source(MiB);
    const Controller controller;
    Import import(controller, exporter.id());
    import.map(MiB);

    const Batch put = [&](std::size_t count) {
        while (count--)
            check_rsm(rsm_memseg_import_put(import.get(), 0, source.data(), MiB),
                      "rsm_memseg_import_put");
    };
    return compare(settings, put, [&](std::size_t count) {
        while (count--) {
            std::memcpy(shm.data(), source.data(), MiB);
            touched(shm.data());
        }
    });
}

}  // namespace rsmperf
