// SPDX-License-Identifier: MIT
// Opens of one adapter in this process whose objects use each other's EVDs.
//
// Each Ia has a lock of its own, so that threads with an open each do not wait for each other. When
// an object of one Ia is to use an EVD of another one the two are joined: from then on their Locks
// have one mutex, and so a thread that holds the lock of one of them may use the objects of both.
// All Ias that are joined to each other, directly or not, are in one ring; an Ia leaves the ring
// when it is closed.
#pragma once

#include "engine/core/ia.h"
#include "engine/core/types.h"

namespace rsmengine {

class Evd;

// Joins the Ia of `user` (the handle of an Ia or an Ep) and the Ia of the EVD, if both are opens of
// one adapter and the EVD takes such streams; otherwise, and for invalid handles, does nothing.
// Call before `user` is locked, with no Ia::lock held: this is the only function that takes two of
// them.
void join_for(Handle user, Handle evd, Stream stream) noexcept;

// An EVD of this Ia, whose lock is held, or of one that it is joined to; null if it is neither.
Evd *find_evd(Handle handle, Ia &ia) noexcept;

// The object of a handle if it belongs to one of these.
Object *find_joined(Handle handle, Ia &ia) noexcept;

// An Ia closes abruptly: endpoints and service points of those that it is joined to leave its EVDs.
// Lock held.
void take_evds_from_others(const Ia &closing) noexcept;

// The same IA's requests for connections leave the EVDs of those that it is joined to: the events
// name objects, and an address, that are about to go. Lock held.
void drop_requests_from_others(const Ia &closing) noexcept;

} // namespace rsmengine
