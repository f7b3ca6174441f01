// SPDX-License-Identifier: MIT
// The contract between the engine and a transport: all that the engine knows of how bytes travel.
//
// A transport is a library of classes that derive from those named here, and one constant,
// `transport_kind`, which the face that opens an adapter uses. Nothing of the engine includes a
// header of a transport. The parts of the contract are
//
//   Transport              one for each open adapter: makes all the others
//   ServicePointListener   finds requests for a service point (connect/service_point_listener.h)
//   Link                   a connection as both sides name it      (connect/link.h)
//   Connector              an endpoint's way to a link and back    (connect/connector.h)
//   Transfer               an endpoint's posts and completions     (transfer/transfer.h)
//   Requests               what all transports do with a post      (transfer/requests.h)
//   Receives               buffers that wait for messages          (transfer/receives.h)
//   Srq                    receives that endpoints share           (transfer/srq.h)
//   Contexts, Pz, Rmr      registered memory and who may reach it  (memory/)
//   Doorbell               lets the engine sleep                   (loop/doorbell.h)
//
// Locks: the engine calls a transport with Ia::lock held, and a transport calls the engine with
// Ia::lock held, unless a function says otherwise. A transport gives the lock up nowhere but on
// threads of Engine::aside and Engine::end_aside, which start without it.
//
// Waiting: nothing waits for another node or for another thread on the engine's thread, or while
// Ia::lock is held. A transport does by Engine::aside what may wait. A class of the transport whose
// destructor may wait derives from Job (loop/job.h), and Engine::end_aside ends its objects;
// functions of the transport that are under way may use such an object until they give the lock up.
// Each function that may wait calls about_to_block() (loop/blocking.h) first, which enforces this
// in builds with tests.
//
// Errors: a function that returns a Status may fail with what its comment names, and has changed
// nothing then. std::bad_alloc comes only from functions that are not noexcept, and these have
// changed nothing either. A fault of a peer is never an error of a call: the transport
// reports it to the endpoint, by Ep::fail before a connection is there and Ep::broken or Ep::end
// afterwards.
#pragma once

#include "engine/connect/connector.h"
#include "engine/connect/link.h"
#include "engine/connect/service_point_listener.h"
#include "engine/core/limit_set.h"
#include "engine/core/status.h"
#include "engine/core/types.h"
#include "engine/loop/doorbell.h"
#include "engine/memory/contexts.h"
#include "engine/memory/wanted.h"
#include "engine/transfer/transfer.h"

#include <memory>
#include <stdexcept>
#include <string_view>
#include <sys/socket.h>

namespace rsmengine {

class Ep;
class Ia;
class Pz;
class Rmr;
class Srq;
struct SrqAttributes;

// Thrown if the device of a transport can't be opened or does not answer.
class Unavailable : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Transport {
  public:
    virtual ~Transport() = default;
    Transport(const Transport &) = delete;
    Transport &operator=(const Transport &) = delete;

    // Starts the transport. The engine of the Ia runs; its handle is not published yet. Throws
    // Unavailable and std::bad_alloc.
    virtual void start(Ia &ia) = 0;

    // Without a lock, from the constructor on, always the same.
    [[nodiscard]] virtual const sockaddr_storage &address() const noexcept = 0;
    [[nodiscard]] virtual LimitSet limits() const noexcept = 0;

    // The parts of new objects. They throw std::bad_alloc.
    virtual std::unique_ptr<Pz> make_pz(Ia &ia) = 0;
    virtual std::unique_ptr<Rmr> make_rmr(Pz &pz) = 0;
    virtual std::unique_ptr<Srq> make_srq(Pz &pz, const SrqAttributes &asked) = 0;
    // From the constructor of the Ep: its attributes and its SRQ are known, its handle is not.
    virtual std::unique_ptr<Transfer> make_transfer(Ep &ep) = 0;
    virtual std::unique_ptr<Connector> make_connector(Ep &ep) = 0; // Transfer is there

    // Occupies a qualifier. OK, QUALIFIER_IN_USE, or another error. Waits for no other node.
    virtual Status listen(Ia &ia, Qualifier qualifier,
                          std::unique_ptr<ServicePointListener> &listener) = 0;
    // A service point has taken a request: the transport may notify the requester before the
    // answer. Called before the listener of a reserved service point ends.
    virtual void acknowledge(Link &link) noexcept = 0;
    // Ends a request that will not be accepted.
    virtual void refuse(Ia &ia, std::unique_ptr<Link> link, Refusal how) noexcept = 0;

    // True if memory pinned for another region of the same bytes can be used for this one.
    [[nodiscard]] virtual bool serves(const Pinned &others,
                                      const Wanted &wanted) const noexcept = 0;
    // Makes memory ready for a region. Can take long: Ia::lock not held, `pz` stays. OK, NO_MEMORY,
    // NO_REGIONS, BAD_ADDRESS, BAD_LENGTH or BAD_RIGHTS; throws std::bad_alloc.
    virtual Status get_memory(const Pz &pz, const Wanted &wanted,
                              std::shared_ptr<Pinned> &result) = 0;

    Contexts &contexts; // of the transport's own kind

  protected:
    explicit Transport(Contexts &its) noexcept : contexts(its) {}
};

// A transport as a face finds it before an adapter is open.
struct TransportKind {
    std::string_view name;
    // True if these words, from the line of the configuration file, are options of this transport.
    bool (*accepts)(std::string_view options);
    // Throws Unavailable and std::bad_alloc. The options have been accepted.
    std::unique_ptr<Transport> (*open)(std::string_view options);
};

// Defined by the transport that is linked with the engine.
extern const TransportKind transport_kind;

} // namespace rsmengine
