// SPDX-License-Identifier: GPL-2.0
#include "datnet/support/call.hpp"

#include <cstring>

namespace rsmtest::datnet {
namespace {

// The arguments of a function that may get no private data.
DAT_PVOID data_or_null(std::string &data) {
    return data.empty() ? nullptr : data.data();
}

} // namespace

DAT_RETURN call(const dat::Side &side, in_addr_t address, DAT_CONN_QUAL qualifier,
                std::size_t private_size, DAT_TIMEOUT timeout) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = address;
    std::string data = private_data(active_seed, private_size);
    return dat_ep_connect(side.ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&to), qualifier,
                          timeout, static_cast<DAT_COUNT>(private_size),
                          data_or_null(data), DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
}

DAT_CONN_QUAL listen(const dat::Side &side) {
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    DAT_CONN_QUAL qualifier = 0;
    EXPECT_OK(
        dat_psp_create_any(side.adapter, &qualifier, side.arrivals, DAT_PSP_CONSUMER_FLAG, &psp));
    return qualifier;
}

Caller next_caller(const dat::Side &side) {
    const DAT_EVENT event = dat::expect_event(side.arrivals, DAT_CONNECTION_REQUEST_EVENT);
    if (event.event_number != DAT_CONNECTION_REQUEST_EVENT)
        return {};
    Caller caller{.cr = event.event_data.cr_arrival_event_data.cr_handle};
    DAT_CR_PARAM request{};
    EXPECT_OK(dat_cr_query(caller.cr, DAT_CR_FIELD_ALL, &request));
    caller.private_size = static_cast<std::size_t>(request.private_data_size);
    caller.mismatches = private_mismatches(request.private_data, caller.private_size, active_seed);
    sockaddr_in from{};
    std::memcpy(&from, request.remote_ia_address_ptr, sizeof(from));
    caller.address = from.sin_addr.s_addr;
    return caller;
}

DAT_RETURN accept(const dat::Side &side, DAT_CR_HANDLE cr, std::size_t private_size) {
    std::string data = private_data(passive_seed, private_size);
    return dat_cr_accept(cr, side.ep, static_cast<DAT_COUNT>(private_size), data_or_null(data));
}

} // namespace rsmtest::datnet
