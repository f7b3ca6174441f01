// SPDX-License-Identifier: MIT
// An open interface adapter: owner of everything made through it, and of the one lock that guards
// it all.
//
// Locking: Ia::lock guards every object of the Ia. API functions take it right after they have
// found their first handle's object; functions of classes expect it held unless they say otherwise.
// It is given up only while a thread sleeps (Evd::wait, Cno::wait), while an ioctl or mmap that can take
// long runs (pinning, connecting: marked so where it happens), and around an agent of the consumer's.
// The engine's thread takes it like everybody else. There is no other lock above or below it but
// those inside malloc and the handle cells.
#pragma once

#include "core/error.h"
#include "core/object.h"
#include "core/options.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace rsmdat {

class Device;
class Engine;
class Evd;
class Contexts;
class NodeTable;

using Lock = std::mutex;
using Guard = std::unique_lock<Lock>;

class Ia final : public Object {
  public:
    static constexpr DAT_HANDLE_TYPE KIND = DAT_HANDLE_TYPE_IA;

    // Opens /dev/rsm and starts the engine. Throws std::bad_alloc, and Unavailable (device.h).
    Ia(DAT_PROVIDER &provider, std::string name, Options options);
    ~Ia() override; // destroys what is left, in the order of udapl-functions.md section 3

    // Takes over a new object; a reference to it. Throws std::bad_alloc.
    template <class T> T &adopt(std::unique_ptr<T> object) {
        T &result = *object;
        take(std::move(object));
        return result;
    }
    // Ends an object; its handle is dead when this returns.
    void destroy(Object &object) noexcept;
    // Objects that the consumer made; the async EVD of open is not one.
    [[nodiscard]] std::size_t consumer_objects() const noexcept;
    [[nodiscard]] const std::vector<std::unique_ptr<Object>> &objects() const noexcept {
        return objects_;
    }

    // Puts an async event on every async EVD of this Ia.
    void report(DAT_EVENT_NUMBER number, DAT_HANDLE about, DAT_COUNT reason) noexcept;

    Lock lock;
    const std::string name;
    const Options options;
    std::unique_ptr<Device> device;
    std::unique_ptr<Contexts> contexts;  // memory/contexts.h
    std::unique_ptr<NodeTable> nodes;    // connect/nodes.h
    std::unique_ptr<Engine> engine;      // wire/engine.h
    Evd *async_evd = nullptr;            // null: out of scope
    bool owns_async_evd = false;
    bool closing = false;

  private:
    void take(std::unique_ptr<Object> object);
    std::vector<std::unique_ptr<Object>> objects_;
};

} // namespace rsmdat
