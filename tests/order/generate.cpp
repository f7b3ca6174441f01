// SPDX-License-Identifier: GPL-2.0
#include "order/generate.hpp"

#include <algorithm>
#include <array>
#include <random>

namespace order {
namespace {

constexpr std::uint32_t most_bytes = 9000; // of a message
constexpr Token last_token = 250;

// A message of an endpoint in one direction: the n-th send and the n-th receive.
struct Message {
    int send = -1;
    int receive = -1;
};

// State of one side of an endpoint.
struct Half {
    std::vector<int> requests;
    int sends = 0;
    int receives = 0;
    std::vector<Message> messages; // that this side sends
    std::vector<int> targets;      // of the other side, for RDMA of this side
    std::vector<int> read_into;    // of this side, destinations of its reads
    bool freed = false;
    bool quiet = false; // has asked for a graceful end
    bool disconnected = false;
};

struct Connection {
    std::array<Half, sides> half;
    bool ends = false; // surely, whatever happens after this step
};

class Generator {
  public:
    explicit Generator(std::uint64_t seed) : random_(seed) { program_.seed = seed; }
    Program run();

  private:
    std::uint32_t below(std::uint32_t limit) {
        return static_cast<std::uint32_t>(random_() % limit);
    }
    bool chance(std::uint32_t percent) { return below(100) < percent; }
    Half &half(int side, int ep) {
        return connections_[static_cast<std::size_t>(ep)].half[static_cast<std::size_t>(side)];
    }
    Connection &connection(int ep) { return connections_[static_cast<std::size_t>(ep)]; }
    const Buffer &buffer(int index) const {
        return program_.buffers[static_cast<std::size_t>(index)];
    }
    const Post &post(int index) const { return program_.posts[static_cast<std::size_t>(index)]; }

    void choose_streams(int side);
    Streams streams(int ep, std::uint32_t kind);
    std::uint32_t length();
    bool room(std::uint32_t length, bool doomed) const;
    int make_buffer(int side, int ep, std::uint32_t length, Token token, bool in_pieces,
                    bool doomed = false);
    std::uint32_t place(int side, std::uint32_t length, bool doomed);
    int source(int side, int ep, std::uint32_t most);
    int target(int side, int ep, std::uint32_t least);

    void add(int side, Act act, int index = 0) { program_.steps.push_back({side, act, index}); }
    void add_post(Post next);
    void add_flags(Post &next);
    bool can_request(int side, int ep);
    void send(int side, int ep);
    void receive(int side, int ep);
    void write(int side, int ep);
    void read(int side, int ep);
    void refuse(Post &next);

    bool completes(int index);
    int nth_of_sends(int index);
    void await_some();
    void end_some(int side, int ep);
    void free_region(int side);
    void notify(int from);
    void step();

    void settle();
    void finish();
    void finish_side(int side, int ep);

