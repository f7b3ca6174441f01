// SPDX-License-Identifier: GPL-2.0
// Each row of libdat.def: what it says happens, and each of its cells is looked at.
#include "dat/support/objects.hpp"
#include "dat/support/waiter.hpp"
#include "lifetime/ending_memory.hpp"
#include "support/child.hpp"
#include "support/sequel.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <pthread.h>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>

using namespace rsmtest;
using namespace rsmtest::dat;
using namespace rsmtest::lifetime;
using lifetime::name_of;

namespace {

constexpr Object objects[] = {
#define OBJECT(name, title, columns) {#name, title, columns},
#define ROW(object, way, where, cells)
#include "lifetime/libdat.def"
#undef OBJECT
#undef ROW
};

constexpr Row rows[] = {
#define OBJECT(name, title, columns)
#define ROW(object, way, where, cells) {#object, Way::way, Where::where, cells},
#include "lifetime/libdat.def"
#undef OBJECT
#undef ROW
};

bool is_about(const Row &row, std::string_view object)
{
    return row.object == object;
}

bool ends_process(Way way)
{
    return way == Way::EXECED || way == Way::KILLED;
}

// The memory goes away, and its process lives on.
bool ends_memory(Way way)
{
    return way == Way::UNMAPPED || way == Way::TRUNCATED || way == Way::PROTECTED;
}

bool peer_ends_connection(const Row &row)
{
    return row.where == Where::PEER && (row.way == Way::FREED || ends_process(row.way));
}

enum Provider : int { RSM, VERBS };

Provider provider()
{
    return differences().qualifiers_are_ports ? VERBS : RSM;
}

// ---- Words ----------------------------------------------------------------------------------

std::string word_of(DAT_RETURN result)
{
    const char *major = "?";
    const char *minor = "?";
    (void)dat_strerror(result, &major, &minor);
    const std::string text = major;
    return text.starts_with("DAT_") ? text.substr(4) : text;
}

std::string word_of_status(std::uint64_t status)
{
    switch (status) {
    case DAT_DTO_SUCCESS:
        return "SUCCESS";
    case DAT_DTO_ERR_FLUSHED:
        return "FLUSHED";
    case DAT_DTO_ERR_LOCAL_PROTECTION:
        return "LOCAL_PROTECTION";
    case DAT_DTO_ERR_REMOTE_ACCESS:
        return "REMOTE_ACCESS";
    default:
        return "status " + std::to_string(status);
    }
}

std::string word_of_event(DAT_EVENT_NUMBER event)
{
    if (event == DAT_CONNECTION_EVENT_ESTABLISHED)
        return "ESTABLISHED";
    if (event == DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR)
        return "ACCEPT_COMPLETION_ERROR";
    if (event == DAT_CONNECTION_EVENT_DISCONNECTED || is_disorderly_end(event))
        return "ended";
    return "event " + std::to_string(event);
}

std::string word_of_state(DAT_EP_STATE state)
{
    return state == DAT_EP_STATE_CONNECTED      ? "CONNECTED"
           : state == DAT_EP_STATE_DISCONNECTED ? "DISCONNECTED"
                                                : "state " + std::to_string(state);
}

std::uint64_t status_of_next(DAT_EVD_HANDLE evd)
{
    const DAT_EVENT event = expect_event(evd, DAT_DTO_COMPLETION_EVENT);
    return event.event_data.dto_completion_event_data.status;
}

void become_another_program()
{
    sleeper.exec();
    ADD_FAILURE() << "exec failed";
}

// No function is a cancellation point.
template <class Use>
void cancel_in(const Use &use)
{
    std::thread([&] {
        pthread_cancel(pthread_self());
        use();
        pthread_testcancel();
        ADD_FAILURE() << "not cancelled";
    }).join();
}

void await_hangup(const Link &link)
{
    EXPECT_TRUE(eventually([&] { return link.is_readable(); }));
}

// ---- The process at the other end -----------------------------------------------------------

enum Order : std::uint64_t { HAPPEN, WRITE, READ, SAY_END };

class Peer {
public:
    Peer(Link &link, const Row &row) : link_(link), row_(row)
    {
        const DAT_CONN_QUAL qualifier = link_.receive();
        side_.emplace();
        for (unsigned i = 0; i < 8; i++)
            EXPECT_OK(side_->receive(100 * i, 64, i));
        EXPECT_OK(connect(*side_, qualifier));
        if (!is_about(row_, "CR"))
            expect_event(side_->connections, DAT_CONNECTION_EVENT_ESTABLISHED);
        link_.send();
    }

