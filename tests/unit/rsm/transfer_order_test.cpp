// SPDX-License-Identifier: GPL-2.0
// Random programs of posts (tests/order), executed by the provider `rsm` with a wire and a kernel
// that are not there: one thread is both sides, so a seed stands for one execution.
#include "transfer_fake.h"

#include "order/check.hpp"
#include "order/generate.hpp"
#include "order/player.hpp"

#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>

namespace {

using namespace rsmengine;

// How many programs each test executes, and the first one's seed.
int programs() {
    const char *number = std::getenv("ORDER_PROGRAMS");
    return number != nullptr ? std::atoi(number) : 150;
}

std::uint64_t first_seed() {
    const char *number = std::getenv("ORDER_SEED");
    return number != nullptr ? std::strtoull(number, nullptr, 0) : std::random_device()() | 1U;
}

CompletionFlags flags_of(const order::Post &post) {
    auto flags = CompletionFlags::DEFAULT;
    const auto add = [&flags](bool wanted, CompletionFlags flag) {
        flags = wanted ? flags | flag : flags;
    };
    add(post.suppressed, CompletionFlags::SUPPRESS);
    add(post.unsignalled, CompletionFlags::UNSIGNALLED);
    add(post.fenced, CompletionFlags::FENCE);
    add(post.solicited, CompletionFlags::SOLICITED);
    return flags;
}

order::Status status_of(CompletionStatus status) {
    switch (status) {
    case CompletionStatus::OK:
        return order::Status::SUCCESS;
    case CompletionStatus::FLUSHED:
        return order::Status::FLUSHED;
    case CompletionStatus::REMOTE_ACCESS:
        return order::Status::REMOTE_ACCESS;
    case CompletionStatus::REMOTE_RESPONDER:
        return order::Status::REMOTE_RESPONDER;
    case CompletionStatus::LOCAL_LENGTH:
        return order::Status::LOCAL_LENGTH;
    default:
        return order::Status::OTHER;
    }
}

class DaplTransferOrder : public fake::Transfers {
  protected:
    // State of one side.
    struct Half : order::Library {
        Half(DaplTransferOrder &test, int which) : test(test), side(which) {}

        bool post(int index) override { return test.post(*this, index); }
        order::Event wait(int evd) override { return test.wait(*this, evd); }
        std::optional<order::Event> take(int evd) override { return test.take(*this, evd); }
        void disconnect(int endpoint, bool graceful) override {
            EXPECT_EQ(at(endpoint).ep->disconnect(graceful ? Close::GRACEFUL
                                                           : Close::ABRUPT),
                      Status::OK);
        }
        void free(int endpoint) override {
            test.ia->destroy(*std::exchange(at(endpoint).ep, nullptr));
        }
        void free_region() override {
            if (doomed != nullptr)
                contexts_of(*test.ia).destroy(*std::exchange(doomed, nullptr));
        }
        void notify() override {}
        void await_notice() override {}

        fake::Side &at(int endpoint) { return endpoints[static_cast<std::size_t>(endpoint)]; }

        DaplTransferOrder &test;
        int side;
        std::vector<std::byte> arena;
        RsmRegion *main = nullptr;
        RsmRegion *doomed = nullptr;
        RemoteKey doomed_context = 0;
        std::vector<Evd *> evds;
        std::vector<fake::Side> endpoints;
        std::vector<DAT_EP_HANDLE> handles;
    };

    void run_programs(std::uint32_t node) {
        std::uint64_t seed = first_seed();
        std::printf("first seed %llu\n", static_cast<unsigned long long>(seed));
        for (int i = 0; i < programs(); ++i, seed = order::next_seed(seed)) {
            ASSERT_NO_THROW(run_program(seed, node)) << "ORDER_SEED=" << seed;
            ASSERT_FALSE(HasFailure()) << "ORDER_PROGRAMS=1 ORDER_SEED=" << seed;
            guard.unlock(); // for threads that want to free channels
            guard.lock();
        }
    }

