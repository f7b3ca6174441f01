// SPDX-License-Identifier: MIT
// The RDMA device of an Ia: the context it was opened with, the port that is used, what it can do.
#pragma once

#include "core/library_limits.h"
#include "engine/transport.h"

#include <cstdint>
#include <infiniband/verbs.h>
#include <memory>
#include <stdexcept>
#include <sys/socket.h>

namespace rsmengine {

struct VerbsOptions;

template <auto Destroy>
struct Destroyer {
    template <class Object>
    void operator()(Object *object) const noexcept {
        (void)Destroy(object);
    }
};

// An object that libibverbs makes, with the function that ends it.
template <class Object, auto Destroy>
using Owned = std::unique_ptr<Object, Destroyer<Destroy>>;

class RdmaDevice {
  public:
    explicit RdmaDevice(const VerbsOptions &options); // throws Unavailable, std::bad_alloc

    [[nodiscard]] ibv_context &context() const noexcept { return *context_; }
    [[nodiscard]] ibv_comp_channel &completions() const noexcept { return *completions_; }
    [[nodiscard]] std::uint8_t port() const noexcept { return port_; }
    // The address of the port's network device, as rdma_cm wants it: the IA's address.
    [[nodiscard]] const sockaddr_storage &address() const noexcept { return address_; }
    [[nodiscard]] const ibv_device_attr &attributes() const noexcept { return attributes_; }
    [[nodiscard]] LimitSet limits() const noexcept;
    // Can a send carry a word of ours? iWARP's can't.
    [[nodiscard]] bool has_immediates() const noexcept;
    [[nodiscard]] bool has_windows() const noexcept;
    // Can requests with IBV_SEND_FENCE be left to it?
    [[nodiscard]] bool has_fences() const noexcept;

  private:
    void choose(const VerbsOptions &options);
    [[nodiscard]] bool open(ibv_device &device) noexcept;
    [[nodiscard]] bool take_port(std::uint8_t wanted);
    [[nodiscard]] bool use_port(std::uint8_t port);

    Owned<ibv_context, ibv_close_device> context_;
    Owned<ibv_comp_channel, ibv_destroy_comp_channel> completions_;
    ibv_device_attr attributes_{};
    ibv_port_attr port_attributes_{};
    sockaddr_storage address_{};
    std::uint8_t port_ = 0;
};

} // namespace rsmengine
