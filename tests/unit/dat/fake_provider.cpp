// SPDX-License-Identifier: GPL-2.0
// A provider for tests of the registry, as a shared object. Its faults are
// told by its parameters in dat.conf, words between blanks:
//   refuse      opening an adapter fails
//   none, odd   opening gives a handle that can be none
//   busy        a graceful close fails
//   no-open, no-close   these functions are not there
//   silent      init registers nothing
//   keep        fini removes nothing
//   also=NAME   init registers another name, too
//   open=NAME   init opens NAME, fini closes it
//   list, fork  init calls dat_registry_list_providers(), fork()
// Everything it is told is noted; note() is in the program.
#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <dat/udat.h>

#include <dat/dat_registry.h>

extern "C" [[gnu::weak]] void note(const char *what, const char *name, int number);

namespace {

// One per registered name, for good. Looked up without a lock: a fork() may come
// between.
struct Instance {
    std::atomic<bool> used;
    bool named;
    DAT_PROVIDER table;
    DAT_PROVIDER_INFO info;
    std::string parameters;
    DAT_IA_HANDLE nested;
};

std::array<Instance, 8> instances;

struct Adapter {
    const DAT_PROVIDER *provider;
    Instance *instance;
};

void print(const char *what, const char *name, int number = 0) {
    if (note != nullptr)
        note(what, name, number);
}

bool has(const std::string &parameters, const std::string &word) {
    return (" " + parameters + " ").find(" " + word + " ") != std::string::npos;
}

// The text behind "key=" up to the next blank.
std::string value_of(const std::string &parameters, const std::string &key) {
    const auto at = parameters.find(key + "=");
    if (at == std::string::npos)
        return {};
    const auto begin = at + key.size() + 1;
    return parameters.substr(begin, parameters.find(' ', begin) - begin);
}

Instance *find(const char *name) {
    for (auto &instance : instances)
        if (instance.used && std::strcmp(instance.info.ia_name, name) == 0)
            return &instance;
    return nullptr;
}

DAT_RETURN ia_open(const DAT_NAME_PTR name, DAT_COUNT queue_length, DAT_EVD_HANDLE * /*async_evd*/,
                   DAT_IA_HANDLE *ia, DAT_BOOLEAN relaxed_order_aware) {
    print(relaxed_order_aware == DAT_TRUE ? "open-aware" : "open", name, queue_length);
    auto *instance = find(name);
    if (instance == nullptr || has(instance->parameters, "refuse"))
        return DAT_CLASS_ERROR | DAT_INSUFFICIENT_RESOURCES | DAT_RESOURCE_DEVICE;
    if (has(instance->parameters, "none"))
        return DAT_SUCCESS;
    if (has(instance->parameters, "odd"))
        *ia = reinterpret_cast<DAT_IA_HANDLE>(3);
    else
        *ia = new Adapter{&instance->table, instance};
    return DAT_SUCCESS;
}

DAT_RETURN ia_close(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags) {
    auto *adapter = static_cast<Adapter *>(ia);
    print("close", adapter->instance->info.ia_name, flags);
    if (flags == DAT_CLOSE_GRACEFUL_FLAG && has(adapter->instance->parameters, "busy"))
        return DAT_CLASS_ERROR | DAT_INVALID_STATE | DAT_INVALID_STATE_IA_IN_USE;
    delete adapter;
    return DAT_SUCCESS;
}

// The instance of that name and version, or one that is nobody's yet.
bool is_for(const Instance &instance, const DAT_PROVIDER_INFO &info) {
    return !instance.named || std::memcmp(&instance.info, &info, sizeof(info)) == 0;
}

void register_name(const DAT_PROVIDER_INFO &info, const char *parameters) {
    for (auto &instance : instances) {
        if (!is_for(instance, info))
            continue;
        if (!instance.named)
            instance.info = info;
        instance.named = true;
        instance.parameters = parameters;
        instance.table = {};
        instance.table.device_name = instance.info.ia_name;
        instance.table.ia_open_func = has(parameters, "no-open") ? nullptr : ia_open;
        instance.table.ia_close_func = has(parameters, "no-close") ? nullptr : ia_close;
        instance.used = true;
        const auto status = dat_registry_add_provider(&instance.table, &instance.info);
        if (status != DAT_SUCCESS)
            print("add-failed", info.ia_name, static_cast<int>(status));
        return;
    }
}

// Acts that init must not do, or nobody expects it to.
[[maybe_unused]] void misbehave(const DAT_PROVIDER_INFO &info, const std::string &parameters) {
    if (has(parameters, "list")) {
        DAT_COUNT entries = 0;
        dat_registry_list_providers(0, &entries, nullptr);
        print("listed", info.ia_name, entries);
    }
    if (has(parameters, "fork")) {
        const auto child = ::fork();
        if (child == 0)
            ::_exit(7);
        int status = 0;
        ::waitpid(child, &status, 0);
        print("forked", info.ia_name, WEXITSTATUS(status));
    }
    if (auto other = value_of(parameters, "open"); !other.empty()) {
        DAT_IA_HANDLE ia = nullptr;
        const auto status = dat_ia_openv(other.data(), 1, nullptr, &ia, 1, 2, DAT_FALSE);
        print("nested", other.c_str(), static_cast<int>(status));
        if (auto *instance = find(info.ia_name))
            instance->nested = ia;
    }
}

} // namespace

#ifndef FAKE_WITHOUT_INIT
void dat_provider_init(const DAT_PROVIDER_INFO *info, const char *parameters) {
    print("init", info->ia_name, static_cast<int>(info->dapl_version_minor));
    print(parameters, info->ia_name);
    if (!has(parameters, "silent"))
        register_name(*info, parameters);
    if (const auto other = value_of(parameters, "also"); !other.empty()) {
        auto second = *info;
        std::strncpy(second.ia_name, other.c_str(), sizeof(second.ia_name) - 1);
        register_name(second, "");
    }
    misbehave(*info, parameters);
}
#endif

#ifndef FAKE_WITHOUT_FINI
void dat_provider_fini(const DAT_PROVIDER_INFO *info) {
    print("fini", info->ia_name);
    auto *instance = find(info->ia_name);
    if (instance == nullptr)
        return;
    if (instance->nested != nullptr)
        dat_ia_close(instance->nested, DAT_CLOSE_ABRUPT_FLAG);
    instance->nested = nullptr;
    if (!has(instance->parameters, "keep"))
        dat_registry_remove_provider(&instance->table, &instance->info);
    instance->used = false;
}
#endif

#ifdef FAKE_WITHOUT_INIT
// Registers itself when it is loaded, and leaves it at that.
namespace {
const struct WhenLoaded {
    WhenLoaded() { register_name({"self0", 1, 2, DAT_TRUE}, ""); }
} when_loaded;
} // namespace
#endif

#ifdef FAKE_DEPENDS_ON
extern "C" void FAKE_DEPENDS_ON();
extern "C" [[gnu::visibility("default")]] void fake_provider_uses_it() {
    FAKE_DEPENDS_ON();
}
#endif
