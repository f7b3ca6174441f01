// SPDX-License-Identifier: GPL-2.0
// One side of a uDAPL connection that is measured. Throws what DAT returns.
#pragma once

#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

#include <dat/udat.h>
#include <sys/socket.h>

#include "memory.hpp"
#include "peer.hpp"

namespace rsmperf {

// The connection ended before a transfer was done: the other side has left.
struct ConnectionEnded : std::runtime_error {
    ConnectionEnded() : std::runtime_error("the connection ended before a transfer was done") {}
};

[[noreturn]] void fail_dat(DAT_RETURN status, const char *call);

// Throws unless the status is DAT_SUCCESS. Inline, as it is part of what is measured.
inline void check_dat(DAT_RETURN status, const char *call) {
    if (status != DAT_SUCCESS) {
        fail_dat(status, call);
    }
}

// Where a side's memory is, for the other one.
struct DatMemory {
    DAT_RMR_CONTEXT context;
    DAT_VADDR address;
};

// The IA of dat.conf that this node's processes share.
inline constexpr const char *local_adapter = "rsm0";

// An IA with a protection zone.
class DatAdapter {
  public:
    explicit DatAdapter(std::string name = local_adapter);
    DatAdapter(const DatAdapter &) = delete;
    DatAdapter(DatAdapter &&) = delete;
    DatAdapter &operator=(const DatAdapter &) = delete;
    DatAdapter &operator=(DatAdapter &&) = delete;
    ~DatAdapter();

    [[nodiscard]] DAT_IA_HANDLE ia() const { return ia_; }
    [[nodiscard]] DAT_PZ_HANDLE pz() const { return pz_; }
    void register_and_free(char *start, std::size_t size) const;

  private:
    DAT_IA_HANDLE ia_ = nullptr;
    DAT_PZ_HANDLE pz_ = nullptr;
};

// A part of a page that a region begins with, and what its peers may do.
struct DatRegion {
    std::size_t size;
    std::size_t offset = 0;
    DAT_MEM_PRIV_FLAGS rights = DAT_MEM_PRIV_ALL_FLAG;
};

// Endpoints, one EVD for all they have to say, and registered memory. Functions that name no
// endpoint use the first.
class DatSide {
  public:
    explicit DatSide(std::size_t size, const std::string &adapter = local_adapter,
                     std::size_t endpoints = 1);

    // Registers other memory besides, until the side goes away.
    DatMemory add_region(const DatRegion &region);

    void listen(); // under an own qualifier
    [[nodiscard]] DAT_CONN_QUAL qualifier() const { return qualifier_; }
    [[nodiscard]] std::size_t endpoints() const { return eps_.size(); }
    void accept(std::size_t endpoint = 0);
    // Wait for ESTABLISHED; the first connects to this node.
    void connect(DAT_CONN_QUAL qualifier, std::size_t endpoint = 0);
    void connect(sockaddr &address, DAT_CONN_QUAL qualifier, std::size_t endpoint = 0);
    void hang_up(); // and be ready to connect again
    void wait_for_hang_up();

    // Posted and reaped.
    void write(const DatMemory &to, std::size_t size);
    void read(const DatMemory &from, std::size_t size);
    // Writes `count` times, with a window of writes that are under way.
    void write_many(const DatMemory &to, std::size_t size, std::size_t count, std::size_t window);
    // The same, but only the last write of each window has an event.
    void write_quietly(const DatMemory &to, std::size_t size, std::size_t count,
                       std::size_t window);
    void send(std::size_t size);
    // Sends `count` times, with a window of sends that are under way.
    void send_many(std::size_t size, std::size_t count, std::size_t window);
    void post_receive(std::size_t size);
    void reap();                     // spins
    void sleep_until_done();         // the same in dat_evd_wait()
    [[nodiscard]] bool poll() const; // looks once; true if there was an event

    [[nodiscard]] DatMemory memory() const;
    [[nodiscard]] char *data() const { return memory_.data(); }

  private:
    [[nodiscard]] DAT_LMR_TRIPLET piece(std::size_t size) const;
    void add_endpoint();
    void post_write(const DatMemory &to, std::size_t size,
                    DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG);
    void post_send(std::size_t size, DAT_COMPLETION_FLAGS flags);
    // Posts `count` times, and reaps so that no more than a window of requests is under way.
    template <typename Post>
    void post_many(std::size_t count, std::size_t window, Post post);
    DAT_EVENT next(DAT_EVENT_NUMBER number) const; // sleeps

    DatAdapter adapter_;
    PrivateMemory memory_;
    std::deque<PrivateMemory> others_;
    DAT_EVD_HANDLE evd_ = nullptr;
    DAT_EVD_HANDLE requests_ = nullptr;
    std::vector<DAT_EP_HANDLE> eps_;
    DAT_PSP_HANDLE psp_ = nullptr;
    DAT_CONN_QUAL qualifier_ = 0;
    DAT_LMR_HANDLE lmr_ = nullptr;
    DAT_LMR_CONTEXT lmr_context_ = 0;
    DAT_RMR_CONTEXT rmr_context_ = 0;
};

} // namespace rsmperf
