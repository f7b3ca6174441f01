// SPDX-License-Identifier: GPL-2.0
// Orders about import segments: connections, mappings, barriers.
#include "net/peer/worker.hpp"

namespace rsmtest::net {
namespace {

// connect NAME NODE ID PERMISSION
Answer connect(Worker &worker, Args &args) {
    const std::string name = args.word();
    const auto node = args.as<rsm_node_id_t>();
    const auto id = args.as<rsm_memseg_id_t>();
    Import import;
    const int status = rsm_memseg_import_connect(worker.controller, node, id,
                                                 args.as<rsm_permission_t>(), &import.handle);
    if (status == RSM_SUCCESS)
        worker.imports[name] = import;
    return {status};
}

Answer disconnect(Worker &worker, Args &args) {
    const std::string name = args.word();
    const int status = rsm_memseg_import_disconnect(worker.import(name).handle);
    if (status == RSM_SUCCESS)
        worker.imports.erase(name);
    return {status};
}

// map NAME OFFSET LENGTH PERMISSION
Answer map(Worker &worker, Args &args) {
    Import &import = worker.import(args.word());
    const auto offset = args.as<off_t>();
    const auto length = args.as<std::size_t>();
    void *address = nullptr;
    const int status = rsm_memseg_import_map(import.handle, &address, RSM_MAP_NONE,
                                             args.as<rsm_permission_t>(), offset, length);
    if (status == RSM_SUCCESS)
        import.mapping = {static_cast<std::byte *>(address), length};
    return {status};
}

Answer unmap(Worker &worker, Args &args) {
    Import &import = worker.import(args.word());
    const int status = rsm_memseg_import_unmap(import.handle);
    if (status == RSM_SUCCESS)
        import.mapping = {};
    return {status};
}

// mode NAME MODE
Answer mode(Worker &worker, Args &args) {
    const auto handle = worker.import(args.word()).handle;
    return {rsm_memseg_import_set_mode(handle, args.as<rsm_barrier_mode_t>())};
}

Answer get_mode(Worker &worker, Args &args) {
    rsm_barrier_mode_t mode{};
    const int status = rsm_memseg_import_get_mode(worker.import(args.word()).handle, &mode);
    return {status, {static_cast<std::uint64_t>(mode)}};
}

// barrier NAME init|open|order|close|destroy
Answer barrier(Worker &worker, Args &args) {
    Import &import = worker.import(args.word());
    const std::string what = args.word();
    if (what == "init")
        return {rsm_memseg_import_init_barrier(import.handle, RSM_BAR_DEFAULT, &import.barrier)};
    if (what == "open")
        return {rsm_memseg_import_open_barrier(&import.barrier)};
    if (what == "order")
        return {rsm_memseg_import_order_barrier(&import.barrier)};
    if (what == "close")
        return {rsm_memseg_import_close_barrier(&import.barrier)};
    if (what == "destroy")
        return {rsm_memseg_import_destroy_barrier(&import.barrier)};
    throw BadOrder("barriers don't " + what);
}

constexpr Verb verbs[] = {
    {"connect", connect}, {"disconnect", disconnect}, {"map", map},         {"unmap", unmap},
    {"mode", mode},       {"getmode", get_mode},      {"barrier", barrier},
};

} // namespace

std::span<const Verb> import_verbs() {
    return verbs;
}

} // namespace rsmtest::net
