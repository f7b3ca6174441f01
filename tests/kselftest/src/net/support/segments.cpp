// SPDX-License-Identifier: GPL-2.0
#include "net/support/segments.hpp"

#include <gtest/gtest.h>
#include <thread>

namespace rsmtest::net {
namespace {

// Names need to be unique within a session only, but are easier to find if unique at all.
std::string next(const char *kind) {
    static unsigned count = 0;
    return kind + std::to_string(++count);
}

std::string words(const Acl &acl) {
    std::ostringstream text;
    for (const auto &[node, permission] : acl)
        text << node << ' ' << permission << ' ';
    return text.str();
}

// Events that have come once as many as expected are there, or the time is over; and a moment
// more for one too many.
template <class Segment>
std::uint64_t count_events(Segment &segment, std::uint64_t expected) {
    std::uint64_t count = 0;
    eventually([&] { return (count += segment.events()) >= expected; });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return count + segment.events();
}

} // namespace

RemoteMemory RemoteMemory::buffer(Session &session, std::size_t pages, const char *kind) {
    RemoteMemory memory(session, next("buffer"));
    EXPECT_EQ(session.status("buffer", memory.name_, pages, kind), 0);
    return memory;
}

void RemoteMemory::poke(std::uint64_t offset, std::uint64_t value) {
    EXPECT_EQ(session_->status("poke", name_, offset, value), 0);
}

void RemoteMemory::fill(std::uint64_t offset, std::uint64_t length, std::uint64_t seed) {
    EXPECT_EQ(session_->status("fill", name_, offset, length, seed), 0);
}

std::uint64_t RemoteMemory::differ(std::uint64_t offset, std::uint64_t length, std::uint64_t seed) {
    return session_->value("differ", name_, offset, length, seed);
}

RemoteExport::RemoteExport(Session &session, std::size_t pages, unsigned flags, const char *kind)
    : session_(&session), memory_(RemoteMemory::buffer(session, pages, kind)),
      name_(next("export")), length_(pages * page_size()),
      status_(session.status("create", name_, memory_.name(), flags)) {}

int RemoteExport::publish(std::uint32_t id, const Acl &acl) {
    const Answer answer = session_->call("publish", name_, id, words(acl));
    if (answer.status == RSM_SUCCESS)
        id_ = static_cast<std::uint32_t>(answer.value());
    return answer.status;
}

int RemoteExport::republish(const Acl &acl) {
    return session_->status("republish", name_, words(acl));
}

std::uint64_t RemoteExport::events(std::uint64_t expected) {
    return count_events(*this, expected);
}

RemoteImport::RemoteImport(Session &session, unsigned node, std::uint32_t id, unsigned permission)
    : RemoteMemory(session, next("import")),
      status_(session.status("connect", name_, node, id, permission)) {}

RemoteImport::RemoteImport(Session &session, RemoteExport &of, unsigned permission)
    : RemoteImport(session, of.node(), of.id(), permission) {
    EXPECT_EQ(status_, RSM_SUCCESS);
    if (status_ == RSM_SUCCESS) {
        EXPECT_EQ(barrier("init"), RSM_SUCCESS);
    }
}

int RemoteImport::map(std::size_t length, std::size_t offset, unsigned permission) {
    return session_->status("map", name_, offset, length, permission);
}

int RemoteImport::put(std::uint64_t offset, std::uint64_t length, std::uint64_t seed) {
    return session_->status("put", name_, offset, length, seed);
}

Answer RemoteImport::get(std::uint64_t offset, std::uint64_t length, std::uint64_t seed) {
    return session_->call("get", name_, offset, length, seed);
}

int RemoteImport::put64(std::uint64_t offset, std::uint64_t value) {
    return session_->status("putw", name_, 8, offset, 1, value);
}

Answer RemoteImport::get64(std::uint64_t offset) {
    return session_->call("getw", name_, 8, offset, 1, 0);
}

std::uint64_t RemoteImport::events(std::uint64_t expected) {
    return count_events(*this, expected);
}

bool RemoteImport::hung_up() {
    return await_hangup().get().value() == 1;
}

Pending RemoteImport::await_hangup() {
    return session_->begin("hangup", name_);
}

void RemoteImport::expect_aborted() {
    const auto aborted = [](int status) {
        return status == RSMERR_CONN_ABORTED || status == RSMERR_REMOTE_NODE_UNREACHABLE;
    };
    EXPECT_EQ(put64(0, 1), RSMERR_CONN_ABORTED);
    EXPECT_EQ(get64(0).status, RSMERR_CONN_ABORTED);
    EXPECT_EQ(put(0, 4096, 1), RSMERR_CONN_ABORTED);
    EXPECT_EQ(get(0, 4096, 1).status, RSMERR_CONN_ABORTED);
    const Answer putv = session_->call("putv", name_, 0, 1, 64, 1, 0);
    EXPECT_PRED1(aborted, putv.status);
    EXPECT_EQ(putv.value(), 1u) << "residual";
    EXPECT_PRED1(aborted, session_->status("getv", name_, 0, 1, 64, 1, 0));
    EXPECT_PRED1(aborted, post());
    EXPECT_EQ(barrier("open"), RSM_SUCCESS);
    EXPECT_EQ(barrier("order"), RSMERR_CONN_ABORTED);
    EXPECT_EQ(barrier("close"), RSMERR_CONN_ABORTED);
}

namespace {

RemoteExport &published(RemoteExport &exported) {
    EXPECT_EQ(exported.publish(), RSM_SUCCESS);
    return exported;
}

} // namespace

Fence::Fence(Session &exporter, Session &importer)
    : exported_(exporter, 1), imported_(importer, published(exported_)) {}

void Fence::at_exporter() {
    EXPECT_EQ(imported_.post(), RSM_SUCCESS);
    EXPECT_EQ(exported_.wait(-1), RSM_SUCCESS);
}

void Fence::at_importer() {
    EXPECT_EQ(exported_.post(), RSM_SUCCESS);
    EXPECT_EQ(imported_.wait(-1), RSM_SUCCESS);
}

bool RemoteHammer::succeeds(std::uint64_t times) {
    constexpr std::uint64_t hopeless = 20000;
    Answer last = progress();
    for (Answer now = last; now.value(0) < times; now = progress()) {
        if (now.value(0) != last.value(0))
            last = now;
        if (now.value(1) - last.value(1) > hopeless)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return true;
}

bool RemoteHammer::fails() {
    return eventually([&] { return progress().value(1) > 0; });
}

bool RemoteHammer::fails_with(int error) {
    const auto expected = static_cast<std::uint64_t>(error);
    return eventually([&] { return progress().value(3) == expected; });
}

std::string RemoteHammer::next_name() {
    return next("hammer");
}

void RemoteHammer::start(int status) {
    EXPECT_EQ(status, 0) << "the background work does not start";
}

} // namespace rsmtest::net
