// SPDX-License-Identifier: GPL-2.0
// A session of ksft-dat-partner; the daemon is ksft-peer's.
#include "datnet/partner/partner.hpp"

#include "net/peer/worker.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest-spi.h>
#include <sys/socket.h>
#include <unistd.h>

namespace rsmtest::datnet {
namespace {

// An assertion of the support code did not hold.
constexpr int assertion_failed = 1;

const Verb *find_verb(std::string_view name) {
    for (const auto &verbs : {connection_verbs(), transfer_verbs()}) {
        const auto found = std::ranges::find(verbs, name, &Verb::name);
        if (found != verbs.end())
            return &*found;
    }
    return nullptr;
}

} // namespace

dat::Side &Partner::side(const std::string &name) {
    const auto found = sides.find(name);
    if (found == sides.end())
        throw net::BadOrder("there is no side " + name);
    return *found->second;
}

Answer Partner::carry_out(std::string_view order) {
    Args args(order);
    const std::string name = args.word();
    const Verb *verb = find_verb(name);
    if (!verb)
        throw net::BadOrder("no verb " + name);
    return verb->handler(*this, args);
}

// Failures here are told where the test runs.
Answer Partner::obey(std::string_view order) {
    testing::TestPartResultArray failures;
    Answer answer;
    try {
        const testing::ScopedFakeTestPartResultReporter reporter(
            testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &failures);
        answer = carry_out(order);
    } catch (const net::BadOrder &error) {
        return {net::bad_order, {}, std::string(order) + ": " + error.what()};
    }
    for (int i = 0; i < failures.size(); i++)
        answer.text += std::string(failures.GetTestPartResult(i).message()) + '\n';
    if (failures.size() > 0 && answer.status == 0)
        answer.status = assertion_failed;
    return answer;
}

} // namespace rsmtest::datnet

namespace rsmtest::net {

void serve_session(Fd end) {
    datnet::Partner partner;
    std::array<char, line_max> packet;
    for (;;) {
        const ssize_t got = recv(end.get(), packet.data(), packet.size(), 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            _exit(0);
        const std::string line =
            partner.obey({packet.data(), static_cast<std::size_t>(got)}).line();
        send(end.get(), line.data(), line.size(), MSG_NOSIGNAL);
    }
}

} // namespace rsmtest::net
