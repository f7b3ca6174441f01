// SPDX-License-Identifier: GPL-2.0
// Orders about export segments.
#include "net/peer/worker.hpp"

#include <vector>

namespace rsmtest::net {
namespace {

// create NAME BUFFER FLAGS
Answer create(Worker &worker, Args &args) {
    const std::string name = args.word();
    const Memory memory = worker.memory(args.word());
    rsm_memseg_export_handle_t handle = nullptr;
    const int status = rsm_memseg_export_create(worker.controller, &handle, memory.base,
                                                memory.size, args.as<uint_t>());
    if (status == RSM_SUCCESS)
        worker.exports[name] = handle;
    return {status};
}

// NODE PERMISSION ... to the end of the order
std::vector<rsmapi_access_entry_t> access_list(Args &args) {
    std::vector<rsmapi_access_entry_t> list;
    while (!args.empty()) {
        const auto node = args.as<rsm_node_id_t>();
        list.push_back({node, args.as<rsm_permission_t>()});
    }
    return list;
}

// publish NAME ID [NODE PERMISSION]...: the id
Answer publish(Worker &worker, Args &args) {
    const auto handle = worker.exported(args.word());
    auto id = args.as<rsm_memseg_id_t>();
    auto list = access_list(args);
    const int status = rsm_memseg_export_publish(handle, &id, list.empty() ? nullptr : list.data(),
                                                 static_cast<uint_t>(list.size()));
    return {status, {id}};
}

// republish NAME [NODE PERMISSION]...
Answer republish(Worker &worker, Args &args) {
    const auto handle = worker.exported(args.word());
    auto list = access_list(args);
    return {rsm_memseg_export_republish(handle, list.empty() ? nullptr : list.data(),
                                        static_cast<uint_t>(list.size()))};
}

Answer unpublish(Worker &worker, Args &args) {
    return {rsm_memseg_export_unpublish(worker.exported(args.word()))};
}

// rebind NAME BUFFER
Answer rebind(Worker &worker, Args &args) {
    const auto handle = worker.exported(args.word());
    const Memory memory = worker.memory(args.word());
    return {rsm_memseg_export_rebind(handle, memory.base, 0, memory.size)};
}

Answer destroy(Worker &worker, Args &args) {
    const std::string name = args.word();
    const int status = rsm_memseg_export_destroy(worker.exported(name));
    if (status == RSM_SUCCESS)
        worker.exports.erase(name);
    return {status};
}

constexpr Verb verbs[] = {
    {"create", create},       {"publish", publish}, {"republish", republish},
    {"unpublish", unpublish}, {"rebind", rebind},   {"destroy", destroy},
};

} // namespace

std::span<const Verb> export_verbs() {
    return verbs;
}

} // namespace rsmtest::net
