// SPDX-License-Identifier: MIT
#include "libdat/api/provider.h"

#include "device/uncancelled.h"
#include "engine/core/object.h"
#include "engine/core/options.h"
#include "engine/transport.h"
#include "libdat/api/functions.h"

#include <array>
#include <cstdio>
#include <mutex>
#include <pthread.h>
#include <string_view>
#include <utility>

namespace rsmdat {

namespace {

constexpr std::size_t MOST_RECORDS = 64;

// Never destroyed: handles outlive the library's use by libdat.
struct Records {
    std::mutex mutex;
    std::array<Record, MOST_RECORDS> all;
};

Records &records() {
    alignas(Records) static std::array<std::byte, sizeof(Records)> memory;
    static Records &instance = *std::construct_at(reinterpret_cast<Records *>(memory.data()));
    return instance;
}

template <std::size_t N>
DAT_RETURN open_of(DAT_NAME_PTR name, DAT_COUNT qlen, DAT_EVD_HANDLE *async_evd, DAT_IA_HANDLE *ia,
                   DAT_BOOLEAN /*ro_aware*/) {
    return ia_open(records().all[N], name, qlen, async_evd, ia);
}

template <std::size_t... N>
constexpr std::array<DAT_IA_OPEN_FUNC, sizeof...(N)>
opens_of(std::index_sequence<N...> /*numbers*/) {
    return {open_of<N>...};
}

constexpr auto OPENS = opens_of(std::make_index_sequence<MOST_RECORDS>());

// A function in which the calling thread is not cancelled. Posts and dequeue can't afford the two
// switches: there, and where a thread waits, the steps that call the C library say so themselves.
template <auto function>
struct Slow;

template <class... Arguments, DAT_RETURN (*function)(Arguments...) noexcept>
struct Slow<function> {
    static DAT_RETURN call(Arguments... arguments) noexcept {
        const rsmdev::Uncancelled uncancelled;
        return function(arguments...);
    }
};

template <auto function>
constexpr auto slow = Slow<function>::call;

void fill_ia(DAT_PROVIDER &table) noexcept {
    table.ia_query_func = slow<ia_query>;
    table.ia_close_func = slow<ia_close>;
    table.set_consumer_context_func = slow<set_consumer_context>;
    table.get_consumer_context_func = slow<get_consumer_context>;
    table.get_handle_type_func = slow<get_handle_type>;
    table.pz_create_func = slow<pz_create>;
    table.pz_query_func = slow<pz_query>;
    table.pz_free_func = slow<pz_free>;
}

void fill_cno(DAT_PROVIDER &table) noexcept {
    table.cno_create_func = slow<cno_create>;
    table.cno_modify_agent_func = slow<cno_modify_agent>;
    table.cno_query_func = slow<cno_query>;
    table.cno_free_func = slow<cno_free>;
    table.cno_wait_func = cno_wait;
}

void fill_evd(DAT_PROVIDER &table) noexcept {
    table.evd_create_func = slow<evd_create>;
    table.evd_query_func = slow<evd_query>;
    table.evd_modify_cno_func = slow<evd_modify_cno>;
    table.evd_enable_func = slow<evd_enable>;
    table.evd_disable_func = slow<evd_disable>;
    table.evd_wait_func = evd_wait;
    table.evd_resize_func = slow<evd_resize>;
    table.evd_post_se_func = slow<evd_post_se>;
    table.evd_dequeue_func = evd_dequeue;
    table.evd_free_func = slow<evd_free>;
    table.evd_set_unwaitable_func = slow<evd_set_unwaitable>;
    table.evd_clear_unwaitable_func = slow<evd_clear_unwaitable>;
}

void fill_memory(DAT_PROVIDER &table) noexcept {
    table.lmr_create_func = slow<lmr_create>;
    table.lmr_query_func = slow<lmr_query>;
    table.lmr_free_func = slow<lmr_free>;
    table.lmr_sync_rdma_read_func = slow<lmr_sync_rdma_read>;
    table.lmr_sync_rdma_write_func = slow<lmr_sync_rdma_write>;
    table.rmr_create_func = slow<rmr_create>;
    table.rmr_query_func = slow<rmr_query>;
    table.rmr_bind_func = slow<rmr_bind>;
    table.rmr_free_func = slow<rmr_free>;
}

void fill_ep(DAT_PROVIDER &table) noexcept {
    table.ep_create_func = slow<ep_create>;
    table.ep_create_with_srq_func = slow<ep_create_with_srq>;
    table.ep_query_func = slow<ep_query>;
    table.ep_modify_func = slow<ep_modify>;
    table.ep_connect_func = slow<ep_connect>;
    table.ep_dup_connect_func = slow<ep_dup_connect>;
    table.ep_disconnect_func = slow<ep_disconnect>;
    table.ep_get_status_func = slow<ep_get_status>;
    table.ep_free_func = slow<ep_free>;
    table.ep_reset_func = slow<ep_reset>;
}

void fill_services(DAT_PROVIDER &table) noexcept {
    table.psp_create_func = slow<psp_create>;
    table.psp_create_any_func = slow<psp_create_any>;
    table.psp_query_func = slow<psp_query>;
    table.psp_free_func = slow<psp_free>;
    table.rsp_create_func = slow<rsp_create>;
    table.rsp_query_func = slow<rsp_query>;
    table.rsp_free_func = slow<rsp_free>;
    table.cr_query_func = slow<cr_query>;
    table.cr_accept_func = slow<cr_accept>;
    table.cr_reject_func = slow<cr_reject>;
    table.cr_handoff_func = slow<cr_handoff>;
}

void fill_transfer(DAT_PROVIDER &table) noexcept {
    table.ep_post_send_func = ep_post_send;
    table.ep_post_recv_func = ep_post_recv;
    table.ep_post_rdma_read_func = ep_post_rdma_read;
    table.ep_post_rdma_write_func = ep_post_rdma_write;
    table.ep_recv_query_func = slow<ep_recv_query>;
    table.ep_set_watermark_func = slow<ep_set_watermark>;
    table.srq_create_func = slow<srq_create>;
    table.srq_free_func = slow<srq_free>;
    table.srq_post_recv_func = srq_post_recv;
    table.srq_query_func = slow<srq_query>;
    table.srq_resize_func = slow<srq_resize>;
    table.srq_set_lw_func = slow<srq_set_lw>;
}

void fill(DAT_PROVIDER &table) noexcept {
    fill_ia(table);
    fill_cno(table);
    fill_evd(table);
    fill_memory(table);
    fill_ep(table);
    fill_services(table);
    fill_transfer(table);
}

bool same_key(const DAT_PROVIDER_INFO &a, const DAT_PROVIDER_INFO &b) noexcept {
    return std::string_view(a.ia_name) == b.ia_name &&
           a.dapl_version_major == b.dapl_version_major &&
           a.dapl_version_minor == b.dapl_version_minor && a.is_thread_safe == b.is_thread_safe;
}

// The record of a key; null if there is none.
Record *record_of(const DAT_PROVIDER_INFO &info) noexcept {
    for (auto &record : records().all)
        if (record.used && same_key(record.info, info))
            return &record;
    return nullptr;
}

// Each parameter stands for itself, so the first one that is refused alone is the reason.
std::string_view refused_of(std::string_view params) {
    for (auto word = rsmengine::next_word(params); !word.empty();
         word = rsmengine::next_word(params))
        if (!transport_kind.accepts(word))
            return word;
    return {};
}

// ia_open() reports the lack of options by an error that has other reasons, too.
std::optional<std::string> options_of(const char *adapter, std::string_view params) {
    if (transport_kind.accepts(params))
        return std::string(params);
    const auto word = refused_of(params);
    (void)std::fprintf(stderr, "DAT: %s: dat.conf has an unknown or invalid parameter: %.*s\n",
                       adapter, static_cast<int>(word.size()), word.data());
    return std::nullopt;
}

Record *new_record(const DAT_PROVIDER_INFO &info, const char *params) {
    auto &all = records().all;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].used)
            continue;
        all[i].info = info;
        all[i].table.device_name = all[i].info.ia_name;
        all[i].table.extension = &all[i];
        all[i].table.ia_open_func = OPENS[i];
        all[i].options = options_of(info.ia_name, params ? params : "");
        fill(all[i].table);
        return &all[i];
    }
    return nullptr;
}

