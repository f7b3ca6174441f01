// SPDX-License-Identifier: MIT
#include "registry.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>

#include "debug.h"
#include "info.h"

namespace dat {
namespace {

constexpr std::array usual_files{"/etc/dat/dat.conf", "/etc/dat.conf"};

constinit std::atomic<bool> torn_down = false;

// Make the registry before a thread can fork while another one makes it. If memory is short now,
// the first call tries again.
[[gnu::constructor]] void set_up() noexcept {
    static_cast<void>(guarded([] {
        Registry::instance();
        debug(Debug::generic, {"libdat is there"});
        return DAT_RETURN(DAT_SUCCESS);
    }));
}

// Runs after the program's own handlers of exit() and the destructors of the libraries that need
// libdat.
[[gnu::destructor]] void tear_down() noexcept {
    torn_down.store(true, std::memory_order_release);
}

} // namespace

bool is_torn_down() noexcept {
    return torn_down.load(std::memory_order_acquire);
}

Registry &Registry::instance() {
    alignas(Registry) static std::array<std::byte, sizeof(Registry)> memory;
    static Registry &registry = *::new (memory.data()) Registry;
    return registry;
}

Registry::Registry() {
    if (::pthread_atfork(lock_all, unlock_all, unlock_all) != 0)
        throw std::bad_alloc();
}

void Registry::lock_all() noexcept {
    auto &registry = instance();
    registry.lock_.lock();
    registry.dynamic_.lock().lock();
    registry.adapters_.lock().lock();
}

void Registry::unlock_all() noexcept {
    auto &registry = instance();
    registry.adapters_.lock().unlock();
    registry.dynamic_.lock().unlock();
    registry.lock_.unlock();
}

// The file is read once in a process.
StaticRegistry &Registry::configured() {
    if (!static_)
        static_.emplace(read_conf(::secure_getenv("DAT_OVERRIDE"), usual_files), dynamic_);
    return *static_;
}

std::span<const StaticRegistry::Record> Registry::list() {
    const std::scoped_lock guard(lock_);
    return configured().records();
}

DAT_RETURN Registry::add(const DAT_PROVIDER &provider, const DAT_PROVIDER_INFO &info) {
    auto key = key_of(info);
    if (!key)
        return error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    return dynamic_.add(std::move(*key), provider, loading_record());
}

DAT_RETURN Registry::remove(const DAT_PROVIDER &provider, const DAT_PROVIDER_INFO &info) {
    const auto key = key_of(info);
    if (!key)
        return error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    return dynamic_.remove(*key, provider);
}

// Both registries are looked at as one. The entry's key is opened, not
// the wanted one: the provider registers what its init is told.
DAT_RETURN Registry::acquire(const Key &wanted, Reference &reference) {
    const std::scoped_lock guard(lock_);
    Matcher matcher(wanted);
    configured().offer_to(matcher);
    dynamic_.offer_to(matcher);
    if (!matcher.best())
        return error(DAT_PROVIDER_NOT_FOUND, matcher.reason());
    auto *record = static_->open(*matcher.best());
    auto *entry = dynamic_.open(*matcher.best());
    if (entry != nullptr) {
        reference = Reference(record, entry);
        return DAT_SUCCESS;
    }
    if (record != nullptr)
        static_->close(*record);
    debug(Debug::dynamic_registry, {wanted.name, ": its provider did not register it"});
    return error(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);
}

void Registry::release(StaticRegistry::Record *record, DynamicRegistry::Entry &entry) noexcept {
    const std::scoped_lock guard(lock_);
    dynamic_.close(entry);
    if (record != nullptr)
        static_->close(*record);
}

Reference::~Reference() {
    if (entry_ != nullptr)
        Registry::instance().release(record_, *entry_);
}

} // namespace dat
