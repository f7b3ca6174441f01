// SPDX-License-Identifier: GPL-2.0
// An input is a program of calls of the public functions of libdat, with provider rsm, in any
// order and with any arguments (arguments.hpp).
#include "arguments.hpp"
#include "require.hpp"

#include <dat/udat.h>

#include <dat/dat_registry.h>

namespace {

using namespace rsmtest::fuzz;

constexpr std::size_t MEMORY = 8 * PAGE;
constexpr std::size_t PIECES = 4;
constexpr DAT_CONN_QUAL QUALIFIER = 4711;
char adapter[] = "fuzz0";

DAT_RETURN known(DAT_RETURN result)
{
    const char *major = nullptr;
    const char *minor = nullptr;
    require(dat_strerror(result, &major, &minor) == DAT_SUCCESS && major && minor,
            "a function of libdat returns a code");
    return result;
}

bool is_bad_handle(DAT_RETURN result)
{
    return DAT_GET_TYPE(result) == DAT_INVALID_HANDLE;
}

// The provider is linked with the program, under a name of its own.
void register_provider()
{
    static const bool done = [] {
        DAT_PROVIDER_INFO info{};
        std::strcpy(info.ia_name, adapter);
        info.dapl_version_major = DAT_VERSION_MAJOR;
        info.dapl_version_minor = DAT_VERSION_MINOR;
        info.is_thread_safe = DAT_TRUE;
        dat_provider_init(&info, "controller=loopback");
        return true;
    }();
    (void)done;
}

void do_nothing(DAT_PVOID /*instance_data*/, DAT_EVD_HANDLE /*evd*/) {}

struct State {
    enum Kind : std::size_t { IA, PZ, EVD, CNO, EP, LMR, RMR, PSP, RSP, CR, SRQ, KINDS };

    explicit State(Input &from) : input(from) {}

    void *any(Kind kind) { return handles.choose(input, kind); }
    void *perhaps(Kind kind) { return input.below(8) == 7 ? DAT_HANDLE_NULL : any(kind); }
    void keep(Kind kind, DAT_RETURN result, void *handle)
    {
        if (known(result) == DAT_SUCCESS)
            handles.add(kind, handle);
    }
    DAT_COUNT count(std::uint64_t usual)
    {
        return static_cast<DAT_COUNT>(input.below(8) == 7 ? any_number(input, usual) : input.below(usual + 1));
    }
    // Memory that is registered, or is to be.
    std::byte *memory() { return pages.at(input.below(2 * pages.size() / PAGE) * PAGE / 2); }
    DAT_VLEN length() { return any_number(input, MEMORY); }
    DAT_CONN_QUAL qualifier() { return input.below(8) == 7 ? input.number() : QUALIFIER + input.below(3); }
    auto completion() { return any_enum<DAT_COMPLETION_FLAGS>(input, input.below(4) != 0 ? 0 : 0x1f); }
    auto rights()
    {
        return any_enum<DAT_MEM_PRIV_FLAGS>(input, input.below(4) != 0 ? 0 : 0x133) |
               (input.below(4) != 0 ? DAT_MEM_PRIV_ALL_FLAG : DAT_MEM_PRIV_NONE_FLAG);
    }
    DAT_DTO_COOKIE cookie() { return {.as_64 = input.below(256)}; }

    // As many pieces as are there, or a count that no endpoint takes.
    DAT_COUNT fill_pieces()
    {
        for (auto &piece : pieces) {
            piece.lmr_context = context(lmr_contexts);
            piece.virtual_address = reinterpret_cast<DAT_VADDR>(memory()) + input.below(64);
            piece.segment_length = input.below(8) == 7 ? length() : input.below(MEMORY / 2);
        }
        return input.below(32) == 31 ? static_cast<DAT_COUNT>(input.below(2)) - 2
                                     : static_cast<DAT_COUNT>(input.below(PIECES + 1));
    }
    DAT_LMR_TRIPLET *list() { return input.below(32) == 31 ? nullptr : pieces.data(); }
    DAT_RMR_TRIPLET remote()
    {
        return {context(rmr_contexts), 0, reinterpret_cast<DAT_VADDR>(memory()), length()};
    }
    std::uint32_t context(const std::vector<std::uint32_t> &known_ones)
    {
        if (known_ones.empty() || input.below(16) == 15)
            return static_cast<std::uint32_t>(input.number());
        return known_ones[known_ones.size() - 1 - input.below(std::min<std::size_t>(known_ones.size(), 4))];
    }
    DAT_EP_ATTR attributes()
    {
        DAT_EP_ATTR result{};
        result.service_type = DAT_SERVICE_TYPE_RC;
        result.max_message_size = length();
        result.max_rdma_size = length();
        result.recv_completion_flags = completion();
        result.request_completion_flags = completion();
        for (auto *number : {&result.max_recv_dtos, &result.max_request_dtos, &result.max_recv_iov,
                             &result.max_request_iov, &result.max_rdma_read_in, &result.max_rdma_read_out,
                             &result.srq_soft_hw, &result.max_rdma_read_iov, &result.max_rdma_write_iov})
            *number = count(8);
        return result;
    }
    DAT_COUNT private_size()
    {
        return input.below(8) == 7 ? count(300) - 1 : static_cast<DAT_COUNT>(input.below(65));
    }
    void *private_data(DAT_COUNT size)
    {
        return size > static_cast<DAT_COUNT>(words.size()) || input.below(16) == 15 ? nullptr : words.data();
    }

