// SPDX-License-Identifier: GPL-2.0
// One side of a uDAPL connection, with everything that it needs. Two of them may live in one
// process: they are connected through the IA like strangers.
#pragma once

#include "dat/support/differences.hpp"
#include "dat/support/result.hpp"
#include "support/system.hpp"

#include <netinet/in.h>
#include <string>

namespace rsmtest::dat {

// The IA that the tests use: RSM_DAT_IA, or rsm0. The suite does not care whose provider it is.
const char *ia_name();

// A time that is to pass, in microseconds, longer on slow machines. Calls that are to succeed have
// DAT_TIMEOUT_INFINITE instead.
DAT_TIMEOUT after(int milliseconds);

// Privileges and flags or-ed in C++.
constexpr DAT_EVD_FLAGS operator|(DAT_EVD_FLAGS a, DAT_EVD_FLAGS b)
{
    return static_cast<DAT_EVD_FLAGS>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

// An open IA; closed abruptly at the end unless the test did it.
class Adapter {
public:
    explicit Adapter(const char *name = ia_name());
    ~Adapter();
    Adapter(const Adapter &) = delete;
    Adapter &operator=(const Adapter &) = delete;

    operator DAT_IA_HANDLE() const { return ia; }
    sockaddr_in address() const; // the IA's own
    DAT_PZ_HANDLE make_pz() const;
    DAT_EVD_HANDLE make_evd(DAT_EVD_FLAGS flags, DAT_COUNT length = 64,
                            DAT_CNO_HANDLE cno = DAT_HANDLE_NULL) const;
    // The next event of `async` is one that this call causes: no other has come before.
    void expect_no_async_event(const Place &place = Place::here()) const;

    DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
};

// Registered memory.
class Registered {
public:
    Registered(const Adapter &adapter, DAT_PZ_HANDLE pz, void *start, std::size_t length,
               int privileges = DAT_MEM_PRIV_ALL_FLAG);
    ~Registered(); // frees, unless the handle was set to NULL
    Registered(const Registered &) = delete;
    Registered &operator=(const Registered &) = delete;

    DAT_LMR_TRIPLET piece(std::size_t offset, std::size_t size) const;
    DAT_RMR_TRIPLET remote(std::size_t offset, std::size_t size) const;

    std::byte *start;
    std::size_t length;
    DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
    DAT_LMR_CONTEXT lmr_context = 0;
    DAT_RMR_CONTEXT rmr_context = 0;
};

// Waits for the next event; event_number 0 when the wait fails (a test failure as well).
DAT_EVENT next_event(DAT_EVD_HANDLE evd, const Place &place = Place::here());
// It has to be this one.
DAT_EVENT expect_event(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number,
                       const Place &place = Place::here());
// It has to be a DTO completion with these; returns transfered_length.
DAT_VLEN expect_completion(DAT_EVD_HANDLE evd, DAT_UINT64 cookie,
                           DAT_DTO_COMPLETION_STATUS status = DAT_DTO_SUCCESS,
                           const Place &place = Place::here());
// There is none now. A test calls this when an event of another EVD, which the provider makes
// later, has shown that a wrong one would be there.
void expect_no_event(DAT_EVD_HANDLE evd);

DAT_DTO_COOKIE cookie(DAT_UINT64 value);
DAT_EP_STATE state_of(DAT_EP_HANDLE ep);
// Waits until the endpoint has no requests under way: all of them have their completions.
void await_no_requests(DAT_EP_HANDLE ep, const Place &place = Place::here());
// The provider's defaults, to be changed before an endpoint is made.
DAT_EP_ATTR default_attributes(const Adapter &adapter);

// Adapter, zone, EVDs (one for each role), endpoint and 64 KiB of registered memory.
class Side {
public:
    explicit Side(const DAT_EP_ATTR *attributes = nullptr, std::size_t bytes = 65536,
                  int privileges = DAT_MEM_PRIV_ALL_FLAG);

    // Gives an unconnected endpoint one EVD for all its events: the EVD shows their order.
    void use_one_evd();

    // Ends of a connection: `active` asks, *this accepts. Both endpoints are CONNECTED afterwards
    // and the events gone.
    void accept_from(Side &active);

    DAT_RETURN send(std::size_t offset, std::size_t size, DAT_UINT64 id,
                    int flags = DAT_COMPLETION_DEFAULT_FLAG) const;
    DAT_RETURN receive(std::size_t offset, std::size_t size, DAT_UINT64 id,
                       int flags = DAT_COMPLETION_DEFAULT_FLAG) const;
    // From / into our own memory at `offset`.
    DAT_RETURN write(std::size_t offset, const DAT_RMR_TRIPLET &to, DAT_UINT64 id,
                     int flags = DAT_COMPLETION_DEFAULT_FLAG) const;
    DAT_RETURN read(std::size_t offset, const DAT_RMR_TRIPLET &from, DAT_UINT64 id,
                    int flags = DAT_COMPLETION_DEFAULT_FLAG) const;

    Adapter adapter;
    DAT_PZ_HANDLE pz;
    DAT_EVD_HANDLE receives;    // DTO
    DAT_EVD_HANDLE requests;    // DTO, RMR bind
    DAT_EVD_HANDLE connections; // connection
    DAT_EVD_HANDLE arrivals;    // CR
    Pages pages;
    Registered memory;
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
};

// ep_connect to a qualifier of this machine with usual arguments.
DAT_RETURN connect(const Side &side, DAT_CONN_QUAL qualifier, const std::string &private_data = {});

} // namespace rsmtest::dat
