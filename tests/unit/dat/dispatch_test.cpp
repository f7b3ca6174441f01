// SPDX-License-Identifier: MIT
// From each public function to its slot of a provider's table, and no further with
// what is no handle.
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <sys/mman.h>
#include <tuple>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

#include "api.h"
#include "slots.h"

namespace {

using Bytes = std::vector<std::byte>;

// Arguments of the last call of the fake provider: bytes of each argument.
struct Call {
    int slot = 0;
    std::vector<Bytes> arguments;
};

Call last;

template <class T>
Bytes bytes_of(const T &value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    return {bytes.begin(), bytes.end()};
}

// No status of any other slot, and no error of libdat's.
constexpr DAT_RETURN status_of(int slot) {
    return 0x12340000U + static_cast<DAT_RETURN>(slot);
}

template <int slot, class Function>
struct Fake;

template <int slot, class... Arguments>
struct Fake<slot, DAT_RETURN (*)(Arguments...)> {
    static DAT_RETURN call(Arguments... arguments) {
        last = {slot, {bytes_of(arguments)...}};
        return status_of(slot);
    }
};

// An argument unlike those beside it. All enumerations have the value 1.
template <class T>
T argument(std::size_t position) {
    if constexpr (std::is_enum_v<T>)
        return static_cast<T>(1);
    std::array<unsigned char, sizeof(T)> bytes;
    std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(position * 16 + 1));
    return std::bit_cast<T>(bytes);
}

template <class Function>
struct Arguments;

template <class... Rest>
struct Arguments<DAT_RETURN (*)(DAT_HANDLE, Rest...)> {
    static auto make(DAT_HANDLE handle) { return make(handle, std::index_sequence_for<Rest...>{}); }

  private:
    template <std::size_t... position>
    static std::tuple<DAT_HANDLE, Rest...> make(DAT_HANDLE handle,
                                                std::index_sequence<position...>) {
        return {handle, argument<Rest>(position + 1)...};
    }
};

using Result = std::pair<DAT_RETURN, Call>;

// Calls the function, and tells what it returned and what came of the arguments.
template <auto function>
Result call(DAT_HANDLE handle) {
    last = {};
    return {std::apply(function, Arguments<decltype(function)>::make(handle)), last};
}

template <auto function>
std::vector<Bytes> expected_arguments(DAT_HANDLE handle) {
    return std::apply([](auto... values) { return std::vector<Bytes>{bytes_of(values)...}; },
                      Arguments<decltype(function)>::make(handle));
}

struct Function {
    const char *name;
    int slot;
    DAT_RETURN_SUBTYPE bad_handle;
    Result (*call)(DAT_HANDLE);
    std::vector<Bytes> (*expected)(DAT_HANDLE);
};