  private:
    void run_program(std::uint64_t seed, std::uint32_t node) {
        const order::Program made = order::generate(seed);
        program = &made;
        random.seed(seed);
        std::array<Half, order::sides> both{Half(*this, 0), Half(*this, 1)};
        halves = both.data();
        for (Half &half : both)
            set_up(half);
        for (int i = 0; i < made.endpoints; ++i)
            connect(both[0].at(i), both[1].at(i), node);
        const auto records = play(both);
        for (Half &half : both)
            tear_down(half);
        const auto found = order::check(made, records);
        if (found)
            ADD_FAILURE() << order::name_of(found->rule) << ": " << found->why;
    }
    std::array<order::Record, order::sides> play(std::array<Half, order::sides> &both) {
        std::array players{order::Player(*program, 0, both[0], both[0].arena),
                           order::Player(*program, 1, both[1], both[1].arena)};
        for (const order::Step &step : program->steps) {
            players[static_cast<std::size_t>(step.side)].act(step);
            for (auto turns = random() % 4; turns > 0; --turns)
                poll_one();
        }
        return {players[0].finish(), players[1].finish()};
    }

    void set_up(Half &half) {
        half.arena.resize(program->arena);
        half.main = register_bytes(half, 0, order::main_bytes);
        half.doomed = register_bytes(half, order::main_bytes, order::doomed_bytes);
        half.doomed_context = half.doomed->context;
        for (int i = 0; i < program->evds[half.side]; ++i)
            half.evds.push_back(
                &ia->adopt(std::make_unique<Evd>(*ia, 1024, DAT_EVD_DEFAULT_FLAG, nullptr)));
        EpAttributes attr = attributes();
        attr.max_recv_dtos = attr.max_request_dtos = order::most_posts + 16;
        if (program->unsignalled)
            attr.request_completion_flags = CompletionFlags::UNSIGNALLED;
        for (const order::Streams &streams : program->streams[half.side])
            half.endpoints.push_back(make_endpoint(half, streams, attr));
        for (const fake::Side &each : half.endpoints)
            half.handles.push_back(each.ep->handle());
    }
    fake::Side make_endpoint(const Half &half, const order::Streams &streams,
                             const EpAttributes &attr) {
        const auto evd = [&](int number) { return half.evds[static_cast<std::size_t>(number)]; };
        fake::Side side{&ia->adopt(std::make_unique<Ep>(*ia, attr, nullptr)), evd(streams.receives),
                        evd(streams.requests), evd(streams.connections)};
        side.ep->set_pz(pz);
        side.ep->set_recv_evd(side.recv);
        side.ep->set_request_evd(side.request);
        side.ep->set_connect_evd(side.connection);
        return side;
    }
    RsmRegion *register_bytes(Half &half, std::size_t from, std::size_t size) {
        return contexts_of(*ia).create(*pz, pinned,
                                       reinterpret_cast<std::uint64_t>(half.arena.data() + from),
                                       size, rights::ALL, true);
    }
    void tear_down(Half &half) {
        for (fake::Side &side : half.endpoints)
            if (side.ep != nullptr)
                ia->destroy(*side.ep);
        for (Evd *evd : half.evds)
            ia->destroy(*evd);
        half.free_region();
        contexts_of(*ia).destroy(*half.main);
    }

