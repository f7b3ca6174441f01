// SPDX-License-Identifier: GPL-2.0
// A session: a process with segments, which does what it is told.
#pragma once

#include "net/peer/args.hpp"
#include "net/peer/hammer.hpp"

#include <functional>
#include <map>
#include <memory>
#include <rsmapi.h>
#include <span>

namespace rsmtest::net {

// Memory of the process: a buffer, or an import's mapping.
struct Memory {
    std::byte *base = nullptr;
    std::size_t size = 0;

    // Words of part of it. BadOrder when it has no such part.
    std::span<volatile std::uint64_t> words(std::uint64_t offset, std::uint64_t length) const;
};

struct Import {
    rsm_memseg_import_handle_t handle = nullptr;
    rsmapi_barrier_t barrier{};
    Memory mapping;
};

// Objects by the names that the test gives them. Nothing is given back at the end:
// cleaning up after a process is the kernel's business and part of what is tested.
struct Worker {
    rsmapi_controller_handle_t controller = nullptr;
    std::string controller_name;
    std::map<std::string, Memory> buffers;
    std::map<std::string, rsm_memseg_export_handle_t> exports;
    std::map<std::string, Import> imports;
    std::map<std::string, std::unique_ptr<Hammer>> hammers;
    // Done once the answer is on its way: exec, exit.
    std::function<void()> afterwards;

    Import &import(const std::string &name);
    rsm_memseg_export_handle_t exported(const std::string &name);
    // An import or export segment.
    void *segment(const std::string &name);
    // A buffer or an import's mapping.
    const Memory &memory(const std::string &name);

    Answer obey(std::string_view order);
};

struct Verb {
    std::string_view name;
    Answer (*handler)(Worker &worker, Args &args);
};

std::span<const Verb> memory_verbs();
std::span<const Verb> export_verbs();
std::span<const Verb> import_verbs();
std::span<const Verb> transfer_verbs();
std::span<const Verb> event_verbs();
std::span<const Verb> system_verbs();

// Serves orders that come as packets until the other end closes.
[[noreturn]] void serve_session(Fd end);

} // namespace rsmtest::net
