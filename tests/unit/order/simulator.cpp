// SPDX-License-Identifier: GPL-2.0
#include "simulator.h"

#include <algorithm>
#include <stdexcept>

namespace order {

class Simulator::Side : public Library {
  public:
    Side(Simulator &network, int side) : network_(network), side_(side) {}

    bool post(int index) override { return network_.post(index); }
    Event wait(int evd) override {
        const auto event = take(evd);
        if (!event)
            throw std::runtime_error("a wait for an event that does not come");
        return *event;
    }
    std::optional<Event> take(int evd) override {
        auto &events =
            network_.events_[static_cast<std::size_t>(side_)][static_cast<std::size_t>(evd)];
        if (events.empty())
            return {};
        const Event event = events.front();
        events.pop_front();
        return event;
    }
    void disconnect(int endpoint, bool /*graceful*/) override { network_.end(endpoint); }
    void free(int endpoint) override { network_.free(side_, endpoint); }
    void free_region() override { network_.region_freed_[static_cast<std::size_t>(side_)] = true; }
    void notify() override {}
    void await_notice() override {}

  private:
    Simulator &network_;
    int side_;
};

Simulator::Simulator(const Program &program, Mistake mistake)
    : program_(program), mistake_(mistake),
      connections_(static_cast<std::size_t>(program.endpoints)) {
    for (std::size_t side = 0; side < sides; side++) {
        arenas_[side].resize(program.arena);
        events_[side].resize(static_cast<std::size_t>(program.evds[side]));
    }
}

Simulator::~Simulator() = default;

std::array<Record, sides> Simulator::run() {
    std::array<Side, sides> libraries{Side(*this, 0), Side(*this, 1)};
    std::array<Player, sides> players{Player(program_, 0, libraries[0], arenas_[0]),
                                      Player(program_, 1, libraries[1], arenas_[1])};
    for (const Step &step : program_.steps)
        players[static_cast<std::size_t>(step.side)].act(step);
    for (const int index : late_)
        read(index);
    return {players[0].finish(), players[1].finish()};
}

bool Simulator::strikes(Mistake mistake) {
    return mistake == mistake_ && ++struck_ % 3 == 0;
}

std::uint32_t Simulator::length(int index) const {
    const int buffer = post_of(index).buffer;
    return buffer < 0 ? 0 : program_.buffers[static_cast<std::size_t>(buffer)].length();
}

bool Simulator::refused(const Post &post) const {
    if (mistake_ == Mistake::LEAVES_REFUSALS_OUT)
        return false;
    return post.refused || (program_.buffers[static_cast<std::size_t>(post.target)].doomed &&
                            region_freed_[static_cast<std::size_t>(1 - post.side)]);
}

std::vector<std::byte> Simulator::bytes_of(int side, int buffer) const {
    std::vector<std::byte> result;
    if (buffer >= 0)
        for (const Piece &piece : program_.buffers[static_cast<std::size_t>(buffer)].pieces) {
            const auto from = arenas_[static_cast<std::size_t>(side)].begin() + piece.offset;
            result.insert(result.end(), from, from + piece.length);
        }
    return result;
}

void Simulator::put(int side, int buffer, const std::vector<std::byte> &bytes) {
    if (buffer < 0)
        return;
    std::size_t at = strikes(Mistake::SHIFTS_MESSAGES) ? 1 : 0;
    for (const Piece &piece : program_.buffers[static_cast<std::size_t>(buffer)].pieces) {
        for (std::uint32_t i = 0; i < piece.length && at < bytes.size(); i++)
            arenas_[static_cast<std::size_t>(side)][piece.offset + i] = bytes[at++];
        if (strikes(Mistake::WRITES_TOO_FAR))
            arenas_[static_cast<std::size_t>(side)][piece.offset + piece.length] ^= std::byte{1};
    }
}

bool Simulator::post(int index) {
    const Post &own = post_of(index);
    if (!own.marker && strikes(Mistake::REJECTS))
        return false;
    Queue &queue = connection(own.endpoint).queues[static_cast<std::size_t>(own.side)];
    (is_request(own.work) ? queue.requests : queue.receives).push_back(index);
    progress(own.endpoint);
    if (strikes(Mistake::FLUSHES_WITHOUT_CAUSE) && !connection(own.endpoint).over)
        stop(own.endpoint, What::BROKEN);
    return true;
}

void Simulator::progress(int endpoint) {
    Connection &connected = connection(endpoint);
    while (!connected.over && (request(0, endpoint) || request(1, endpoint))) {
    }
    if (!connected.over)
        return;
    for (Queue &queue : connected.queues)
        for (auto *posts : {&queue.receives, &queue.requests})
            for (; !posts->empty(); posts->pop_front())
                complete(posts->front(), Status::FLUSHED);
}

// The first request of the queue, if it can be carried out.
bool Simulator::request(int side, int endpoint) {
    Connection &connected = connection(endpoint);
    Queue &queue = connected.queues[static_cast<std::size_t>(side)];
    if (connected.over || queue.requests.empty())
        return false;
    const int index = queue.requests.front();
    const Post &own = post_of(index);
    if (own.work == Work::SEND)
        return send(index);
    queue.requests.pop_front();
    if (refused(own)) {
        complete(index, Status::REMOTE_ACCESS);
        if (mistake_ != Mistake::GOES_ON_BEHIND_ERROR)
            stop(endpoint, What::BROKEN);
        return true;
    }
    own.work == Work::WRITE ? write(index) : read(index);
    complete(index, Status::SUCCESS, length(index));
    return true;
}

bool Simulator::send(int index) {
    const Post &own = post_of(index);
    Queue &peer = connection(own.endpoint).queues[static_cast<std::size_t>(1 - own.side)];
    if (peer.receives.empty())
        return false;
    const bool wrong = strikes(Mistake::SWAPS_RECEIVES);
    const int receive = wrong ? peer.receives.back() : peer.receives.front();
    wrong ? peer.receives.pop_back() : peer.receives.pop_front();
    connection(own.endpoint).queues[static_cast<std::size_t>(own.side)].requests.pop_front();
    if (length(index) > length(receive)) {
        complete(receive, Status::LOCAL_LENGTH);
        complete(index, Status::REMOTE_RESPONDER);
        stop(own.endpoint, What::BROKEN);
        return true;
    }
    put(1 - own.side, post_of(receive).buffer, bytes_of(own.side, own.buffer));
    complete(receive, Status::SUCCESS, length(index));
    complete(index, Status::SUCCESS, length(index));
    return true;
}

void Simulator::write(int index) {
    const Post &own = post_of(index);
    if (!strikes(Mistake::LOSES_WRITES))
        put(1 - own.side, own.target, bytes_of(own.side, own.buffer));
}

void Simulator::read(int index) {
    const Post &own = post_of(index);
    if (late_.empty() && mistake_ == Mistake::READS_LATE) {
        late_.push_back(index);
        return;
    }
    put(own.side, own.buffer, bytes_of(1 - own.side, own.target));
}

void Simulator::complete(int index, Status status, std::uint32_t bytes) {
    const Post &own = post_of(index);
    const Streams &streams = program_.streams[own.side][static_cast<std::size_t>(own.endpoint)];
    const bool report =
        !own.suppressed || strikes(Mistake::REPORTS_SUPPRESSED) || status != Status::SUCCESS;
    if (report)
        push(own.side, is_request(own.work) ? streams.requests : streams.receives,
             {What::COMPLETED, index, status, bytes});
}

void Simulator::push(int side, int evd, const Event &event) {
    auto &events = events_[static_cast<std::size_t>(side)][static_cast<std::size_t>(evd)];
    if (event.what != What::COMPLETED && strikes(Mistake::ENDS_EARLY))
        return events.push_front(event);
    events.push_back(event);
    if (event.what != What::COMPLETED)
        return;
    if (strikes(Mistake::REPORTS_ANOTHER_LENGTH))
        events.back().length++;
    // Only such events as no step waits for may get lost.
    if (event.status == Status::FLUSHED && !post_of(event.index).marker &&
        strikes(Mistake::LOSES_AN_EVENT))
        events.pop_back();
    if (strikes(Mistake::REPEATS_AN_EVENT))
        events.push_back(event);
    if (mistake_ == Mistake::SWAPS_EVENTS && events.size() > 1 && strikes(Mistake::SWAPS_EVENTS))
        std::swap(events.back(), events[events.size() - 2]);
    swap_endpoints(events);
}

void Simulator::swap_endpoints(std::deque<Event> &events) {
    if (mistake_ != Mistake::SWAPS_ENDPOINTS || events.size() < 2)
        return;
    Event &last = events.back();
    Event &before = events[events.size() - 2];
    if (before.what == What::COMPLETED &&
        post_of(last.index).endpoint != post_of(before.index).endpoint)
        std::swap(last, before);
}

void Simulator::stop(int endpoint, What how) {
    connection(endpoint).over = true;
    progress(endpoint);
    if (how == What::DISCONNECTED && mistake_ == Mistake::BREAKS_INSTEAD_OF_DISCONNECTING)
        how = What::BROKEN;
    for (int side = 0; side < sides; side++) {
        const int evd = program_.streams[side][static_cast<std::size_t>(endpoint)].connections;
        if (connection(endpoint).queues[static_cast<std::size_t>(side)].freed)
            continue;
        for (int count = strikes(Mistake::ENDS_TWICE) ? 2 : 1; count > 0; count--)
            push(side, evd, {how, endpoint, {}, 0});
    }
}

void Simulator::end(int endpoint) {
    if (!connection(endpoint).over)
        stop(endpoint, What::DISCONNECTED);
}

void Simulator::free(int side, int endpoint) {
    connection(endpoint).queues[static_cast<std::size_t>(side)].freed = true;
    end(endpoint);
}

} // namespace order