    [[noreturn]] void serve()
    {
        for (;;)
            obey(link_.receive());
    }

private:
    void obey(std::uint64_t order)
    {
        switch (order) {
        case HAPPEN:
            happen();
            link_.send();
            break;
        case WRITE:
        case READ:
            link_.send(access(order));
            break;
        case SAY_END:
            link_.send(next_event(side_->connections).event_number);
            break;
        default:
            _exit(1); // the other end is gone
        }
    }
    void happen()
    {
        if (row_.way == Way::FREED)
            EXPECT_OK(dat_ep_free(side_->ep));
        else if (row_.way == Way::FORKED)
            heir_.emplace([](Link &from_parent) { await_hangup(from_parent); });
        else if (row_.way == Way::EXECED)
            become_another_program();
        else
            cancel_in([this] { (void)state_of(side_->ep); });
    }
    std::uint64_t access(std::uint64_t order)
    {
        DAT_RMR_TRIPLET there{};
        there.rmr_context = static_cast<DAT_RMR_CONTEXT>(link_.receive());
        there.target_address = link_.receive();
        there.segment_length = 8;
        EXPECT_OK(order == WRITE ? side_->write(0, there, 1) : side_->read(0, there, 1));
        return status_of_next(side_->requests);
    }

    Link &link_;
    const Row &row_;
    std::optional<Side> side_; // made when it is wanted: no call of libdat comes before the forks
    std::optional<Child> heir_;
};

// ---- This end -------------------------------------------------------------------------------

// A connection with the peer, and a region of memory that can be lost.
class Stage {
public:
    Stage(const Row &row, Link &link)
        : peer(link), memory(row.where == Where::HERE ? row.way : Way::NONE),
          region(side.adapter, side.pz, memory.start(), EndingMemory::size())
    {
        (void)differences(); // a child could not find out
        DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
        DAT_CONN_QUAL qualifier = 0;
        // The peer waits for the qualifier, and pins nothing meanwhile.
        const std::int64_t before = kernel_counters()["pinned_pages"];
        EXPECT_OK(dat_psp_create_any(side.adapter, &qualifier, side.arrivals,
                                     DAT_PSP_CONSUMER_FLAG, &psp));
        const std::int64_t listener_pages = kernel_counters()["pinned_pages"] - before;
        peer.send(qualifier);
        request = expect_event(side.arrivals, DAT_CONNECTION_REQUEST_EVENT)
                      .event_data.cr_arrival_event_data.cr_handle;
        if (!is_about(row, "CR")) {
            EXPECT_OK(dat_cr_accept(request, side.ep, 0, nullptr));
            expect_event(side.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
        }
        peer.receive();
        free_listener(psp, row.where == Where::HERE && ends_memory(row.way) ? listener_pages : 0);
    }
    Stage(const Stage &) = delete;
    Stage &operator=(const Stage &) = delete;

    void await_end() { event_ = word_of_event(next_event(side.connections).event_number); }
    // The end, if it has been waited for; else what there is now.
    std::string event() const
    {
        if (!event_.empty())
            return event_;
        DAT_EVENT event{};
        const DAT_RETURN result = dat_evd_dequeue(side.connections, &event);
        if (result == DAT_SUCCESS)
            return word_of_event(event.event_number);
        return DAT_GET_TYPE(result) == DAT_QUEUE_EMPTY ? "none" : word_of(result);
    }
    // The status of an access of the peer's to the region. One that is refused ends the connection.
    std::string accessed(Order order, DAT_RMR_CONTEXT context)
    {
        peer.send(order);
        peer.send(context);
        peer.send(reinterpret_cast<std::uintptr_t>(region.start));
        const std::uint64_t status = peer.receive();
        if (status != DAT_DTO_SUCCESS)
            await_end();
        return word_of_status(status);
    }
    // The word of a post that failed, or of its completion.
    std::string sent(const DAT_LMR_TRIPLET &from) const
    {
        DAT_LMR_TRIPLET piece = from;
        const DAT_RETURN result =
            dat_ep_post_send(side.ep, 1, &piece, cookie(1), DAT_COMPLETION_DEFAULT_FLAG);
        return result == DAT_SUCCESS ? word_of_status(status_of_next(side.requests))
                                     : word_of(result);
    }
    std::string received(const DAT_LMR_TRIPLET &into) const
    {
        DAT_LMR_TRIPLET piece = into;
        return word_of(
            dat_ep_post_recv(side.ep, 1, &piece, cookie(2), DAT_COMPLETION_DEFAULT_FLAG));
    }

    Link &peer;
    EndingMemory memory;
    Side side;
    Registered region;
    DAT_CR_HANDLE request = DAT_HANDLE_NULL;

private:
    // The listener's memory stays until the peer has closed it, too. Waits until that many pages have gone, as
    // end_memory() counts pages.
    static void free_listener(DAT_PSP_HANDLE psp, std::int64_t pages)
    {
        const std::int64_t before = kernel_counters()["pinned_pages"];
        EXPECT_OK(dat_psp_free(psp));
        if (pages > 0 && provider() == RSM) {
            EXPECT_TRUE(eventually([&] { return kernel_counters()["pinned_pages"] <= before - pages; }));
        }
    }

    std::string event_;
};

// The object of a row.
class Subject {
public:
    explicit Subject(Stage &stage) : stage_(stage) {}
    virtual ~Subject() = default;
    Subject(const Subject &) = delete;
    Subject &operator=(const Subject &) = delete;

