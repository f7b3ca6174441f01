// SPDX-License-Identifier: GPL-2.0
#include "net/peer/worker.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <sys/socket.h>
#include <unistd.h>

namespace rsmtest::net {
namespace {

template <class Map>
auto &named(Map &map, const std::string &name) {
    const auto found = map.find(name);
    if (found == map.end())
        throw BadOrder("there is no " + name);
    return found->second;
}

const Verb *find_verb(std::string_view name) {
    for (const auto &verbs : {memory_verbs(), export_verbs(), import_verbs(), transfer_verbs(),
                              event_verbs(), system_verbs()}) {
        const auto found = std::ranges::find(verbs, name, &Verb::name);
        if (found != verbs.end())
            return &*found;
    }
    return nullptr;
}

} // namespace

std::span<volatile std::uint64_t> Memory::words(std::uint64_t offset, std::uint64_t length) const {
    if (offset % 8 || length % 8 || offset > size || length > size - offset)
        throw BadOrder("no such part of the memory");
    return {reinterpret_cast<volatile std::uint64_t *>(base + offset), length / 8};
}

Import &Worker::import(const std::string &name) {
    return named(imports, name);
}

rsm_memseg_export_handle_t Worker::exported(const std::string &name) {
    return named(exports, name);
}

void *Worker::segment(const std::string &name) {
    const auto found = imports.find(name);
    return found != imports.end() ? static_cast<void *>(found->second.handle) : exported(name);
}

const Memory &Worker::memory(const std::string &name) {
    const auto found = imports.find(name);
    return found != imports.end() ? found->second.mapping : named(buffers, name);
}

Answer Worker::obey(std::string_view order) {
    Args args(order);
    try {
        const std::string name = args.word();
        const Verb *verb = find_verb(name);
        return verb ? verb->handler(*this, args) : Answer{bad_order, {}, "no verb " + name};
    } catch (const BadOrder &error) {
        return {bad_order, {}, std::string(order) + ": " + error.what()};
    }
}

void serve_session(Fd end) {
    // Something to be interrupted by.
    struct sigaction interrupt {};
    interrupt.sa_handler = [](int) {};
    sigaction(SIGUSR1, &interrupt, nullptr);
    Worker worker;
    std::array<char, line_max> packet;
    for (;;) {
        const ssize_t got = recv(end.get(), packet.data(), packet.size(), 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            _exit(0);
        const std::string line = worker.obey({packet.data(), static_cast<std::size_t>(got)}).line();
        send(end.get(), line.data(), line.size(), MSG_NOSIGNAL);
        if (worker.afterwards)
            worker.afterwards();
    }
}

} // namespace rsmtest::net