    Input &input;
    Handles<KINDS> handles;
    Pages pages{MEMORY / PAGE};
    std::array<DAT_LMR_TRIPLET, PIECES> pieces{};
    std::array<std::byte, 512> words{};
    std::vector<std::uint32_t> lmr_contexts;
    std::vector<std::uint32_t> rmr_contexts;
};

using Call = void (*)(State &);

void open(State &s)
{
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
    char nobody[] = "nobody0";
    char *const name = s.input.below(8) == 7 ? nobody : adapter;
    const auto thread_safe = any_enum<DAT_BOOLEAN>(s.input, 1);
    const DAT_COUNT length = s.count(8);
    const auto result = dat_ia_openv(name, length, or_null(s.input, async), or_null(s.input, ia),
                                     DAT_VERSION_MAJOR, static_cast<DAT_UINT32>(s.input.below(4)), thread_safe);
    if (s.keep(State::IA, result, ia); result == DAT_SUCCESS)
        s.handles.add(State::EVD, async);
}

void close(State &s)
{
    // Seldom: all that is made is an IA's.
    if (s.input.below(8) == 0)
        known(dat_ia_close(s.any(State::IA), any_enum<DAT_CLOSE_FLAGS>(s.input, 1)));
}

void query_ia(State &s)
{
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_IA_ATTR attributes{};
    DAT_PROVIDER_ATTR provider{};
    const DAT_IA_ATTR_MASK mask = s.input.below(2) != 0 ? DAT_IA_FIELD_ALL : s.input.number();
    const DAT_PROVIDER_ATTR_MASK other = s.input.below(2) != 0 ? DAT_PROVIDER_FIELD_ALL : s.input.number();
    known(dat_ia_query(s.any(State::IA), or_null(s.input, async), mask, or_null(s.input, attributes), other,
                       or_null(s.input, provider)));
}

void list_providers(State &s)
{
    std::array<DAT_PROVIDER_INFO, 2> infos{};
    std::array<DAT_PROVIDER_INFO *, 2> list{infos.data(), &infos[1]};
    DAT_COUNT found = 0;
    known(dat_registry_list_providers(static_cast<DAT_COUNT>(s.input.below(4)) - 1, or_null(s.input, found),
                                      list.data()));
}

// Any kind of handle.
void use_context(State &s)
{
    const auto kind = static_cast<State::Kind>(s.input.below(State::KINDS));
    DAT_CONTEXT context{.as_64 = s.input.below(256)};
    DAT_HANDLE_TYPE type;
    known(dat_set_consumer_context(s.any(kind), context));
    known(dat_get_consumer_context(s.any(kind), or_null(s.input, context)));
    known(dat_get_handle_type(s.any(kind), or_null(s.input, type)));
}

void create_pz(State &s)
{
    DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
    const auto result = dat_pz_create(s.any(State::IA), or_null(s.input, pz));
    s.keep(State::PZ, result, pz);
}

void create_evd(State &s)
{
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    const auto flags = any_enum<DAT_EVD_FLAGS>(s.input, s.input.below(4) != 0 ? 0 : 0x1f1);
    const auto all = static_cast<DAT_EVD_FLAGS>(flags | (s.input.below(4) != 0 ? 0xf0 : 0));
    const DAT_COUNT length = s.count(32);
    void *const cno = s.input.below(2) != 0 ? DAT_HANDLE_NULL : s.any(State::CNO);
    const auto result = dat_evd_create(s.any(State::IA), length, cno, all, or_null(s.input, evd));
    s.keep(State::EVD, result, evd);
}

DAT_OS_WAIT_PROXY_AGENT agent(State &s)
{
    return {nullptr, s.input.below(2) != 0 ? do_nothing : nullptr};
}

void create_cno(State &s)
{
    DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
    const auto result = dat_cno_create(s.any(State::IA), agent(s), or_null(s.input, cno));
    s.keep(State::CNO, result, cno);
}

void create_ep(State &s)
{
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    DAT_EP_ATTR attributes = s.attributes();
    DAT_EP_ATTR *const wanted = s.input.below(2) != 0 ? nullptr : &attributes;
    const auto evd = [&] { return s.perhaps(State::EVD); };
    const auto result = s.input.below(4) == 0
                            ? dat_ep_create_with_srq(s.any(State::IA), s.perhaps(State::PZ), evd(), evd(),
                                                     evd(), s.any(State::SRQ), wanted, or_null(s.input, ep))
                            : dat_ep_create(s.any(State::IA), s.perhaps(State::PZ), evd(), evd(), evd(), wanted,
                                            or_null(s.input, ep));
    s.keep(State::EP, result, ep);
}

void create_srq(State &s)
{
    DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
    DAT_SRQ_ATTR attributes{s.count(32), s.count(4), s.count(2)};
    const auto result =
        dat_srq_create(s.any(State::IA), s.any(State::PZ), or_null(s.input, attributes), or_null(s.input, srq));
    s.keep(State::SRQ, result, srq);
}

DAT_REGION_DESCRIPTION region(State &s, DAT_MEM_TYPE type)
{
    static char cookie[DAT_LMR_COOKIE_SIZE] = "shared memory";
    DAT_REGION_DESCRIPTION result{};
    result.for_va = s.input.below(16) == 15 ? reinterpret_cast<void *>(s.length()) : s.memory();
    if (type == DAT_MEM_TYPE_LMR)
        result.for_lmr_handle = s.any(State::LMR);
    if (type == DAT_MEM_TYPE_SHARED_VIRTUAL)
        result.for_shared_memory = {s.memory(), s.input.below(8) == 7 ? nullptr : &cookie};
    return result;
}

void create_lmr(State &s)
{
    DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
    DAT_LMR_CONTEXT context = 0;
    DAT_RMR_CONTEXT remote = 0;
    DAT_VLEN size = 0;
    DAT_VADDR start = 0;
    const auto type = any_enum<DAT_MEM_TYPE>(s.input, s.input.below(2) != 0 ? 0 : 3);
    const auto memory = region(s, type);
    const auto rights = static_cast<DAT_MEM_PRIV_FLAGS>(s.rights());
    const auto result = dat_lmr_create(
        s.any(State::IA), type, memory, s.length(), s.any(State::PZ), rights, or_null(s.input, lmr),
        or_null(s.input, context), or_null(s.input, remote), or_null(s.input, size), or_null(s.input, start));
    if (s.keep(State::LMR, result, lmr); result != DAT_SUCCESS)
        return;
    s.lmr_contexts.push_back(context);
    s.rmr_contexts.push_back(remote);
}

void sync_lmr(State &s)
{
    const DAT_COUNT count = std::max(s.fill_pieces(), 0);
    known(dat_lmr_sync_rdma_read(s.any(State::IA), s.list(), static_cast<DAT_VLEN>(count)));
    known(dat_lmr_sync_rdma_write(s.any(State::IA), s.list(), static_cast<DAT_VLEN>(count)));
}

void create_rmr(State &s)
{
    DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
    const auto result = dat_rmr_create(s.any(State::PZ), or_null(s.input, rmr));
    s.keep(State::RMR, result, rmr);
}

void bind_rmr(State &s)
{
    DAT_RMR_CONTEXT context = 0;
    (void)s.fill_pieces();
    const auto rights = static_cast<DAT_MEM_PRIV_FLAGS>(s.rights());
    const auto flags = s.completion();
    const auto result = dat_rmr_bind(s.any(State::RMR), s.list(), rights, s.any(State::EP), s.cookie(), flags,
                                     or_null(s.input, context));
    if (known(result) == DAT_SUCCESS)
        s.rmr_contexts.push_back(context);
}

void create_psp(State &s)
{
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    DAT_CONN_QUAL qualifier = s.qualifier();
    const auto flags = any_enum<DAT_PSP_FLAGS>(s.input, 1);
    const auto result =
        s.input.below(8) == 7
            ? dat_psp_create_any(s.any(State::IA), or_null(s.input, qualifier), s.any(State::EVD), flags,
                                 or_null(s.input, psp))
            : dat_psp_create(s.any(State::IA), qualifier, s.any(State::EVD), flags, or_null(s.input, psp));
    s.keep(State::PSP, result, psp);
}

void create_rsp(State &s)
{
    DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
    const auto qualifier = s.qualifier();
    const auto result =
        dat_rsp_create(s.any(State::IA), qualifier, s.any(State::EP), s.any(State::EVD), or_null(s.input, rsp));
    s.keep(State::RSP, result, rsp);
}

void connect(State &s)
{
    DAT_IA_ATTR attributes{};
    sockaddr_in6 elsewhere{};
    elsewhere.sin6_family = static_cast<sa_family_t>(s.input.below(8));
    auto *address = reinterpret_cast<DAT_IA_ADDRESS_PTR>(&elsewhere);
    void *const ia = s.any(State::IA);
    if (s.input.below(8) < 7 &&
        dat_ia_query(ia, nullptr, DAT_IA_FIELD_IA_ADDRESS_PTR, &attributes, 0, nullptr) == DAT_SUCCESS)
        address = attributes.ia_address_ptr;
    const DAT_COUNT size = s.private_size();
    const auto timeout = static_cast<DAT_TIMEOUT>(s.input.below(3) * 10'000);
    known(dat_ep_connect(s.any(State::EP), s.input.below(32) == 31 ? nullptr : address, s.qualifier(), timeout,
                         size, s.private_data(size), any_enum<DAT_QOS>(s.input, 0),
                         any_enum<DAT_CONNECT_FLAGS>(s.input, s.input.below(2))));
}

void connect_like(State &s)
{
    const DAT_COUNT size = s.private_size();
    known(dat_ep_dup_connect(s.any(State::EP), s.any(State::EP), 10'000, size, s.private_data(size),
                             any_enum<DAT_QOS>(s.input, 0)));
}

void use_request(State &s)
{
    const DAT_COUNT size = s.private_size();
    void *const request = s.any(State::CR);
    DAT_CR_PARAM param{};
    switch (s.input.below(8)) {
    case 0:
        known(dat_cr_reject(request));
        break;
    case 1:
        known(dat_cr_handoff(request, s.qualifier()));
        break;
    case 2:
        known(dat_cr_query(request, any_enum<DAT_CR_PARAM_MASK>(s.input, 0x3f), or_null(s.input, param)));
        break;
    default:
        known(dat_cr_accept(request, s.perhaps(State::EP), size, s.private_data(size)));
    }
}

void query(State &s)
{
    DAT_EVD_PARAM evd{};
    DAT_CNO_PARAM cno{};
    DAT_LMR_PARAM lmr{};
    DAT_RMR_PARAM rmr{};
    DAT_PZ_PARAM pz{};
    known(dat_evd_query(s.any(State::EVD), any_enum<DAT_EVD_PARAM_MASK>(s.input, 0x1f), or_null(s.input, evd)));
    known(dat_cno_query(s.any(State::CNO), any_enum<DAT_CNO_PARAM_MASK>(s.input, 3), or_null(s.input, cno)));
    known(
        dat_lmr_query(s.any(State::LMR), any_enum<DAT_LMR_PARAM_MASK>(s.input, 0x3ff), or_null(s.input, lmr)));
    known(dat_rmr_query(s.any(State::RMR), any_enum<DAT_RMR_PARAM_MASK>(s.input, 0xff), or_null(s.input, rmr)));
    known(dat_pz_query(s.any(State::PZ), any_enum<DAT_PZ_PARAM_MASK>(s.input, 1), or_null(s.input, pz)));
}

void query_others(State &s)
{
    DAT_PSP_PARAM psp{};
    DAT_RSP_PARAM rsp{};
    DAT_SRQ_PARAM srq{};
    DAT_EP_PARAM ep{};
    known(dat_psp_query(s.any(State::PSP), any_enum<DAT_PSP_PARAM_MASK>(s.input, 0xf), or_null(s.input, psp)));
    known(dat_rsp_query(s.any(State::RSP), any_enum<DAT_RSP_PARAM_MASK>(s.input, 0xf), or_null(s.input, rsp)));
    known(dat_srq_query(s.any(State::SRQ), any_enum<DAT_SRQ_PARAM_MASK>(s.input, 0xff), or_null(s.input, srq)));
    known(dat_ep_query(s.any(State::EP), s.input.number(), or_null(s.input, ep)));
}

// The events name handles that are the program's from then on.
void take(State &s, const DAT_EVENT &event)
{
    if (event.event_number == DAT_CONNECTION_REQUEST_EVENT)
        s.handles.add(State::CR, event.event_data.cr_arrival_event_data.cr_handle);
}

void dequeue(State &s)
{
    DAT_EVENT event{};
    auto *const place = or_null(s.input, event);
    if (known(dat_evd_dequeue(s.any(State::EVD), place)) == DAT_SUCCESS)
        take(s, event);
}

void wait(State &s)
{
    DAT_EVENT event{};
    DAT_COUNT more = 0;
    const auto timeout = static_cast<DAT_TIMEOUT>(s.input.below(3) * 1000);
    const DAT_COUNT threshold = s.input.below(4) == 0 ? s.count(4) : 1;
    auto *const place = or_null(s.input, event);
    if (known(dat_evd_wait(s.any(State::EVD), timeout, threshold, place, or_null(s.input, more))) ==
        DAT_SUCCESS)
        take(s, event);
}

void wait_cno(State &s)
{
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    const auto timeout = static_cast<DAT_TIMEOUT>(s.input.below(2) * 1000);
    known(dat_cno_wait(s.any(State::CNO), timeout, or_null(s.input, evd)));
}

void change_evd(State &s)
{
    void *const evd = s.any(State::EVD);
    DAT_EVENT event{};
    event.event_number = any_enum<DAT_EVENT_NUMBER>(s.input, 1);
    if (s.input.below(2) != 0)
        event.event_number = DAT_SOFTWARE_EVENT;
    switch (s.input.below(7)) {
    case 0:
        return (void)known(dat_evd_resize(evd, s.count(64)));
    case 1:
        return (void)known(dat_evd_modify_cno(evd, s.perhaps(State::CNO)));
    case 2:
        return (void)known(dat_evd_enable(evd));
    case 3:
        return (void)known(dat_evd_disable(evd));
    case 4:
        return (void)known(dat_evd_set_unwaitable(evd));
    case 5:
        return (void)known(dat_evd_clear_unwaitable(evd));
    default:
        return (void)known(dat_evd_post_se(evd, or_null(s.input, event)));
    }
}

void change_others(State &s)
{
    known(dat_cno_modify_agent(s.any(State::CNO), agent(s)));
    known(dat_srq_set_lw(s.any(State::SRQ), s.count(4)));
    known(dat_srq_resize(s.any(State::SRQ), s.count(64)));
    known(dat_ep_set_watermark(s.any(State::EP), s.count(4), s.count(4)));
}

void modify_ep(State &s)
{
    DAT_EP_PARAM param{};
    param.pz_handle = s.perhaps(State::PZ);
    param.recv_evd_handle = s.perhaps(State::EVD);
    param.request_evd_handle = s.perhaps(State::EVD);
    param.connect_evd_handle = s.perhaps(State::EVD);
    param.srq_handle = s.perhaps(State::SRQ);
    param.ep_attr = s.attributes();
    const DAT_EP_PARAM_MASK mask =
        s.input.below(4) == 0 ? s.input.number() : DAT_EP_PARAM_MASK{1} << s.input.below(32);
    known(dat_ep_modify(s.any(State::EP), mask, or_null(s.input, param)));
}

void status_ep(State &s)
{
    DAT_EP_STATE state;
    DAT_BOOLEAN receives;
    DAT_BOOLEAN requests;
    DAT_COUNT allocated = 0;
    DAT_COUNT span = 0;
    known(dat_ep_get_status(s.any(State::EP), or_null(s.input, state), or_null(s.input, receives),
                            or_null(s.input, requests)));
    known(dat_ep_recv_query(s.any(State::EP), or_null(s.input, allocated), or_null(s.input, span)));
}

void disconnect(State &s)
{
    known(dat_ep_disconnect(s.any(State::EP), any_enum<DAT_CLOSE_FLAGS>(s.input, 1)));
}

void reset(State &s)
{
    known(dat_ep_reset(s.any(State::EP)));
}

template <DAT_RETURN post(DAT_EP_HANDLE, DAT_COUNT, DAT_LMR_TRIPLET *, DAT_DTO_COOKIE, DAT_COMPLETION_FLAGS)>
void message(State &s)
{
    const DAT_COUNT count = s.fill_pieces();
    auto *const list = s.list();
    known(post(s.any(State::EP), count, list, s.cookie(), s.completion()));
}

template <DAT_RETURN post(DAT_EP_HANDLE, DAT_COUNT, DAT_LMR_TRIPLET *, DAT_DTO_COOKIE, const DAT_RMR_TRIPLET *,
                          DAT_COMPLETION_FLAGS)>
void rdma(State &s)
{
    const DAT_COUNT count = s.fill_pieces();
    auto *const list = s.list();
    DAT_RMR_TRIPLET remote = s.remote();
    known(post(s.any(State::EP), count, list, s.cookie(), or_null(s.input, remote), s.completion()));
}

void receive_shared(State &s)
{
    const DAT_COUNT count = s.fill_pieces();
    auto *const list = s.list();
    known(dat_srq_post_recv(s.any(State::SRQ), count, list, s.cookie()));
}

void renew_memory(State &s)
{
    s.pages.renew(s.input.below(s.pages.size() / PAGE), 1);
}

template <DAT_RETURN free(DAT_HANDLE), State::Kind kind>
void free_one(State &s)
{
    // Seldom, so that objects live to be used.
    if (s.input.below(4) == 0)
        known(free(s.any(kind)));
}

constexpr Call CALLS[] = {open,
                          close,
                          query_ia,
                          list_providers,
                          use_context,
                          create_pz,
                          create_evd,
                          create_evd,
                          create_cno,
                          create_ep,
                          create_ep,
                          create_srq,
                          create_lmr,
                          create_lmr,
                          sync_lmr,
                          create_rmr,
                          bind_rmr,
                          create_psp,
                          create_psp,
                          create_rsp,
                          connect,
                          connect,
                          connect,
                          connect_like,
                          use_request,
                          use_request,
                          query,
                          query_others,
                          dequeue,
                          wait,
                          wait,
                          wait,
                          wait_cno,
                          change_evd,
                          change_others,
                          modify_ep,
                          status_ep,
                          disconnect,
                          reset,
                          message<dat_ep_post_send>,
                          message<dat_ep_post_send>,
                          message<dat_ep_post_recv>,
                          message<dat_ep_post_recv>,
                          rdma<dat_ep_post_rdma_read>,
                          rdma<dat_ep_post_rdma_write>,
                          receive_shared,
                          renew_memory,
                          free_one<dat_evd_free, State::EVD>,
                          free_one<dat_cno_free, State::CNO>,
                          free_one<dat_ep_free, State::EP>,
                          free_one<dat_lmr_free, State::LMR>,
                          free_one<dat_rmr_free, State::RMR>,
                          free_one<dat_psp_free, State::PSP>,
                          free_one<dat_rsp_free, State::RSP>,
                          free_one<dat_pz_free, State::PZ>,
                          free_one<dat_srq_free, State::SRQ>};

// An adapter with memory, so that few inputs end before they have done anything.
void begin(State &s)
{
    register_provider();
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
    DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    require(dat_ia_open(adapter, 8, &async, &ia) == DAT_SUCCESS, "the adapter of the fake can be opened");
    require(dat_pz_create(ia, &pz) == DAT_SUCCESS, "there can be a protection zone");
    require(dat_evd_create(ia, 64, DAT_HANDLE_NULL, static_cast<DAT_EVD_FLAGS>(0xf0), &evd) == DAT_SUCCESS,
            "there can be an EVD");
    s.handles.add(State::IA, ia);
    s.handles.add(State::PZ, pz);
    s.handles.add(State::EVD, evd);
}

// An IA can be closed with all that it has, and then no handle of it is good.
void end_all(const State &s)
{
    for (void *ia : s.handles.of(State::IA)) {
        const auto result = known(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
        require(result == DAT_SUCCESS || is_bad_handle(result), "an IA can be closed abruptly");
    }
    for (std::size_t kind = 0; kind < State::KINDS; kind++)
        for (void *handle : s.handles.of(kind)) {
            DAT_HANDLE_TYPE type;
            require(is_bad_handle(known(dat_get_handle_type(handle, &type))), "no handle outlives its IA");
        }
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    return run_program<State>({data, size}, begin, CALLS, end_all);
}
