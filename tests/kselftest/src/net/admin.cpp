// SPDX-License-Identifier: GPL-2.0
// Other nodes as rsmctl shows them to an administrator, and changes them.
#include "net/peer/shell.hpp"
#include "net/support/net_test.hpp"
#include "netlink/support/client.hpp"
#include "netlink/support/tracing.hpp"
#include "rsmctl/program.hpp"

#include <atomic>
#include <cerrno>
#include <linux/rsm.h>
#include <map>
#include <thread>
#include <unistd.h>

using namespace rsmtest;
using namespace rsmtest::net;
using netlink::Client;
using netlink::Message;
using netlink::Request;

namespace {

constexpr unsigned active = 3;

class NetAdmin : public NetTest {
  protected:
    void SetUp() override {
        NetTest::SetUp();
        if (!HasFatalFailure() && !IsSkipped() && !has_machines())
            GTEST_SKIP() << "one machine only";
    }
    // As this node's rsmctl shows it.
    static Json shown(unsigned node) { return find(rsmctl_json({"node"}), "node_id", node); }
    // The value in the list of nodes, or nothing.
    static std::string said(unsigned node, const char *key) {
        const Json entry = shown(node);
        return entry.is_object() ? entry.value(key, "") : "";
    }
    bool comes_up(unsigned node) const {
        return eventually([&] { return self.path_to(node) == active; });
    }
    void expect_it_works(const Peer &peer) const;
};

void NetAdmin::expect_it_works(const Peer &peer) const {
    Session exporter(peer.node());
    Session importer(self.node());
    RemoteExport exported(exporter, 2);
    ASSERT_EQ(exported.publish(), RSM_SUCCESS);
    RemoteImport imported(importer, exported);
    EXPECT_EQ(imported.put(0, 2 * page, 7), RSM_SUCCESS);
    EXPECT_EQ(exported.memory().differ(0, 2 * page, 7), 0u);
}

constexpr const char *refusal = "its heartbeat_ms does not fit";

// The first peer loads the modules again, with a heartbeat of its own.
class NetHeartbeat : public NetAdmin {
  protected:
    void TearDown() override {
        if (!IsSkipped() && changed_) {
            load_with(heartbeat());
            eventually([&] { return said(first.node(), "state") == "active"; });
        }
        NetAdmin::TearDown();
    }
    // Behind the back of the session, which has the device open until it ends.
    void load_with(std::chrono::milliseconds interval) {
        const std::string driver =
            "rsm_" + configuration.controller.substr(0, configuration.controller.size() - 1);
        // A process that ends may still use either module.
        const std::string script = "while test -e /sys/module/" + driver + "; do rmmod " + driver +
                                   " || sleep 0.1; done; until rmmod rsm; do sleep 0.1; done; " +
                                   "modprobe rsm heartbeat_ms=" + std::to_string(interval.count()) +
                                   "; modprobe " + driver;
        changed_ = true;
        const Answer begun = first.session().call("sh setsid sh -c '" + script +
                                                  "' </dev/null >/dev/null 2>&1 &");
        EXPECT_EQ(begun.status, 0) << begun.text;
    }
    // Until the list of nodes there says so.
    void await_refusal_there() {
        const std::string look = "sh rsmctl -j node list | grep -q '" + std::string(refusal) + "'";
        eventually([&] { return first.session().call(look).status == 0; });
    }