#define FUNCTION(number, name, subtype)                                                            \
    Function{"dat_" #name, number, subtype, call<&dat_##name>, expected_arguments<&dat_##name>},
const Function functions[] = {DAT_SLOTS(FUNCTION)};
static_assert(std::extent_v<decltype(functions)> == 66);

#define FILL(number, name, subtype)                                                                \
    table.name##_func = Fake<number, decltype(table.name##_func)>::call;

DAT_PROVIDER complete_table(const char *name) {
    DAT_PROVIDER table{};
    table.device_name = name;
    DAT_SLOTS(FILL)
    return table;
}

DAT_PROVIDER_INFO info_of(const char *name) {
    DAT_PROVIDER_INFO info{};
    std::strncpy(info.ia_name, name, sizeof(info.ia_name) - 1);
    info.dapl_version_major = 1;
    info.dapl_version_minor = 2;
    info.is_thread_safe = DAT_TRUE;
    return info;
}

// A table that is registered while this lives.
class Registered {
  public:
    explicit Registered(const DAT_PROVIDER &table)
        : table_(table), info_(info_of(table.device_name)) {
        EXPECT_EQ(dat_registry_add_provider(&table_, &info_), DAT_SUCCESS);
    }
    ~Registered() { EXPECT_EQ(dat_registry_remove_provider(&table_, &info_), DAT_SUCCESS); }
    Registered(const Registered &) = delete;
    Registered &operator=(const Registered &) = delete;

  private:
    const DAT_PROVIDER &table_;
    DAT_PROVIDER_INFO info_;
};

struct Object {
    const DAT_PROVIDER *provider;
    std::uint64_t contents;
};

class DatDispatch : public testing::Test {
  protected:
    const DAT_PROVIDER table = complete_table("fake0");
    Object object{&table, 0};
};

void expect_reaches_slot(const Function &function, DAT_HANDLE handle) {
    const auto [status, call] = function.call(handle);
    EXPECT_EQ(status, status_of(function.slot)) << function.name;
    EXPECT_EQ(call.slot, function.slot) << function.name;
    EXPECT_EQ(call.arguments, function.expected(handle)) << function.name;
}

void expect_refused(DAT_HANDLE handle, const char *why) {
    for (const auto &function : functions) {
        const auto [status, call] = function.call(handle);
        EXPECT_EQ(status, dat::error(DAT_INVALID_HANDLE, function.bad_handle))
            << function.name << why;
        EXPECT_EQ(call.slot, 0) << function.name << why;
    }
}

TEST_F(DatDispatch, EachFunctionReachesItsSlotWithItsArguments) {
    const Registered registered(table);
    for (const auto &function : functions)
        expect_reaches_slot(function, &object);
}

// The first provider has a short cut, the others have not.
TEST_F(DatDispatch, EachFunctionReachesTheSecondProvider) {
    const auto other = complete_table("fake1");
    const Registered first(other);
    const Registered second(table);
    Object of_first{&other, 0};
    for (const auto &function : functions) {
        expect_reaches_slot(function, &object);
        expect_reaches_slot(function, &of_first);
    }
}

TEST_F(DatDispatch, ManyProvidersAreTold) {
    std::vector<DAT_PROVIDER> tables(40, table);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < tables.size(); ++i)
        names.push_back("many" + std::to_string(i));
    std::vector<std::unique_ptr<Registered>> registered;
    for (std::size_t i = 0; i < tables.size(); ++i) {
        tables[i].device_name = names[i].c_str();
        registered.push_back(std::make_unique<Registered>(tables[i]));
    }
    for (const auto &each : tables) {
        Object one{&each, 0};
        expect_reaches_slot(functions[0], &one);
    }
    expect_refused(&object, ": not among the many");
}

// All that is promised of an object.
TEST_F(DatDispatch, AnObjectMayBeAlignedToFourBytes) {
    const Registered registered(table);
    alignas(8) std::array<std::byte, 16> memory{};
    const DAT_PROVIDER *provider = &table;
    std::memcpy(memory.data() + 4, &provider, sizeof(provider));
    for (const auto &function : functions)
        expect_reaches_slot(function, memory.data() + 4);
}

TEST_F(DatDispatch, WhatIsNoHandleIsRefused) {
    const Registered registered(table);
    expect_refused(DAT_HANDLE_NULL, ": NULL");
    expect_refused(DAT_EVD_ASYNC_EXISTS, ": 1");
    expect_refused(DAT_EVD_OUT_OF_SCOPE, ": 2");
    for (int offset = 1; offset < 4; ++offset)
        expect_refused(reinterpret_cast<std::byte *>(&object) + offset, ": crooked");
}