    virtual Words look() = 0;
    virtual DAT_RETURN query() = 0;
    virtual DAT_RETURN free() = 0;

protected:
    Stage &stage_;
    DAT_HANDLE handle_ = DAT_HANDLE_NULL;
};

class AdapterSubject : public Subject {
public:
    explicit AdapterSubject(Stage &stage) : Subject(stage)
    {
        DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
        EXPECT_OK(dat_ia_open(const_cast<char *>(ia_name()), 8, &async, &handle_));
    }
    Words look() override
    {
        DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
        const std::string queried = word_of(query());
        const std::string created = word_of(dat_pz_create(handle_, &pz));
        return {queried, created, word_of(free())};
    }
    DAT_RETURN query() override
    {
        DAT_IA_ATTR attributes{};
        return dat_ia_query(handle_, nullptr, DAT_IA_FIELD_IA_ADDRESS_PTR, &attributes, 0, nullptr);
    }
    DAT_RETURN free() override { return dat_ia_close(handle_, DAT_CLOSE_ABRUPT_FLAG); }
};

class ZoneSubject : public Subject {
public:
    explicit ZoneSubject(Stage &stage) : Subject(stage) { handle_ = stage.side.adapter.make_pz(); }
    Words look() override
    {
        DAT_REGION_DESCRIPTION region{};
        region.for_va = stage_.side.memory.start;
        DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
        const std::string queried = word_of(query());
        const DAT_RETURN created =
            dat_lmr_create(stage_.side.adapter, DAT_MEM_TYPE_VIRTUAL, region, 64, handle_,
                           DAT_MEM_PRIV_ALL_FLAG, &lmr, nullptr, nullptr, nullptr, nullptr);
        if (created == DAT_SUCCESS) {
            EXPECT_OK(dat_lmr_free(lmr));
        }
        return {queried, word_of(created), word_of(free())};
    }
    DAT_RETURN query() override
    {
        DAT_PZ_PARAM param{};
        return dat_pz_query(handle_, DAT_PZ_FIELD_ALL, &param);
    }
    DAT_RETURN free() override { return dat_pz_free(handle_); }
};

class RegionSubject : public Subject {
public:
    using Subject::Subject;
    Words look() override
    {
        const DAT_LMR_TRIPLET piece = stage_.region.piece(0, 8);
        const std::string queried = word_of(query());
        const std::string received = stage_.received(piece);
        const std::string sent = stage_.sent(piece);
        return {queried, received, sent, word_of(free())};
    }
    DAT_RETURN query() override
    {
        DAT_LMR_PARAM param{};
        return dat_lmr_query(lmr_, DAT_LMR_FIELD_ALL, &param);
    }
    DAT_RETURN free() override
    {
        const DAT_RETURN result = dat_lmr_free(lmr_);
        if (result == DAT_SUCCESS)
            stage_.region.lmr = DAT_HANDLE_NULL;
        return result;
    }

private:
    const DAT_LMR_HANDLE lmr_ = stage_.region.lmr;
};

class TargetSubject : public RegionSubject {
public:
    using RegionSubject::RegionSubject;
    Words look() override
    {
        const std::string written = stage_.accessed(WRITE, stage_.region.rmr_context);
        const std::string event = stage_.event();
        const std::string queried = word_of(query());
        return {written, event, queried, word_of(free())};
    }
};

class WindowSubject : public Subject {
public:
    explicit WindowSubject(Stage &stage) : Subject(stage)
    {
        EXPECT_OK(dat_rmr_create(stage.side.pz, &handle_));
        DAT_LMR_TRIPLET piece = stage.region.piece(0, EndingMemory::size());
        EXPECT_OK(dat_rmr_bind(handle_, &piece, DAT_MEM_PRIV_REMOTE_READ_FLAG, stage.side.ep,
                               cookie(3), DAT_COMPLETION_DEFAULT_FLAG, &context_));
        expect_event(stage.side.requests, DAT_RMR_BIND_COMPLETION_EVENT);
    }
    Words look() override
    {
        const std::string read = stage_.accessed(READ, context_);
        const std::string event = stage_.event();
        const std::string queried = word_of(query());
        return {read, event, queried, word_of(free())};
    }
    DAT_RETURN query() override
    {
        DAT_RMR_PARAM param{};
        return dat_rmr_query(handle_, DAT_RMR_FIELD_ALL, &param);
    }
    DAT_RETURN free() override { return dat_rmr_free(handle_); }

private:
    DAT_RMR_CONTEXT context_ = 0;
};

class EndpointSubject : public Subject {
public:
    using Subject::Subject;
    Words look() override
    {
        DAT_EP_STATE state{};
        const DAT_RETURN known = dat_ep_get_status(ep(), &state, nullptr, nullptr);
        const std::string event = stage_.event();
        const std::string received = stage_.received(stage_.side.memory.piece(0, 8));
        const std::string sent = stage_.sent(stage_.side.memory.piece(64, 8));
        return {known == DAT_SUCCESS ? word_of_state(state) : word_of(known), event, received, sent,
                word_of(free())};
    }
    DAT_RETURN query() override
    {
        DAT_EP_PARAM param{};
        return dat_ep_query(ep(), DAT_EP_FIELD_ALL, &param);
    }
    DAT_RETURN free() override { return dat_ep_free(ep()); }

private:
    DAT_EP_HANDLE ep() const { return stage_.side.ep; }
};

class DispatcherSubject : public Subject {
public:
    explicit DispatcherSubject(Stage &stage) : Subject(stage)
    {
        handle_ = stage.side.adapter.make_evd(DAT_EVD_SOFTWARE_FLAG);
    }
    Words look() override
    {
        DAT_EVENT event{};
        const std::string queried = word_of(query());
        const std::string posted = word_of(post_software(handle_, 5));
        const std::string dequeued = word_of(dat_evd_dequeue(handle_, &event));
        return {queried, posted, dequeued, word_of(free())};
    }
    DAT_RETURN query() override
    {
        DAT_EVD_PARAM param{};
        return dat_evd_query(handle_, DAT_EVD_FIELD_ALL, &param);
    }
    DAT_RETURN free() override { return dat_evd_free(handle_); }
};

class NotifierSubject : public Subject {
public:
    explicit NotifierSubject(Stage &stage) : Subject(stage)
    {
        EXPECT_OK(dat_cno_create(stage.side.adapter, DAT_OS_WAIT_PROXY_AGENT_NULL, &handle_));
    }
    Words look() override
    {
        DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
        const std::string queried = word_of(query());
        const std::string waited = word_of(dat_cno_wait(handle_, 0, &evd));
        return {queried, waited, word_of(free())};
    }
    DAT_RETURN query() override
    {
        DAT_CNO_PARAM param{};
        return dat_cno_query(handle_, DAT_CNO_FIELD_ALL, &param);
    }
    DAT_RETURN free() override { return dat_cno_free(handle_); }
};

class SharedQueueSubject : public Subject {
public:
    explicit SharedQueueSubject(Stage &stage) : Subject(stage)
    {
        DAT_SRQ_ATTR attributes{16, 4, DAT_SRQ_LW_DEFAULT};
        EXPECT_OK(dat_srq_create(stage.side.adapter, stage.side.pz, &attributes, &handle_));
    }
    Words look() override
    {
        DAT_LMR_TRIPLET piece = stage_.side.memory.piece(0, 8);
        const std::string queried = word_of(query());
        const std::string posted = word_of(dat_srq_post_recv(handle_, 1, &piece, cookie(4)));
        return {queried, posted, word_of(free())};
    }
    DAT_RETURN query() override
    {
        DAT_SRQ_PARAM param{};
        return dat_srq_query(handle_, DAT_SRQ_FIELD_ALL, &param);
    }
    DAT_RETURN free() override { return dat_srq_free(handle_); }
};

// A service point of either kind, and somebody who asks for a connection.
class ServiceSubject : public Subject {
public:
    ServiceSubject(Stage &stage, bool reserved) : Subject(stage), reserved_(reserved)
    {
        const Side &side = stage.side;
        if (!reserved_) {
            EXPECT_OK(dat_psp_create(side.adapter, qualifier_, side.arrivals,
                                     DAT_PSP_CONSUMER_FLAG, &handle_));
            return;
        }
        DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
        EXPECT_OK(dat_ep_create(side.adapter, side.pz, side.receives, side.requests,
                                side.connections, nullptr, &ep));
        EXPECT_OK(dat_rsp_create(side.adapter, qualifier_, ep, side.arrivals, &handle_));
    }
    Words look() override
    {
        const std::string queried = word_of(query());
        const std::string asked = ask();
        return {queried, asked, word_of(free())};
    }
    DAT_RETURN query() override
    {
        DAT_PSP_PARAM psp{};
        DAT_RSP_PARAM rsp{};
        return reserved_ ? dat_rsp_query(handle_, DAT_RSP_FIELD_ALL, &rsp)
                         : dat_psp_query(handle_, DAT_PSP_FIELD_ALL, &psp);
    }
    DAT_RETURN free() override { return reserved_ ? dat_rsp_free(handle_) : dat_psp_free(handle_); }

private:
    std::string ask()
    {
        const DAT_RETURN result =
            dat_ep_connect(client_.ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address_), qualifier_,
                           DAT_TIMEOUT_INFINITE, 0, nullptr, DAT_QOS_BEST_EFFORT,
                           DAT_CONNECT_DEFAULT_FLAG);
        if (result != DAT_SUCCESS)
            return word_of(result);
        DAT_EVENT arrival{};
        DAT_EVENT answer{};
        EXPECT_TRUE(eventually([&] {
            return dat_evd_dequeue(stage_.side.arrivals, &arrival) == DAT_SUCCESS ||
                   dat_evd_dequeue(client_.connections, &answer) == DAT_SUCCESS;
        }));
        if (arrival.event_number != DAT_CONNECTION_REQUEST_EVENT)
            return answer.event_number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED
                       ? "refused"
                       : "event " + std::to_string(answer.event_number);
        EXPECT_OK(dat_cr_reject(arrival.event_data.cr_arrival_event_data.cr_handle));
        expect_event(client_.connections, DAT_CONNECTION_EVENT_PEER_REJECTED);
        return "arrives";
    }

