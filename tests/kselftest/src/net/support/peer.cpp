// SPDX-License-Identifier: GPL-2.0
#include "net/support/peer.hpp"

#include <csignal>
#include <gtest/gtest.h>
#include <iostream>
#include <utility>

namespace rsmtest::net {
namespace {

// As ksft-run names it.
std::string current_test() {
    const testing::TestInfo *const test = testing::UnitTest::GetInstance()->current_test_info();
    return std::string("net.") + test->test_suite_name() + '.' + test->name();
}

} // namespace

Answer Pending::get(const Place &place) {
    Answer answer = Hub::instance().receive(tag_, place);
    EXPECT_NE(answer.status, bad_order) << answer.text;
    return answer;
}

bool Pending::arrived(std::chrono::milliseconds at_most) {
    return Hub::instance().answered(tag_, at_most);
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

void Session::interrupt(Pending &pending, int number) {
    const Waiting waiting("the end of an interrupted call");
    do
        signal(number);
    while (!pending.arrived(std::chrono::milliseconds(50)));
}

void Session::kill() {
    signal(SIGKILL);
}

int Session::reap() {
    const Answer answer = send(join(0, "reap", number_)).get();
    EXPECT_EQ(answer.status, 0);
    return static_cast<int>(answer.value());
}

Answer Peer::ask(const std::string &order) const {
    return Pending(Hub::instance().send(node_, order)).get();
}

// A machine that is dead or stopped does not answer, and nothing tells so but time. One that is only
// slow is asked again, or started again, by those who call.
bool Peer::answers() const {
    Hub &hub = Hub::instance();
    const std::string tag = hub.send(node_, "0 stats");
    const bool does = hub.answered(tag, scaled(10000));
    hub.forget(tag);
    return does;
}

void Peer::await(const Place &place) const {
    eventually([&] { return answers(); }, place);
}

void Peer::expect_reset(const std::string &words) const {
    EXPECT_EQ(ask("0 reset" + words).status, 0) << "node " << node_ << " can't end its sessions";
}

void Peer::end_sessions() const {
    expect_reset("");
}

void Peer::reset() const {
    // ksft-run shows the coverage of the node that the tests run on.
    const bool elsewhere = node_ != Configuration::get().own;
    expect_reset(elsewhere ? ' ' + current_test() : "");
}

void Peer::await_empty(const Place &place) const {
    eventually(
        [&] {
            const Answer answer = ask("0 stats");
            return answer.status == 0 && !answer.value(0) && !answer.value(1) && !answer.value(2);
        },
        place);
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
    for (const unsigned node : nodes)
        Hub::instance().tell_vm("start " + std::to_string(node));
    for (const unsigned node : nodes)
        expect_ok("start " + std::to_string(node));
}

// make soak counts the notes.
void Vm::kill(unsigned node) {
    command("kill", node);
    std::cout << "note: a machine was killed" << std::endl;
}

void Vm::command(const char *what, unsigned argument) {
    const std::string order = std::string(what) + ' ' + std::to_string(argument);
    Hub::instance().tell_vm(order);
    expect_ok(order);
}

void Vm::expect_ok(const std::string &what) {
    EXPECT_EQ(Hub::instance().hear_vm(), "ok") << what;
}

} // namespace rsmtest::net
