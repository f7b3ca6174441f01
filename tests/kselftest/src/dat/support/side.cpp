// SPDX-License-Identifier: GPL-2.0
#include "dat/support/side.hpp"

#include <cstdlib>
#include <cstring>
#include <ios>

namespace rsmtest::dat {

std::ostream &operator<<(std::ostream &out, const Result &result)
{
    const char *major = "?";
    const char *minor = "?";
    (void)dat_strerror(result.value, &major, &minor);
    return out << major << (*minor ? "/" : "") << minor << " (" << std::hex << std::showbase
               << result.value << std::dec << ')';
}

const char *ia_name()
{
    const char *name = std::getenv("RSM_DAT_IA");
    return name ? name : "rsm0";
}

DAT_TIMEOUT after(int milliseconds)
{
    return static_cast<DAT_TIMEOUT>(
        std::chrono::duration_cast<std::chrono::microseconds>(scaled(milliseconds)).count());
}

Adapter::Adapter(const char *name)
{
    EXPECT_OK(dat_ia_open(const_cast<DAT_NAME_PTR>(name), 16, &async, &ia));
}

Adapter::~Adapter()
{
    if (ia) {
        EXPECT_OK(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
    }
}

sockaddr_in Adapter::address() const
{
    DAT_IA_ATTR attributes{};
    EXPECT_OK(dat_ia_query(ia, nullptr, DAT_IA_FIELD_IA_ADDRESS_PTR, &attributes, 0, nullptr));
    sockaddr_in result{};
    std::memcpy(&result, attributes.ia_address_ptr, sizeof(result));
    return result;
}

DAT_PZ_HANDLE Adapter::make_pz() const
{
    DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
    EXPECT_OK(dat_pz_create(ia, &pz));
    return pz;
}

DAT_EVD_HANDLE Adapter::make_evd(DAT_EVD_FLAGS flags, DAT_COUNT length, DAT_CNO_HANDLE cno) const
{
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    EXPECT_OK(dat_evd_create(ia, length, cno, flags, &evd));
    return evd;
}

// A shared receive queue without buffers is below its low watermark at once.
void Adapter::expect_no_async_event(const Place &place) const
{
    const DAT_PZ_HANDLE pz = make_pz();
    DAT_SRQ_ATTR attributes{1, 1, DAT_SRQ_LW_DEFAULT};
    DAT_SRQ_HANDLE marker = DAT_HANDLE_NULL;
    EXPECT_OK(dat_srq_create(ia, pz, &attributes, &marker));
    EXPECT_OK(dat_srq_set_lw(marker, 1));
    const DAT_EVENT event = next_event(async, place);
    EXPECT_EQ(event.event_data.asynch_error_event_data.dat_handle, marker);
    EXPECT_OK(dat_srq_free(marker));
    EXPECT_OK(dat_pz_free(pz));
}

Registered::Registered(const Adapter &adapter, DAT_PZ_HANDLE pz, void *address, std::size_t bytes,
                       int privileges)
    : start(static_cast<std::byte *>(address)), length(bytes)
{
    DAT_REGION_DESCRIPTION region{};
    region.for_va = address;
    EXPECT_OK(dat_lmr_create(adapter, DAT_MEM_TYPE_VIRTUAL, region, bytes, pz,
                             static_cast<DAT_MEM_PRIV_FLAGS>(privileges), &lmr, &lmr_context,
                             &rmr_context, nullptr, nullptr));
}

Registered::~Registered()
{
    if (lmr) {
        EXPECT_OK(dat_lmr_free(lmr));
    }
}

DAT_LMR_TRIPLET Registered::piece(std::size_t offset, std::size_t size) const
{
    return {lmr_context, 0, reinterpret_cast<DAT_VADDR>(start + offset), size};
}

DAT_RMR_TRIPLET Registered::remote(std::size_t offset, std::size_t size) const
{
    return {rmr_context, 0, reinterpret_cast<DAT_VADDR>(start + offset), size};
}

DAT_EVENT next_event(DAT_EVD_HANDLE evd, const Place &place)
{
    const Waiting waiting("an event of an EVD", place);
    DAT_EVENT event{};
    DAT_COUNT more = 0;
    const DAT_RETURN result = dat_evd_wait(evd, DAT_TIMEOUT_INFINITE, 1, &event, &more);
    EXPECT_OK(result);
    if (result != DAT_SUCCESS)
        event = {};
    else
        EXPECT_EQ(event.evd_handle, evd);
    return event;
}

DAT_EVENT expect_event(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number,
                       const Place &place)
{
    const DAT_EVENT event = next_event(evd, place);
    EXPECT_EQ(event.event_number, number) << std::hex << event.event_number;
    return event;
}

DAT_VLEN expect_completion(DAT_EVD_HANDLE evd, DAT_UINT64 id, DAT_DTO_COMPLETION_STATUS status,
                           const Place &place)
{
    const DAT_EVENT event = expect_event(evd, DAT_DTO_COMPLETION_EVENT, place);
    const auto &data = event.event_data.dto_completion_event_data;
    EXPECT_EQ(data.user_cookie.as_64, id);
    EXPECT_EQ(data.status, status);
    return data.transfered_length;
}

void expect_no_event(DAT_EVD_HANDLE evd)
{
    DAT_EVENT event{};
    EXPECT_DAT(error(DAT_QUEUE_EMPTY), dat_evd_dequeue(evd, &event))
        << std::hex << event.event_number;
}

DAT_DTO_COOKIE cookie(DAT_UINT64 value)
{
    DAT_DTO_COOKIE result{};
    result.as_64 = value;
    return result;
}

DAT_EP_STATE state_of(DAT_EP_HANDLE ep)
{
    DAT_EP_STATE state{};
    EXPECT_OK(dat_ep_get_status(ep, &state, nullptr, nullptr));
    return state;
}

void await_no_requests(DAT_EP_HANDLE ep, const Place &place)
{
    const Waiting waiting("the completion of all requests", place);
    EXPECT_TRUE(eventually([ep] {
        DAT_BOOLEAN idle{};
        EXPECT_OK(dat_ep_get_status(ep, nullptr, nullptr, &idle));
        return idle == DAT_TRUE;
    }));
}

DAT_EP_ATTR default_attributes(const Adapter &adapter)
{
    const DAT_PZ_HANDLE pz = adapter.make_pz();
    const DAT_EVD_HANDLE evd = adapter.make_evd(DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG);
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    DAT_EP_PARAM param{};
    EXPECT_OK(dat_ep_create(adapter, pz, evd, evd, evd, nullptr, &ep));
    EXPECT_OK(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
    EXPECT_OK(dat_ep_free(ep));
    EXPECT_OK(dat_evd_free(evd));
    EXPECT_OK(dat_pz_free(pz));
    return param.ep_attr;
}

Side::Side(const DAT_EP_ATTR *attributes, std::size_t bytes, int privileges)
    : pz(adapter.make_pz()), receives(adapter.make_evd(DAT_EVD_DTO_FLAG)),
      requests(adapter.make_evd(DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG)),
      connections(adapter.make_evd(DAT_EVD_CONNECTION_FLAG)),
      arrivals(adapter.make_evd(DAT_EVD_CR_FLAG)), pages((bytes + page_size() - 1) / page_size()),
      memory(adapter, pz, pages.data(), bytes, privileges)
{
    EXPECT_OK(dat_ep_create(adapter, pz, receives, requests, connections, attributes, &ep));
}

void Side::use_one_evd()
{
    EXPECT_OK(dat_ep_free(ep));
    for (const DAT_EVD_HANDLE evd : {receives, requests, connections})
        EXPECT_OK(dat_evd_free(evd));
    receives = requests = connections =
        adapter.make_evd(DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG | DAT_EVD_CONNECTION_FLAG);
    EXPECT_OK(dat_ep_create(adapter, pz, receives, requests, connections, nullptr, &ep));
}

void Side::accept_from(Side &active)
{
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    DAT_CONN_QUAL qualifier = 0;
    EXPECT_OK(dat_psp_create_any(adapter, &qualifier, arrivals, DAT_PSP_CONSUMER_FLAG, &psp));
    EXPECT_OK(connect(active, qualifier));
    const DAT_EVENT event = expect_event(arrivals, DAT_CONNECTION_REQUEST_EVENT);
    EXPECT_OK(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, ep, 0, nullptr));
    expect_event(active.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    expect_event(connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    EXPECT_OK(dat_psp_free(psp));
}

DAT_RETURN Side::send(std::size_t offset, std::size_t size, DAT_UINT64 id, int flags) const
{
    DAT_LMR_TRIPLET piece = memory.piece(offset, size);
    return dat_ep_post_send(ep, 1, &piece, cookie(id), static_cast<DAT_COMPLETION_FLAGS>(flags));
}

DAT_RETURN Side::receive(std::size_t offset, std::size_t size, DAT_UINT64 id, int flags) const
{
    DAT_LMR_TRIPLET piece = memory.piece(offset, size);
    return dat_ep_post_recv(ep, 1, &piece, cookie(id), static_cast<DAT_COMPLETION_FLAGS>(flags));
}

DAT_RETURN Side::write(std::size_t offset, const DAT_RMR_TRIPLET &to, DAT_UINT64 id,
                       int flags) const
{
    DAT_LMR_TRIPLET piece = memory.piece(offset, to.segment_length);
    return dat_ep_post_rdma_write(ep, 1, &piece, cookie(id), &to,
                                  static_cast<DAT_COMPLETION_FLAGS>(flags));
}

DAT_RETURN Side::read(std::size_t offset, const DAT_RMR_TRIPLET &from, DAT_UINT64 id,
                      int flags) const
{
    DAT_LMR_TRIPLET piece = memory.piece(offset, from.segment_length);
    return dat_ep_post_rdma_read(ep, 1, &piece, cookie(id), &from,
                                 static_cast<DAT_COMPLETION_FLAGS>(flags));
}

DAT_RETURN connect(const Side &side, DAT_CONN_QUAL qualifier, const std::string &private_data)
{
    sockaddr_in address = side.adapter.address();
    return dat_ep_connect(side.ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address), qualifier,
                          DAT_TIMEOUT_INFINITE, static_cast<DAT_COUNT>(private_data.size()),
                          private_data.empty() ? nullptr
                                               : const_cast<char *>(private_data.data()),
                          DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
}

} // namespace rsmtest::dat
