// SPDX-License-Identifier: GPL-2.0
// Segments of sessions, typed.
#pragma once

#include "net/support/peer.hpp"

#include <rsmapi.h>
#include <utility>

namespace rsmtest::net {

// Node and permission of each entry.
using Acl = std::vector<std::pair<unsigned, unsigned>>;

// The status of a connection that has ended with the way to its node.
inline bool is_disconnect(std::uint64_t status) {
    return status == RSMERR_CONN_ABORTED || status == RSMERR_REMOTE_NODE_UNREACHABLE;
}

// Memory of a session: a buffer, or an import's mapping under the import's name.
class RemoteMemory {
  public:
    RemoteMemory(Session &session, std::string name) : session_(&session), name_(std::move(name)) {}
    // A new buffer: private, shared or sysv.
    static RemoteMemory buffer(Session &session, std::size_t pages, const char *kind = "private");

    const std::string &name() const { return name_; }
    std::uint64_t peek(std::uint64_t offset) { return session_->value("peek", name_, offset); }
    void poke(std::uint64_t offset, std::uint64_t value);
    void fill(std::uint64_t offset, std::uint64_t length, std::uint64_t seed);
    // Words that are not the pattern's.
    std::uint64_t differ(std::uint64_t offset, std::uint64_t length, std::uint64_t seed);
    std::uint64_t nonzero() { return session_->value("nonzero", name_); }

  protected:
    Session *session_;
    std::string name_;
};

// An export segment with a buffer behind it.
class RemoteExport {
  public:
    RemoteExport(Session &session, std::size_t pages, unsigned flags = 0,
                 const char *kind = "private");

    // Result of create.
    int status() const { return status_; }
    Session &session() { return *session_; }
    const std::string &name() const { return name_; }
    std::uint32_t id() const { return id_; }
    std::size_t length() const { return length_; }
    unsigned node() const { return session_->node(); }
    RemoteMemory &memory() { return memory_; }

    int publish(std::uint32_t id = 0, const Acl &acl = {});
    int republish(const Acl &acl = {});
    int unpublish() { return session_->status("unpublish", name_); }
    int rebind(const RemoteMemory &memory) {
        return session_->status("rebind", name_, memory.name());
    }
    int destroy() { return session_->status("destroy", name_); }
    int post(unsigned flags = 0) { return session_->status("post", name_, flags); }
    int wait(int milliseconds) { return session_->status("wait", name_, milliseconds); }
    std::uint64_t events() { return session_->value("events", name_); }
    // Waits until that many have come; then how many there were, a moment later.
    std::uint64_t events(std::uint64_t expected);

  private:
    Session *session_;
    RemoteMemory memory_;
    std::string name_;
    std::size_t length_;
    std::uint32_t id_ = 0;
    int status_;
};

// An import segment. Its mapping, once there, is its memory.
class RemoteImport : public RemoteMemory {
  public:
    RemoteImport(Session &session, unsigned node, std::uint32_t id,
                 unsigned permission = RSM_PERM_RDWR);
    // A word of an export, read with a barrier; it is there.
    RemoteImport(Session &session, RemoteExport &of, unsigned permission = RSM_PERM_RDWR);

    // Result of connect.
    int status() const { return status_; }
    int map(std::size_t length, std::size_t offset = 0, unsigned permission = RSM_PERM_RDWR);
    int unmap() { return session_->status("unmap", name_); }
    int disconnect() { return session_->status("disconnect", name_); }
    int barrier(const char *what) { return session_->status("barrier", name_, what); }
    int put(std::uint64_t offset, std::uint64_t length, std::uint64_t seed);
    // Words that are not the pattern's come in the answer.
    Answer get(std::uint64_t offset, std::uint64_t length, std::uint64_t seed);
    int put64(std::uint64_t offset, std::uint64_t value);
    Answer get64(std::uint64_t offset);
    int post(unsigned flags = 0) { return session_->status("post", name_, flags); }
    int wait(int milliseconds) { return session_->status("wait", name_, milliseconds); }
    std::uint64_t events() { return session_->value("events", name_); }
    std::uint64_t events(std::uint64_t expected);
    // True once the connection is gone.
    bool hung_up();
    Pending await_hangup();
    // Everything says CONN_ABORTED, nothing of the exporter can be seen, nothing hangs.
    void expect_aborted();

  private:
    int status_;
};

// Earlier posts of one node have arrived at the other: bells keep their order.
class Fence {
  public:
    Fence(Session &exporter, Session &importer);
    void at_exporter();
    void at_importer();

  private:
    RemoteExport exported_;
    RemoteImport imported_;
};

// Background work of a session; ends with the object at the latest.
class RemoteHammer {
  public:
    template <class... Words>
    explicit RemoteHammer(Session &session, const Words &...words)
        : session_(&session), name_(next_name()) {
        start(session.status("hammer", name_, words...));
    }
    // Successes, failures, first and last error.
    Answer calm() { return session_->call("calm", name_); }
    Answer progress() { return session_->call("progress", name_); }
    // Waits until it has succeeded that often, however long that takes; false if it does nothing but
    // fail meanwhile.
    bool succeeds(std::uint64_t times = 1);
    // Waits until it fails.
    bool fails();
    // Waits until that is the last error.
    bool fails_with(int error);

  private:
    static std::string next_name();
    static void start(int status);

    Session *session_;
    std::string name_;
};

} // namespace rsmtest::net
