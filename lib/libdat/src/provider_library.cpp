// SPDX-License-Identifier: MIT
#include "provider_library.h"

#include <dlfcn.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "debug.h"

namespace dat {
namespace {

template <class Function>
Function find(void *handle, const char *symbol) noexcept {
    return reinterpret_cast<Function>(::dlsym(handle, symbol));
}

std::string last_error() {
    const char *text = ::dlerror();
    return text == nullptr ? std::string() : text;
}

bool is_bare(const std::string &name) noexcept {
    return name.find('/') == std::string::npos;
}

// An address within libdat. An exported name would not do: a preloaded library may define it.
constexpr char inside = 0;

void *open_beside(const std::string &name, std::string &error) {
    const auto path = path_beside(&inside, name);
    if (path.empty() || ::access(path.c_str(), F_OK) != 0)
        return nullptr;
    void *handle = ::dlopen(path.c_str(), RTLD_NOW);
    if (handle == nullptr)
        error += "; " + last_error();
    return handle;
}

void *open_library(const std::string &name, std::string &error) {
    void *handle = ::dlopen(name.c_str(), RTLD_NOW);
    if (handle == nullptr) {
        error = last_error();
        if (is_bare(name))
            handle = open_beside(name, error);
    }
    return handle;
}

} // namespace

// For a library that is linked into the program, dladdr() returns the name of the program, which
// the user who started it has chosen: a set-user-id program must not load from there.
std::string path_beside(const void *address, const std::string &name) {
    Dl_info info;
    if (::getauxval(AT_SECURE) != 0 || ::dladdr(address, &info) == 0 || info.dli_fname == nullptr)
        return {};
    const std::string self = info.dli_fname;
    const auto slash = self.rfind('/');
    return slash == std::string::npos ? std::string() : self.substr(0, slash + 1) + name;
}

void ProviderLibrary::Unload::operator()(void *handle) const noexcept {
    ::dlclose(handle);
}

ProviderLibrary ProviderLibrary::load(const std::string &name) noexcept {
    ProviderLibrary library;
    try {
        std::string error;
        library.handle_.reset(open_library(name, error));
        if (!library)
            debug(Debug::error, {"library load failure: ", error});
    } catch (const std::bad_alloc &) {
        debug(Debug::error, {"library load failure: no memory"});
    }
    return library;
}

void ProviderLibrary::init(const DAT_PROVIDER_INFO &info, const char *parameters) const noexcept {
    const auto function = find<DAT_PROVIDER_INIT_FUNC>(handle_.get(), DAT_PROVIDER_INIT_FUNC_STR);
    debug(Debug::provider_api, {info.ia_name, function ? ": init" : ": no init"});
    if (function != nullptr)
        function(&info, parameters);
}

void ProviderLibrary::fini(const DAT_PROVIDER_INFO &info) const noexcept {
    const auto function = find<DAT_PROVIDER_FINI_FUNC>(handle_.get(), DAT_PROVIDER_FINI_FUNC_STR);
    debug(Debug::provider_api, {info.ia_name, function ? ": fini" : ": no fini"});
    if (function != nullptr)
        function(&info);
}

} // namespace dat