  private:
    bool changed_ = false;
};

// For a controller that is told its nodes.
class NetNodes : public NetAdmin {
  protected:
    void SetUp() override {
        if (!has_network())
            GTEST_SKIP() << configuration.controller << " sees itself who is there";
        NetAdmin::SetUp();
    }
    // Whatever has become of it, the next test wants it back.
    void TearDown() override {
        for (const Peer &peer : {first, second})
            if (!IsSkipped() && rsmctl({"node", "add", id(peer), address(peer)}).status != 0)
                rsmctl({"node", "set", id(peer), address(peer)});
        NetAdmin::TearDown();
    }
    static constexpr const char *nobody = "10.77.1.99"; // has this address
    static std::string id(const Peer &peer) { return std::to_string(peer.node()); }
    static std::string address(const Peer &peer) { return "10.77.1." + id(peer); }
    // A change at this node or another one.
    static void change(const Peer &at, const Words &words);
    void forget_and_add(const Peer &at, const Peer &node);
    void come_back(const Peer &at, const Peer &node);
};

void NetNodes::change(const Peer &at, const Words &words) {
    std::string order = "sh rsmctl node";
    for (const auto &word : words)
        order += ' ' + word;
    const Answer answer = at.session().call(order);
    EXPECT_EQ(answer.status, 0) << answer.text;
}

void NetNodes::forget_and_add(const Peer &at, const Peer &node) {
    Session exporter(node.node());
    Session importer(at.node());
    RemoteExport exported(exporter, 2);
    ASSERT_EQ(exported.publish(), RSM_SUCCESS);
    RemoteImport imported(importer, exported);
    ASSERT_EQ(imported.status(), RSM_SUCCESS);
    change(at, {"del", id(node)});
    EXPECT_TRUE(imported.hung_up());
    imported.expect_aborted();
    EXPECT_EQ(at.path_to(node.node()), 0u);
    EXPECT_EQ(RemoteImport(importer, node.node(), exported.id()).status(),
              RSMERR_REMOTE_NODE_UNREACHABLE);
    EXPECT_EQ(at.path_to(second.node()), active) << "others are not concerned";
    change(at, {"add", id(node), address(node)});
    EXPECT_TRUE(eventually([&] { return all_connected(); })) << "does not come back";
    expect_it_works(first);
}

// To where it is.
void NetNodes::come_back(const Peer &at, const Peer &node) {
    change(at, {"set", id(node), address(node)});
    EXPECT_TRUE(eventually([&] { return all_connected(); })) << "does not come back";
    expect_it_works(first);
}

// A session would want the controller.
int shell_here(const std::string &command) {
    Args args(command);
    return run_shell(args).status;
}

Request node_request(int command, const std::string &controller, unsigned node) {
    return Request(command).put(RSM_A_NODE_CONTROLLER, controller).put(RSM_A_NODE_NODE_ID, node);
}

} // namespace

TEST_F(NetAdmin, lists_have_nodes_and_what_is_shared_with_them) {
    Session here(self.node());
    Session there(first.node());
    RemoteExport own(here, 2);
    RemoteExport other(there, 3);
    ASSERT_EQ(own.publish(), RSM_SUCCESS);
    ASSERT_EQ(other.publish(), RSM_SUCCESS);
    const RemoteImport theirs(there, own);
    const RemoteImport ours(here, other);
    ASSERT_EQ(theirs.status(), RSM_SUCCESS);
    ASSERT_EQ(ours.status(), RSM_SUCCESS);

    const Json node = shown(first.node());
    ASSERT_TRUE(node.is_object());
    EXPECT_EQ(node["controller"], configuration.controller);
    EXPECT_EQ(node["state"], "active");
    EXPECT_EQ(node["segments"], 1);
    EXPECT_EQ(node["importers"], 1);
    EXPECT_TRUE(node.contains("incarnation"));
    EXPECT_FALSE(node.contains("reason"));
    EXPECT_EQ(node.value("address", ""),
              has_network() ? "10.77.1." + std::to_string(first.node()) : "");
    EXPECT_EQ(shown(second.node())["importers"], 0);
    EXPECT_TRUE(shown(self.node()).is_null());

    const Json controller = find(rsmctl_json({"controller"}), "name", configuration.controller);
    EXPECT_EQ(controller["links"], 2);
    EXPECT_EQ(controller["node_id"], self.node());
    EXPECT_EQ(controller["configurable"], has_network());
    EXPECT_EQ(controller.contains("window_bytes"), has_window());

    const Json segment = rsmctl_json({"segment", "show", std::to_string(own.id())});
    EXPECT_EQ(segment["remote_importers"], 1);
    EXPECT_EQ(segment["importers"], 0);
    const Json import = find(rsmctl_json({"import"}), "node_id", first.node());
    EXPECT_EQ(import["id"], other.id());
    EXPECT_EQ(import["length"], 3 * page);
    EXPECT_FALSE(import.contains("exporter")) << "it is not of this node";
}

