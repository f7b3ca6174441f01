// SPDX-License-Identifier: MIT
#include "engine/core/joined.h"

#include "engine/event/evd.h"

namespace rsmengine {

namespace {

template <class T>
T *as(Object *object) noexcept {
    return object != nullptr && object->kind() == T::KIND ? static_cast<T *>(object) : nullptr;
}

bool fit(const Object &user, const Evd &evd, Stream stream) noexcept {
    return evd.accepts(stream) && user.ia().name == evd.ia().name;
}

template <class What>
void for_each_object_of_others(const Ia &closing, What what) noexcept {
    closing.for_each_joined([&](const Ia &one) {
        if (&one == &closing)
            return;
        for (const auto &object : one.objects())
            what(*object);
    });
}

} // namespace

void join_for(Handle user, Handle evd, Stream stream) noexcept {
    const HandleCell *one = find_cell(user);
    const HandleCell *other = find_cell(evd);
    Lock *its = one != nullptr ? one->lock.load(std::memory_order_acquire) : nullptr;
    Lock *evds = other != nullptr ? other->lock.load(std::memory_order_acquire) : nullptr;
    if (its == nullptr || evds == nullptr || its == evds)
        return;
    const BothLocks held(*its, *evds);
    const Object *uses = object_of(*one, *its);
    const Evd *used = as<Evd>(object_of(*other, *evds));
    if (uses != nullptr && used != nullptr && fit(*uses, *used, stream))
        uses->ia().join(used->ia());
}

// The mutex of a Lock does not change while this thread holds it.
Object *find_joined(Handle handle, Ia &ia) noexcept {
    const HandleCell *cell = find_cell(handle);
    Lock *lock = cell != nullptr ? cell->lock.load(std::memory_order_acquire) : nullptr;
    return lock != nullptr && ia.lock.same_mutex(*lock) ? object_of(*cell, *lock) : nullptr;
}

Evd *find_evd(Handle handle, Ia &ia) noexcept {
    return as<Evd>(find_joined(handle, ia));
}

void take_evds_from_others(const Ia &closing) noexcept {
    for_each_object_of_others(closing,
                              [&closing](Object &object) { object.leave_evds_of(closing); });
}

void drop_requests_from_others(const Ia &closing) noexcept {
    for_each_object_of_others(closing, [&closing](Object &object) {
        if (Evd *evd = as<Evd>(&object))
            evd->drop_requests_of(closing);
    });
}

} // namespace rsmengine
