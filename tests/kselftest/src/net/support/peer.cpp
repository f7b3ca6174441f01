// SPDX-License-Identifier: GPL-2.0
#include "net/support/peer.hpp"

#include <csignal>
#include <gtest/gtest.h>
#include <thread>
#include <utility>

namespace rsmtest::net {

Answer Pending::get(int milliseconds) {
    Answer answer = Hub::instance().receive(tag_, scaled(milliseconds));
    EXPECT_NE(answer.status, no_answer) << "no answer within " << milliseconds << " ms";
    EXPECT_NE(answer.status, bad_order) << answer.text;
    return answer;
}

Session::Session(unsigned node) : node_(node) {
    number_ = checked(Pending(Hub::instance().send(node, "0 new")).get());
    if (Configuration::get().controller.empty())
        return;
    EXPECT_EQ(status("open", Configuration::get().controller), 0) << "node " << node;
}

Session::Session(Session &&other) noexcept
    : node_(other.node_), number_(std::exchange(other.number_, 0)) {}

// Its kernel objects must be gone when the test looks at the peer's counters; the end itself is
// that of a process that is killed.
Session::~Session() {
    if (number_)
        Hub::instance().send(node_, join(0, "kill", number_, SIGKILL));
}

Pending Session::send(const std::string &order) {
    return Pending(Hub::instance().send(node_, order));
}

std::uint64_t Session::checked(const Answer &answer) {
    EXPECT_EQ(answer.status, 0) << answer.text;
    EXPECT_FALSE(answer.data.empty()) << "an answer without a number";
    return answer.value();
}

void Session::signal(int number) {
    EXPECT_EQ(send(join(0, "kill", number_, number)).get().status, 0);
}

void Session::keep_signalling(int number) {
    for (int i = 0; i < 20; i++) {
        signal(number);
        std::this_thread::sleep_for(scaled(50));
    }
}

void Session::kill() {
    signal(SIGKILL);
}

int Session::reap() {
    const Answer answer = send(join(0, "reap", number_)).get();
    EXPECT_EQ(answer.status, 0);
    return static_cast<int>(answer.value());
}

Answer Peer::ask(const std::string &order, int milliseconds) const {
    Hub &hub = Hub::instance();
    return hub.receive(hub.send(node_, order), scaled(milliseconds));
}

bool Peer::answers(int milliseconds) const {
    return ask("0 stats", milliseconds).status == 0;
}

void Peer::reset() const {
    EXPECT_EQ(ask("0 reset").status, 0) << "node " << node_ << " can't end its sessions";
}

std::string Peer::left_behind() const {
    Answer answer;
    const bool clean = eventually([&] {
        answer = ask("0 stats");
        return answer.status == 0 && !answer.value(0) && !answer.value(1) && !answer.value(2);
    });
    std::ostringstream text;
    if (!clean)
        text << "node " << node_ << ": handles " << answer.value(0) << ", pinned pages "
             << answer.value(1) << ", published " << answer.value(2);
    return text.str();
}

unsigned Peer::path_to(unsigned node) const {
    const Answer answer = session().call("topology");
    EXPECT_EQ(answer.status, 0);
    for (std::size_t i = 1; i + 1 < answer.data.size(); i += 2)
        if (answer.data[i] == node)
            return static_cast<unsigned>(answer.data[i + 1]);
    return 0;
}

// rsm-vm starts a machine again that hangs in its boot, which it sees after one and a half minutes.
void Vm::start(const std::vector<unsigned> &nodes) {
    constexpr int two_boots = 150000;
    for (const unsigned node : nodes)
        Hub::instance().tell_vm("start " + std::to_string(node));
    for (const unsigned node : nodes)
        expect_ok("start " + std::to_string(node), two_boots);
}

void Vm::command(const char *what, unsigned argument) {
    const std::string order = std::string(what) + ' ' + std::to_string(argument);
    Hub::instance().tell_vm(order);
    expect_ok(order, 20000);
}

void Vm::expect_ok(const std::string &what, int milliseconds) {
    const auto answer = Hub::instance().hear_vm(scaled(milliseconds));
    EXPECT_EQ(answer.value_or("no answer"), "ok") << what;
}

} // namespace rsmtest::net