// A page of no access, with neighbours that may be read, and addresses that no program has.
TEST_F(DatDispatch, AWildAddressIsRefused) {
    const Registered registered(table);
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void *memory = ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                          -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    auto *const closed = static_cast<std::byte *>(memory) + page;
    ASSERT_EQ(::mprotect(closed, page, PROT_NONE), 0);
    expect_refused(closed, ": no access");
    expect_refused(closed - 4, ": half of it without access");
    for (const std::uintptr_t address :
         {std::uintptr_t{8}, std::uintptr_t{4096}, std::uintptr_t{0x0000'7fff'ffff'f000},
          std::uintptr_t{0x8000'0000'0000'0000}, std::uintptr_t{0xffff'8000'0000'0000},
          std::uintptr_t{0xffff'ffff'ffff'fff8}})
        expect_refused(reinterpret_cast<DAT_HANDLE>(address), ": wild");
    ASSERT_EQ(::munmap(memory, 2 * page), 0);
    expect_reaches_slot(functions[0], &object);
}

// Its first word is a provider's, and the program may unmap it nevertheless.
TEST_F(DatDispatch, WhatAProviderRefusesIsReadWithCareEachTime) {
    DAT_PROVIDER refusing = complete_table("refusing");
    refusing.get_consumer_context_func = [](DAT_HANDLE, DAT_CONTEXT *) -> DAT_RETURN {
        return dat::error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
    };
    const Registered registered(refusing);
    void *memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    *static_cast<const DAT_PROVIDER **>(memory) = &refusing;
    DAT_CONTEXT context{};
    EXPECT_EQ(DAT_GET_TYPE(dat_get_consumer_context(memory, &context)), DAT_INVALID_HANDLE);
    ASSERT_EQ(::munmap(memory, 4096), 0);
    EXPECT_EQ(DAT_GET_TYPE(dat_get_consumer_context(memory, &context)), DAT_INVALID_HANDLE);
}

// The program's mistake, of which the library learns by its return code; a sanitizer reports nothing.
TEST_F(DatDispatch, FreedMemoryIsRefused) {
    const Registered registered(table);
    auto *const memory = new std::array<std::uint64_t, 64>{};
    volatile auto address = reinterpret_cast<std::uintptr_t>(memory); // unknown to the compiler
    delete memory;
    expect_refused(reinterpret_cast<DAT_HANDLE>(address), ": freed");
}

TEST_F(DatDispatch, AnObjectOfNobodyIsRefused) {
    expect_refused(&object, ": not registered");
    object.provider = nullptr;
    expect_refused(&object, ": overwritten, and nobody registered");

    const Registered registered(table);
    expect_refused(&object, ": overwritten");
    const auto stranger = complete_table("stranger");
    object.provider = &stranger;
    expect_refused(&object, ": a stranger's");
    object.provider = reinterpret_cast<const DAT_PROVIDER *>(0x5a5a5a5a5a5a5a5aU);
    expect_refused(&object, ": poisoned");
}

TEST_F(DatDispatch, AnObjectOfAProviderThatWasRemovedIsRefused) {
    { const Registered registered(table); }
    expect_refused(&object, ": removed");
    const Registered again(table);
    expect_reaches_slot(functions[0], &object);
}

TEST_F(DatDispatch, AnEmptySlotIsNotImplemented) {
    DAT_PROVIDER empty{};
    empty.device_name = "empty";
    const Registered first(empty);
    const Registered second(table);
    Object of_empty{&empty, 0};
    for (const auto &function : functions)
        EXPECT_EQ(function.call(&of_empty).first, dat::error(DAT_NOT_IMPLEMENTED)) << function.name;
    expect_reaches_slot(functions[0], &object);
}

// The two slots that only the registry calls.
DAT_RETURN open_object(DAT_NAME_PTR name, DAT_COUNT length, DAT_EVD_HANDLE *evd, DAT_IA_HANDLE *ia,
                       DAT_BOOLEAN aware) {
    last = {2, {bytes_of(length), bytes_of(evd), bytes_of(aware)}};
    EXPECT_STREQ(name, "fake0");
    *ia = evd;
    return DAT_SUCCESS;
}

TEST_F(DatDispatch, OpenAndCloseReachTheirSlots) {
    auto whole = table;
    whole.ia_open_func = open_object;
    whole.ia_close_func = [](DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags) -> DAT_RETURN {
        last = {4, {bytes_of(ia), bytes_of(flags)}};
        return DAT_SUCCESS;
    };
    const Registered registered(whole);
    ASSERT_EQ(setenv("DAT_OVERRIDE", "/dev/null", 1), 0);

    char name[] = "RO_AWARE_fake0";
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
    ASSERT_EQ(dat_ia_open(name, 17, &evd, &ia), DAT_SUCCESS);
    EXPECT_EQ(last.slot, 2);
    EXPECT_EQ(last.arguments,
              (std::vector<Bytes>{bytes_of(17), bytes_of(&evd), bytes_of(DAT_TRUE)}));
    ASSERT_EQ(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS);
    EXPECT_EQ(last.slot, 4);
    EXPECT_EQ(last.arguments,
              (std::vector<Bytes>{bytes_of(ia), bytes_of(DAT_CLOSE_GRACEFUL_FLAG)}));
}

} // namespace
