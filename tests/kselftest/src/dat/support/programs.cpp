// SPDX-License-Identifier: GPL-2.0
#include "dat/support/programs.hpp"

#include "dat/support/talk.hpp"

#include "order/check.hpp"
#include "order/generate.hpp"
#include "order/packing.hpp"
#include "order/player.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <random>
#include <sched.h>
#include <stdexcept>
#include <utility>

namespace rsmtest::dat {
namespace {

constexpr int verifier = 0; // the active side
constexpr DAT_COUNT evd_length = 2 * order::most_endpoints * (order::most_posts + 16) * 2;

// A handle that is freed at the end.
template <auto Free>
class Owned {
  public:
    explicit Owned(DAT_HANDLE handle) : handle_(handle) {}
    ~Owned() { free(); }
    Owned(Owned &&other) noexcept : handle_(std::exchange(other.handle_, DAT_HANDLE_NULL)) {}
    Owned(const Owned &) = delete;
    Owned &operator=(const Owned &) = delete;
    Owned &operator=(Owned &&) = delete;

    DAT_HANDLE get() const { return handle_; }
    void free() {
        if (handle_ != DAT_HANDLE_NULL) {
            EXPECT_OK(Free(std::exchange(handle_, DAT_HANDLE_NULL)));
        }
    }

  private:
    DAT_HANDLE handle_;
};
using OwnedEp = Owned<dat_ep_free>;
using OwnedEvd = Owned<dat_evd_free>;

// The properties of a side that the other side needs.
struct Introduction {
    DAT_CONN_QUAL qualifier;
    DAT_VADDR base;
    in_addr_t address;
    DAT_RMR_CONTEXT main;
    DAT_RMR_CONTEXT doomed;
};

// A process's part of all programs.
class Host {
  public:
    Host(Side &side, int which)
        : adapter(side.adapter), pz(side.pz), arrivals(side.arrivals), talk(side), side(which),
          arena((order::arena_bytes + page_size() - 1) / page_size()),
          attributes(default_attributes(side.adapter)), address_(side.adapter.address()) {
        require(dat_psp_create_any(adapter, &qualifier_, arrivals, DAT_PSP_CONSUMER_FLAG, &psp_),
                "dat_psp_create_any");
    }
    ~Host() { EXPECT_OK(dat_psp_free(psp_)); }
    Host(const Host &) = delete;
    Host &operator=(const Host &) = delete;

    Introduction introduction(const Registered &main, const Registered &doomed) const {
        return {qualifier_, reinterpret_cast<DAT_VADDR>(arena.data()), address_.sin_addr.s_addr,
                main.rmr_context, doomed.rmr_context};
    }

    const Adapter &adapter;
    const DAT_PZ_HANDLE pz;
    const DAT_EVD_HANDLE arrivals;
    Talk talk;
    const int side;
    Pages arena;
    const DAT_EP_ATTR attributes;

  private:
    sockaddr_in address_;
    DAT_PSP_HANDLE psp_ = DAT_HANDLE_NULL;
    DAT_CONN_QUAL qualifier_ = 0;
};

DAT_COMPLETION_FLAGS flags_of(const order::Post &post) {
    unsigned flags = DAT_COMPLETION_DEFAULT_FLAG;
    const auto add = [&flags](bool wanted, unsigned flag) { flags |= wanted ? flag : 0U; };
    add(post.suppressed, DAT_COMPLETION_SUPPRESS_FLAG);
    add(post.unsignalled, DAT_COMPLETION_UNSIGNALLED_FLAG);
    add(post.fenced, DAT_COMPLETION_BARRIER_FENCE_FLAG);
    add(post.solicited, DAT_COMPLETION_SOLICITED_WAIT_FLAG);
    return static_cast<DAT_COMPLETION_FLAGS>(flags);
}

order::Status status_of(DAT_DTO_COMPLETION_STATUS status) {
    switch (status) {
    case DAT_DTO_SUCCESS:
        return order::Status::SUCCESS;
    case DAT_DTO_ERR_FLUSHED:
        return order::Status::FLUSHED;
    case DAT_DTO_ERR_REMOTE_ACCESS:
        return order::Status::REMOTE_ACCESS;
    case DAT_DTO_ERR_REMOTE_RESPONDER:
        return order::Status::REMOTE_RESPONDER;
    case DAT_DTO_ERR_LOCAL_LENGTH:
        return order::Status::LOCAL_LENGTH;
    default:
        return order::Status::OTHER;
    }
}

// One side of one program, with its objects.
class Execution : public order::Library {
  public:
    Execution(Host &host, const order::Program &program);