    const bool reserved_;
    const DAT_CONN_QUAL qualifier_ = Objects::unused_qualifier();
    Side client_;
    sockaddr_in address_ = client_.adapter.address();
};

class RequestSubject : public Subject {
public:
    explicit RequestSubject(Stage &stage) : Subject(stage) { handle_ = stage.request; }
    Words look() override
    {
        const std::string queried = word_of(query());
        const DAT_RETURN accepted = dat_cr_accept(handle_, stage_.side.ep, 0, nullptr);
        if (accepted == DAT_SUCCESS)
            stage_.await_end();
        return {queried, word_of(accepted), stage_.event()};
    }
    DAT_RETURN query() override
    {
        DAT_CR_PARAM param{};
        return dat_cr_query(handle_, DAT_CR_FIELD_ALL, &param);
    }
    DAT_RETURN free() override { return dat_cr_reject(handle_); }
};

template <class Kind>
std::unique_ptr<Subject> make(Stage &stage)
{
    return std::make_unique<Kind>(stage);
}

std::unique_ptr<Subject> make_subject(const Row &row, Stage &stage)
{
    struct Maker {
        std::string_view object;
        std::unique_ptr<Subject> (*make)(Stage &stage);
    };
    static constexpr Maker makers[] = {
        {"IA", make<AdapterSubject>},      {"PZ", make<ZoneSubject>},
        {"LMR", make<RegionSubject>},      {"TARGET", make<TargetSubject>},
        {"RMR", make<WindowSubject>},      {"EP", make<EndpointSubject>},
        {"EVD", make<DispatcherSubject>},  {"CNO", make<NotifierSubject>},
        {"SRQ", make<SharedQueueSubject>}, {"CR", make<RequestSubject>},
    };
    for (const Maker &maker : makers)
        if (is_about(row, maker.object))
            return maker.make(stage);
    return std::make_unique<ServiceSubject>(stage, is_about(row, "RSP"));
}

class Scene {
public:
    Scene(const Row &row, Child &peer)
        : row_(row), peer_(peer), stage_(row, peer.link()), subject_(make_subject(row, stage_))
    {
    }

