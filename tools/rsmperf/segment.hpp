// SPDX-License-Identifier: GPL-2.0
// RSMAPI objects that clean up after themselves and throw what RSMAPI returns.
#pragma once

#include <cstddef>
#include <string>

#include <rsmapi.h>

#include "memory.hpp"
#include "peer.hpp"

namespace rsmperf {

[[noreturn]] void fail_rsm(int status, const char *call);

// Throws unless the status is RSM_SUCCESS. Inline, as it is part of what is measured.
inline void check_rsm(int status, const char *call) {
    if (status != RSM_SUCCESS) {
        fail_rsm(status, call);
    }
}

// A snapshot of controllers and their paths to other nodes.
class Topology {
  public:
    Topology();
    Topology(const Topology &) = delete;
    Topology &operator=(const Topology &) = delete;
    ~Topology();

    [[nodiscard]] rsm_node_id_t own_node() const { return topology_->topology_hdr.local_nodeid; }
    [[nodiscard]] rsm_addr_t own_address(const std::string &controller) const;
    [[nodiscard]] bool reaches(const std::string &controller, rsm_node_id_t node) const;
    // A segment of a node that is up.
    [[nodiscard]] rsm_addr_t address(const std::string &controller, rsm_node_id_t node) const;

  private:
    [[nodiscard]] const rsm_connections_t &connections(const std::string &controller) const;
    // NULL if the node is not up.
    [[nodiscard]] const rsm_remote_cntlr_t *path(const std::string &controller,
                                                 rsm_node_id_t node) const;

    rsm_topology_t *topology_ = nullptr;
};

// A controller, and the node whose segments are imported through it.
class Controller {
  public:
    // Loopback and this node.
    Controller();
    Controller(std::string name, rsm_node_id_t node);
    // Hosts that RDMA joins find each other after a while.
    [[nodiscard]] static Controller once_up(const std::string &name, rsm_node_id_t node);
    Controller(const Controller &) = delete;
    Controller &operator=(const Controller &) = delete;
    ~Controller();

    rsmapi_controller_handle_t get() const { return handle_; }
    rsm_node_id_t node() const { return node_; }

  private:
    rsmapi_controller_handle_t handle_ = nullptr;
    rsm_node_id_t node_ = 0;
};

// An export segment over memory that must outlive it.
class Export {
  public:
    Export(const Controller &controller, void *start, std::size_t size);
    Export(Export &&other) noexcept;
    Export &operator=(Export &&) = delete;
    ~Export();

    rsm_memseg_export_handle_t get() const { return handle_; }
    // 0: the system chooses the id that is returned.
    rsm_memseg_id_t publish(rsm_memseg_id_t id = 0);

  private:
    rsm_memseg_export_handle_t handle_ = nullptr;
};

// A connection with both rights and an initialised barrier.
class Import {
  public:
    Import(const Controller &controller, rsm_memseg_id_t id);
    Import(const Import &) = delete;
    Import &operator=(const Import &) = delete;
    ~Import();

    rsm_memseg_import_handle_t get() const { return handle_; }
    // Maps from the start of the segment.
    char *map(std::size_t size);
    void unmap();

  private:
    rsm_memseg_import_handle_t handle_ = nullptr;
    rsmapi_barrier_t barrier_ = {};
    bool mapped_ = false;
};

// A signal to the exporter, and its answer.
inline void signal_round_trip(rsm_memseg_import_handle_t segment) {
    check_rsm(rsm_intr_signal_post(segment, 0), "rsm_intr_signal_post");
    check_rsm(rsm_intr_signal_wait(segment, -1), "rsm_intr_signal_wait");
}

// A process that publishes a segment of the given size until the object goes away.
class Exporter {
  public:
    explicit Exporter(std::size_t size);

    rsm_memseg_id_t id() const { return id_; }

  private:
    Peer peer_;
    rsm_memseg_id_t id_;
};

} // namespace rsmperf