// The mutex of the records needs no handling: libdat does not fork while it calls us. On failure
// the name stays unregistered, which is all that libdat learns.
void add(const DAT_PROVIDER_INFO &info, const char *params) {
    const std::scoped_lock guard(records().mutex);
    if (record_of(info))
        return;
    Record *record = new_record(info, params);
    if (record)
        record->used = dat_registry_add_provider(&record->table, &record->info) == DAT_SUCCESS;
}

void remove(const DAT_PROVIDER_INFO &info) noexcept {
    const std::scoped_lock guard(records().mutex);
    Record *record = record_of(info);
    if (record && dat_registry_remove_provider(&record->table, &record->info) == DAT_SUCCESS)
        record->used = false;
}

} // namespace

} // namespace rsmdat

// Only these leave the shared object, whose sources gcc compiles as a whole program.
#if __has_cpp_attribute(gnu::externally_visible)
#define EXPORTED [[gnu::visibility("default"), gnu::externally_visible]]
#else
#define EXPORTED [[gnu::visibility("default")]]
#endif

extern "C" {

EXPORTED void dat_provider_init(const DAT_PROVIDER_INFO *info, const char *instance_data) {
    try {
        rsmdat::add(*info, instance_data);
    } catch (const std::exception &) {
        return; // not registered: dat_ia_open reports that
    }
}

EXPORTED void dat_provider_fini(const DAT_PROVIDER_INFO *info) {
    rsmdat::remove(*info);
}
}
