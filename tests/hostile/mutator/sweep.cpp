// SPDX-License-Identifier: GPL-2.0
#include "mutator/sweep.hpp"

#include "segments.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <latch>
#include <limits>
#include <linux/rsm_common.h>
#include <stdexcept>
#include <stop_token>
#include <thread>

using std::chrono::milliseconds;

namespace hostile {
namespace {

constexpr struct {
    Change change;
    const char *name;
} changes[] = {
    {Change::zero, "zero"}, {Change::max, "max"},       {Change::more, "one more"},
    {Change::less, "one less"}, {Change::random, "random"}, {Change::twice, "twice"},
};

// Cookies of questions that only mark a place in the queue begin here.
constexpr u32 first_mark = 0x40000000;
constexpr unsigned enough_breaks = 3;
constexpr u32 no_segment = segment_id(100, 0);

#define FIELD(type, field) Field{#field, offsetof(type, field), sizeof(type::field)}
#define IN_MESSAGE(type, field)                                                                                        \
    Field{#field, offsetof(rsm_window_message, data) + offsetof(type, field), sizeof(type::field)}

constexpr Field of_all[] = {
    {"entry len", offsetof(rsm_window_message, len), sizeof(rsm_window_message::len)},
    {"entry reserved", offsetof(rsm_window_message, reserved), sizeof(rsm_window_message::reserved)},
    IN_MESSAGE(rsm_msg_header, version),
    IN_MESSAGE(rsm_msg_header, type),
    IN_MESSAGE(rsm_msg_header, len),
    IN_MESSAGE(rsm_msg_header, from),
    IN_MESSAGE(rsm_msg_header, to),
};
constexpr Field of_hello[] = {IN_MESSAGE(rsm_msg_hello, node), IN_MESSAGE(rsm_msg_hello, interval_ms)};
constexpr Field of_connect[] = {IN_MESSAGE(rsm_msg_connect, id), IN_MESSAGE(rsm_msg_connect, cookie)};
constexpr Field of_connected[] = {
    IN_MESSAGE(rsm_msg_connected, cookie),   IN_MESSAGE(rsm_msg_connected, status),
    IN_MESSAGE(rsm_msg_connected, handle),   IN_MESSAGE(rsm_msg_connected, mode),
    IN_MESSAGE(rsm_msg_connected, uid),      IN_MESSAGE(rsm_msg_connected, gid),
    IN_MESSAGE(rsm_msg_connected, length),   IN_MESSAGE(rsm_msg_connected, place[0]),
    IN_MESSAGE(rsm_msg_connected, place[1]),
};
constexpr Field of_connection[] = {
    IN_MESSAGE(rsm_msg_connection, cookie),
    IN_MESSAGE(rsm_msg_connection, handle),
    IN_MESSAGE(rsm_msg_connection, value),
    IN_MESSAGE(rsm_msg_connection, to_exporter),
};
constexpr Field of_move[] = {
    IN_MESSAGE(rsm_msg_move, cookie),
    IN_MESSAGE(rsm_msg_move, handle),
    IN_MESSAGE(rsm_msg_move, place[0]),
    IN_MESSAGE(rsm_msg_move, place[1]),
};

struct Type {
    unsigned type;
    const char *name;
    std::span<const Field> body;
};

constexpr Type types[] = {
    {RSM_MSG_HELLO, "HELLO", of_hello},
    {RSM_MSG_WELCOME, "WELCOME", of_hello},
    {RSM_MSG_HEARTBEAT, "HEARTBEAT", of_hello},
    {RSM_MSG_BYE, "BYE", of_hello},
    {RSM_MSG_CONNECT, "CONNECT", of_connect},
    {RSM_MSG_CONNECTED, "CONNECTED", of_connected},
    {RSM_MSG_DISCONNECT, "DISCONNECT", of_connection},
    {RSM_MSG_UNPUBLISH, "UNPUBLISH", of_connection},
    {RSM_MSG_REPUBLISH, "REPUBLISH", of_connection},
    {RSM_MSG_BELL, "BELL", of_connection},
    {RSM_MSG_MOVE, "MOVE", of_move},
    {RSM_MSG_MOVED, "MOVED", of_connection},
    {RSM_MSG_PLACE, "PLACE", of_connection},
};

constexpr Field of_node[] = {
    FIELD(rsm_window_node, incarnation), FIELD(rsm_window_node, node_id), FIELD(rsm_window_node, interval_ms),
    FIELD(rsm_window_node, beat),        FIELD(rsm_window_node, bell),
};
constexpr Field tail = FIELD(rsm_window_queue, tail);
constexpr Field head = FIELD(rsm_window_queue, head);

// Calls f with a reference to the field.
template <class F>
void with(std::byte *base, const Field &field, F f) {
    std::byte *at = base + field.offset;
    switch (field.size) {
    case 2:
        return f(*reinterpret_cast<std::uint16_t *>(at));
    case 4:
        return f(*reinterpret_cast<std::uint32_t *>(at));
    case 8:
        return f(*reinterpret_cast<std::uint64_t *>(at));
    default:
        throw std::logic_error("there is no such field");
    }
}

template <class T>
T changed(T value, Change change, Chance &chance) {
    switch (change) {
    case Change::zero:
        return 0;
    case Change::max:
        return std::numeric_limits<T>::max();
    case Change::more:
        return static_cast<T>(value + 1);
    case Change::less:
        return static_cast<T>(value - 1);
    default:
        return static_cast<T>(chance.bits());
    }
}

void apply(std::byte *base, const Field &field, Change change, Chance &chance) {
    with(base, field, [&]<class T>(T &word) { poke(word, changed(peek(word), change, chance)); });
}

u32 first_guest(Window &window) {
    const auto guests = window.guests();
    if (guests.empty())
        throw std::runtime_error("there is no guest");
    return guests.front();
}

template <class T>
std::byte *bytes(T &object) {
    return reinterpret_cast<std::byte *>(&object);
}

} // namespace

// Two values in turn, as fast as it goes, as long as it exists; then the good one.
class Flipper {
  public:
    // The thread changes the values before this returns: a guest that is told afterwards reads a field that changes.
    Flipper(std::byte *base, const Field &field, Chance &chance) {
        with(base, field, [&]<class T>(T &word) { start(word, static_cast<T>(chance.bits())); });
        begun_.wait();
    }

