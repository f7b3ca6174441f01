// SPDX-License-Identifier: GPL-2.0
// Work with other nodes. It may fail, but has to come back and say so.
#include "segments.hpp"
#include "work/worker.hpp"

#include <array>
#include <fstream>
#include <sstream>

namespace hostile {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

rsmapi_controller_handle_t ivshmem() {
    static const rsmapi_controller_handle_t handle = controller("ivshmem0");
    return handle;
}

// For callers that don't care, as the result may be anything.
void touch(void *address, std::size_t size) {
    for (std::size_t at = 0; at < size; at += 512) {
        volatile std::uint64_t *word = static_cast<std::uint64_t *>(address) + at / 8;
        *word = *word + 1;
    }
}

// A published export: events both ways, other rights now and then.
void attend(Watched &watched, rsm_memseg_export_handle_t exported, void *memory, unsigned rounds) {
    while (rounds-- > 0) {
        touch(memory, segment_size);
        if (watched("export post", [&] { return rsm_intr_signal_post(exported, 0); }) != 0)
            return;
        watched("export wait", [&] { return rsm_intr_signal_wait(exported, 20); });
        watched("republish", [&] {
            rsmapi_access_entry_t access[] = {{1, RSM_PERM_RDWR | 066}, {2, 0666}, {3, 0666}};
            return rsm_memseg_export_republish(exported, access, rounds % 2 == 0 ? 3 : 0);
        });
    }
}

void export_round(Watched &watched, std::uint32_t id, unsigned rounds) {
    const Memory memory(segment_size);
    rsm_memseg_export_handle_t exported = nullptr;
    if (watched("create", [&] {
            return rsm_memseg_export_create(ivshmem(), &exported, memory.data(), memory.size(), 0);
        }) != RSM_SUCCESS) {
        std::this_thread::sleep_for(milliseconds(20));
        return;
    }
    if (watched("publish", [&] { return rsm_memseg_export_publish(exported, &id, nullptr, 0); }) ==
        RSM_SUCCESS) {
        attend(watched, exported, memory.data(), rounds);
        watched("unpublish", [&] { return rsm_memseg_export_unpublish(exported); });
    }
    if (watched("destroy", [&] { return rsm_memseg_export_destroy(exported); }) != RSM_SUCCESS)
        give_up("an export can't be destroyed");
}

void transfer(Watched &watched, rsm_memseg_import_handle_t import) {
    std::array<std::uint64_t, 256> data{};
    rsmapi_barrier_t barrier{};
    if (watched("init barrier", [&] {
            return rsm_memseg_import_init_barrier(import, RSM_BAR_DEFAULT, &barrier);
        }) != RSM_SUCCESS)
        return;
    watched("set mode",
            [&] { return rsm_memseg_import_set_mode(import, RSM_BARRIER_MODE_EXPLICIT); });
    watched("open barrier", [&] { return rsm_memseg_import_open_barrier(&barrier); });
    watched("put", [&] { return rsm_memseg_import_put(import, 0, data.data(), sizeof(data)); });
    watched("get", [&] { return rsm_memseg_import_get(import, 64, data.data(), sizeof(data)); });
    watched("order barrier", [&] { return rsm_memseg_import_order_barrier(&barrier); });
    watched("close barrier", [&] { return rsm_memseg_import_close_barrier(&barrier); });
    watched("destroy barrier", [&] { return rsm_memseg_import_destroy_barrier(&barrier); });
}

// True if all of it worked.
bool use(Watched &watched, rsm_memseg_import_handle_t import) {
    void *address = nullptr;
    const std::uint64_t bad = watched.bad();
    if (watched("map", [&] {
            return rsm_memseg_import_map(import, &address, RSM_MAP_NONE, RSM_PERM_RDWR, 0, 4096);
        }) == RSM_SUCCESS) {
        touch(address, 4096);
        transfer(watched, import);
        touch(address, 4096);
        watched("unmap", [&] { return rsm_memseg_import_unmap(import); });
    }
    watched("post", [&] { return rsm_intr_signal_post(import, 0); });
    return watched.bad() == bad;
}

// True if all of it worked.
bool import_round(Watched &watched, std::uint32_t node, std::uint32_t id, bool wait) {
    rsm_memseg_import_handle_t import = nullptr;
    if (watched("connect", [&] {
            return rsm_memseg_import_connect(ivshmem(), node, id, RSM_PERM_RDWR, &import);
        }) != RSM_SUCCESS)
        return false;
    const bool good = use(watched, import);
    if (wait)
        watched("wait", [&] { return rsm_intr_signal_wait(import, 20); });
    if (watched("disconnect", [&] { return rsm_memseg_import_disconnect(import); }) != RSM_SUCCESS)
        give_up("an import can't be disconnected");
    return good;
}

// The controller's interrupts since this machine was booted.
std::uint64_t interrupts() {
    std::ifstream table("/proc/interrupts");
    for (std::string line; std::getline(table, line);) {
        if (!line.ends_with(" ivshmem0"))
            continue;
        std::istringstream words(line.substr(line.find(':') + 1));
        std::uint64_t sum = 0;
        for (std::uint64_t of_processor = 0; words >> of_processor;)
            sum += of_processor;
        return sum;
    }
    give_up("ivshmem0 has no interrupt");
}

} // namespace

Worker::Step export_step(std::uint32_t node, std::uint32_t index) {
    return [node, index](Watched &watched, std::mt19937 &chance) {
        export_round(watched, segment_id(node, index), 1 + chance() % 40);
    };
}

Worker::Step import_step(std::uint32_t node) {
    return [node](Watched &watched, std::mt19937 &chance) {
        const std::uint32_t from = chance() % 4 == 0 ? stranger_node : node;
        if (!import_round(watched, from, segment_id(node, chance() % ids_per_node), true))
            std::this_thread::sleep_for(milliseconds(5));
    };
}

// The beacon answers, and has no segment.
void await_beacon() {
    Watched watched;
    rsm_memseg_import_handle_t import = nullptr;
    while (watched("connect to the beacon", [&] {
               return rsm_memseg_import_connect(ivshmem(), beacon_node, segment_id(beacon_node, 0), RSM_PERM_RDWR, &import);
           }) != RSMERR_SEG_NOT_PUBLISHED)
        std::this_thread::sleep_for(milliseconds(20));
}

// Imports work again, and messages are announced rather than found by a tick that looks now and then:
// interrupts come meanwhile. A node that never recovers keeps its caller here until the machine's time
// is over.
std::int64_t recovery_time(std::uint32_t node) {
    constexpr int enough = 7;
    Watched watched;
    const auto began = Clock::now();
    std::uint64_t at_first = 0;
    int good = 0;
    for (std::uint32_t i = 0; good < enough || interrupts() == at_first; i++) {
        if (!import_round(watched, node, segment_id(node, i % ids_per_node), false)) {
            std::this_thread::sleep_for(milliseconds(20));
            continue;
        }
        if (good++ == 0)
            at_first = interrupts();
    }
    return std::chrono::duration_cast<milliseconds>(Clock::now() - began).count();
}

} // namespace hostile
