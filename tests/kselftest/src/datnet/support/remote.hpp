// SPDX-License-Identifier: GPL-2.0
// A side of a connection that lives in a process of another node.
#pragma once

#include "dat/support/side.hpp"
#include "net/support/peer.hpp"

namespace rsmtest::datnet {

using net::Answer;
using net::Session;

// The answer to an order with this outcome.
inline int status_of(dat::Result result) {
    return static_cast<int>(result.value);
}

class Remote {
  public:
    // Several sides in one process have names of their own.
    explicit Remote(Session &session, std::size_t bytes = 65536, std::string name = "side",
                    int privileges = DAT_MEM_PRIV_ALL_FLAG);

    // An order that has to be carried out: "WORD NAME WORDS...".
    template <class... Words>
    Answer call(const char *order, const Words &...words) const {
        const Answer answer = session_.call(order, name_, words...);
        EXPECT_EQ(answer.status, 0) << order << ' ' << name_ << ": " << answer.text;
        return answer;
    }
    template <class... Words>
    net::Pending begin(const char *order, const Words &...words) const {
        return session_.begin(order, name_, words...);
    }

    // Its memory.
    DAT_RMR_TRIPLET part(std::size_t offset, std::size_t size) const;
    void fill(std::size_t offset, std::size_t size, std::uint64_t seed) const {
        call("fill", offset, size, seed);
    }
    // Number of bytes there that are not the pattern's.
    std::uint64_t differ(std::size_t offset, std::size_t size, std::uint64_t seed) const {
        return call("differ", offset, size, seed).value();
    }

    // Posts; those of RDMA name memory of ours.
    void send(std::size_t offset, std::size_t size, DAT_UINT64 id) const {
        call("send", offset, size, id);
    }
    void receive(std::size_t offset, std::size_t size, DAT_UINT64 id) const {
        call("receive", offset, size, id);
    }
    void write(std::size_t offset, const DAT_RMR_TRIPLET &to, DAT_UINT64 id) const {
        rdma("write", offset, to, id);
    }
    void read(std::size_t offset, const DAT_RMR_TRIPLET &from, DAT_UINT64 id) const {
        rdma("read", offset, from, id);
    }

    // Its next events have to be these; lengths are returned.
    std::uint64_t expect_received(DAT_UINT64 id,
                                  DAT_DTO_COMPLETION_STATUS status = DAT_DTO_SUCCESS) const {
        return expect_completion("received", id, status);
    }
    std::uint64_t expect_requested(DAT_UINT64 id,
                                   DAT_DTO_COMPLETION_STATUS status = DAT_DTO_SUCCESS) const {
        return expect_completion("requested", id, status);
    }
    Answer expect_connection(DAT_EVENT_NUMBER number) const;
    void expect_state(DAT_EP_STATE state) const {
        EXPECT_EQ(call("state").value(), static_cast<std::uint64_t>(state));
    }

    // IP address of its IA, as network byte order has it.
    in_addr_t address() const { return address_; }

  private:
    void rdma(const char *what, std::size_t offset, const DAT_RMR_TRIPLET &part,
              DAT_UINT64 id) const {
        call(what, offset, part.segment_length, id, part.rmr_context, part.target_address);
    }
    std::uint64_t expect_completion(const char *what, DAT_UINT64 id,
                                    DAT_DTO_COMPLETION_STATUS status) const;

    Session &session_;
    std::string name_;
    in_addr_t address_ = 0;
    DAT_RMR_CONTEXT context_ = 0;
    DAT_VADDR start_ = 0;
};

} // namespace rsmtest::datnet