// Either node would take the other for dead, or wait for it too long: both say why they don't talk.
TEST_F(NetHeartbeat, that_does_not_fit_is_refused_by_both_nodes) {
    load_with(4 * heartbeat() + std::chrono::milliseconds(1));
    eventually([&] { return said(first.node(), "reason") == refusal; });
    EXPECT_NE(said(first.node(), "state"), "active");
    await_refusal_there();
    EXPECT_EQ(said(second.node(), "state"), "active") << "others are not concerned";
    Session here(self.node());
    EXPECT_EQ(RemoteImport(here, first.node(), 0x600300).status(),
              RSMERR_REMOTE_NODE_UNREACHABLE);
}

TEST_F(NetNodes, only_those_that_are_configured_can_be_published_to) {
    Session session(self.node());
    RemoteExport exported(session, 1);
    const Acl unknown{{first.node(), 0666}, {50, 0666}};
    EXPECT_EQ(exported.publish(0, unknown), RSMERR_BAD_ACL);
    EXPECT_EQ(exported.publish(0, {{first.node(), 0666}, {self.node(), 0600}}), RSM_SUCCESS);
    EXPECT_EQ(exported.republish(unknown), RSMERR_BAD_ACL);
}

TEST_F(NetAdmin, monitor_tells_of_a_node_that_dies_and_comes_back) {
    Session here(self.node());
    Session there(first.node());
    RemoteExport other(there, 1);
    ASSERT_EQ(other.publish(), RSM_SUCCESS);
    const RemoteImport ours(here, other);
    const Json before = shown(first.node());
    Program monitor({"monitor", "-j", "node-up", "node-down", "disconnect"});
    hear_start(monitor);
    Vm::kill(first.node());
    EXPECT_EQ(next_event(monitor, "disconnect", "id", other.id())["reason"], "node-down");
    const Json down = next_event(monitor, "node-down", "node_id", first.node());
    EXPECT_EQ(down["controller"], configuration.controller);
    EXPECT_EQ(down["incarnation"], before["incarnation"]);
    EXPECT_NE(down.value("reason", ""), "");
    ASSERT_NO_FATAL_FAILURE(restart({first.node()}));
    const Json up = next_event(monitor, "node-up", "node_id", first.node());
    EXPECT_EQ(up["state"], "active");
    EXPECT_NE(up["incarnation"], before["incarnation"]);
}

TEST_F(NetAdmin, monitor_and_tracepoints_tell_of_a_node_that_leaves) {
    const std::string module =
        "rsm_" + configuration.controller.substr(0, configuration.controller.size() - 1);
    const auto node = "node=" + std::to_string(first.node()) + " ";
    Session there(first.node());
    const Tracing tracing;
    Program monitor({"monitor", "-j"});
    hear_start(monitor);
    EXPECT_EQ(there.status("sh rmmod " + module), 0);
    EXPECT_NE(next_event(monitor, "node-down", "node_id", first.node()).value("reason", ""), "");
    EXPECT_NE(shown(first.node()).value("state", ""), "active");
    EXPECT_EQ(there.status("sh modprobe " + module), 0);
    EXPECT_EQ(next_event(monitor, "node-up", "node_id", first.node())["state"], "active");
    tracing.expect("node_down", {node, "controller=" + configuration.controller + " ", "why=\""});
    tracing.expect("node_up", {node, "controller=" + configuration.controller + " "});
    EXPECT_TRUE(eventually([&] { return all_connected(); }));
}

