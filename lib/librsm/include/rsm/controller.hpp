// SPDX-License-Identifier: MIT
// Controllers, the topology, and local memory. Programs include <rsm/rsm.hpp>.
#ifndef _RSM_CONTROLLER_HPP
#define _RSM_CONTROLLER_HPP

#include <cerrno>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <sys/mman.h>
#include <type_traits>
#include <unistd.h>

#include <rsm/error.hpp>

namespace rsm {
inline namespace v2 {

using NodeId = rsm_node_id_t;
using SegmentId = rsm_memseg_id_t;

/**
 * An open controller: a program exports and imports segments through it.
 *
 * May be used by several threads at once. Segments stay when their controller goes.
 */
class Controller {
  public:
    /**
     * @name: type and unit, such as "ivshmem0"; "loopback" reaches this node only
     *
     * Errc::ctlr_not_present.
     */
    explicit Controller(const std::string &name = "loopback")
        : Controller(try_open(name).value()) {}

    static Result<Controller> try_open(std::string name = "loopback") noexcept {
        rsmapi_controller_handle_t handle = nullptr;
        if (const int status = rsm_get_controller(name.data(), &handle); status != RSM_SUCCESS)
            return {detail::code(status), "rsm_get_controller"};
        return Controller(handle);
    }

    /** Limits and access widths; a limit of 0 means that the controller sets none. */
    [[nodiscard]] rsmapi_controller_attr_t attributes() const {
        rsmapi_controller_attr_t attributes{};
        detail::check(rsm_get_controller_attr(handle(), &attributes), "rsm_get_controller_attr");
        return attributes;
    }

    /** For functions of <rsmapi.h>; NULL after a move. */
    [[nodiscard]] rsmapi_controller_handle_t handle() const noexcept { return handle_.get(); }

  private:
    struct Release {
        void operator()(rsmapi_controller_handle_t handle) const noexcept {
            rsm_release_controller(handle);
        }
    };

    explicit Controller(rsmapi_controller_handle_t handle) noexcept : handle_(handle) {}

    std::unique_ptr<std::remove_pointer_t<rsmapi_controller_handle_t>, Release> handle_;
};

/** A snapshot of the controllers of this node, loopback excepted, and of the nodes they reach. */
class Topology {
  public:
    /** Errc::insufficient_resources: also without a kernel agent. */
    Topology() {
        rsm_topology_t *topology = nullptr;
        detail::check(rsm_get_interconnect_topology(&topology), "rsm_get_interconnect_topology");
        topology_.reset(topology);
    }

    [[nodiscard]] NodeId local_node() const noexcept {
        return topology_->topology_hdr.local_nodeid;
    }

    [[nodiscard]] std::span<const rsm_connections_t *const> controllers() const noexcept {
        return {&topology_->connections[0], topology_->topology_hdr.local_cntlr_count};
    }

    /** The paths of one of controllers(); usable are those in state RSM_CONNECTION_ACTIVE. */
    [[nodiscard]] static std::span<const rsm_remote_cntlr_t>
    paths(const rsm_connections_t &controller) noexcept {
        return {&controller.remote_cntlr[0],
                static_cast<std::size_t>(controller.hdr.remote_cntlr_count)};
    }

  private:
    struct Free {
        void operator()(rsm_topology_t *topology) const noexcept {
            rsm_free_interconnect_topology(topology);
        }
    };

    std::unique_ptr<rsm_topology_t, Free> topology_;
};

/** The id of this node. */
inline NodeId local_node() {
    return Topology().local_node();
}

/** Zeroed memory as exports want it: private, page aligned, whole pages. */
class Pages {
  public:
    /** @size: bytes, rounded up to whole pages. Throws std::bad_alloc. */
    explicit Pages(std::size_t size) {
        const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
        const auto length = (size + page - 1) / page * page;
        if (length < size)
            throw std::bad_alloc();
        void *memory =
            ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            throw std::bad_alloc();
        memory_ = {static_cast<std::byte *>(memory), Unmap{length}};
    }

    [[nodiscard]] std::span<std::byte> bytes() const noexcept {
        return {memory_.get(), memory_ ? memory_.get_deleter().length : 0};
    }

    /** The same as objects of T, as many as fit. */
    template <class T>
    requires std::is_trivially_copyable_v<T>
    [[nodiscard]] std::span<T> as() const noexcept {
        return {reinterpret_cast<T *>(memory_.get()), bytes().size() / sizeof(T)};
    }

  private:
    struct Unmap {
        std::size_t length;
        void operator()(std::byte *memory) const noexcept { ::munmap(memory, length); }
    };

    std::unique_ptr<std::byte, Unmap> memory_;
};

/**
 * Memory prepared for scatter-gather: locked as long as the object lives.
 *
 * The controller must outlive it.
 */
class LocalMemory {
  public:
    /**
     * @controller: that of the segments it will be used with
     * @memory: page aligned; stays the caller's and must outlive the object
     *
     * Errc::bad_addr, Errc::bad_length, Errc::perm_denied, Errc::insufficient_mem.
     */
    LocalMemory(const Controller &controller, std::span<std::byte> memory)
        : handle_(nullptr, Free{controller.handle()}) {
        rsm_localmemory_handle_t handle = nullptr;
        detail::check(rsm_create_localmemory_handle(controller.handle(), &handle,
                                                    reinterpret_cast<caddr_t>(memory.data()),
                                                    memory.size()),
                      "rsm_create_localmemory_handle");
        handle_.reset(handle);
    }

    [[nodiscard]] rsm_localmemory_handle_t handle() const noexcept { return handle_.get(); }

  private:
    struct Free {
        rsmapi_controller_handle_t controller;
        void operator()(rsm_localmemory_handle_t handle) const noexcept {
            rsm_free_localmemory_handle(controller, handle);
        }
    };

    std::unique_ptr<std::remove_pointer_t<rsm_localmemory_handle_t>, Free> handle_;
};

} // namespace v2
} // namespace rsm

#endif // _RSM_CONTROLLER_HPP
