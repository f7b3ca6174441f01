// SPDX-License-Identifier: GPL-2.0
// RSMAPI objects that clean up after themselves and throw what RSMAPI returns.
#pragma once

#include <cstddef>

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

// The loopback controller.
class Controller {
  public:
    Controller();
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
    // The id that the system chose.
    rsm_memseg_id_t publish();

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
