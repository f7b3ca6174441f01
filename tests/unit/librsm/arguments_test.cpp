// SPDX-License-Identifier: MIT
// Answers of every function to arguments that no kernel agent is needed to refuse.
#include <array>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "api.h"
#include "fake_segment.h"

namespace {

using rsm::test::FakeSegment;

// A value that is no handle of any kind.
template <class Handle>
Handle foreign() {
    static std::array<char, 64> memory;
    return reinterpret_cast<Handle>(memory.data());
}

const auto no_controller = foreign<rsmapi_controller_handle_t>();
const auto no_export = foreign<rsm_memseg_export_handle_t>();
const auto no_import = foreign<rsm_memseg_import_handle_t>();
const auto no_local = foreign<rsm_localmemory_handle_t>();

TEST(Arguments, Controllers) {
    rsmapi_controller_handle_t controller = nullptr;
    rsmapi_controller_attr_t attr;
    EXPECT_EQ(rsm_get_controller(nullptr, nullptr), RSMERR_BAD_CTLR_HNDL);
    for (std::string name :
         {"", "7", "nosuch0", "a name that is far longer than any that there is"})
        EXPECT_EQ(rsm_get_controller(name.data(), &controller), RSMERR_CTLR_NOT_PRESENT) << name;
    EXPECT_EQ(controller, nullptr);
    for (auto *bad : {rsmapi_controller_handle_t{}, no_controller}) {
        EXPECT_EQ(rsm_release_controller(bad), RSMERR_BAD_CTLR_HNDL);
        EXPECT_EQ(rsm_get_controller_attr(bad, &attr), RSMERR_BAD_CTLR_HNDL);
        EXPECT_EQ(rsm_get_controller_attr(bad, nullptr), RSMERR_BAD_CTLR_HNDL);
    }
}

TEST(Arguments, WithoutAKernelAgent) {
    struct stat status;
    if (::stat("/dev/rsm", &status) == 0)
        GTEST_SKIP() << "there is one";
    rsmapi_controller_handle_t controller = nullptr;
    auto *topology = reinterpret_cast<rsm_topology_t *>(1);
    EXPECT_EQ(rsm_get_controller(nullptr, &controller), RSMERR_CTLR_NOT_PRESENT);
    EXPECT_EQ(controller, nullptr);
    EXPECT_EQ(rsm_get_interconnect_topology(&topology), RSMERR_INSUFFICIENT_RESOURCES);
    EXPECT_EQ(topology, nullptr);
}

TEST(Arguments, Topology) {
    EXPECT_EQ(rsm_get_interconnect_topology(nullptr), RSMERR_BAD_TOPOLOGY_PTR);
}

TEST(Arguments, Export) {
    rsm_memseg_export_handle_t segment = nullptr;
    rsm_memseg_id_t id = 0;
    for (auto *bad : {rsmapi_controller_handle_t{}, no_controller})
        EXPECT_EQ(rsm_memseg_export_create(bad, &segment, nullptr, 0, 0), RSMERR_BAD_CTLR_HNDL);
    EXPECT_EQ(rsm_memseg_export_publish(nullptr, nullptr, nullptr, 1), RSMERR_BAD_SEGID);
    for (auto *bad : {rsm_memseg_export_handle_t{}, no_export}) {
        EXPECT_EQ(rsm_memseg_export_destroy(bad), RSMERR_BAD_SEG_HNDL);
        EXPECT_EQ(rsm_memseg_export_publish(bad, &id, nullptr, 1), RSMERR_BAD_SEG_HNDL);
        EXPECT_EQ(rsm_memseg_export_republish(bad, nullptr, 1), RSMERR_BAD_SEG_HNDL);
        EXPECT_EQ(rsm_memseg_export_unpublish(bad), RSMERR_BAD_SEG_HNDL);
        EXPECT_EQ(rsm_memseg_export_rebind(bad, nullptr, 0, 0), RSMERR_BAD_SEG_HNDL);
    }
}

TEST(Arguments, Import) {
    rsm_memseg_import_handle_t segment = nullptr;
    rsm_barrier_mode_t mode{};
    rsmapi_barrier_t barrier{};
    void *address = nullptr;
    for (auto *bad : {rsmapi_controller_handle_t{}, no_controller})
        EXPECT_EQ(rsm_memseg_import_connect(bad, 0, 0, 0, &segment), RSMERR_BAD_CTLR_HNDL);
    for (auto *bad : {rsm_memseg_import_handle_t{}, no_import}) {
        EXPECT_EQ(rsm_memseg_import_disconnect(bad), RSMERR_BAD_SEG_HNDL);
        EXPECT_EQ(rsm_memseg_import_map(bad, &address, RSM_MAP_NONE, 0, 0, 0), RSMERR_BAD_SEG_HNDL);
        EXPECT_EQ(rsm_memseg_import_unmap(bad), RSMERR_BAD_SEG_HNDL);
        EXPECT_EQ(rsm_memseg_import_init_barrier(bad, RSM_BAR_DEFAULT, &barrier),
                  RSMERR_BAD_SEG_HNDL);
        EXPECT_EQ(rsm_memseg_import_set_mode(bad, RSM_BARRIER_MODE_EXPLICIT), RSMERR_BAD_SEG_HNDL);
        EXPECT_EQ(rsm_memseg_import_get_mode(bad, &mode), RSMERR_BAD_SEG_HNDL);
    }
}

TEST(Arguments, PutAndGet) {
    alignas(8) std::array<uint8_t, 16> data{};
    auto *p8 = data.data();
    auto *p16 = reinterpret_cast<uint16_t *>(p8);
    auto *p32 = reinterpret_cast<uint32_t *>(p8);
    auto *p64 = reinterpret_cast<uint64_t *>(p8);
    for (auto *bad : {rsm_memseg_import_handle_t{}, no_import}) {
        EXPECT_EQ(rsm_memseg_import_get8(bad, 0, p8, 1), RSMERR_BAD_SEG_HNDL);
        EXPECT_EQ(rsm_memseg_import_get16(bad, 0, p16, 1), RSMERR_BAD_SEG_HNDL);
        EXPECT_EQ(rsm_memseg_import_get32(bad, 0, p32, 1), RSMERR_BAD_SEG_HNDL);
        EXPECT_EQ(rsm_memseg_import_get64(bad, 0, p64, 1), RSMERR_BAD_SEG_HNDL);
        EXPECT_EQ(rsm_memseg_import_get(bad, 0, p8, 1), RSMERR_BAD_SEG_HNDL);
        EXPECT_EQ(rsm_memseg_import_put8(bad, 0, p8, 1), RSMERR_BAD_SEG_HNDL);
        EXPECT_EQ(rsm_memseg_import_put16(bad, 0, p16, 1), RSMERR_BAD_SEG_HNDL);
        EXPECT_EQ(rsm_memseg_import_put32(bad, 0, p32, 1), RSMERR_BAD_SEG_HNDL);
        EXPECT_EQ(rsm_memseg_import_put64(bad, 0, p64, 1), RSMERR_BAD_SEG_HNDL);
        EXPECT_EQ(rsm_memseg_import_put(bad, 0, p8, 1), RSMERR_BAD_SEG_HNDL);
    }
}

TEST(Arguments, Barriers) {
    rsmapi_barrier_t zeroed{};
    for (auto *function : {rsm_memseg_import_open_barrier, rsm_memseg_import_order_barrier,
                           rsm_memseg_import_close_barrier, rsm_memseg_import_destroy_barrier}) {
        EXPECT_EQ(function(nullptr), RSMERR_BAD_BARRIER_PTR);
        EXPECT_EQ(function(&zeroed), RSMERR_BARRIER_UNINITIALIZED);
    }
}

TEST(Arguments, ScatterGather) {
    EXPECT_EQ(rsm_memseg_import_putv(nullptr), RSMERR_BAD_SGIO);
    EXPECT_EQ(rsm_memseg_import_getv(nullptr), RSMERR_BAD_SGIO);
    rsm_scat_gath_t io{};
    EXPECT_EQ(rsm_memseg_import_putv(&io), RSMERR_BAD_SEG_HNDL);
    io.remote_handle = no_import;
    EXPECT_EQ(rsm_memseg_import_getv(&io), RSMERR_BAD_SEG_HNDL);
}

TEST(Arguments, LocalMemory) {
    rsm_localmemory_handle_t handle = nullptr;
    auto *odd = reinterpret_cast<caddr_t>(1);
    EXPECT_EQ(rsm_create_localmemory_handle(nullptr, nullptr, odd, 0), RSMERR_BAD_ADDR);
    EXPECT_EQ(rsm_create_localmemory_handle(nullptr, &handle, nullptr, 0), RSMERR_BAD_CTLR_HNDL);
    EXPECT_EQ(rsm_free_localmemory_handle(nullptr, no_local), RSMERR_BAD_CTLR_HNDL);
    EXPECT_EQ(rsm_free_localmemory_handle(no_controller, no_local), RSMERR_BAD_CTLR_HNDL);
}

TEST(Arguments, Events) {
    pollfd entry{};
    for (void *bad : {static_cast<void *>(nullptr), static_cast<void *>(no_import)}) {
        EXPECT_EQ(rsm_intr_signal_post(bad, 0), RSMERR_BAD_SEG_HNDL);
        EXPECT_EQ(rsm_intr_signal_wait(bad, 0), RSMERR_BAD_SEG_HNDL);
        EXPECT_EQ(rsm_memseg_get_pollfd(bad, &entry), RSMERR_BAD_SEG_HNDL);
        EXPECT_EQ(rsm_memseg_get_pollfd(bad, nullptr), RSMERR_BAD_SEG_HNDL);
        EXPECT_EQ(rsm_memseg_release_pollfd(bad), RSMERR_BAD_SEG_HNDL);
    }
}

// A handle of another kind is as bad as none.
TEST(Arguments, HandlesOfAnotherKind) {
    const FakeSegment segment;
    void *import = segment.handle();
    rsmapi_controller_attr_t attr;
    EXPECT_EQ(rsm_release_controller(static_cast<rsmapi_controller_handle_t>(import)),
              RSMERR_BAD_CTLR_HNDL);
    EXPECT_EQ(rsm_get_controller_attr(static_cast<rsmapi_controller_handle_t>(import), &attr),
              RSMERR_BAD_CTLR_HNDL);
    EXPECT_EQ(rsm_memseg_export_destroy(static_cast<rsm_memseg_export_handle_t>(import)),
              RSMERR_BAD_SEG_HNDL);
}

// The descriptor of a segment is not /dev/rsm, or closed: no errno gets through.
TEST(Arguments, DescriptorsThatAreNotTheDevice) {
    const FakeSegment segment;
    EXPECT_EQ(rsm_intr_signal_post(segment.handle(), 0), RSMERR_INTERNAL_ERROR);
    EXPECT_EQ(rsm_intr_signal_wait(segment.handle(), 1), RSMERR_BAD_ARGS_ERRORS);
}

} // namespace
