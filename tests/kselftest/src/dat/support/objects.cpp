// SPDX-License-Identifier: GPL-2.0
#include "dat/support/objects.hpp"

#include <unistd.h>

namespace rsmtest::dat {

const char *name_of(DAT_HANDLE_TYPE type)
{
    static const char *const names[handle_types] = {"CR", "EP",  "EVD", "IA",  "LMR", "PSP",
                                                    "PZ", "RMR", "RSP", "CNO", "SRQ"};
    return names[type];
}

namespace {

// Ports: those below 32768 are given to nobody who does not ask for them.
DAT_CONN_QUAL first_qualifier()
{
    const auto process = static_cast<DAT_CONN_QUAL>(getpid());
    return differences().qualifiers_are_ports ? 20000 + process % 48 * 256
                                              : (DAT_CONN_QUAL{7} << 40) + (process << 8);
}

DAT_CONN_QUAL &next_qualifier()
{
    static DAT_CONN_QUAL next = first_qualifier();
    return next;
}

} // namespace

DAT_CONN_QUAL Objects::unused_qualifier()
{
    return next_qualifier()++;
}

bool Objects::is_ours(DAT_CONN_QUAL qualifier)
{
    return qualifier >= first_qualifier() && qualifier < next_qualifier();
}

Objects::Objects()
{
    for (int type = 0; type < handle_types; type++)
        live_[type] = make(static_cast<DAT_HANDLE_TYPE>(type));
}

Objects::~Objects()
{
    EXPECT_OK(dat_ia_close(live_[DAT_HANDLE_TYPE_IA], DAT_CLOSE_GRACEFUL_FLAG));
}

DAT_EP_HANDLE Objects::make_ep() const
{
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    EXPECT_OK(dat_ep_create(side.adapter, side.pz, side.receives, side.requests, side.connections,
                            nullptr, &ep));
    return ep;
}

DAT_CR_HANDLE Objects::request()
{
    const DAT_CONN_QUAL qualifier = unused_qualifier();
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    EXPECT_OK(dat_psp_create(side.adapter, qualifier, side.arrivals, DAT_PSP_CONSUMER_FLAG, &psp));
    EXPECT_OK(dat_ep_free(peer.ep));
    EXPECT_OK(dat_ep_create(peer.adapter, peer.pz, peer.receives, peer.requests, peer.connections,
                            nullptr, &peer.ep));
    EXPECT_OK(connect(peer, qualifier));
    const DAT_EVENT event = expect_event(side.arrivals, DAT_CONNECTION_REQUEST_EVENT);
    EXPECT_OK(dat_psp_free(psp));
    return event.event_data.cr_arrival_event_data.cr_handle;
}

DAT_HANDLE Objects::make_memory(DAT_HANDLE_TYPE type)
{
    DAT_HANDLE made = DAT_HANDLE_NULL;
    DAT_REGION_DESCRIPTION region{};
    DAT_SRQ_ATTR attributes{16, 4, DAT_SRQ_LW_DEFAULT};
    region.for_va = side.memory.start;
    if (type == DAT_HANDLE_TYPE_LMR)
        EXPECT_OK(dat_lmr_create(side.adapter, DAT_MEM_TYPE_VIRTUAL, region, 64, side.pz,
                                 DAT_MEM_PRIV_ALL_FLAG, &made, nullptr, nullptr, nullptr, nullptr));
    else if (type == DAT_HANDLE_TYPE_RMR)
        EXPECT_OK(dat_rmr_create(side.pz, &made));
    else
        EXPECT_OK(dat_srq_create(side.adapter, side.pz, &attributes, &made));
    return made;
}

DAT_HANDLE Objects::make_service(DAT_HANDLE_TYPE type)
{
    DAT_HANDLE made = DAT_HANDLE_NULL;
    if (type == DAT_HANDLE_TYPE_PSP)
        EXPECT_OK(dat_psp_create(side.adapter, unused_qualifier(), side.arrivals,
                                 DAT_PSP_CONSUMER_FLAG, &made));
    else
        EXPECT_OK(
            dat_rsp_create(side.adapter, unused_qualifier(), make_ep(), side.arrivals, &made));
    return made;
}

DAT_HANDLE Objects::make(DAT_HANDLE_TYPE type)
{
    DAT_HANDLE made = DAT_HANDLE_NULL;
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    switch (type) {
    case DAT_HANDLE_TYPE_CR:
        return request();
    case DAT_HANDLE_TYPE_EP:
        return make_ep();
    case DAT_HANDLE_TYPE_EVD:
        return side.adapter.make_evd(DAT_EVD_SOFTWARE_FLAG);
    case DAT_HANDLE_TYPE_IA:
        EXPECT_OK(dat_ia_open(const_cast<char *>(ia_name()), 8, &async, &made));
        return made;
    case DAT_HANDLE_TYPE_PZ:
        return side.adapter.make_pz();
    case DAT_HANDLE_TYPE_CNO:
        EXPECT_OK(dat_cno_create(side.adapter, DAT_OS_WAIT_PROXY_AGENT_NULL, &made));
        return made;
    case DAT_HANDLE_TYPE_PSP:
    case DAT_HANDLE_TYPE_RSP:
        return make_service(type);
    default:
        return make_memory(type);
    }
}

void Objects::free(DAT_HANDLE_TYPE type, DAT_HANDLE handle)
{
    if (type == DAT_HANDLE_TYPE_IA) {
        EXPECT_OK(dat_ia_close(handle, DAT_CLOSE_GRACEFUL_FLAG));
        return;
    }
    using Free = DAT_RETURN (*)(DAT_HANDLE);
    static const Free frees[handle_types] = {
        dat_cr_reject, dat_ep_free,  dat_evd_free, nullptr,      dat_lmr_free, dat_psp_free,
        dat_pz_free,   dat_rmr_free, dat_rsp_free, dat_cno_free, dat_srq_free};
    EXPECT_OK(frees[type](handle)) << name_of(type);
}

DAT_HANDLE Objects::freed(DAT_HANDLE_TYPE type)
{
    const DAT_HANDLE handle = make(type);
    free(type, handle);
    return handle;
}

} // namespace rsmtest::dat