TEST_F(NetAdmin, tracepoints_tell_of_importers_on_other_nodes) {
    const auto node = "node=" + std::to_string(first.node());
    Session here(self.node());
    Session there(first.node());
    RemoteExport own(here, 1);
    ASSERT_EQ(own.publish(), RSM_SUCCESS);
    const Tracing tracing;
    RemoteImport theirs(there, own);
    ASSERT_EQ(theirs.disconnect(), RSM_SUCCESS);
    const auto importers = [&] {
        return rsmctl_json({"show", std::to_string(own.id())})["remote_importers"];
    };
    EXPECT_TRUE(eventually([&] { return importers() == 0; }));
    tracing.expect("importer_connect", {node});
    tracing.expect("importer_disconnect", {node});
}

TEST_F(NetNodes, are_forgotten_and_added_by_who_connects) {
    forget_and_add(self, first);
}

TEST_F(NetNodes, are_forgotten_and_added_by_who_is_connected_to) {
    forget_and_add(first, self);
}

// The marker is the failure of an attempt to connect, which is told instead of the link's end.
TEST_F(NetNodes, move_away_and_back) {
    change(self, {"set", id(first), nobody});
    EXPECT_NE(self.path_to(first.node()), active);
    EXPECT_TRUE(eventually([&] {
        const auto reason = said(first.node(), "reason");
        return !reason.empty() && reason != "leaving";
    }));
    EXPECT_NE(self.path_to(first.node()), active) << "there is nobody";
    come_back(self, first);
}

TEST_F(NetNodes, are_refused_from_an_address_that_is_not_theirs) {
    ASSERT_LT(self.node(), first.node()) << "the node with the smaller number connects";
    change(first, {"set", id(self), nobody});
    EXPECT_NE(first.path_to(self.node()), active);
    // From here on this node knows no reason of before, and connects at once.
    change(self, {"set", id(first), nobody});
    change(self, {"set", id(first), address(first)});
    EXPECT_TRUE(eventually([&] { return said(first.node(), "reason") == "refused"; }));
    EXPECT_NE(self.path_to(first.node()), active);
    EXPECT_NE(first.path_to(self.node()), active);
    come_back(first, self);
}

TEST_F(NetNodes, are_shown_where_they_are_said_to_be) {
    EXPECT_EQ(rsmctl({"node", "add", "60", "10.77.1.60"}).status, 0);
    EXPECT_EQ(shown(60)["address"], "10.77.1.60");
    EXPECT_EQ(rsmctl({"node", "add", "60", "10.77.1.60"}).status, 1) << "it is there already";
    EXPECT_EQ(rsmctl({"node", "set", "60", "10.77.1.61", "-c", configuration.controller}).status,
              0);
    EXPECT_EQ(rsmctl_json({"node", "show", "60"})[0]["address"], "10.77.1.61");
    EXPECT_EQ(rsmctl({"node", "set", "60", "fd00::60"}).status, 0);
    EXPECT_EQ(shown(60)["address"], "fd00::60");
    EXPECT_NE(shown(60)["state"], "active");
    EXPECT_EQ(rsmctl({"node", "add", "61", "fd00::60"}).status, 1) << "node 60 has the address";
    Client client;
    for (const unsigned node : {first.node(), second.node(), 60u})
        EXPECT_EQ(client.ask(node_request(RSM_CMD_NODE_GET, configuration.controller, node))
                      .one()
                      .number(RSM_A_NODE_NODE_ID),
                  node);
    const auto bad = rsmctl({"node", "set", "60", "nowhere"});
    EXPECT_EQ(bad.status, 1);
    EXPECT_EQ(bad.err, "rsmctl: " + configuration.controller +
                           ": node 60: not an IPv4 or IPv6 address (Invalid argument)\n");
    EXPECT_EQ(rsmctl({"node", "del", "60"}).status, 0);
    EXPECT_TRUE(shown(60).is_null());
    EXPECT_EQ(rsmctl({"node", "del", "60"}).status, 1);
}