    std::mt19937_64 random_;
    Program program_;
    std::vector<Connection> connections_;
    std::array<std::array<std::uint32_t, 2>, sides> used_{};
    std::vector<bool> awaited_;
    std::array<bool, sides> region_freed_{};
    Token next_token_ = 1;
    bool peaceful_ = false; // nothing ends before the program does
};

Streams Generator::streams(int ep, std::uint32_t kind) {
    const int pool = static_cast<int>(below(4));
    switch (kind) {
    case 0:
        return {0, 0, 0};
    case 1:
        return {0, 0, 1};
    case 2:
        return {0, 1, 2};
    case 3:
        return {3 * ep, 3 * ep + 1, 3 * ep + 2};
    default:
        return {pool, static_cast<int>(below(4)), 4};
    }
}

void Generator::choose_streams(int side) {
    std::uint32_t kind = below(5);
    if (program_.unsignalled && kind == 0)
        kind = 1; // such requests share no EVD with events of connections
    for (int ep = 0; ep < program_.endpoints; ep++)
        program_.streams[side].push_back(streams(ep, kind));
    const int all[] = {1, 2, 3, 3 * program_.endpoints, 5};
    program_.evds[side] = all[kind];
}

std::uint32_t Generator::length() {
    constexpr std::uint32_t limits[] = {8, 8, 64, 64, 64, 300, 300, 300, 2000, most_bytes};
    return 1 + below(limits[below(10)]);
}

bool Generator::room(std::uint32_t wanted, bool doomed) const {
    const std::size_t part = doomed ? 1 : 0;
    const std::uint32_t used = std::max(used_[0][part], used_[1][part]);
    return used + wanted + 1024 < (doomed ? doomed_bytes : main_bytes);
}

// Guard bytes stand before and behind each piece.
std::uint32_t Generator::place(int side, std::uint32_t wanted, bool doomed) {
    std::uint32_t &used = used_[static_cast<std::size_t>(side)][doomed ? 1 : 0];
    const std::uint32_t at = used + 8 + below(24);
    used = at + wanted + 8;
    return (doomed ? main_bytes : 0) + at;
}

int Generator::make_buffer(int side, int ep, std::uint32_t wanted, Token token, bool in_pieces,
                           bool doomed) {
    Buffer made{side, ep, token, doomed, {}};
    std::uint32_t left = wanted;
    while (left > 0) {
        const bool last = !in_pieces || made.pieces.size() == 2 || chance(60);
        const std::uint32_t part = last ? left : 1 + below(left);
        made.pieces.push_back({place(side, part, doomed), part});
        left -= part;
    }
    program_.buffers.push_back(made);
    return static_cast<int>(program_.buffers.size()) - 1;
}

// A new buffer, or one that a read fills.
int Generator::source(int side, int ep, std::uint32_t most) {
    const std::vector<int> &filled = half(side, ep).read_into;
    if (!filled.empty() && chance(50)) {
        const int found = filled[below(static_cast<std::uint32_t>(filled.size()))];
        if (buffer(found).length() <= most)
            return found;
    }
    return make_buffer(side, ep, std::min(length(), most), next_token_++, true);
}

int Generator::target(int side, int ep, std::uint32_t least) {
    Half &own = half(side, ep);
    if (!own.targets.empty() && chance(50)) {
        const int found = own.targets[below(static_cast<std::uint32_t>(own.targets.size()))];
        if (buffer(found).length() >= least)
            return found;
    }
    const bool doomed = !peaceful_ && chance(15) && room(2 * least, true);
    const std::uint32_t more = chance(30) ? below(20) : 0;
    own.targets.push_back(make_buffer(1 - side, ep, least + more, next_token_++, false, doomed));
    return own.targets.back();
}

void Generator::add_flags(Post &next) {
    next.suppressed = chance(25);
    next.fenced = chance(20);
    next.unsignalled = program_.unsignalled && chance(40);
    next.solicited = next.work == Work::SEND && chance(10);
}

void Generator::add_post(Post next) {
    const int index = static_cast<int>(program_.posts.size());
    Half &own = half(next.side, next.endpoint);
    program_.posts.push_back(next);
    awaited_.push_back(false);
    if (is_request(next.work))
        own.requests.push_back(index);
    if (next.work == Work::SEND)
        own.sends++;
    if (next.work == Work::RECEIVE)
        own.receives++;
    add(next.side, Act::POST, index);
    if (next.refused && completes(index))
        connection(next.endpoint).ends = true;
}

bool Generator::can_request(int side, int ep) {
    const Half &own = half(side, ep);
    return !own.freed && !own.quiet && own.requests.size() + 2 < most_posts;
}

void Generator::send(int side, int ep) {
    Half &own = half(side, ep);
    const std::size_t place = static_cast<std::size_t>(own.sends);
    if (own.messages.size() <= place)
        own.messages.emplace_back();
    std::uint32_t most = most_bytes;
    if (own.messages[place].receive >= 0) {
        const int into = post(own.messages[place].receive).buffer;
        most = into < 0 ? 0 : buffer(into).length();
        if (!peaceful_ && chance(2))
            most += 1 + below(50);
    }
    Post next{side, ep, Work::SEND};
    if (most > 0 && !chance(3))
        next.buffer = source(side, ep, most);
    add_flags(next);
    own.messages[place].send = static_cast<int>(program_.posts.size());
    add_post(next);
}

void Generator::receive(int side, int ep) {
    Half &own = half(side, ep);
    Half &sender = half(1 - side, ep);
    const std::size_t place = static_cast<std::size_t>(own.receives);
    if (own.freed || own.receives + 2 >= most_posts)
        return;
    if (sender.messages.size() <= place)
        sender.messages.emplace_back();
    std::uint32_t wanted = chance(3) ? 0 : length();
    if (sender.messages[place].send >= 0) {
        const int from = post(sender.messages[place].send).buffer;
        const std::uint32_t least = from < 0 ? 0 : buffer(from).length();
        const bool too_short = !peaceful_ && least > 1 && chance(2);
        wanted = too_short ? least - 1 : least + (chance(50) ? below(30) : 0);
    }
    Post next{side, ep, Work::RECEIVE};
    if (wanted > 0)
        next.buffer = make_buffer(side, ep, wanted, untouched, true);
    sender.messages[place].receive = static_cast<int>(program_.posts.size());
    add_post(next);
}

void Generator::refuse(Post &next) {
    next.refused = !peaceful_ && chance(3);
}

void Generator::write(int side, int ep) {
    Post next{side, ep, Work::WRITE};
    next.buffer = source(side, ep, most_bytes);
    next.target = target(side, ep, buffer(next.buffer).length());
    add_flags(next);
    refuse(next);
    add_post(next);
}

void Generator::read(int side, int ep) {
    Post next{side, ep, Work::READ};
    next.target = target(side, ep, length());
    next.buffer = make_buffer(side, ep, buffer(next.target).length(), untouched, true);
    add_flags(next);
    refuse(next);
    half(side, ep).read_into.push_back(next.buffer);
    add_post(next);
}

// Sends in the stream of this request up to it.
int Generator::nth_of_sends(int index) {
    int count = 0;
    for (const int each : half(post(index).side, post(index).endpoint).requests) {
        count += post(each).work == Work::SEND;
        if (each == index)
            break;
    }
    return count;
}

// Whether the post completes even if no further step is done.
bool Generator::completes(int index) {
    const Post &own = post(index);
    const Half &peer = half(1 - own.side, own.endpoint);
    if (connection(own.endpoint).ends)
        return true;
    if (is_request(own.work))
        return nth_of_sends(index) <= peer.receives;
    const auto arrived = std::ranges::find(peer.messages, index, &Message::receive);
    return arrived != peer.messages.end() && arrived->send >= 0;
}

void Generator::await_some() {
    const int index = static_cast<int>(below(static_cast<std::uint32_t>(program_.posts.size())));
    const Post &own = post(index);
    if (own.suppressed || awaited_[static_cast<std::size_t>(index)] ||
        half(own.side, own.endpoint).freed || !completes(index))
        return;
    awaited_[static_cast<std::size_t>(index)] = true;
    add(own.side, Act::AWAIT, index);
}

void Generator::end_some(int side, int ep) {
    Half &own = half(side, ep);
    if (own.freed || own.disconnected)
        return;
    if (chance(30)) {
        own.freed = own.disconnected = true;
        add(side, Act::FREE, ep);
    } else if (chance(50) && !own.quiet &&
               (own.requests.empty() || completes(own.requests.back()))) {
        own.quiet = own.disconnected = true;
        add(side, Act::GRACEFUL, ep);
    } else {
        own.disconnected = true;
        add(side, Act::DISCONNECT, ep);
    }
    connection(ep).ends = true;
}

void Generator::free_region(int side) {
    if (region_freed_[static_cast<std::size_t>(side)])
        return;
    region_freed_[static_cast<std::size_t>(side)] = true;
    add(side, Act::FREE_LMR);
}

void Generator::notify(int from) {
    add(from, Act::NOTIFY);
    add(1 - from, Act::AWAIT_NOTICE);
}

void Generator::step() {
    const int side = static_cast<int>(below(2));
    const int ep = static_cast<int>(below(static_cast<std::uint32_t>(program_.endpoints)));
    const std::uint32_t dice = below(1000);
    if (dice < 250)
        return receive(side, ep);
    if (dice < 450)
        return can_request(side, ep) ? send(side, ep) : void();
    if (dice < 570)
        return can_request(side, ep) ? write(side, ep) : void();
    if (dice < 660)
        return can_request(side, ep) ? read(side, ep) : void();
    if (dice < 970)
        return program_.posts.empty() ? void() : await_some();
    if (dice < 985)
        return notify(side);
    if (peaceful_)
        return;
    return dice < 992 ? free_region(side) : end_some(side, ep);
}

// Waits for all that completes, and tells the side that ends the connections.
void Generator::settle() {
    for (int index = 0; index < static_cast<int>(program_.posts.size()); index++) {
        const Post &own = post(index);
        if (!own.suppressed && !awaited_[static_cast<std::size_t>(index)] &&
            !half(own.side, own.endpoint).freed && completes(index))
            add(own.side, Act::AWAIT, index);
    }
    notify(1);
}

void Generator::finish_side(int side, int ep) {
    if (half(side, ep).freed)
        return;
    add(side, Act::AWAIT_END, ep);
    for (const Work work : {Work::SEND, Work::RECEIVE}) {
        Post next{side, ep, work};
        next.marker = true;
        add(side, Act::POST, static_cast<int>(program_.posts.size()));
        add(side, Act::AWAIT, static_cast<int>(program_.posts.size()));
        program_.posts.push_back(next);
    }
}

void Generator::finish() {
    if (chance(75))
        settle();
    for (int ep = 0; ep < program_.endpoints; ep++)
        if (!half(0, ep).disconnected)
            add(0, Act::DISCONNECT, ep);
    for (int side = 0; side < sides; side++)
        for (int ep = 0; ep < program_.endpoints; ep++)
            finish_side(side, ep);
}

Program Generator::run() {
    program_.endpoints = 1 + static_cast<int>(below(chance(50) ? most_endpoints : 3));
    program_.unsignalled = chance(20);
    program_.polls = program_.unsignalled || chance(50);
    peaceful_ = chance(30);
    connections_.resize(static_cast<std::size_t>(program_.endpoints));
    for (int side = 0; side < sides; side++)
        choose_streams(side);
    const std::uint32_t steps = 10 + below(chance(30) ? 250 : 80);
    for (std::uint32_t i = 0; i < steps && next_token_ < last_token && room(3 * most_bytes, false);
         i++)
        step();
    finish();
    program_.arena = arena_bytes;
    return std::move(program_);
}

} // namespace

Program generate(std::uint64_t seed) {
    return Generator(seed).run();
}

std::uint64_t next_seed(std::uint64_t seed) {
    seed += 0x9e3779b97f4a7c15ULL;
    seed = (seed ^ (seed >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    return seed ^ (seed >> 27U);
}

} // namespace order