    order::Record run();

    bool post(int index) override;
    order::Event wait(int evd) override;
    std::optional<order::Event> take(int evd) override;
    void disconnect(int endpoint, bool graceful) override;
    void free(int endpoint) override { eps_[static_cast<std::size_t>(endpoint)].free(); }
    void free_region() override;
    void notify() override { host_.talk.send({}); }
    void await_notice() override { (void)host_.talk.receive(); }

  private:
    const std::vector<order::Streams> &streams() const { return program_.streams[host_.side]; }
    DAT_EVD_HANDLE evd(int number) const { return evds_[static_cast<std::size_t>(number)].get(); }
    void make_evds();
    void make_eps();
    DAT_EP_ATTR attributes() const;

    void connect();
    void call();
    void answer();
    void synchronise();

    const order::Buffer &buffer(int index) const {
        return program_.buffers[static_cast<std::size_t>(index)];
    }
    std::vector<DAT_LMR_TRIPLET> local(const order::Post &post) const;
    DAT_RMR_TRIPLET remote(const order::Post &post) const;
    DAT_RETURN call_for(const order::Post &post, int index);
    order::Event understand(const DAT_EVENT &event) const;
    order::Event completion(const DAT_DTO_COMPLETION_EVENT_DATA &data) const;
    int endpoint_of(DAT_EP_HANDLE ep) const;