TEST_F(NetNodes, monitor_tells_of_those_that_are_forgotten) {
    Program monitor({"monitor", "-j"});
    hear_start(monitor);
    change(self, {"del", id(first)});
    EXPECT_EQ(next_event(monitor, "node-down", "node_id", first.node())["reason"], "leaving");
    EXPECT_TRUE(shown(first.node()).is_null());
    EXPECT_EQ(rsmctl({"node", "show", id(first)}).status, 1);
    EXPECT_EQ(find(rsmctl_json({"controller"}), "configurable", true)["links"], 1);
    change(self, {"add", id(first), address(first)});
    EXPECT_EQ(next_event(monitor, "node-up", "node_id", first.node())["address"], address(first));
}

TEST_F(NetNodes, bad_requests_are_refused_with_reasons) {
    const std::string &controller = configuration.controller;
    const Json before = rsmctl_json({"node"});
    Client client;
    const auto refused = [&](int command, unsigned node, const std::string &where, int error) {
        const auto result =
            client.ask(node_request(command, controller, node).put(RSM_A_NODE_ADDRESS, where));
        EXPECT_EQ(result.error, error) << command << ": " << node << " at " << where;
        EXPECT_NE(result.words, "") << command << ": " << node << " at " << where;
    };
    for (const char *where :
         {"", "nowhere", "10.77.1", "10.77.1.50:18600", "0.0.0.0", "::", "224.0.0.1", "ff02::1",
          "255.255.255.255", "10.77.1.50 ", "fd00::1%eth0", "10.77.1.3", "fe80::1", "fe80::1%nothing"})
        refused(RSM_CMD_NODE_ADD, 50, where, EINVAL);
    refused(RSM_CMD_NODE_ADD, 0, "10.77.1.50", EINVAL);
    refused(RSM_CMD_NODE_ADD, RSM_NODE_MAX + 1, "10.77.1.50", ERANGE);
    refused(RSM_CMD_NODE_ADD, first.node(), "10.77.1.50", EEXIST);
    refused(RSM_CMD_NODE_ADD, self.node(), "10.77.1.50", EEXIST);
    EXPECT_EQ(client.ask(node_request(RSM_CMD_NODE_ADD, controller, self.node()).put(RSM_A_NODE_ADDRESS, address(self))).error, 0)
        << "a list of nodes is read again";
    refused(RSM_CMD_NODE_SET, 50, "10.77.1.50", ENOENT);
    refused(RSM_CMD_NODE_SET, self.node(), "10.77.1.50", ENOENT);
    refused(RSM_CMD_NODE_SET, first.node(), address(second), EINVAL);
    refused(RSM_CMD_NODE_SET, first.node(), address(self), EINVAL);
    EXPECT_EQ(client.ask(node_request(RSM_CMD_NODE_DEL, controller, 50)).error, ENOENT);
    EXPECT_EQ(client.ask(node_request(RSM_CMD_NODE_DEL, controller, self.node())).error, ENOENT);
    EXPECT_EQ(client
                  .ask(node_request(RSM_CMD_NODE_ADD, controller, 50)
                           .put(RSM_A_NODE_ADDRESS, std::string(64, '1')))
                  .error,
              EINVAL);
    EXPECT_EQ(rsmctl_json({"node"}), before) << "something has changed nevertheless";
}

TEST_F(NetNodes, one_that_has_never_been_up_says_why) {
    change(self, {"add", "50", "10.77.1.50"});
    EXPECT_TRUE(eventually([] { return !said(50, "reason").empty(); }));
    EXPECT_EQ(said(50, "state"), "down");
    change(self, {"del", "50"});
}

