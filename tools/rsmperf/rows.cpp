// SPDX-License-Identifier: GPL-2.0
// The figures, and their limits.
#include "rows.hpp"

#include <algorithm>
#include <iterator>

#include "units.hpp"

namespace rsmperf {

namespace {

constexpr auto no_limit = std::nullopt;

std::vector<std::size_t> list(const char *text) {
    return parse_list(text);
}

Axes sizes(const char *text) {
    return {.sizes = list(text)};
}

Axes sizes_and_threads(const char *text) {
    return {.sizes = list(text), .threads = {1}};
}

std::vector<Row> dat_transfers() {
    const std::string half = "uDAPL send -> receive, half a round trip";
    const std::string memcpy = "memcpy to POSIX shm";
    return {
        {"dat_write", "uDAPL RDMA write, posted and reaped", memcpy, no_limit, dat_write,
         sizes_and_threads("8:16M:8,16M")},
        {"dat_read", "uDAPL RDMA read, posted and reaped", memcpy, no_limit, dat_read,
         sizes_and_threads("8:16M:8,16M")},
        {"dat_write_stream",
         "uDAPL RDMA writes, time of each",
         "UCX put bandwidth, time of each",
         no_limit,
         dat_write_stream,
         {.sizes = list("8,4K,64K"), .windows = {16}}},
        {"dat_write_pingpong", "uDAPL RDMA write there and back, half of both",
         "UCX put latency, POSIX shm", no_limit, dat_write_pingpong, sizes("8,4K,64K")},
        {"dat_send", half, memcpy, no_limit, dat_send, sizes("8:64M:8,64M")},
        {"dat_send_stream",
         "uDAPL sends, time of each",
         "UCX tag bandwidth, time of each",
         no_limit,
         dat_send_stream,
         {.sizes = list("8,4K,16K,32K,64K,1M"), .windows = {16}}},
        {"dat_send_ucx", half, "UCX tag latency, POSIX shm", no_limit, dat_send_ucx,
         sizes("8,4K,64K,1M")},
        {"dat_send_fabric", half, "libfabric's shm, fi_pingpong", no_limit, dat_send_fabric,
         sizes("8,4K,64K,1M")},
        {"dat_send_tcp", half, "TCP over lo", no_limit, dat_send_tcp, sizes("8,4K,64K,1M")},
        {"dat_wake", "uDAPL send -> dat_evd_wait of 8 bytes, half a round trip",
         "eventfd write -> read", no_limit, dat_wake, {}, Needs::kernel},
    };
}

std::vector<Row> dat_cases() {
    return {
        {"dat_unaligned", "uDAPL RDMA write to a region that is not page aligned",
         "the same to one that is", no_limit, dat_unaligned, sizes("8,4K,64K")},
        {"dat_write_only", "uDAPL RDMA write to a write-only region",
         "the same to one with all rights", no_limit, dat_write_only, sizes("8,4K,64K")},
        {"dat_contexts",
         "uDAPL RDMA writes to remote regions in turn",
         "all to one region",
         no_limit,
         dat_contexts,
         {.sizes = {8}, .contexts = {2, 17, 64}}},
        {"dat_suppress",
         "uDAPL RDMA writes, events suppressed but of the last of a window",
         "an event of each",
         no_limit,
         dat_suppress,
         {.sizes = {8}, .windows = {16}}},
        {"dat_poll",
         "dat_evd_dequeue of an empty EVD of many endpoints",
         "the same with one endpoint",
         no_limit,
         dat_poll,
         {.endpoints = {1, 10, 100, 1000}}},
    };
}

} // namespace

std::vector<Row> loopback_rows() {
    return {
        {"load_store", "load and store of each word of 1 MiB through an import mapping",
         "the same on POSIX shm", 1.02, load_store},
        {"memcpy_1m", "memcpy of 1 MiB through an import mapping", "the same on POSIX shm", 1.02,
         memcpy_1m},
        {"put64", "put64 of one item, implicit barrier mode", "store + full fence on POSIX shm", 8,
         put64},
        {"get64", "get64 of one item, implicit barrier mode", "load + full fence on POSIX shm", 8,
         get64},
        {"put64_writev", "put64 of one item", "process_vm_writev of 8 bytes", 0.05, put64_writev},
        {"put_1m", "put of 1 MiB", "memcpy to POSIX shm", 1.05, put_1m},
        {"map_64m", "map + touch every page + unmap of 64 MiB",
         "the same on a memfd with MAP_POPULATE", 1.2, map_touch_unmap, {}, Needs::kernel},
        {"export_64m", "export create + destroy, per page, 64 MiB",
         "io_uring buffer registration of the same range", 1.3, export_destroy, {}, Needs::kernel},
        {"wake", "post -> wake another process", "eventfd write -> read", 1.2, wake, {}, Needs::kernel},
        {"post", "post with nobody waiting", "eventfd write", 1.0, post, {}, Needs::kernel},
        {"connect", "connect + map 2 MiB + unmap + disconnect",
         "AF_UNIX connect + SCM_RIGHTS memfd + mmap + munmap", 1.0, connect_cycle, {}, Needs::kernel},
        {"connect_crowd", "the same with 50,000 segments published", "itself with 10", 1.2,
         connect_crowd, {}, Needs::kernel},
        {"put", "put, implicit barrier mode", "memcpy to POSIX shm", no_limit, put,
         sizes_and_threads("8:16M:8,16M")},
        {"get", "get, implicit barrier mode", "memcpy to POSIX shm", no_limit, get,
         sizes_and_threads("8:16M:8,16M")},
    };
}

std::vector<Row> dat_rows() {
    std::vector<Row> rows{
        {"dat_write8", "uDAPL RDMA write of 8 bytes, posted and reaped",
         "UCX put latency of 8 bytes, POSIX shm", 0.5, dat_write8},
        {"dat_write_1m", "uDAPL RDMA write of 1 MiB, posted and reaped", "memcpy to POSIX shm",
         1 / 0.95, dat_write_1m},
        {"dat_send8", "uDAPL send -> receive of 8 bytes, half a round trip",
         "UCX tag latency of 8 bytes, POSIX shm", 1.0, dat_send8},
        {"dat_register", "dat_lmr_create + dat_lmr_free of 16 MiB",
         "io_uring buffer registration of the same range", 1.3, dat_register, {}, Needs::kernel},
        {"dat_connect", "uDAPL connect + disconnect + reset", "TCP connect + one byte + close",
         std::nullopt, dat_connect, {}, Needs::kernel},
    };
    std::ranges::move(dat_transfers(), std::back_inserter(rows));
    std::ranges::move(dat_cases(), std::back_inserter(rows));
    return rows;
}

std::vector<Row> peer_rows() {
    const std::string loopback = "the same over loopback";

    return {
        {"peer_load_store", "load and store of each word of 1 MiB of another node's segment",
         loopback, 1.05, peer_load_store},
        {"peer_put_1m", "put of 1 MiB to another node", loopback, 1.05, peer_put_1m},
        {"peer_signal", "post -> wait -> post -> wait, to another node and back",
         "doorbell register -> interrupt, there and back", 1.3, peer_signal},
        {"peer_wake", "post -> wait -> post -> wait, to another node and back", loopback,
         std::nullopt, peer_wake},
        {"peer_cycle", "connect + map + unmap + disconnect, 2 MiB of another node", loopback,
         std::nullopt, peer_cycle},
        {"peer_connect", "- of this, connect", loopback, std::nullopt, peer_connect},
        {"peer_map", "- of this, map", loopback, std::nullopt, peer_map},
        {"peer_unmap", "- of this, unmap", loopback, std::nullopt, peer_unmap},
        {"peer_disconnect", "- of this, disconnect", loopback, std::nullopt, peer_disconnect},
    };
}

std::vector<Row> rdma_rows() {
    const std::string writes = "ib_write_lat";
    const std::string reads = "ib_read_lat";
    const std::string bandwidth = "ib_write_bw";

    return {
        {"verbs_write8", "uDAPL RDMA write of 8 bytes, half a round trip", writes, 1.1,
         verbs_write8},
        {"verbs_write8_ofed", "uDAPL RDMA write of 8 bytes, half a round trip",
         "the same by OFED's uDAPL 2.0 (dtest)", 1.0, verbs_write8_ofed},
        {"verbs_write_64k", "uDAPL RDMA write of 64 KiB, half a round trip", writes, 1.1,
         verbs_write_64k},
        {"verbs_read8", "uDAPL RDMA read of 8 bytes", reads, 1.1, verbs_read8},
        {"verbs_read_64k", "uDAPL RDMA read of 64 KiB", reads, 1.1, verbs_read_64k},
        {"verbs_write_bw", "uDAPL RDMA writes of 64 KiB, time of each", bandwidth, 1 / 0.9,
         verbs_write_bw},
        {"rdma_put_4k", "put of 4 KiB to another host, half a round trip", writes, 1.2,
         rdma_put_4k},
        {"rdma_put_64k", "put of 64 KiB to another host, half a round trip", writes, 1.2,
         rdma_put_64k},
        {"rdma_get_4k", "get of 4 KiB from another host", reads, 1.2, rdma_get_4k},
        {"rdma_get_64k", "get of 64 KiB from another host", reads, 1.2, rdma_get_64k},
        {"rdma_put_bw", "puts of 64 KiB, explicit barriers, time of each", bandwidth, 1.2,
         rdma_put_bw},
    };
}

} // namespace rsmperf
