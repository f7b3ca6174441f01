// SPDX-License-Identifier: GPL-2.0
#include "segment.hpp"

#include <utility>

#include <unistd.h>

namespace rsmperf {

void fail_rsm(int status, const char *call) {
    throw std::runtime_error(std::string(call) + ": " + rsm_strerror(status) + " (" +
                             rsm_strerrorname(status) + ")");
}

Topology::Topology() {
    check_rsm(rsm_get_interconnect_topology(&topology_), "rsm_get_interconnect_topology");
}

Topology::~Topology() {
    rsm_free_interconnect_topology(topology_);
}

const rsm_connections_t &Topology::connections(const std::string &controller) const {
    for (unsigned at = 0; at < topology_->topology_hdr.local_cntlr_count; at++) {
        if (controller == topology_->connections[at]->hdr.cntlr_name) {
            return *topology_->connections[at];
        }
    }
    throw std::runtime_error("there is no controller " + controller);
}

rsm_addr_t Topology::own_address(const std::string &controller) const {
    return connections(controller).hdr.local_hwaddr;
}

const rsm_remote_cntlr_t *Topology::path(const std::string &controller, rsm_node_id_t node) const {
    const auto &paths = connections(controller);
    for (int at = 0; at < paths.hdr.remote_cntlr_count; at++) {
        const auto &path = paths.remote_cntlr[at];
        if (path.remote_nodeid == node && path.connection_state == RSM_CONNECTION_ACTIVE) {
            return &path;
        }
    }
    return nullptr;
}

bool Topology::reaches(const std::string &controller, rsm_node_id_t node) const {
    return path(controller, node) != nullptr;
}

rsm_addr_t Topology::address(const std::string &controller, rsm_node_id_t node) const {
    const auto *found = path(controller, node);
    if (found == nullptr) {
        throw std::runtime_error(controller + " does not reach node " + std::to_string(node));
    }
    return found->remote_hwaddr;
}

Controller::Controller() : Controller("loopback", Topology().own_node()) {}

Controller::Controller(std::string name, rsm_node_id_t node) : node_(node) {
    check_rsm(rsm_get_controller(name.data(), &handle_), "rsm_get_controller");
}

Controller Controller::once_up(const std::string &name, rsm_node_id_t node) {
    for (int tries = 0; tries < 100 && !Topology().reaches(name, node); tries++) {
        usleep(100000);
    }
    return {name, node};
}

Controller::~Controller() {
    rsm_release_controller(handle_);
}

Export::Export(const Controller &controller, void *start, std::size_t size) {
    check_rsm(rsm_memseg_export_create(controller.get(), &handle_, start, size, 0),
              "rsm_memseg_export_create");
}

Export::Export(Export &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}

Export::~Export() {
    if (handle_) {
        rsm_memseg_export_destroy(handle_);
    }
}

rsm_memseg_id_t Export::publish(rsm_memseg_id_t id) {
    check_rsm(rsm_memseg_export_publish(handle_, &id, nullptr, 0), "rsm_memseg_export_publish");
    return id;
}

Import::Import(const Controller &controller, rsm_memseg_id_t id) {
    check_rsm(
        rsm_memseg_import_connect(controller.get(), controller.node(), id, RSM_PERM_RDWR, &handle_),
        "rsm_memseg_import_connect");
    const int status = rsm_memseg_import_init_barrier(handle_, RSM_BAR_DEFAULT, &barrier_);
    if (status != RSM_SUCCESS) {
        rsm_memseg_import_disconnect(handle_);
        check_rsm(status, "rsm_memseg_import_init_barrier");
    }
}

Import::~Import() {
    if (mapped_) {
        rsm_memseg_import_unmap(handle_);
    }
    rsm_memseg_import_destroy_barrier(&barrier_);
    rsm_memseg_import_disconnect(handle_);
}

char *Import::map(std::size_t size) {
    void *address = nullptr;
    check_rsm(rsm_memseg_import_map(handle_, &address, RSM_MAP_NONE, RSM_PERM_RDWR, 0, size),
              "rsm_memseg_import_map");
    mapped_ = true;
    return static_cast<char *>(address);
}

void Import::unmap() {
    check_rsm(rsm_memseg_import_unmap(handle_), "rsm_memseg_import_unmap");
    mapped_ = false;
}

Exporter::Exporter(std::size_t size)
    : peer_([size](Channel &channel) {
          const PrivateMemory memory(size);
          const Controller controller;
          Export segment(controller, memory.data(), memory.size());
          channel.send(segment.publish());
          channel.wait_closed();
      }),
      id_(peer_.channel().expect<rsm_memseg_id_t>()) {}

} // namespace rsmperf