// Nodes that answer nobody come and go while they are connected to, and while all are listed.
TEST_F(NetNodes, lists_survive_those_that_come_and_go) {
    constexpr unsigned none = 50;
    constexpr unsigned threads = 4;
    std::atomic<bool> stop = false;
    std::atomic<unsigned> changes = 0;
    std::vector<std::jthread> changers;
    for (unsigned node = none; node < none + threads; node++)
        changers.emplace_back([&, node] {
            Client client;
            const auto add = node_request(RSM_CMD_NODE_ADD, configuration.controller, node)
                                 .put(RSM_A_NODE_ADDRESS, "10.77.1." + std::to_string(node));
            const auto del = node_request(RSM_CMD_NODE_DEL, configuration.controller, node);
            while (!stop) {
                EXPECT_EQ(client.ask(add).error, 0);
                EXPECT_EQ(client.ask(del).error, 0);
                changes++;
            }
        });
    Client client;
    for (int i = 0; i < 100 || changes < 2 * threads; i++) {
        const auto all = client.dump(RSM_CMD_NODE_GET);
        ASSERT_EQ(all.error, 0);
        std::map<std::uint64_t, int> seen;
        for (const Message &message : all.messages)
            seen[message.number(RSM_A_NODE_NODE_ID)]++;
        for (const auto &[node, times] : seen)
            EXPECT_EQ(times, 1) << "node " << node;
        EXPECT_TRUE(seen.contains(first.node()) && seen.contains(second.node()));
    }
    stop = true;
    changers.clear();
    std::cout << "note: " << changes << " nodes came and went" << std::endl;
    EXPECT_EQ(client.dump(RSM_CMD_NODE_GET).messages.size(), 2u);
    expect_it_works(first);
}

// Without a node that an administrator has meant, the module does not begin.
TEST_F(NetNodes, wrong_parameter_keeps_the_module_out) {
    ASSERT_EQ(shell_here("rmmod rsm_rdma"), 0);
    for (const char *nodes : {"nowhere", "x=10.77.1.2", "0=10.77.1.2", "2=nowhere",
                              "2=10.77.1.2,2=10.77.1.3", "2=10.77.1.2,3=10.77.1.2"}) {
        EXPECT_NE(shell_here(std::string("modprobe rsm_rdma nodes=") + nodes + " 2>/dev/null"), 0)
            << nodes;
        EXPECT_NE(access("/sys/module/rsm_rdma", F_OK), 0) << nodes;
    }
    EXPECT_EQ(shell_here("modprobe rsm_rdma"), 0);
    EXPECT_TRUE(eventually([&] { return all_connected(); })) << "does not come back";
}

// The text of netlink's refusal outlives the module that refused.
TEST_F(NetNodes, refusals_do_not_need_the_module_any_more) {
    const auto request = node_request(RSM_CMD_NODE_SET, configuration.controller, first.node())
                             .put(RSM_A_NODE_ADDRESS, "nowhere");
    std::atomic<bool> stop = false;
    std::atomic<unsigned> refused = 0;
    std::jthread asker([&] {
        Client client;
        while (!stop) {
            const auto result = client.ask(request);
            EXPECT_TRUE(result.error == EINVAL || result.error == ENOENT || result.error == EBUSY)
                << result.error;
            if (result.error != EINVAL)
                continue;
            EXPECT_EQ(result.words, "not an IPv4 or IPv6 address");
            refused++;
        }
    });
    for (int i = 0; i < 5; i++) {
        const unsigned before = refused;
        EXPECT_TRUE(eventually([&] { return refused > before; }));
        EXPECT_TRUE(eventually([] { return shell_here("rmmod rsm_rdma") == 0; }));
        EXPECT_EQ(shell_here("modprobe rsm_rdma"), 0);
    }
    stop = true;
    asker.join();
    EXPECT_TRUE(eventually([&] { return all_connected(); })) << "does not come back";
}

TEST_F(NetNodes, requests_load_no_module) {
    ASSERT_EQ(shell_here("rmmod rsm_rdma"), 0);
    Client client;
    for (const int command : {RSM_CMD_NODE_ADD, RSM_CMD_NODE_SET})
        EXPECT_EQ(client
                      .ask(node_request(command, configuration.controller, 50)
                               .put(RSM_A_NODE_ADDRESS, "10.77.1.50"))
                      .error,
                  ENOENT);
    EXPECT_NE(access("/sys/module/rsm_rdma", F_OK), 0);
    EXPECT_EQ(shell_here("modprobe rsm_rdma"), 0);
    EXPECT_TRUE(eventually([&] { return all_connected(); })) << "does not come back";
}