    const order::Buffer &buffer(int index) const {
        return program->buffers[static_cast<std::size_t>(index)];
    }
    static std::uint64_t address(Half &half, const order::Piece &piece) {
        return reinterpret_cast<std::uint64_t>(half.arena.data() + piece.offset);
    }
    std::vector<Segment> local(Half &half, const order::Post &post) const {
        std::vector<Segment> pieces;
        if (post.buffer >= 0)
            for (const order::Piece &piece : buffer(post.buffer).pieces)
                pieces.push_back({half.main->context, 0, address(half, piece), piece.length});
        return pieces;
    }
    RemoteSegment remote(const order::Post &post) const {
        Half &peer = halves[1 - post.side];
        const order::Buffer &target = buffer(post.target);
        const RemoteKey known = target.doomed ? peer.doomed_context : peer.main->context;
        return {post.refused ? ~known : known, 0, address(peer, target.pieces.front()),
                buffer(post.buffer).length()};
    }
    bool post(Half &half, int index) {
        const fake::Side &side = half.at(program->posts[static_cast<std::size_t>(index)].endpoint);
        const Status result = call(half, index);
        EXPECT_TRUE(result == Status::OK || result == side.ep->wrong_state())
            << order::describe(*program, index) << ": " << static_cast<int>(result);
        return result == Status::OK;
    }
    Status call(Half &half, int index) {
        const order::Post &post = program->posts[static_cast<std::size_t>(index)];
        const fake::Side &side = half.at(post.endpoint);
        const auto pieces = local(half, post);
        const auto id = static_cast<std::uint64_t>(index);
        switch (post.work) {
        case order::Work::SEND:
            return side.send(pieces, id, flags_of(post));
        case order::Work::RECEIVE:
            return side.receive(pieces, id, flags_of(post));
        case order::Work::WRITE:
            return side.write(pieces, remote(post), id, flags_of(post));
        case order::Work::READ:
            return side.read(pieces, remote(post), id, flags_of(post));
        }
        return Status::INTERNAL_ERROR;
    }

    // One endpoint goes on, as when its EVDs are polled or its engine is woken.
    void poll_one() {
        Half &half = halves[random() % order::sides];
        poll(half.at(static_cast<int>(random() % half.endpoints.size())));
    }
    static void poll(const fake::Side &side) {
        if (side.ep != nullptr)
            side.ep->connector->poll(false);
    }
    void poll_all() {
        for (int side = 0; side < order::sides; ++side)
            for (const fake::Side &each : halves[side].endpoints)
                poll(each);
    }
    // An event that does not come while everybody goes on again and again will never come.
    order::Event wait(Half &half, int evd) {
        for (int rounds = 0; rounds < 2000; ++rounds) {
            if (const auto event = take(half, evd))
                return *event;
            for (int turns = 0; turns < 3; ++turns)
                poll_one();
            if (rounds % 4 == 3)
                poll_all();
        }
        throw std::runtime_error("an event does not come");
    }
    std::optional<order::Event> take(Half &half, int evd) {
        const Event *event = nullptr;
        if (half.evds[static_cast<std::size_t>(evd)]->dequeue(event) != Status::OK)
            return {};
        if (event->kind == EventKind::TRANSFER) {
            const auto &data = event->transfer;
            return order::Event{order::What::COMPLETED, static_cast<int>(data.cookie),
                                status_of(data.status),
                                static_cast<std::uint32_t>(data.length)};
        }
        const auto found =
            std::ranges::find(half.handles, event->connection.ep);
        const bool broken = event->kind == EventKind::BROKEN;
        if (found == half.handles.end() ||
            (!broken && event->kind != EventKind::DISCONNECTED))
            return order::Event{order::What::STRANGE, static_cast<int>(event->kind)};
        return order::Event{broken ? order::What::BROKEN : order::What::DISCONNECTED,
                            static_cast<int>(found - half.handles.begin())};
    }

    const order::Program *program = nullptr;
    Half *halves = nullptr;
    std::shared_ptr<RsmPinned> pinned = std::make_shared<RsmPinned>(0, 0, false);
    std::mt19937_64 random;
};

TEST_F(DaplTransferOrder, ProgramsOnOneNodeKeepTheRules) {
    run_programs(fake::HERE);
}

TEST_F(DaplTransferOrder, ProgramsBetweenNodesKeepTheRules) {
    run_programs(fake::ELSEWHERE);
}

} // namespace
