// SPDX-License-Identifier: GPL-2.0
// The figures. Each runs in a process of its own and starts the other processes it needs before
// its first RSMAPI call.
#pragma once

#include <vector>

#include "measure.hpp"

namespace rsmperf {

// Over loopback, between processes, by RSMAPI and by uDAPL, with another node, and with another
// host by RDMA, in the order of the reports.
std::vector<Row> loopback_rows();
std::vector<Row> dat_rows();
std::vector<Row> peer_rows();
std::vector<Row> rdma_rows();

Times load_store(const Settings &settings);
Times memcpy_1m(const Settings &settings);
Times put64(const Settings &settings);
Times get64(const Settings &settings);
Times put64_writev(const Settings &settings);
Times put_1m(const Settings &settings);
Times map_touch_unmap(const Settings &settings);
Times export_destroy(const Settings &settings);
Times wake(const Settings &settings);
Times post(const Settings &settings);
Times connect_cycle(const Settings &settings);
Times connect_crowd(const Settings &settings);
Times put(const Settings &settings);
Times get(const Settings &settings);
Times dat_write8(const Settings &settings);
Times dat_write_1m(const Settings &settings);
Times dat_send8(const Settings &settings);
Times dat_register(const Settings &settings);
Times dat_connect(const Settings &settings);
Times dat_write(const Settings &settings);
Times dat_read(const Settings &settings);
Times dat_write_stream(const Settings &settings);
Times dat_write_pingpong(const Settings &settings);
Times dat_send(const Settings &settings);
Times dat_send_stream(const Settings &settings);
Times dat_send_ucx(const Settings &settings);
Times dat_send_fabric(const Settings &settings);
Times dat_send_tcp(const Settings &settings);
Times dat_wake(const Settings &settings);
Times dat_unaligned(const Settings &settings);
Times dat_write_only(const Settings &settings);
Times dat_contexts(const Settings &settings);
Times dat_suppress(const Settings &settings);
Times dat_poll(const Settings &settings);
Times peer_load_store(const Settings &settings);
Times peer_put_1m(const Settings &settings);
Times peer_signal(const Settings &settings);
Times peer_wake(const Settings &settings);
Times peer_cycle(const Settings &settings);
Times peer_connect(const Settings &settings);
Times peer_map(const Settings &settings);
Times peer_unmap(const Settings &settings);
Times peer_disconnect(const Settings &settings);
Times verbs_write8(const Settings &settings);
Times verbs_write8_ofed(const Settings &settings);
Times verbs_write_64k(const Settings &settings);
Times verbs_read8(const Settings &settings);
Times verbs_read_64k(const Settings &settings);
Times verbs_write_bw(const Settings &settings);
Times rdma_put_4k(const Settings &settings);
Times rdma_put_64k(const Settings &settings);
Times rdma_get_4k(const Settings &settings);
Times rdma_get_64k(const Settings &settings);
Times rdma_put_bw(const Settings &settings);

} // namespace rsmperf
