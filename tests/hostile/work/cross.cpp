// SPDX-License-Identifier: GPL-2.0
// Work with other nodes. It may fail, but has to come back and say so.
#include "segments.hpp"
#include "work/worker.hpp"

#include <algorithm>
#include <array>
#include <vector>

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

// Milliseconds that connect took, or -1.
int import_round(Watched &watched, std::uint32_t node, std::uint32_t id, bool wait) {
    rsm_memseg_import_handle_t import = nullptr;
    const auto began = Clock::now();
    if (watched("connect", [&] {
            return rsm_memseg_import_connect(ivshmem(), node, id, RSM_PERM_RDWR, &import);
        }) != RSM_SUCCESS)
        return -1;
    const auto took = std::chrono::duration_cast<milliseconds>(Clock::now() - began);
    const bool good = use(watched, import);
    if (wait)
        watched("wait", [&] { return rsm_intr_signal_wait(import, 20); });
    if (watched("disconnect", [&] { return rsm_memseg_import_disconnect(import); }) != RSM_SUCCESS)
        give_up("an import can't be disconnected");
    return good ? static_cast<int>(took.count()) : -1;
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
        if (import_round(watched, from, segment_id(node, chance() % ids_per_node), true) < 0)
            std::this_thread::sleep_for(milliseconds(5));
    };
}

// Usual is when messages are announced, rather than found by those who look now and then.
int recovery_time(std::uint32_t node) {
    constexpr auto limit = std::chrono::seconds(40);
    constexpr std::size_t samples = 7;
    // A debug kernel gets a longer heartbeat, and needs it.
    const std::int64_t usual = heartbeat() * 2 / 25;
    Watched watched;
    std::vector<int> times;
    const auto began = Clock::now();
    for (std::uint32_t i = 0; Clock::now() < began + limit; i++) {
        const int took = import_round(watched, node, segment_id(node, i % ids_per_node), false);
        std::this_thread::sleep_for(milliseconds(took < 0 ? 20 : 1));
        if (took < 0)
            continue;
        times.push_back(took);
        if (times.size() > samples)
            times.erase(times.begin());
        std::vector<int> sorted = times;
        std::ranges::sort(sorted);
        if (sorted.size() == samples && sorted[samples / 2] < usual)
            return static_cast<int>(
                std::chrono::duration_cast<milliseconds>(Clock::now() - began).count());
    }
    return -1;
}

} // namespace hostile