    void happen()
    {
        if (row_.where == Where::PEER)
            happen_at_peer();
        else if (row_.way == Way::FREED)
            EXPECT_OK(subject_->free());
        else if (row_.way == Way::CANCELLED)
            cancel_in([this] { EXPECT_OK(subject_->query()); });
        else if (row_.way == Way::EXECED)
            become_another_program();
        else if (ends_memory(row_.way))
            end_memory();
    }
    Words look() { return subject_->look(); }
    // The cells as a child sees them that has inherited the object.
    Words look_in_child()
    {
        const Pages shared(1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
        in_child([&] {
            std::string text;
            for (const std::string &word : look())
                text += word + " ";
            ASSERT_LT(text.size(), shared.size());
            std::memcpy(shared.data(), text.data(), text.size());
        });
        return words_of(shared.pointer<char>());
    }

private:
    void happen_at_peer()
    {
        if (row_.way == Way::KILLED)
            peer_.kill();
        else
            peer_.send(HAPPEN);
        if (row_.way == Way::EXECED)
            await_hangup(peer_.link());
        else if (row_.way != Way::KILLED)
            peer_.receive();
        if (peer_ends_connection(row_) && !is_about(row_, "CR"))
            stage_.await_end();
    }
    // Where the kernel agent has pinned the pages of a region, it lets them go a moment later.
    void end_memory()
    {
        const std::int64_t left = kernel_counters()["pinned_pages"] -
                                  static_cast<std::int64_t>(EndingMemory::size() / page_size());
        stage_.memory.end(row_.way);
        if (provider() == RSM) {
            EXPECT_TRUE(eventually([&] { return kernel_counters()["pinned_pages"] == left; }));
        }
    }

    const Row &row_;
    Child &peer_;
    Stage stage_;
    std::unique_ptr<Subject> subject_;
};

// The object's process ends: the peer hears of it, and the kernel agent has nothing of it any more.
Words look_when_process_has_ended(const Row &row)
{
    const Counters before = kernel_counters();
    EXPECT_FALSE(before.empty()) << "the kernel's counters can't be read";
    Child peer([&](Link &link) { Peer(link, row).serve(); });
    Child owner([&](Link &link) {
        Scene scene(row, peer);
        link.send();
        link.receive();
        scene.happen();
    });
    owner.receive();
    if (row.way == Way::KILLED) {
        owner.kill();
    } else {
        owner.send();
        await_hangup(owner.link());
    }
    peer.send(SAY_END);
    const auto event = static_cast<DAT_EVENT_NUMBER>(peer.receive());
    peer.kill();
    EXPECT_TRUE(is_about(row, "CR") ? event == DAT_CONNECTION_EVENT_NON_PEER_REJECTED
                                    : is_disorderly_end(event))
        << std::hex << event;
    EXPECT_TRUE(eventually([&] { return kernel_counters() == before; }));
    return Words(words_of(row.cells).size(), "gone");
}

const Row &row_in_life(const Row &row)
{
    for (const Row &each : rows)
        if (is_about(each, row.object) && each.way == Way::NONE)
            return each;
    ADD_FAILURE() << "the table does not say what " << row.object << " is like in life";
    return row;
}

class LifetimeTable : public testing::TestWithParam<Row> {};

INSTANTIATE_TEST_SUITE_P(, LifetimeTable, testing::ValuesIn(rows),
                         [](const testing::TestParamInfo<Row> &info) { return name_of(info.param); });

} // namespace

TEST_P(LifetimeTable, is_as_the_row_says)
{
    const Row &row = GetParam();
    if (row.where == Where::HERE && ends_process(row.way)) {
        const Words seen = look_when_process_has_ended(row);
        compare(objects, row, seen, provider());
        return;
    }
    Child peer([&](Link &link) { Peer(link, row).serve(); });
    Scene scene(row, peer);
    if (row.where == Where::HERE && row.way == Way::FORKED) {
        compare(objects, row, scene.look_in_child(), provider());
        SCOPED_TRACE("the parent, afterwards");
        compare(objects, row_in_life(row), scene.look(), provider());
        return;
    }
    scene.happen();
    compare(objects, row, scene.look(), provider());
}
