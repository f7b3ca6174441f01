// SPDX-License-Identifier: GPL-2.0
// librsm over the loopback controller: handles that clean up after themselves.
#pragma once

#include "support/child.hpp"
#include "support/system.hpp"

#include <gtest/gtest.h>
#include <rsmapi.h>
#include <string>
#include <vector>

namespace rsmtest {

// Id of this node, from the topology.
inline rsm_node_id_t local_node()
{
    rsm_topology_t *topology = nullptr;
    if (rsm_get_interconnect_topology(&topology) != RSM_SUCCESS)
        return ~0u;
    const rsm_node_id_t node = topology->topology_hdr.local_nodeid;
    rsm_free_interconnect_topology(topology);
    return node;
}

// The loopback controller, or another by its name.
class Controller {
public:
    Controller() : status_(rsm_get_controller(nullptr, &handle_)) {}
    explicit Controller(std::string name) : status_(rsm_get_controller(name.data(), &handle_)) {}
    ~Controller()
    {
        if (status_ == RSM_SUCCESS)
            rsm_release_controller(handle_);
    }
    Controller(const Controller &) = delete;
    Controller &operator=(const Controller &) = delete;
    operator rsmapi_controller_handle_t() const { return handle_; }
    int status() const { return status_; }

private:
    rsmapi_controller_handle_t handle_ = nullptr;
    int status_;
};

// An export segment over pages of its own or of somebody else.
class ExportSegment {
public:
    ExportSegment(rsmapi_controller_handle_t controller, void *address, std::size_t length,
                  uint_t flags = 0)
        : status_(rsm_memseg_export_create(controller, &handle_, address, length, flags))
    {
    }
    ExportSegment(rsmapi_controller_handle_t controller, const Pages &pages, uint_t flags = 0)
        : ExportSegment(controller, pages.data(), pages.size(), flags)
    {
    }
    ~ExportSegment() { destroy(); }
    ExportSegment(const ExportSegment &) = delete;
    ExportSegment &operator=(const ExportSegment &) = delete;
    operator rsm_memseg_export_handle_t() const { return handle_; }
    // Result of create.
    int status() const { return status_; }

    int publish(rsm_memseg_id_t id = 0, std::vector<rsmapi_access_entry_t> acl = {})
    {
        id_ = id;
        return rsm_memseg_export_publish(handle_, &id_, acl.empty() ? nullptr : acl.data(),
                                         static_cast<uint_t>(acl.size()));
    }
    int unpublish() { return rsm_memseg_export_unpublish(handle_); }
    rsm_memseg_id_t id() const { return id_; }
    int destroy()
    {
        if (!handle_)
            return RSM_SUCCESS;
        const int result = rsm_memseg_export_destroy(handle_);
        if (result == RSM_SUCCESS)
            handle_ = nullptr;
        return result;
    }

private:
    rsm_memseg_export_handle_t handle_ = nullptr;
    rsm_memseg_id_t id_ = 0;
    int status_;
};

// An import segment with, if wanted, a barrier and a mapping.
class ImportSegment {
public:
    ImportSegment(rsmapi_controller_handle_t controller, rsm_memseg_id_t id,
                  rsm_permission_t permission = RSM_PERM_RDWR)
        : status_(rsm_memseg_import_connect(controller, local_node(), id, permission, &handle_))
    {
    }
    ~ImportSegment() { disconnect(); }
    ImportSegment(const ImportSegment &) = delete;
    ImportSegment &operator=(const ImportSegment &) = delete;
    operator rsm_memseg_import_handle_t() const { return handle_; }
    // Result of connect.
    int status() const { return status_; }

    int init_barrier()
    {
        return rsm_memseg_import_init_barrier(handle_, RSM_BAR_DEFAULT, &barrier_);
    }
    rsmapi_barrier_t *barrier() { return &barrier_; }
    int explicit_mode()
    {
        return rsm_memseg_import_set_mode(handle_, RSM_BARRIER_MODE_EXPLICIT);
    }
    int map(std::size_t length, off_t offset = 0, rsm_permission_t permission = RSM_PERM_RDWR)
    {
        void *address = nullptr;
        const int result =
            rsm_memseg_import_map(handle_, &address, RSM_MAP_NONE, permission, offset, length);
        if (result == RSM_SUCCESS)
            base_ = static_cast<std::byte *>(address);
        return result;
    }
    int unmap()
    {
        const int result = rsm_memseg_import_unmap(handle_);
        if (result == RSM_SUCCESS)
            base_ = nullptr;
        return result;
    }
    std::byte *base() const { return base_; }
    template <class T = std::uint64_t> volatile T &at(std::size_t offset = 0) const
    {
        return *reinterpret_cast<volatile T *>(base_ + offset);
    }
    int put64(off_t offset, std::uint64_t value)
    {
        return rsm_memseg_import_put64(handle_, offset, &value, 1);
    }
    int get64(off_t offset, std::uint64_t *value)
    {
        return rsm_memseg_import_get64(handle_, offset, value, 1);
    }
    int disconnect()
    {
        if (!handle_)
            return RSM_SUCCESS;
        if (base_)
            unmap();
        const int result = rsm_memseg_import_disconnect(handle_);
        if (result == RSM_SUCCESS)
            handle_ = nullptr;
        return result;
    }

private:
    rsm_memseg_import_handle_t handle_ = nullptr;
    rsmapi_barrier_t barrier_{};
    std::byte *base_ = nullptr;
    int status_;
};

// A test with the loopback controller at hand.
class LoopbackTest : public testing::Test {
protected:
    void SetUp() override
    {
        ASSERT_EQ(ctl.status(), RSM_SUCCESS) << "no loopback controller: is rsm.ko loaded?";
    }
    Controller ctl;
};

// A test with an export of four pages, published for everybody.
class PublishedTest : public LoopbackTest {
protected:
    static constexpr std::size_t page_count = 4;

    void SetUp() override
    {
        LoopbackTest::SetUp();
        ASSERT_EQ(seg.status(), RSM_SUCCESS);
        ASSERT_EQ(published, RSM_SUCCESS);
    }
    Pages memory{page_count};
    ExportSegment seg{ctl, memory, RSM_ALLOW_REBIND};
    const int published = seg.publish(0, {{local_node(), 0666}});
};

// Descriptor behind a handle.
inline int descriptor_of(void *handle)
{
    pollfd entry{};
    if (rsm_memseg_get_pollfd(handle, &entry) != RSM_SUCCESS)
        return -1;
    rsm_memseg_release_pollfd(handle);
    return entry.fd;
}

} // namespace rsmtest
