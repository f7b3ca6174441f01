// SPDX-License-Identifier: GPL-2.0
// Work that has nothing to do with other nodes: it has to go on as if they were not there.
#include "segments.hpp"
#include "work/worker.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace hostile {
namespace {

void must(int status, const char *what) {
    if (status != RSM_SUCCESS)
        give_up(std::string("local ") + what + ": " + std::to_string(status));
}

rsm_node_id_t own_node() {
    rsm_topology_t *topology = nullptr;
    must(rsm_get_interconnect_topology(&topology), "topology");
    const rsm_node_id_t node = topology->topology_hdr.local_nodeid;
    rsm_free_interconnect_topology(topology);
    return node;
}

void use(Watched &watched, rsm_memseg_import_handle_t import, rsm_memseg_export_handle_t exported,
         std::uint64_t *exporters, std::uint64_t value) {
    std::array<std::uint64_t, 64> words{};
    words.fill(value);
    void *address = nullptr;
    const auto call = [&watched](const char *name, auto function) {
        must(watched(name, function), name);
    };
    rsmapi_barrier_t barrier{};
    call("init barrier",
         [&] { return rsm_memseg_import_init_barrier(import, RSM_BAR_DEFAULT, &barrier); });
    call("put", [&] { return rsm_memseg_import_put(import, 512, words.data(), sizeof(words)); });
    call("map", [&] {
        return rsm_memseg_import_map(import, &address, RSM_MAP_NONE, RSM_PERM_RDWR, 0,
                                     segment_size);
    });
    const auto *seen = static_cast<std::uint64_t *>(address) + 64;
    if (!std::equal(words.begin(), words.end(), exporters + 64) ||
        !std::equal(words.begin(), words.end(), seen))
        give_up("local put went elsewhere");
    call("unmap", [&] { return rsm_memseg_import_unmap(import); });
    exporters[1] = ~value;
    call("get", [&] { return rsm_memseg_import_get64(import, 8, words.data(), 1); });
    if (words[0] != ~value)
        give_up("local get came from elsewhere");
    call("destroy barrier", [&] { return rsm_memseg_import_destroy_barrier(&barrier); });
    call("post", [&] { return rsm_intr_signal_post(import, 0); });
    call("wait", [&] { return rsm_intr_signal_wait(exported, 10000); });
}

void local_round(Watched &watched, std::uint64_t value) {
    static const rsmapi_controller_handle_t loopback = controller("loopback");
    static const rsm_node_id_t node = own_node();
    const Memory memory(segment_size);
    rsm_memseg_export_handle_t exported = nullptr;
    rsm_memseg_import_handle_t import = nullptr;
    rsm_memseg_id_t id = 0;
    must(rsm_memseg_export_create(loopback, &exported, memory.data(), memory.size(), 0), "create");
    must(rsm_memseg_export_publish(exported, &id, nullptr, 0), "publish");
    must(rsm_memseg_import_connect(loopback, node, id, RSM_PERM_RDWR, &import), "connect");
    use(watched, import, exported, memory.words(), value);
    must(rsm_memseg_import_disconnect(import), "disconnect");
    must(rsm_memseg_export_destroy(exported), "destroy");
}

} // namespace

Worker::Step local_step() {
    return [](Watched &watched, std::mt19937 &chance) {
        local_round(watched, chance());
        // Others need the processor, too.
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    };
}

} // namespace hostile