  private:
    template <class T>
    void start(T &word, T other) {
        thread_ = std::jthread([this, &word, other, good = peek(word)](const std::stop_token &stop) {
            flip(word, other, good);
            begun_.count_down();
            while (!stop.stop_requested())
                flip(word, other, good);
        });
    }

    template <class T>
    static void flip(T &word, T other, T good) {
        for (int i = 0; i < 1000; i++)
            poke(word, i % 2 == 0 ? other : good);
    }

    std::latch begun_{1};
    std::jthread thread_; // ends before the latch does
};

Sweep::~Sweep() = default;

Sweep::Sweep(Window &window, Chance &chance)
    : Member(window, chance, stranger_node), victim_(first_guest(window)), last_mark_(first_mark) {
    add_message_cases();
    add_window_cases();
}

void Sweep::add_message_cases() {
    const auto add = [this](const Type &type, const Field &field) {
        for (const auto &change : changes)
            cases_.push_back({std::string(type.name) + "." + field.name + " " + change.name,
                              [this, type = type.type, field, change = change.change] {
                                  return send_changed(type, field, change);
                              },
                              type.type});
    };
    for (const Type &type : types) {
        for (const Field &field : of_all)
            add(type, field);
        for (const Field &field : type.body)
            add(type, field);
    }
}

void Sweep::add_cases(const std::string &name, const Field &field, std::byte *base) {
    for (const auto &change : changes)
        cases_.push_back({name + "." + field.name + " " + change.name,
                          [this, field, base, change = change.change] { return change_window(field, base, change); }, 0});
}

void Sweep::add_window_cases() {
    const u32 own = window().own_slot();
    for (const Field &field : of_node) {
        add_cases("own slot", field, bytes(window().node(own)));
        add_cases("guest's slot", field, bytes(window().node(victim_)));
    }
    add_cases("queue to guest", tail, bytes(window().queue(own, victim_)));
    add_cases("queue from guest", head, bytes(window().queue(victim_, own)));
}

// The good message that a field of it is to be changed in, or none as long as there is nothing that it could be about.
std::optional<Message> Sweep::good(unsigned type) {
    switch (type) {
    case RSM_MSG_CONNECT:
        last_cookie_++;
        return forger().connect(to(victim_), segment_id(1 + last_cookie_ % 2, last_cookie_ / 2 % ids_per_node),
                                last_cookie_);
    case RSM_MSG_CONNECTED:
        if (!asked_)
            return std::nullopt;
        return about(type, Connection{*asked_, 1});
    case RSM_MSG_DISCONNECT:
    case RSM_MSG_MOVED:
    case RSM_MSG_PLACE:
        return about(type, import_);
    case RSM_MSG_UNPUBLISH:
    case RSM_MSG_REPUBLISH:
    case RSM_MSG_MOVE:
        return about(type, export_);
    case RSM_MSG_BELL:
        return about(type, rings_exporter() ? import_ : export_);
    default:
        return forger().greeting(to(victim_), type, stranger_node, Member::interval_for(victim_));
    }
}

std::optional<Message> Sweep::about(unsigned type, const std::optional<Connection> &connection) {
    if (!connection)
        return std::nullopt;
    if (type == RSM_MSG_MOVE)
        return forger().move(to(victim_), connection->cookie, connection->handle, own_memory());
    if (type == RSM_MSG_CONNECTED) {
        Message message = forger().connected(to(victim_), connection->cookie, RSM_SUCCESS);
        auto &body = message.as<rsm_msg_connected>();
        body.handle = connection->handle;
        body.mode = 0666;
        body.length = segment_size;
        body.place[0] = own_memory();
        body.place[1] = 0;
        return message;
    }
    Message message = forger().connection(to(victim_), type, connection->cookie, connection->handle);
    auto &body = message.as<rsm_msg_connection>();
    body.value = type == RSM_MSG_REPUBLISH ? 0666 : 0;
    body.to_exporter = type == RSM_MSG_BELL && rings_exporter() ? 1 : 0;
    return message;
}

bool Sweep::send_changed(unsigned type, const Field &field, Change change) {
    const auto message = good(type);
    // A guest that has been asked for the place says that it moves: MOVED may be the answer.
    if (message && type == RSM_MSG_MOVED)
        send(victim_, *about(RSM_MSG_PLACE, import_));
    rsm_window_message *entry = message ? write(victim_, *message) : nullptr;
    if (entry == nullptr)
        return false;
    entry->reserved = 0;
    if (change != Change::twice) {
        apply(bytes(*entry), field, change, chance());
        announce(victim_);
        return true;
    }
    flipper_ = std::make_unique<Flipper>(bytes(*entry), field, chance());
    announce(victim_);
    return true;
}

bool Sweep::change_window(const Field &field, std::byte *base, Change change) {
    std::uint64_t before = 0;
    with(base, field, [&](auto &word) { before = peek(word); });
    if (change == Change::twice)
        flipper_ = std::make_unique<Flipper>(base, field, chance());
    else
        apply(base, field, change, chance());
    window().ring_all();
    // The first may be restored by a look that had begun before the change.
    await_look(1003, field, base);
    await_look(1004, field, base);
    flipper_.reset();
    restore(field, base, before);
    return true;
}

// Guests put right what is theirs. They do not take an incarnation again that they have seen go: we need another.
void Sweep::restore(const Field &field, std::byte *base, std::uint64_t before) {
    const rsm_window_node &own = window().node(window().own_slot());
    if (base != reinterpret_cast<const std::byte *>(&own))
        return;
    if (base + field.offset == reinterpret_cast<const std::byte *>(&own.incarnation))
        before = 0;
    with(base, field, [&]<class T>(T &word) { poke(word, static_cast<T>(before)); });
}

// A guest that looks at the window restores its own interval and id in it.
void Sweep::await_look(u32 value, const Field &field, const std::byte *base) {
    rsm_window_node &node = window().node(victim_);
    const bool is_interval = base + field.offset == bytes(node.interval_ms);
    auto &probe = is_interval ? node.node_id : node.interval_ms;
    poke(probe, value);
    while (peek(probe) == value) {
        const auto guests = window().guests();
        if (std::find(guests.begin(), guests.end(), victim_) == guests.end())
            throw std::runtime_error("the guest has gone");
        std::this_thread::sleep_for(milliseconds(1));
    }
}

void Sweep::ask_for_mark() {
    again_ = Clock::now() + milliseconds(500);
    if (send(victim_, forger().connect(to(victim_), no_segment, last_mark_ + 1)))
        last_mark_++;
}

void Sweep::act(u32 slot) {
    if (slot != victim_ || is_done())
        return;
    if (applied_) {
        if (Clock::now() >= again_)
            ask_for_mark();
        return;
    }
    import_one();
    if (!cases_[tried_].apply())
        return;
    applied_ = true;
    first_mark_ = last_mark_ + 1;
    ask_for_mark();
}

// Asks for a segment, unless there is one, now and then.
void Sweep::import_one() {
    if (import_ || Clock::now() < again_)
        return;
    again_ = Clock::now() + milliseconds(20);
    send(victim_, *good(RSM_MSG_CONNECT));
}

void Sweep::finish() {
    std::printf("tried %s%s\n", cases_[tried_].name.c_str(), breaks_ == enough_breaks ? ": ended the link" : "");
    // A guest that has asked still waits if it could not read the answer.
    if (asked_)
        answer(*asked_);
    if (cases_[tried_].type == RSM_MSG_DISCONNECT)
        import_.reset();
    asked_.reset();
    broken_ += breaks_ == enough_breaks;
    breaks_ = 0;
    flipper_.reset();
    applied_ = false;
    again_ = {};
    tried_++;
}

// A link that ends so often ends by the case.
void Sweep::link_ended(u32 slot) {
    if (slot != victim_)
        return;
    import_.reset();
    export_.reset();
    asked_.reset();
    if (!applied_)
        return;
    applied_ = false;
    flipper_.reset();
    if (++breaks_ == enough_breaks)
        finish();
}

void Sweep::answer(u32 cookie) {
    if (send(victim_, *about(RSM_MSG_CONNECTED, Connection{cookie, 1})))
        export_ = Connection{cookie, 1};
}

void Sweep::be_asked(u32 slot, u32 cookie) {
    const bool is_subject = slot == victim_ && !is_done() && cases_[tried_].type == RSM_MSG_CONNECTED;
    if (slot != victim_) {
        Message refusal = forger().connected(to(slot), cookie, RSMERR_SEG_NOT_PUBLISHED);
        send(slot, refusal);
    } else if (!is_subject) {
        answer(cookie);
    } else if (!asked_) {
        asked_ = cookie;
    } else {
        answer(cookie);
    }
}

void Sweep::be_answered(const rsm_msg_connected &message) {
    if (message.cookie > first_mark && message.cookie <= last_mark_) {
        if (applied_ && message.cookie >= first_mark_)
            finish();
    } else if (message.status == RSM_SUCCESS) {
        import_ = Connection{message.cookie, message.handle};
    }
}

void Sweep::be_told(u32 slot, const rsm_msg_connection &message) {
    send(slot, forger().connection(to(slot), RSM_MSG_DISCONNECT, message.cookie, message.handle));
    if (slot == victim_ && import_ && import_->cookie == message.cookie)
        import_.reset();
}

void Sweep::be_moved(u32 slot, const rsm_msg_move &message) {
    send(slot, forger().connection(to(slot), RSM_MSG_MOVED, message.cookie, message.handle));
}

void Sweep::received(u32 slot, Message &message) {
    switch (message.header().type) {
    case RSM_MSG_CONNECT:
        return be_asked(slot, message.as<rsm_msg_connect>().cookie);
    case RSM_MSG_CONNECTED:
        if (slot == victim_)
            be_answered(message.as<rsm_msg_connected>());
        return;
    case RSM_MSG_UNPUBLISH:
        return be_told(slot, message.as<rsm_msg_connection>());
    case RSM_MSG_MOVE:
        return be_moved(slot, message.as<rsm_msg_move>());
    case RSM_MSG_DISCONNECT:
        if (slot == victim_ && export_ && export_->cookie == message.as<rsm_msg_connection>().cookie)
            export_.reset();
        return;
    default:
        return;
    }
}

std::string Sweep::summary() const {
    return std::to_string(tried_) + " of " + std::to_string(cases_.size()) + " pairs of field and value tried, " +
           std::to_string(broken_) + " ended the link";
}

Beacon::Beacon(Window &window, Chance &chance) : Member(window, chance, beacon_node) {}

void Beacon::received(u32 slot, Message &message) {
    if (message.header().type == RSM_MSG_CONNECT)
        send(slot, forger().connected(to(slot), message.as<rsm_msg_connect>().cookie, RSMERR_SEG_NOT_PUBLISHED));
}

} // namespace hostile
