// SPDX-License-Identifier: GPL-2.0
// A node that does not behave: it connects to another's rsm_rdma.ko and says one wrong thing.
//
// usage: ksft-stranger ADDRESS OWN-NODE ITS-NODE ATTACK [SECRET]
// With a SECRET, of 64 hexadecimal digits, it proves to know that unless it is the attack not to.
// Says "refused" or "ended" once the node has refused the connection or ended it. Exit status 2 when
// the attack could not be carried out.
#include "net/stranger/line.hpp"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>

using namespace rsmtest::stranger;

namespace {

enum MessageType : std::uint16_t {
    hello = 1,
    welcome = 2,
    heartbeat = 3,
    connect = 5,
    connected = 6,
    disconnect = 10,
    place = 16,
    last_type = 16
};

// The kind of the first frame.
enum class First { proof, other };

struct Attack {
    std::string_view name;
    void (*distort)(Request &request);
    // The connection is there. Returns when it has ended.
    void (*act)(Line &line, const Request &request);
    First first = First::proof;
};

template <class T>
void append(Bytes &bytes, const T &value) {
    const auto view = std::as_bytes(std::span(&value, 1));
    bytes.insert(bytes.end(), view.begin(), view.end());
}

Bytes frame(const FrameHeader &header, std::size_t message = 0) {
    Bytes bytes;
    append(bytes, header);
    bytes.resize(bytes.size() + message);
    return bytes;
}

// A message of an agent, with a body of its type's or any.
Bytes message(const Line &line, const Request &request, std::uint16_t type, const Bytes &body,
              std::uint16_t credits = 0) {
    Bytes bytes = frame({2, credits, 0});
    append(bytes,
           MessageHeader{1, type, static_cast<std::uint32_t>(sizeof(MessageHeader) + body.size()),
                         request.greeting.incarnation, line.node().incarnation});
    bytes.insert(bytes.end(), body.begin(), body.end());
    return bytes;
}

Bytes own_words(const Request &request) {
    Bytes body;
    append(body, request.greeting.from);
    append(body, std::uint32_t{1000});
    return body;
}

bool greet(Line &line, const Request &request) {
    return line.send(message(line, request, welcome, own_words(request)));
}

template <std::uint16_t type, std::uint16_t credits, std::uint32_t reserved, std::size_t size>
void say(Line &line, const Request & /*request*/) {
    line.send(frame({type, credits, reserved}, size));
    line.await_end();
}

template <std::size_t size>
void say_zeros(Line &line, const Request & /*request*/) {
    line.send(Bytes(size));
    line.await_end();
}

void say_nothing(Line &line, const Request & /*request*/) {
    line.await_end();
}

Mac proof(const Line &line, const Request &request) {
    return mac_of(request.secret, Role::proof, line.said());
}

void prove_wrongly(Line &line, const Request &request) {
    Mac mac = proof(line, request);
    mac.back() ^= 1;
    line.prove(mac);
    line.await_end();
}

void prove_twice(Line &line, const Request &request) {
    line.prove(proof(line, request));
    line.await_end();
}

// Sends the proof of a connection like this one, which the node had answered with other random numbers.
void prove_what_was_before(Line &line, const Request &request) {
    Transcript before = line.said();
    before.reply.nonce++;
    line.prove(mac_of(request.secret, Role::proof, before));
    line.await_end();
}

// Sends back the MAC of the node.
void reflect(Line &line, const Request & /*request*/) {
    line.prove(line.node().mac);
    line.await_end();
}

void speak_before_the_proof(Line &line, const Request &request) {
    greet(line, request);
    line.await_end();
}

struct Connect {
    std::uint32_t id;
    std::uint32_t cookie;
};

struct Connection {
    std::uint32_t cookie = 0;
    std::uint32_t handle = 0;
    std::uint32_t value = 0;
    std::uint32_t to_exporter = 0;
};

// Id of the segment of the node that the stranger imports.
constexpr std::uint32_t deaf_import = 0x600001;

struct Connected {
    std::uint32_t cookie = 0;
    std::uint32_t status = 0;
    std::uint32_t handle = 1;
    std::uint32_t mode = 0666;
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    std::uint64_t length = std::uint64_t{1} << 43;
    std::uint64_t place = std::uint64_t{16} << 32 | 0x1234; // in chunks of 64 KiB
    std::uint64_t reserved = 0;
};

// The message in a frame; nothing if it is none.
template <class Body>
bool parse(const Bytes &frame, MessageHeader &header, Body &body) {
    constexpr std::size_t at = sizeof(FrameHeader);
    if (frame.size() < at + sizeof(header) + sizeof(body))
        return false;
    std::memcpy(&header, frame.data() + at, sizeof(header));
    std::memcpy(&body, frame.data() + at + sizeof(header), sizeof(body));
    return true;
}

// Each frame that has arrived may be followed by another one.
bool stay_alive(Line &line, const Request &request, std::uint16_t credits) {
    return line.send(message(line, request, heartbeat, own_words(request), credits));
}

// Has a segment that takes more keys than any exporter makes. Returns when the node has declined it.
void export_too_much(Line &line, const Request &request) {
    constexpr int pause = 20;
    bool declined = false;
    greet(line, request);
    for (int turn = 0; !declined && !line.ends_within(pause); turn++) {
        std::uint16_t arrived = 0;
        while (const auto received = line.receive()) {
            MessageHeader header;
            Connect asked{};
            arrived++;
            if (!parse(*received, header, asked))
                continue;
            std::clog << "message of type " << header.type << '\n';
            declined = declined || header.type == disconnect;
            if (header.type != connect)
                continue;
            Bytes body;
            append(body, Connected{.cookie = asked.cookie});
            line.send(message(line, request, connected, body));
        }
        if (arrived || turn % 10 == 0)
            stay_alive(line, request, arrived);
    }
    if (!declined)
        throw std::runtime_error("the node has ended the connection instead of declining the segment");
}

// As an agent would, but hears nothing.
void be_deaf(Line &line, const Request &request) {
    constexpr int pause = 200;
    greet(line, request);
    while (!line.ends_within(pause))
        if (!stay_alive(line, request, 0))
            return line.await_end();
}

// Imports the segment with this id; its handle.
std::uint32_t import_segment(Line &line, const Request &request, std::uint32_t id) {
    Bytes body;
    append(body, Connect{id, 1});
    line.send(message(line, request, connect, body));
    while (!line.ends_within(20)) {
        while (const auto received = line.receive()) {
            MessageHeader header;
            Connected answer{};
            if (parse(*received, header, answer) && header.type == connected && answer.status == 0)
                return answer.handle;
        }
    }
    throw std::runtime_error("the node lets nobody import the segment");
}

// Asks for the place of a segment when there are no receives any more: the keys have to be made behind frames that
// nobody takes.
void import_and_be_deaf(Line &line, const Request &request) {
    constexpr int pause = 200, pauses = 30;
    greet(line, request);
    const std::uint32_t handle = import_segment(line, request, deaf_import);
    for (int i = 0; i < pauses && !line.ends_within(pause); i++)
        stay_alive(line, request, 0);
    Bytes body;
    append(body, Connection{.cookie = 1, .handle = handle});
    line.send(message(line, request, place, body));
    while (!line.ends_within(pause))
        if (!stay_alive(line, request, 0))
            return line.await_end();
}

// As fast as it goes, whatever the node allows, and then nothing.
void flood(Line &line, const Request &request) {
    const Bytes words = message(line, request, heartbeat, own_words(request));
    greet(line, request);
    for (int i = 0; i < 3000 && line.send(words); i++)
        continue;
    line.await_end();
}

// Addresses and keys that it was not given.
void reach_for_memory(Line &line, const Request &request) {
    greet(line, request);
    line.read(0, 0x1234);
    line.await_end();
}

// Messages of all types with any contents; a sound form is the agent's only condition.
void babble(Line &line, const Request &request) {
    std::mt19937_64 chance(std::random_device{}());
    greet(line, request);
    std::uint16_t credits = 0;
    for (int i = 0; i < 2000; i++) {
        while (line.receive())
            credits++;
        Bytes body(chance() % 97);
        for (std::byte &byte : body)
            byte = static_cast<std::byte>(chance() % 4 ? 0 : chance());
        const auto type = static_cast<std::uint16_t>(chance() % (last_type + 2));
        if (!line.send(message(line, request, type == 4 ? 0 : type, body, credits)))
            break;
        credits = 0;
    }
    line.await_end();
}

template <unsigned receives>
void hear_only(Request &request) {
    request.receives = receives;
    request.holds_up = true;
}

constexpr Attack attacks[] = {
    {"no-greeting", [](Request &request) { request.greeting_size = 0; }, say_nothing},
    {"short-greeting", [](Request &request) { request.greeting_size = 24; }, say_nothing},
    {"magic", [](Request &request) { request.greeting.magic++; }, say_nothing},
    {"version", [](Request &request) { request.greeting.version++; }, say_nothing},
    {"to", [](Request &request) { request.greeting.to++; }, say_nothing},
    {"unknown-node", [](Request &request) { request.greeting.from = 63; }, say_nothing},
    {"huge-node", [](Request &request) { request.greeting.from = 0xffffffff; }, say_nothing},
    {"another-node", [](Request &request) { request.greeting.from = 3; }, say_nothing},
    {"itself", [](Request &request) { request.greeting.from = request.greeting.to; }, say_nothing},
    {"no-depth", [](Request &request) { request.greeting.depth = 0; }, say_nothing},
    {"huge-depth", [](Request &request) { request.greeting.depth = 0xffff; }, say_nothing},
    {"reserved", [](Request &request) { request.greeting.flags |= 2; }, say_nothing},
    {"no-incarnation", [](Request &request) { request.greeting.incarnation = 0; }, say_nothing},
    {"no-reads", [](Request &request) { request.reads = 0; }, say_nothing},
    {"port", [](Request &request) { request.privileged = false; }, say_nothing},
    {"no-secret", [](Request &request) { request.secret.reset(); }, say_nothing},
    {"other-secret", [](Request &request) { request.secret->back() ^= 1; }, say_nothing},
    {"relayed", [](Request &request) { request.relayed = 1; }, say_nothing},
    {"no-proof", nullptr, say_nothing, First::other},
    {"wrong-proof", nullptr, prove_wrongly, First::other},
    {"replayed-proof", nullptr, prove_what_was_before, First::other},
    {"reflected-proof", nullptr, reflect, First::other},
    {"two-proofs", nullptr, prove_twice},
    {"early-message", nullptr, speak_before_the_proof, First::other},
    {"huge-segment", nullptr, export_too_much},
    {"silence", nullptr, say_nothing},
    {"deaf", hear_only<0>, be_deaf},
    {"deaf-import", hear_only<2>, import_and_be_deaf},
    {"empty-frame", nullptr, say_zeros<0>},
    {"short-frame", nullptr, say_zeros<7>},
    {"long-frame", nullptr, say<2, 0, 0, 129>},
    {"reserved-frame", nullptr, say<2, 0, 1, 32>},
    {"unknown-frame", nullptr, say<77, 0, 0, 32>},
    {"no-message", nullptr, say<2, 0, 0, 0>},
    {"no-credits", nullptr, say<1, 0, 0, 0>},
    {"credits-and-more", nullptr, say<1, 1, 0, 8>},
    {"too-many-credits", nullptr, say<1, 65, 0, 0>},
    {"empty-message", nullptr, say<2, 0, 0, 1>},
    {"zero-message", nullptr, say<2, 0, 0, 128>},
    {"flood", nullptr, flood},
    {"wrong-key", nullptr, reach_for_memory},
    {"babble", nullptr, babble},
};

const Attack &find(std::string_view name) {
    for (const Attack &attack : attacks)
        if (attack.name == name)
            return attack;
    throw std::invalid_argument("no such attack: " + std::string(name));
}

Secret secret_in(const std::string &digits) {
    Secret secret{};
    for (std::size_t i = 0; i < secret.size(); i++)
        secret.at(i) = static_cast<std::uint8_t>(std::stoul(digits.substr(2 * i, 2), nullptr, 16));
    return secret;
}

Request request_in(char **words, const Attack &attack) {
    Request request;
    request.greeting.from = static_cast<std::uint32_t>(std::stoul(words[2]));
    request.greeting.to = static_cast<std::uint32_t>(std::stoul(words[3]));
    if (words[5])
        request.secret = secret_in(words[5]);
    if (attack.distort)
        attack.distort(request);
    request.greeting.flags |= request.secret ? 1 : 0;
    return request;
}

// Returns when the node has put an end to it.
void carry_out(char **words) {
    const Attack &attack = find(words[4]);
    const Request request = request_in(words, attack);
    Line line(words[1], request.privileged);
    if (!line.connect(request)) {
        std::cout << "refused\n";
        return;
    }
    if (attack.first == First::proof)
        line.prove(proof(line, request));
    attack.act(line, request);
    std::cout << "ended\n";
}

} // namespace

int main(int count, char **words) {
    if (count != 5 && count != 6) {
        std::cerr << "usage: ksft-stranger ADDRESS OWN-NODE ITS-NODE ATTACK [SECRET]\n";
        return 2;
    }
    try {
        carry_out(words);
        return 0;
    } catch (const std::exception &error) {
        std::cerr << "ksft-stranger: " << error.what() << '\n';
        return 2;
    }
}
