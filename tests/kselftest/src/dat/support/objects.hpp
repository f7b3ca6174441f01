// SPDX-License-Identifier: GPL-2.0
// One live object of every kind, all of one instance of the IA, for tests that ask what a function
// says to each of them.
#pragma once

#include "dat/support/side.hpp"

#include <bit>

namespace rsmtest::dat {

// Values that an enumeration does not have: a conversion would be undefined.
template <class Enumeration>
Enumeration bits(unsigned value)
{
    return std::bit_cast<Enumeration>(value);
}

// In the order of DAT_HANDLE_TYPE.
constexpr int handle_types = DAT_HANDLE_TYPE_SRQ + 1;
const char *name_of(DAT_HANDLE_TYPE type);

class Objects {
public:
    Objects();
    ~Objects();
    Objects(const Objects &) = delete;
    Objects &operator=(const Objects &) = delete;

    DAT_HANDLE of(DAT_HANDLE_TYPE type) const { return live_[type]; }
    // A handle that was good until it was freed.
    DAT_HANDLE freed(DAT_HANDLE_TYPE type);
    // Another one of the kind; the caller frees it, or the IA does.
    DAT_HANDLE make(DAT_HANDLE_TYPE type);
    // A request from the peer.
    DAT_CR_HANDLE request();
    DAT_EP_HANDLE make_ep() const;
    // Nobody in this process, or another test at the same time, has it.
    static DAT_CONN_QUAL unused_qualifier();
    // One of those?
    static bool is_ours(DAT_CONN_QUAL qualifier);

    Side side; // owns them all
    Side peer; // where requests come from

private:
    DAT_HANDLE make_memory(DAT_HANDLE_TYPE type);
    DAT_HANDLE make_service(DAT_HANDLE_TYPE type);
    void free(DAT_HANDLE_TYPE type, DAT_HANDLE handle);

    DAT_HANDLE live_[handle_types]{};
};

} // namespace rsmtest::dat
