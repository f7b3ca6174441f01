// SPDX-License-Identifier: MIT
// The shared object of a provider, loaded.
#pragma once

#include <memory>
#include <string>

#include "api.h"

namespace dat {

class ProviderLibrary {
  public:
    // A bare name is looked for as dlopen() does, then in libdat's own
    // directory. Empty if it can't be loaded; a message says why.
    static ProviderLibrary load(const std::string &name) noexcept;

    explicit operator bool() const noexcept { return handle_ != nullptr; }

    // A library need not have both; one that lacks both registers itself.
    void init(const DAT_PROVIDER_INFO &info, const char *parameters) const noexcept;
    void fini(const DAT_PROVIDER_INFO &info) const noexcept;

    // Leaves it loaded for the rest of the process.
    void keep() noexcept { static_cast<void>(handle_.release()); }

  private:
    struct Unload {
        void operator()(void *handle) const noexcept;
    };

    std::unique_ptr<void, Unload> handle_;
};

// Path of a file of that name beside the shared object that `address` is in.
// Empty if that can't be told, or must not be used.
std::string path_beside(const void *address, const std::string &name);

} // namespace dat
