// SPDX-License-Identifier: GPL-2.0
#include "datnet/support/dat_net_test.hpp"

#include <cstdlib>
#include <rsmapi.h>

namespace rsmtest::datnet {
namespace {

constexpr unsigned usable = 3; // connection_state of a path

// Sessions open what is called the controller there; the partner's is an IA.
unsigned partner_node() {
    setenv("RSM_DAT_IA", "rsm1", 0);
    setenv("RSM_NET_CONTROLLER", dat::ia_name(), 1);
    return net::Configuration::get().nodes.at(0);
}

bool leads_to(const rsm_connections_t &connections, unsigned node) {
    for (int i = 0; i < connections.hdr.remote_cntlr_count; i++) {
        const rsm_remote_cntlr_t &peer = connections.remote_cntlr[i];
        if (peer.remote_nodeid == node && peer.connection_state == usable)
            return true;
    }
    return false;
}

bool path_to(unsigned node) {
    rsm_topology_t *topology = nullptr;
    if (rsm_get_interconnect_topology(&topology) != RSM_SUCCESS)
        return false;
    bool found = false;
    for (uint_t i = 0; i < topology->topology_hdr.local_cntlr_count; i++)
        found = found || leads_to(*topology->connections[i], node);
    rsm_free_interconnect_topology(topology);
    return found;
}

} // namespace

DatNet::DatNet() : partner(partner_node()) {}

void DatNet::SetUp() {
    net::Hub &hub = net::Hub::instance();
    if (!hub.available())
        GTEST_SKIP() << "no partner: " << hub.problem();
    // An earlier test may have failed with the machine dead or stopped.
    if (!partner.answers()) {
        hub.tell_vm("resume " + std::to_string(partner.node()));
        hub.hear_vm();
        if (!partner.answers())
            net::Vm::start(partner.node());
    }
    partner.await();
    // One that did not answer when the test before ended may still have what that test made there.
    partner.end_sessions();
    partner.await_empty();
    ASSERT_TRUE(eventually([&] { return has_path(); }));
    session.emplace(partner.node());
}

void DatNet::TearDown() {
    session.reset();
    if (!net::Hub::instance().available() || !partner.answers())
        return;
    partner.reset();
    partner.await_empty();
}

void DatNet::restart() {
    session.reset();
    net::Vm::start(partner.node());
    partner.await();
    ASSERT_TRUE(eventually([&] { return has_path(); })) << "no path";
    session.emplace(partner.node());
}

bool DatNet::has_path() const {
    return path_to(partner.node());
}

void DatNetPair::SetUp() {
    DatNet::SetUp();
    if (!HasFatalFailure() && !IsSkipped())
        make_sides(bytes);
}

void DatNetPair::TearDown() {
    here.reset();
    there.reset();
    DatNet::TearDown();
}

void DatNetPair::make_sides(std::size_t size) {
    qualifier_here_ = 0;
    here.reset();
    here.emplace(nullptr, size);
    make_side_there(size);
}

// In the session, or in a new one after the other has ended.
void DatNetPair::make_side_there(std::size_t size) {
    qualifier_there_ = 0;
    there.emplace(*session, size);
}

std::uint64_t DatNetPair::qualifier_there() {
    if (!qualifier_there_)
        qualifier_there_ = there->call("listen").value();
    return qualifier_there_;
}

std::uint64_t DatNetPair::qualifier_here() {
    if (!qualifier_here_)
        qualifier_here_ = listen(*here);
    return qualifier_here_;
}

void DatNetPair::connect_from_here() {
    ASSERT_OK(call(*here, there->address(), qualifier_there()));
    there->call("accept", 0);
    dat::expect_event(here->connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    there->expect_connection(DAT_CONNECTION_EVENT_ESTABLISHED);
}

void DatNetPair::connect_from_there() {
    there->call("connect", here->adapter.address().sin_addr.s_addr, qualifier_here(), 0);
    ASSERT_OK(accept(*here, next_caller(*here).cr));
    dat::expect_event(here->connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    there->expect_connection(DAT_CONNECTION_EVENT_ESTABLISHED);
}

void DatNetPair::expect_end(DAT_EVENT_NUMBER number) {
    if (number == DAT_CONNECTION_EVENT_BROKEN)
        dat::expect_disorderly_end(here->connections);
    else
        dat::expect_event(here->connections, number);
    there->expect_connection(number);
    EXPECT_EQ(dat::state_of(here->ep), DAT_EP_STATE_DISCONNECTED);
    there->expect_state(DAT_EP_STATE_DISCONNECTED);
    EXPECT_OK(dat_ep_reset(here->ep));
    there->call("reset");
}

void DatNetPair::expect_failed(DAT_EVENT_NUMBER number) {
    dat::expect_event(here->connections, number);
    EXPECT_EQ(dat::state_of(here->ep), DAT_EP_STATE_DISCONNECTED);
    EXPECT_OK(dat_ep_reset(here->ep));
}

} // namespace rsmtest::datnet