    Host &host_;
    const order::Program &program_;
    Registered main_;
    Registered doomed_;
    std::vector<OwnedEvd> evds_;
    std::vector<OwnedEp> eps_;
    std::vector<DAT_EP_HANDLE> names_; // of eps_, also of those that are freed
    Introduction peer_{};
    std::string topic_;
};

Execution::Execution(Host &host, const order::Program &program)
    : host_(host), program_(program),
      main_(host.adapter, host.pz, host.arena.data(), order::main_bytes),
      doomed_(host.adapter, host.pz, host.arena.data() + order::main_bytes, order::doomed_bytes),
      topic_("an event of ORDER_SEED=" + std::to_string(program.seed)) {
    host.talk.topic = "a word about ORDER_SEED=" + std::to_string(program.seed);
    make_evds();
    make_eps();
}

// Each has the streams that the program wants to see there.
void Execution::make_evds() {
    std::vector<unsigned> flags(static_cast<std::size_t>(program_.evds[host_.side]));
    for (const order::Streams &each : streams()) {
        flags[static_cast<std::size_t>(each.requests)] |= DAT_EVD_DTO_FLAG;
        flags[static_cast<std::size_t>(each.receives)] |= DAT_EVD_DTO_FLAG;
        flags[static_cast<std::size_t>(each.connections)] |= DAT_EVD_CONNECTION_FLAG;
    }
    for (const unsigned each : flags) {
        const unsigned known = each != 0 ? each : static_cast<unsigned>(DAT_EVD_DTO_FLAG);
        evds_.emplace_back(host_.adapter.make_evd(static_cast<DAT_EVD_FLAGS>(known), evd_length));
    }
}

DAT_EP_ATTR Execution::attributes() const {
    DAT_EP_ATTR attributes = host_.attributes;
    attributes.max_recv_dtos = attributes.max_request_dtos = order::most_posts + 16;
    if (program_.unsignalled)
        attributes.request_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
    return attributes;
}

void Execution::make_eps() {
    const DAT_EP_ATTR wanted = attributes();
    for (const order::Streams &each : streams()) {
        DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
        require(dat_ep_create(host_.adapter, host_.pz, evd(each.receives), evd(each.requests),
                              evd(each.connections), &wanted, &ep),
                "dat_ep_create");
        eps_.emplace_back(ep);
        names_.push_back(ep);
    }
}

// No player does a step before both sides are connected, and none looks at the memory before both
// have done all steps.
order::Record Execution::run() {
    order::Player player(program_, host_.side, *this,
                         {host_.arena.data(), static_cast<std::size_t>(program_.arena)});
    host_.talk.send_value(host_.introduction(main_, doomed_));
    peer_ = host_.talk.receive_value<Introduction>();
    connect();
    synchronise();
    player.play();
    synchronise();
    return player.finish();
}

void Execution::synchronise() {
    notify();
    await_notice();
}

void Execution::connect() {
    if (host_.side == verifier)
        call();
    else
        answer();
    for (const order::Streams &each : streams())
        if (await_event(evd(each.connections), topic_).event_number !=
            DAT_CONNECTION_EVENT_ESTABLISHED)
            throw std::runtime_error("a connection is not established");
}

// All at once; each names its endpoint.
void Execution::call() {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = peer_.address;
    for (std::uint32_t index = 0; index < eps_.size(); index++)
        require(dat_ep_connect(eps_[index].get(), reinterpret_cast<DAT_IA_ADDRESS_PTR>(&to),
                               peer_.qualifier, DAT_TIMEOUT_INFINITE, sizeof(index), &index,
                               DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
                "dat_ep_connect");
}

void Execution::answer() {
    for (std::size_t count = 0; count < eps_.size(); count++) {
        const DAT_EVENT event = await_event(host_.arrivals, topic_);
        const DAT_CR_HANDLE cr = event.event_data.cr_arrival_event_data.cr_handle;
        DAT_CR_PARAM request{};
        require(dat_cr_query(cr, DAT_CR_FIELD_ALL, &request), "dat_cr_query");
        std::uint32_t index = 0;
        std::memcpy(&index, request.private_data, sizeof(index));
        require(dat_cr_accept(cr, eps_.at(index).get(), 0, nullptr), "dat_cr_accept");
    }
}

std::vector<DAT_LMR_TRIPLET> Execution::local(const order::Post &post) const {
    std::vector<DAT_LMR_TRIPLET> pieces;
    if (post.buffer >= 0)
        for (const order::Piece &piece : buffer(post.buffer).pieces)
            pieces.push_back(main_.piece(piece.offset, piece.length));
    return pieces;
}

DAT_RMR_TRIPLET Execution::remote(const order::Post &post) const {
    const order::Buffer &target = buffer(post.target);
    const DAT_RMR_CONTEXT known = target.doomed ? peer_.doomed : peer_.main;
    return {post.refused ? ~known : known, 0, peer_.base + target.pieces.front().offset,
            buffer(post.buffer).length()};
}

DAT_RETURN Execution::call_for(const order::Post &post, int index) {
    std::vector<DAT_LMR_TRIPLET> pieces = local(post);
    const auto count = static_cast<DAT_COUNT>(pieces.size());
    const DAT_EP_HANDLE ep = eps_[static_cast<std::size_t>(post.endpoint)].get();
    const DAT_DTO_COOKIE id = cookie(static_cast<DAT_UINT64>(index));
    const DAT_COMPLETION_FLAGS flags = flags_of(post);
    switch (post.work) {
    case order::Work::SEND:
        return dat_ep_post_send(ep, count, pieces.data(), id, flags);
    case order::Work::RECEIVE:
        return dat_ep_post_recv(ep, count, pieces.data(), id, flags);
    case order::Work::WRITE:
    case order::Work::READ:
        break;
    }
    const DAT_RMR_TRIPLET target = remote(post);
    return post.work == order::Work::WRITE
               ? dat_ep_post_rdma_write(ep, count, pieces.data(), id, &target, flags)
               : dat_ep_post_rdma_read(ep, count, pieces.data(), id, &target, flags);
}

bool Execution::post(int index) {
    const DAT_RETURN result = call_for(program_.posts[static_cast<std::size_t>(index)], index);
    if (DAT_GET_TYPE(result) == DAT_INVALID_STATE)
        return false;
    require(result, order::describe(program_, index).c_str());
    return true;
}

// Unsignalled completions wake nobody, so such programs poll.
order::Event Execution::wait(int number) {
    if (!program_.polls)
        return understand(await_event(evd(number), topic_));
    const Waiting waiting(topic_.c_str());
    for (;;) {
        if (const auto event = take(number))
            return *event;
        sched_yield();
    }
}

std::optional<order::Event> Execution::take(int number) {
    DAT_EVENT event{};
    const DAT_RETURN result = dat_evd_dequeue(evd(number), &event);
    if (DAT_GET_TYPE(result) == DAT_QUEUE_EMPTY)
        return {};
    require(result, "dat_evd_dequeue");
    return understand(event);
}

void Execution::disconnect(int endpoint, bool graceful) {
    require(dat_ep_disconnect(eps_[static_cast<std::size_t>(endpoint)].get(),
                              graceful ? DAT_CLOSE_GRACEFUL_FLAG : DAT_CLOSE_ABRUPT_FLAG),
            "dat_ep_disconnect");
}

void Execution::free_region() {
    EXPECT_OK(dat_lmr_free(std::exchange(doomed_.lmr, DAT_HANDLE_NULL)));
}

int Execution::endpoint_of(DAT_EP_HANDLE ep) const {
    const auto found = std::ranges::find(names_, ep);
    return found == names_.end() ? -1 : static_cast<int>(found - names_.begin());
}

order::Event Execution::completion(const DAT_DTO_COMPLETION_EVENT_DATA &data) const {
    const DAT_UINT64 id = data.user_cookie.as_64;
    if (id >= program_.posts.size() || program_.posts[id].endpoint != endpoint_of(data.ep_handle))
        return {order::What::STRANGE, DAT_DTO_COMPLETION_EVENT};
    return {order::What::COMPLETED, static_cast<int>(id), status_of(data.status),
            static_cast<std::uint32_t>(data.transfered_length)};
}

order::Event Execution::understand(const DAT_EVENT &event) const {
    if (event.event_number == DAT_DTO_COMPLETION_EVENT)
        return completion(event.event_data.dto_completion_event_data);
    const int endpoint = endpoint_of(event.event_data.connect_event_data.ep_handle);
    const bool broken = event.event_number == DAT_CONNECTION_EVENT_BROKEN;
    if (endpoint < 0 || (!broken && event.event_number != DAT_CONNECTION_EVENT_DISCONNECTED))
        return {order::What::STRANGE, static_cast<int>(event.event_number)};
    return {broken ? order::What::BROKEN : order::What::DISCONNECTED, endpoint};
}

// Executes the programs one after the other; `conclude` gets each program and this side's record of
// it.
template <class Conclusion>
void execute(Host &host, const Programs &programs, const Conclusion &conclude) {
    std::uint64_t seed = programs.seed;
    for (std::uint64_t i = 0; i < programs.count; i++, seed = order::next_seed(seed)) {
        const order::Program program = order::generate(seed);
        for (std::uint64_t left = programs.repeats; left > 0; left--)
            conclude(program, Execution(host, program).run());
    }
}

void expect_rules(const order::Program &program,
                  const std::array<order::Record, order::sides> &records) {
    const order::Latitude latitude{.vague_ends = differences().vague_end.has_value()};
    if (const auto found = order::check(program, records, latitude))
        ADD_FAILURE() << "ORDER_SEED=" << program.seed << " breaks the rule "
                      << order::name_of(found->rule) << ": " << found->why;
}

std::uint64_t number_of(const char *variable, std::uint64_t otherwise) {
    const char *number = std::getenv(variable);
    return number ? std::strtoull(number, nullptr, 0) : otherwise;
}

} // namespace

Programs Programs::chosen(std::uint64_t usual) {
    const Programs programs{number_of("ORDER_SEED", std::random_device{}() | 1U),
                            number_of("ORDER_PROGRAMS", usual), number_of("ORDER_REPEATS", 1)};
    std::printf("note: ORDER_SEED=%llu ORDER_PROGRAMS=%llu ORDER_REPEATS=%llu\n",
                static_cast<unsigned long long>(programs.seed),
                static_cast<unsigned long long>(programs.count),
                static_cast<unsigned long long>(programs.repeats));
    return programs;
}

void check_programs(Side &talk, const Programs &programs) {
    try {
        Host host(talk, verifier);
        execute(host, programs, [&](const order::Program &program, order::Record own) {
            const order::Record other = order::unpack(host.talk.receive());
            expect_rules(program, {std::move(own), other});
        });
    } catch (const std::exception &error) {
        ADD_FAILURE() << error.what();
    }
}

void join_programs(Side &talk, const Programs &programs) {
    try {
        Host host(talk, 1 - verifier);
        execute(host, programs, [&](const order::Program & /*program*/, const order::Record &own) {
            host.talk.send(order::pack(own));
        });
    } catch (const std::exception &error) {
        ADD_FAILURE() << error.what();
    }
}

} // namespace rsmtest::dat
